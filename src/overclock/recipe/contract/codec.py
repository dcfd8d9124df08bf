"""The richer half of a contract: state that a codec lays out as arrays, and draws that are named by their site."""

import ast
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.recipe.contract.fields import DrawField, StateField
from overclock.recipe.syntax import read_expression
from overclock.recording.codec import InstanceCodec
from overclock.recording.shape_json import codec_from_json
from overclock.recording.shapes import Shape, leaves
from overclock.recording.sites.recorder import Site

OVERFLOW = "overflow"
ACTION = "action"


def load_shapes(folder: Path, name: str) -> dict[str, Shape]:
    """Read the file of a codec: the shapes of the state's attributes."""
    if Path(name).name != name:
        raise UsageError(f"its codec '{name}' is not the name of a file beside it")
    try:
        return codec_from_json((folder / name).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"its codec '{name}' cannot be read: {error.strerror}") from error


def codec_fields(
    shapes: Mapping[str, Shape], ranges: Mapping[str, tuple[float, float]] | None = None, overflow: bool = False
) -> tuple[StateField, ...]:
    """The state of a contract with this codec; `ranges` of what was seen, by leaf, are kept for plain numbers only."""
    codec = InstanceCodec(shapes)
    seen = {name: bounds for name, bounds in (ranges or {}).items() if name in codec.plain}
    fields = [
        StateField(leaf.name, path, leaf.dtype, leaf.shape, *seen.get(leaf.name, (None, None)))
        for path, shape in shapes.items()
        for leaf in leaves(shape, codec.prefixes[path])
    ]
    return (*fields, *((StateField(OVERFLOW, "", "bool"),) if overflow else ()))


def require_codec(state: Sequence[StateField], shapes: Mapping[str, Shape] | None) -> None:
    """Refuse a state that the codec does not give; without a codec, every field must name where it is read."""
    unread = [field.name for field in state if not field.read]
    if odd := [name for name in unread if shapes is None or name != OVERFLOW]:
        raise UsageError(f"the state field '{odd[0]}' does not say where the reference keeps it")
    if shapes is None:
        return
    stated = {field.name: (field.dtype, field.shape) for field in state if field.read}
    given = {leaf.name: (leaf.dtype, leaf.shape) for leaf in InstanceCodec(shapes).leaves}
    if different := dict(stated.items() ^ given.items()):
        raise UsageError(f"its codec and its state do not agree on the field '{min(different)}'")


def require_sites(state: Sequence[StateField], reset: Sequence[DrawField], step: Sequence[DrawField]) -> None:
    """Refuse draws of which only some are named by site, or not in a way that tells them apart."""
    if len({draw.site is None for draw in (*reset, *step)}) > 1:
        raise UsageError("some of its draws have a site and others have none")
    for draws in (reset, step):
        sites = [site_of(draw) for draw in draws if draw.site is not None]
        for parts in ([str(site.place) for site in sites], [site.name for site in sites]):
            if twice := [one for one in parts if parts.count(one) > 1]:
                raise UsageError(f"two of its draws are '{twice[0]}'")
    inputs = {ACTION, *(field.name for field in state)}  # which a step has besides its draws
    if same := [draw.name for draw in step if draw.site is not None and draw.name in inputs]:
        raise UsageError(f"a draw of its steps is called '{same[0]}', as a state field or the action is")


def site_of(draw: DrawField) -> Site:
    """A draw of a contract as a site of the recorder."""
    file, *numbers = (draw.site or "").rsplit(":", 2)
    if len(numbers) != 2 or not all(number.isdecimal() for number in numbers):
        raise UsageError(f"the draw '{draw.name}' has the site '{draw.site}', which is not file:line:column")
    count = draw.count or 1
    if count > 1 and draw.shape[:1] != (count,):
        raise UsageError(f"the draw '{draw.name}' happens {count} times, and its shape does not begin with {count}")
    return Site(
        name=draw.name,
        file=file,
        line=int(numbers[0]),
        column=int(numbers[1]),
        method=draw.method,
        form=draw.form or "value",
        shape=draw.shape if count == 1 else draw.shape[1:],
        count=count,
        arguments=_arguments(draw),
        **{name: value for name, value in (("source", draw.source), ("dtype", draw.dtype)) if value is not None},
    )


def draw_field(site: Site) -> DrawField:
    """A site as a draw of a contract."""
    shown = ", ".join(f"{name}={value!r}" for name, value in site.arguments)
    place = str(site.place)
    return DrawField(
        site.name, site.method, shown, site.leaf_shape, place, site.form, site.count, site.source, site.dtype
    )


def _arguments(draw: DrawField) -> tuple[tuple[str, Any], ...]:
    try:
        call = read_expression(f"f({draw.arguments})")
        assert isinstance(call, ast.Call)
        return tuple((str(one.arg), ast.literal_eval(one.value)) for one in call.keywords)
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"the draw '{draw.name}' has the arguments '{draw.arguments}', no list of names") from error
