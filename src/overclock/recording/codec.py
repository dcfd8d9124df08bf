"""The state of a live instance as named arrays, and back: how the reference's side reads and writes rich state.

    codec = InstanceCodec({"player": Many(Number("int64", True), 12), "game.ball_x": Number("float64")})
    arrays = codec.read(env)        # player_length, player, game_ball_x
    codec.write(env, arrays)

The names, dtypes and shapes of the arrays are those of `shapes.leaves`. What a shape cannot hold is refused, never
rounded or cut: a state that is not the reference's would be compared in its place.
"""

import collections
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.recording import shapes
from overclock.recording.decoding import Decoder, records, remember
from overclock.recording.shape_json import KEEP, constant

Arrays = dict[str, np.ndarray]
# What stands beside the state of the rules wherever arrays are named: the step counter, the flag of lists that did not
# fit, the action of a step. An attribute of such a name is another thing.
RESERVED = frozenset({"steps", "overflow", "action"})
KINDS = {shapes.LIST: list, shapes.TUPLE: tuple, shapes.DEQUE: collections.deque}


def encode(shape: shapes.Shape, value: Any, name: str = "") -> Arrays:
    """A value as the leaves of its shape; a leaf of something that is not there is zero."""
    arrays = _zeros(distinct(shapes.leaves(shape, name)))
    _encode(shape, value, name, (), arrays)
    return arrays


def _zeros(known: Iterable[shapes.Leaf]) -> Arrays:
    return {leaf.name: np.zeros(leaf.shape, leaf.dtype) for leaf in known}


def decode(shape: shapes.Shape, arrays: Mapping[str, np.ndarray], like: Any = None, name: str = "") -> Any:
    """The value whose leaves these arrays are.

    `like` is the present value: its objects and dicts are changed in place and keep what the shape calls constant,
    lists and arrays are new ones of its kind.
    """
    return Decoder(arrays).value(shape, name, *(() if like is None else (like,)))


def distinct(found: Iterable[shapes.Leaf]) -> tuple[shapes.Leaf, ...]:
    """The same leaves; UsageError where two have one name."""
    by_name: dict[str, shapes.Leaf] = {}
    for leaf in found:
        if by_name.setdefault(leaf.name, leaf) is not leaf:
            raise UsageError(f"Two parts of the state would be called '{leaf.name}'; rename one in the reference.")
    return tuple(by_name.values())


def prefixes(paths: Iterable[str]) -> dict[str, str]:
    """What the leaves of each attribute are called, or begin with: 'game.ball_x' -> 'game_ball_x', '_x' -> 'x'.

    A name of `RESERVED` is numbered, too: 'steps' -> 'steps_2'.
    """
    found: dict[str, str] = {}
    # First those that are names already: `x` keeps its name beside a private `_x`.
    for path in sorted(paths, key=lambda path: (shapes.below("", path) != path, path)):
        name, number = shapes.below("", path), 1
        while name in RESERVED or name in found.values():
            number += 1
            name = f"{shapes.below('', path)}_{number}"
        found[path] = name
    return {path: found[path] for path in paths}


class InstanceCodec:
    """Encodes some attributes of an instance, named by their dotted paths from the unwrapped one, and decodes them."""

    def __init__(self, attributes: Mapping[str, shapes.Shape]) -> None:
        self.attributes = dict(attributes)
        self.prefixes = prefixes(list(self.attributes))
        named = [(shape, self.prefixes[path]) for path, shape in self.attributes.items()]
        self.leaves = distinct(leaf for shape, name in named for leaf in shapes.leaves(shape, name))
        self.plain = frozenset(one for shape, name in named for one in plain_leaves(shape, name))
        self._records = {path: records(shape, self.prefixes[path]) for path, shape in self.attributes.items()}
        self._examples: dict[str, Any] = {}  # of every object and dict, for a time when an instance has none

    def holds(self, instance: Any) -> bool:
        """Whether an instance has all the attributes; before its first reset it often lacks some."""
        try:
            self.read(instance)
        except UsageError:  # some are not there, or None until the first reset
            return False
        return True

    def read(self, instance: Any) -> Arrays:
        """Encode the instance: a copy of every leaf."""
        arrays = _zeros(self.leaves)
        for path, shape in self.attributes.items():
            value = _get(instance, path)
            _encode(shape, value, self.prefixes[path], (), arrays)
            if not self._examples.keys() >= set(self._records[path]):
                remember(shape, value, self.prefixes[path], self._examples)
        return arrays

    def write(self, instance: Any, arrays: Mapping[str, np.ndarray]) -> None:
        """Put an instance into the state that `read` gave; UsageError where it does not read back the same."""
        if missing := [leaf.name for leaf in self.leaves if leaf.name not in arrays]:
            raise UsageError(f"The state to be written has no '{missing[0]}'.")
        decoder = Decoder(arrays, self._examples)
        for path, shape in self.attributes.items():
            _set(instance, path, decoder.value(shape, self.prefixes[path], _get(instance, path)))
        for name, found in self.read(instance).items():
            if not shapes.equal_arrays(found, np.asarray(arrays[name])):
                raise UsageError(
                    f"The reference cannot be put into this state: '{name}' became {found.tolist()}, not "
                    f"{np.asarray(arrays[name]).tolist()}; some objects of it are shared now and are not in that state."
                )


