"""What a value of the reference looks like, whatever its numbers are: the shape of state, of lists, of None-or-value.

A shape says how a Python value is laid out as named arrays ("leaves"), and back. The interpreter uses shapes to merge
the two arms of a branch and to carry values around loops; the reference's side of a contract uses them to read and
write the state of a live instance (`codec.py`).

    Number     an int, float, bool or NumPy scalar                    one leaf
    Array      a NumPy array, which code may change in place          one leaf
    Maybe      None or a value                                        `present`, and the leaves of the value
    Fixed      a tuple or list of known length                        the leaves of its items
    Many       a list of changing length, up to a capacity            `length`, and leaves with a leading axis
    Record     a dict of known keys, or an object                     the leaves of its fields
    Choice     one of a few constants (strings, functions ...)        the position among them
    Exactly    always this constant                                   none
"""

import collections
import dataclasses
import enum
import functools
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.recording.generators import GENERATORS
from overclock.recording.reference_cycles import cycle_reason

LIST, TUPLE, DEQUE = "list", "tuple", "deque"
FLEXIBLE = "array of changing length"  # kept like a list
DICT = "dict"
MOST_CHOICES = 256  # texts or objects that one name may stand for
PYTHON_DTYPES = {bool: "bool", int: "int64", float: "float64"}


@dataclasses.dataclass(frozen=True)
class Number:
    """A scalar; `python` where it is Python's own int, float or bool, which bends to the dtype of what it meets."""

    dtype: str
    python: bool = False


@dataclasses.dataclass(frozen=True)
class Array:
    """A NumPy array of one dtype and shape."""

    dtype: str
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Maybe:
    """A value that may be None instead."""

    of: "Shape"


@dataclasses.dataclass(frozen=True)
class Fixed:
    """A tuple, or a list whose length never changes."""

    items: "tuple[Shape, ...]"
    kind: str = TUPLE


@dataclasses.dataclass(frozen=True)
class Many:
    """A list of up to `capacity` items of one shape."""

    of: "Shape"
    capacity: int
    kind: str = LIST


@dataclasses.dataclass(frozen=True)
class Record:
    """A dict (`cls` is "dict") or an object of the class 'package.module:Class'."""

    cls: str
    fields: "tuple[tuple[Any, Shape], ...]"

    def get(self, key: Any) -> "Shape | None":
        return dict(self.fields).get(key)


@dataclasses.dataclass(frozen=True)
class Choice:
    """One of several constants, stored as its position among them."""

    options: tuple[Any, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Exactly:
    """Always the same constant, which needs no array."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Exactly) and same(self.value, other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))


Shape = Number | Array | Maybe | Fixed | Many | Record | Choice | Exactly
NONE = Exactly(None)


@dataclasses.dataclass(frozen=True)
class Leaf:
    """One of the arrays that a value is laid out as."""

    name: str
    dtype: str
    shape: tuple[int, ...]


def equal_arrays(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays have one shape and equal numbers; NaN equals NaN."""
    floats = a.dtype.kind == "f" and b.dtype.kind == "f"
    return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=floats))


