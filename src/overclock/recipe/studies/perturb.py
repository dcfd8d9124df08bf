"""Constants of a reference, changed a little: the same rules with other numbers, which nobody can know by heart.

Only numbers that have a name are changed: constants of a file or a class, attributes that are set to a plain number,
defaults of the constructor. The rules must read them, and no space may be written with the same number, so that
spaces, time limit and types stay what they are.
"""

import ast
import dataclasses
import random
from collections.abc import Iterable
from pathlib import Path

from overclock.errors import UsageError
from overclock.recipe.survey.static.decompose import rules
from overclock.recipe.survey.static.definitions import Definition, File, Function, dotted
from overclock.recipe.survey.static.rule_selection import own_nodes
from overclock.recipe.survey.static.source import Source

MOST = 4  # constants that are changed at once
LEAST_WHOLE = 3  # smaller whole numbers count things: players, dimensions, sides of a coin
STEPS = (0.03, 0.05, 0.07, 0.09)  # by what share of itself a number changes
DIGITS = 6


@dataclasses.dataclass(frozen=True)
class Constant:
    """A number of the reference: where it stands, and what it becomes."""

    name: str
    file: str
    line: int
    before: float | int
    after: float | int
    start: int  # bytes of its line
    end: int


def perturb(source: Source, files: Iterable[Path], seed: int = 0, most: int = MOST) -> list[Constant]:
    """The constants of some files to change, chosen by the seed: whole numbers only where there are no others."""
    wanted = {str(file) for file in files}
    found = [one for one in constants(source) if one.file in wanted]
    chance = random.Random(seed)
    chance.shuffle(found)
    chosen = ([one for one in found if isinstance(one.before, float)] or found)[:most]  # whole ones may decide shapes
    if not chosen:
        raise UsageError(f"'{source.text}' has no named number that could be changed without changing its spaces.")
    changed = [dataclasses.replace(one, after=_changed(one.before, chance)) for one in chosen]
    return sorted(changed, key=lambda one: (one.file, one.line, one.start))


def apply(text: str, changes: Iterable[Constant]) -> str:
    """The text of a file with its constants changed."""
    lines = text.encode().split(b"\n")
    for one in sorted(changes, key=lambda one: (one.line, one.start), reverse=True):
        line = lines[one.line - 1]
        lines[one.line - 1] = line[: one.start] + repr(one.after).encode() + line[one.end :]
    return b"\n".join(lines).decode()


def constants(source: Source) -> list[Constant]:
    """Every number that may be changed, in the order of files and lines."""
    kept = rules(source)
    read = {name for one in kept.definitions for name in _read(one)}
    in_spaces = {abs(value) for one in kept.definitions for value in _in_spaces(one)}
    untouched = {*in_spaces, *(value for value in (source.max_steps,) if value is not None)}
    found: dict[tuple[str, int, int], Constant] = {}
    for one in kept.definitions:
        for name, node in _named(one, source):
            value = _number(node)
            if value is None or name not in read or abs(value) in untouched or not _free(value):
                continue
            place = (str(one.file.path), node.lineno, node.col_offset)
            end = node.end_col_offset or node.col_offset
            found[place] = Constant(name, *place[:2], value, value, node.col_offset, end)
    return [found[place] for place in sorted(found)]


def copied(file: File, changes: Iterable[Constant]) -> str:
    """A file's text with its constants changed, and with imports that hold wherever it lies."""
    lines = apply(file.path.read_text(encoding="utf-8"), changes).split("\n")
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            parts = [*file.module.split("."), *(["__init__"] if file.is_package else [])][: -node.level]
            written = "." * node.level + (node.module or "")
            whole = ".".join([*parts, *([node.module] if node.module else [])])
            lines[node.lineno - 1] = lines[node.lineno - 1].replace(written, whole, 1)
    return "\n".join(lines)


def _named(one: Definition, source: Source) -> Iterable[tuple[str, ast.expr]]:
    """(name, number) of what a definition sets to a plain number."""
    if isinstance(one.node, Function) and one.short == "__init__":
        yield from _defaults(one.node, source)
    for node in own_nodes(one):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            target, value = node.target, node.value
        else:
            continue
        if isinstance(target, ast.Attribute) or (isinstance(target, ast.Name) and one.kind != "function"):
            name = target.attr if isinstance(target, ast.Attribute) else target.id
            yield from ((name, number) for number in _plain(value))


def _defaults(node: ast.FunctionDef | ast.AsyncFunctionDef, source: Source) -> Iterable[tuple[str, ast.expr]]:
    arguments = node.args
    names = [*arguments.posonlyargs, *arguments.args]
    optional = names[len(names) - len(arguments.defaults) :]
    for argument, default in (
        *zip(optional, arguments.defaults, strict=True),
        *zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True),
    ):
        if default is not None and argument.arg not in source.arguments:
            yield argument.arg, default


def _plain(value: ast.expr) -> list[ast.expr]:
    """The number itself, or the numbers with a point in a product or sum of nothing but numbers."""
    if _number(value) is not None:
        return [value]
    if not isinstance(value, ast.BinOp) or any(isinstance(node, ast.Call | ast.Subscript) for node in ast.walk(value)):
        return []
    numbers = [node for node in ast.walk(value) if isinstance(node, ast.Constant) and isinstance(node.value, float)]
    names = [node for node in ast.walk(value) if isinstance(node, ast.Name)]
    return [] if any(node.id not in ("math", "np", "numpy") for node in names) else list(numbers)


def _number(node: ast.AST) -> float | int | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    return None


def _free(value: float | int) -> bool:
    return abs(value) >= LEAST_WHOLE if isinstance(value, int) else value != 0


def _changed(value: float | int, chance: random.Random) -> float | int:
    if isinstance(value, int):
        return value + chance.choice((-1, 1))
    step = chance.choice(STEPS)
    # A number up to one may be a probability, which must not grow beyond it.
    factor = 1 - step if abs(value) <= 1 else 1 + chance.choice((-step, step))
    return float(f"{value * factor:.{DIGITS}g}")


def _read(one: Definition) -> Iterable[str]:
    for node in own_nodes(one):
        if isinstance(node, ast.Attribute | ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.attr if isinstance(node, ast.Attribute) else node.id


def _in_spaces(one: Definition) -> Iterable[float | int]:
    """Numbers that are written in a space: changed alone they would contradict it."""
    for node in own_nodes(one):
        if isinstance(node, ast.Call) and "spaces" in (dotted(one.file, node.func) or "").split("."):
            yield from (value for inner in ast.walk(node) if (value := _number(inner)) is not None)
