"""Arrays as the value they came from, made to fit what an instance holds now.

Objects and dicts are changed in place, because others may hold them; lists and arrays are made anew, because an
instance may share them with a constant or with an observation it gave away. What two paths of the instance share
stays shared, views of one array included.
"""

import collections
import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.recording import shapes
from overclock.recording.shape_json import KEEP, constant, imported


class _Missing:
    """The type of MISSING, which stands for no present value; None is one."""


MISSING = _Missing()


class Decoder:
    """Decodes one set of arrays; what the instance shares now is shared by the decoded values."""

    def __init__(self, arrays: Mapping[str, np.ndarray], examples: Mapping[str, Any] | None = None) -> None:
        self._arrays, self._examples = arrays, examples or {}
        self._made: dict[int, tuple[Any, Any, bytes]] = {}  # by what was there: that, what it became, its leaves
        self._buffers: dict[int, tuple[np.ndarray, np.ndarray]] = {}  # by an array that owns memory: it, its copy

    def value(self, shape: shapes.Shape, name: str, like: Any = MISSING, at: tuple[int, ...] = ()) -> Any:
        """The value of a shape from the leaves below a name, at a place inside the lists around it.

        `like` is the present value, whose objects are changed in place.
        """
        match shape:
            case shapes.Number(dtype, python):
                number = np.dtype(dtype).type(self._arrays[name][at])
                return number.item() if python else number
            case shapes.Maybe(of):
                present = bool(self._arrays[shapes.below(name, "present")][at])
                return self.value(of, name, MISSING if like is None else like, at) if present else None
            case shapes.Choice(options):
                chosen = int(self._arrays[name][at])
                if not 0 <= chosen < len(options):
                    raise UsageError(f"'{name}' shall be number {chosen} of {len(options)} constants.")
                return constant(options[chosen])
            case shapes.Exactly(known):
                return self._constant(known, like, name)
            case shapes.Fixed():
                return self._shared(shape, like, name, at, lambda: self._fixed(shape, name, like, at))
            case shapes.Many():
                return self._shared(shape, like, name, at, lambda: self._list(shape, name, like, at))
            case shapes.Array():
                return self._shared(shape, like, name, at, lambda: self._array(shape, self._arrays[name][at], like))
            case shapes.Record():
                return self._record(shape, name, like, at)

    def _constant(self, known: Any, like: Any, name: str) -> Any:
        if like is not MISSING:
            return like
        if known is KEEP:
            raise UsageError(f"'{name}' is a constant that the codec does not know and that no instance shows now.")
        return constant(known)

    def _content(self, shape: shapes.Shape, name: str, at: tuple[int, ...]) -> bytes:
        return b"".join(np.asarray(self._arrays[leaf.name][at]).tobytes() for leaf in shapes.leaves(shape, name))

    def _shared(self, shape: shapes.Shape, like: Any, name: str, at: tuple[int, ...], make: Any) -> Any:
        """What `make` makes, or what was made of the same thing before if that has the same content."""
        if like is MISSING or isinstance(like, tuple):
            return make()
        content = self._content(shape, name, at)
        known = self._made.get(id(like))
        if known is not None and known[2] == content:
            return known[1]
        made = make()
        if known is None:
            self._made[id(like)] = like, made, content
        return made

    def _fixed(self, shape: shapes.Fixed, name: str, like: Any, at: tuple[int, ...]) -> Any:
        likes = enumerate(zip(shape.items, _items(like, len(shape.items)), strict=True))
        made = [self.value(item, shapes.below(name, place), one, at) for place, (item, one) in likes]
        return _sequence(made, shape.kind, like)

    def _list(self, shape: shapes.Many, name: str, like: Any, at: tuple[int, ...]) -> Any:
        length = int(self._arrays[shapes.below(name, "length")][at])
        if not 0 <= length <= shape.capacity:
            raise UsageError(f"'{name}' shall have {length} items, and its codec has room for {shape.capacity}.")
        likes = _items(like, length)
        present = [one for one in likes if one is not MISSING]
        example = present[-1] if present else MISSING
        made = []
        for place, one in enumerate(likes):
            fresh = one if one is not MISSING else cloned(shape.of, example)
            made.append(self.value(shape.of, name, fresh, (*at, place)))
        return _sequence(made, shape.kind, like)

    def _array(self, shape: shapes.Array, new: np.ndarray, like: Any) -> np.ndarray:
        new = np.array(new, shape.dtype)
        if not isinstance(like, np.ndarray) or like.shape != new.shape:
            return new
        with np.errstate(over="ignore", invalid="ignore"):
            cast = new.astype(like.dtype)
        if not shapes.equal_arrays(cast, new):
            return new
        made = self._memory(like)
        made[...] = cast
        return made

    def _memory(self, like: np.ndarray) -> np.ndarray:
        """New memory for an array; arrays that share memory now share it afterwards."""
        owner = like
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        if id(owner) not in self._buffers:
            self._buffers[id(owner)] = owner, owner.copy("K")
        memory = self._buffers[id(owner)][1]
        if owner is like:
            return memory
        if memory.strides != owner.strides:
            return like.copy()
        start = like.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        return np.ndarray(like.shape, like.dtype, memory, start, like.strides)

    def _record(self, shape: shapes.Record, name: str, like: Any, at: tuple[int, ...]) -> Any:
        content = self._content(shape, name, at)
        if like is MISSING:
            like = self._examples.get(name, MISSING)
            like = _new(shape.cls, name) if like is MISSING else cloned(shape, like)
        known = self._made.get(id(like))
        if known is not None and known[2] == content:
            return known[1]
        if known is not None:  # one thing now, two different ones in the state that is written
            like = cloned(shape, like)
        self._made[id(like)] = like, like, content
        fields = like if shape.cls == shapes.DICT else vars(like)
        for key, inner in shape.fields:
            known_key = constant(key)
            fields[known_key] = self.value(inner, shapes.below(name, key), fields.get(known_key, MISSING), at)
        return like