def plain_leaves(shape: shapes.Shape, name: str = "") -> list[str]:
    """The leaves that are always one number or one array: in no list, and neither None nor a choice at times."""
    if isinstance(shape, shapes.Number | shapes.Array):
        return [name]
    inside = shapes.inner_shapes(shape, name) if isinstance(shape, shapes.Fixed | shapes.Record) else []
    return [leaf for inner, part in inside for leaf in plain_leaves(inner, part)]


def _encode(shape: shapes.Shape, value: Any, name: str, at: tuple[int, ...], arrays: Arrays) -> None:
    match shape:
        case shapes.Number() | shapes.Array():
            _store(shape, value, name, at, arrays[name])
        case shapes.Maybe(of):
            if value is not None:
                arrays[shapes.below(name, "present")][at] = True
                _encode(of, value, name, at, arrays)
        case shapes.Fixed(items, kind):
            # An array is taken for the sequence of its numbers: some environments keep either at different times.
            known = isinstance(value, KINDS[kind]) or (isinstance(value, np.ndarray) and value.ndim == 1)
            _require(known and len(value) == len(items), shape, value, name)
            for place, item in enumerate(items):
                _encode(item, value[place], shapes.below(name, place), at, arrays)
        case shapes.Many(of, capacity, kind):
            _require(isinstance(value, KINDS[kind]), shape, value, name)
            if len(value) > capacity:
                raise UsageError(
                    f"'{name}' has {len(value)} items and its codec has room for {capacity}; give it a larger capacity."
                )
            arrays[shapes.below(name, "length")][at] = len(value)
            for place, item in enumerate(value):
                _encode(of, item, name, (*at, place), arrays)
        case shapes.Record(_, fields):
            kept = _fields(shape, value, name)
            for key, inner in fields:
                _require(constant(key) in kept, shape, f"one without {key!r}", name)
                _encode(inner, kept[constant(key)], shapes.below(name, key), at, arrays)
        case shapes.Choice(options):
            chosen = [place for place, option in enumerate(options) if shapes.same(constant(option), value)]
            _require(bool(chosen), shape, value, name)
            arrays[name][at] = chosen[0]
        case shapes.Exactly(known):
            _require(known is KEEP or shapes.same(constant(known), value), shape, value, name)


def _fields(shape: shapes.Record, value: Any, name: str) -> dict[Any, Any]:
    if shape.cls == shapes.DICT:
        _require(isinstance(value, dict), shape, value, name)
        return value
    known = f"{type(value).__module__}:{type(value).__qualname__}"
    _require(known == shape.cls and hasattr(value, "__dict__"), shape, value, name)
    return vars(value)


def _store(shape: shapes.Number | shapes.Array, value: Any, name: str, at: tuple[int, ...], into: np.ndarray) -> None:
    given = np.asarray(value)
    if given.dtype == into.dtype and given.shape == into.shape[len(at) :]:  # nearly always
        into[at] = given
        return
    _require(given.dtype.kind in "biuf" and given.shape == into.shape[len(at) :], shape, value, name)
    with np.errstate(over="ignore", invalid="ignore"):
        into[at] = given
    if not np.can_cast(given.dtype, into.dtype):
        _require(shapes.equal_arrays(into[at], given), shape, value, name)


def _require(holds: bool, shape: shapes.Shape, value: Any, name: str) -> None:
    if not holds:
        raise UsageError(
            f"'{name}' is {value!r:.80}, and its codec holds {shapes.describe(shape)}; profile it for longer."
        )


def _holder(instance: Any, path: str) -> tuple[Any, str]:
    *outer, last = path.split(".")
    found = getattr(instance, "unwrapped", instance)
    for part in outer:
        found = getattr(found, part)
    return found, last


def _get(instance: Any, path: str) -> Any:
    try:
        return getattr(*_holder(instance, path))
    except AttributeError:
        raise UsageError(f"The instance has no attribute '{path}'; reset it first, or correct the codec.") from None


def _set(instance: Any, path: str, value: Any) -> None:
    holder, last = _holder(instance, path)
    if last in getattr(holder, "__dict__", {}):
        vars(holder)[last] = value  # as it lies there, past setters and frozen dataclasses
    else:
        setattr(holder, last, value)