def same(a: Any, b: Any) -> bool:
    """Whether two constants are of one type and equal in every part."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and equal_arrays(a, b)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    try:
        return bool(a == b) or (a != a and b != b)
    except Exception:
        return False


def of_python(value: Any, depth: int = 6) -> Shape:
    """The shape of one live value."""
    if isinstance(value, enum.Enum):
        return Exactly(value)
    for cls, dtype in PYTHON_DTYPES.items():
        if isinstance(value, cls):
            return Number(dtype, True)
    if isinstance(value, np.generic) and value.dtype.kind in "biuf":
        return Number(str(value.dtype))
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return Array(str(value.dtype), value.shape)
    if depth and isinstance(value, tuple) and type(value) is tuple:
        return Fixed(tuple(of_python(item, depth - 1) for item in value), TUPLE)
    if depth and isinstance(value, list | collections.deque):
        kind = LIST if isinstance(value, list) else DEQUE
        return Fixed(tuple(of_python(item, depth - 1) for item in value), kind)
    if depth and isinstance(value, dict) and type(value) in (dict, collections.defaultdict, collections.OrderedDict):
        return Record(DICT, tuple((key, of_python(item, depth - 1)) for key, item in value.items()))
    if depth and is_plain_object(value):
        cls = f"{type(value).__module__}:{type(value).__qualname__}"
        # Who draws is no state: draws are told apart by their places.
        own = {key: item for key, item in vars(value).items() if not isinstance(item, GENERATORS)}
        return Record(cls, tuple((key, of_python(item, depth - 1)) for key, item in own.items()))
    return Exactly(value)


def is_plain_object(value: Any) -> bool:
    """An instance of a class written in Python, with its fields in `__dict__` and nothing odd about it."""
    cls = type(value)
    return (
        not isinstance(value, type)
        and hasattr(value, "__dict__")
        and cls.__module__ not in ("builtins", "numpy", "types", "functools", "random", "numpy.random")
        and not callable(value)
        and not cls.__module__.startswith(("numpy.", "gymnasium.spaces", "jax"))
    )


def join(a: Shape, b: Shape) -> Shape:
    """The smallest shape that holds both; UnsupportedError where there is none."""
    if a == b:
        return a
    if isinstance(a, Exactly) and isinstance(b, Exactly):
        return _join_constants(a, b)
    if a == NONE or b == NONE:
        other = b if a == NONE else a
        return other if isinstance(other, Maybe) else Maybe(other)
    if isinstance(a, Maybe) or isinstance(b, Maybe):
        return Maybe(join(a.of if isinstance(a, Maybe) else a, b.of if isinstance(b, Maybe) else b))
    if isinstance(a, Exactly | Choice) and isinstance(b, Exactly | Choice):
        return _join_choices(a, b)
    a, b = _widened(a), _widened(b)
    if isinstance(a, Number) and isinstance(b, Number):
        return join_numbers(a, b)
    if isinstance(a, Array) and isinstance(b, Array) and a.shape == b.shape:
        return Array(str(np.result_type(a.dtype, b.dtype)), a.shape)
    if isinstance(a, Fixed | Many) and isinstance(b, Fixed | Many):
        return _join_sequences(a, b)
    for one, other in ((a, b), (b, a)):
        if isinstance(one, Array) and isinstance(other, Number) and one.shape == ():
            return join_numbers(Number(one.dtype), other)
        if isinstance(one, Array) and isinstance(other, Fixed) and one.shape == (len(other.items),):
            # An array where others are tuples: what holds both is the sequence of its numbers.
            return _join_sequences(Fixed((Number(one.dtype),) * one.shape[0], other.kind), other)
    if isinstance(a, Record) and isinstance(b, Record) and a.cls == b.cls:
        return _join_records(a, b)
    raise UnsupportedError(f"a value is {describe(a)} here and {describe(b)} there")


def join_numbers(a: Number, b: Number) -> Number:
    """The smallest number type that holds both."""
    return Number(str(np.result_type(a.dtype, b.dtype)), a.python and b.python)


def _widened(shape: Shape) -> Shape:
    """The shape of a constant as that of its type, so that it can be joined."""
    return of_python(shape.value) if isinstance(shape, Exactly) else shape


def _join_constants(a: Exactly, b: Exactly) -> Shape:
    wide_a, wide_b = _widened(a), _widened(b)
    if a.value is None or b.value is None:
        return Maybe(wide_b if a.value is None else wide_a)
    if isinstance(wide_a, Exactly) or isinstance(wide_b, Exactly):
        return _join_choices(a, b)
    if reason := cycle_reason(a.value) or cycle_reason(b.value):
        raise UnsupportedError(reason)
    return join(wide_a, wide_b)


def _join_choices(a: Exactly | Choice, b: Exactly | Choice) -> Shape:
    options = list(a.options if isinstance(a, Choice) else (a.value,))
    for one in b.options if isinstance(b, Choice) else (b.value,):
        if not any(same(one, other) for other in options):
            options.append(one)
    if len(options) > MOST_CHOICES:
        raise UnsupportedError(f"a value is one of more than {MOST_CHOICES} texts or objects, perhaps without an end")
    return Choice(tuple(options))


def _join_sequences(a: Fixed | Many, b: Fixed | Many) -> Shape:
    if a.kind != b.kind:
        raise UnsupportedError(f"a value is a {a.kind} here and a {b.kind} there")
    if isinstance(a, Fixed) and isinstance(b, Fixed) and len(a.items) == len(b.items):
        return Fixed(tuple(join(one, other) for one, other in zip(a.items, b.items, strict=True)), a.kind)
    if a.kind == TUPLE:
        raise UnsupportedError("a tuple has different lengths here and there")
    items = [item for one in (a, b) for item in (one.items if isinstance(one, Fixed) else (one.of,))]
    capacity = max(len(one.items) if isinstance(one, Fixed) else one.capacity for one in (a, b))
    return Many(join_all(items), capacity, a.kind)


def join_all(shapes: "list[Shape]") -> Shape:
    """The smallest shape that holds all of them (at least one)."""
    joined = shapes[0]
    for shape in shapes[1:]:
        joined = join(joined, shape)
    return _widened(joined)


def _join_records(a: Record, b: Record) -> Record:
    other = dict(b.fields)
    if odd := dict(a.fields).keys() ^ other.keys():
        raise UnsupportedError(f"a {a.cls} has the key or attribute {min(map(str, odd))} only sometimes")
    return Record(a.cls, tuple((key, join(shape, other[key])) for key, shape in a.fields))


def describe(shape: Shape) -> str:
    """A shape in a few words, for error messages."""
    match shape:
        case Number(dtype, python):
            return {"bool": "a bool", "int64": "an int", "float64": "a float"}[dtype] if python else f"a {dtype}"
        case Array(dtype, size):
            return f"an array of {dtype} {size}"
        case Maybe(of):
            return f"None or {describe(of)}"
        case Fixed(items, kind):
            return f"a {kind} of {len(items)}"
        case Many(_, capacity, kind):
            return f"a {kind} of up to {capacity}"
        case Record(cls, _):
            return f"a {cls}"
        case Choice(options):
            return f"one of {len(options)} constants"
        case Exactly(value):
            return "None" if value is None else f"the constant {value!r}"[:60]


def inner_shapes(shape: Shape, name: str) -> "list[tuple[Shape, str]]":
    """The shapes directly inside a shape, each with what its leaves are called or begin with."""
    match shape:
        case Maybe(of) | Many(of, _, _):
            return [(of, name)]
        case Fixed(items, _):
            return [(item, below(name, place)) for place, item in enumerate(items)]
        case Record(_, fields):
            return [(item, below(name, key)) for key, item in fields]
        case _:
            return []


def leaves(shape: Shape, name: str = "", lead: tuple[int, ...] = ()) -> list[Leaf]:
    """The arrays a value of a shape is laid out as; `lead` are the capacities of the lists around it."""
    own: list[Leaf] = []
    match shape:
        case Number(dtype, _):
            own = [Leaf(name, dtype, lead)]
        case Array(dtype, size):
            own = [Leaf(name, dtype, (*lead, *size))]
        case Choice():
            own = [Leaf(name, "int64", lead)]
        case Maybe():
            own = [Leaf(below(name, "present"), "bool", lead)]
        case Many():
            own, lead = [Leaf(below(name, "length"), "int64", lead)], (*lead, shape.capacity)
    return own + [leaf for inner, part in inner_shapes(shape, name) for leaf in leaves(inner, part, lead)]


@functools.lru_cache(maxsize=1 << 16, typed=True)  # asked for at every number of every state that is read
def below(name: str, part: Any) -> str:
    """The name of a part of a value, by the name of the value and the key, attribute or position of the part."""
    text = "".join(letter if letter.isalnum() else "_" for letter in str(part))
    return f"{name}_{text}".strip("_") if name else text.strip("_") or "value"