def cloned(shape: shapes.Shape, like: Any) -> Any:
    """A copy of a value: its own objects, dicts and lists where the shape has some, the same constants."""
    if like is MISSING or like is None:
        return like
    match shape:
        case shapes.Maybe(of):
            return cloned(of, like)
        case shapes.Fixed(items, kind):
            return _sequence([cloned(item, one) for item, one in zip(items, like, strict=True)], kind, like)
        case shapes.Many(of, _, kind):
            return _sequence([cloned(of, one) for one in like], kind, like)
        case shapes.Record(cls, fields):
            other = copy.copy(like)
            inside = other if cls == shapes.DICT else vars(other)
            inside.update({constant(key): cloned(inner, inside[constant(key)]) for key, inner in fields})
            return other
        case _:
            return like


def records(shape: shapes.Shape, name: str) -> list[str]:
    """The names of the objects and dicts inside a value of this shape."""
    own = [name] if isinstance(shape, shapes.Record) else []
    return own + [one for inner, part in shapes.inner_shapes(shape, name) for one in records(inner, part)]


def remember(shape: shapes.Shape, value: Any, name: str, examples: dict[str, Any]) -> None:
    """Note one example of every object and dict in a value, to make others like it from."""
    if value is None:
        return
    match shape:
        case shapes.Maybe(of):
            remember(of, value, name, examples)
        case shapes.Fixed(items, _):
            for place, (item, one) in enumerate(zip(items, value, strict=False)):
                remember(item, one, shapes.below(name, place), examples)
        case shapes.Many(of, _, _):
            for one in value:
                remember(of, one, name, examples)
        case shapes.Record(cls, fields):
            inside = value if cls == shapes.DICT else vars(value)
            if name not in examples and all(constant(key) in inside for key, _ in fields):
                examples[name] = cloned(shape, value)
            for key, inner in fields:
                remember(inner, inside.get(constant(key)), shapes.below(name, key), examples)


def _items(like: Any, length: int) -> list[Any]:
    present = list(like) if isinstance(like, list | tuple | collections.deque) else []
    return (present + [MISSING] * length)[:length]


def _sequence(items: list[Any], kind: str, like: Any) -> Any:
    if kind == shapes.TUPLE:
        return tuple(items)
    if kind == shapes.DEQUE:
        return collections.deque(items, like.maxlen if isinstance(like, collections.deque) else None)
    return items


def _new(cls: str, name: str) -> Any:
    """An object as it is before its constructor has run; all its fields are written afterwards."""
    if cls == shapes.DICT:
        return {}
    try:
        return object.__new__(imported(cls))
    except (ImportError, AttributeError, TypeError) as error:
        raise UsageError(f"'{name}' needs a new {cls}, which cannot be made: {error}.") from error
