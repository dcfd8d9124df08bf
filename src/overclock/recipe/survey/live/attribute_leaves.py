"""Everything that an instance holds, leaf by leaf: numbers and arrays by path, and what is neither by what it is."""

import collections
import dataclasses
import enum
import hashlib
import pickle
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from overclock.recipe.survey.live.paths import attribute, item
from overclock.verify.property.captured import NOT_DATA

DEEPEST = 4  # objects inside objects
MOST_ITEMS = 64  # items of a list that are followed one by one
MOST_LEAVES = 1000  # of one attribute; a table with more is constant in every environment worth its name
# Parts of the frame around an environment, and what only windows need.
FRAME = {"np_random", "_np_random", "_np_random_seed", "spec", "metadata", "render_mode", "_cached_spec"}
NOT_STATE = ("gymnasium.", "pygame", "matplotlib", "logging", "threading", "PIL")
SHARED = "an attribute of its class, which all instances share"
NOT_THEIR_OWN = ("gymnasium.", "builtins.", "typing.", "abc.", "enum.", "collections.", "numpy.")  # without rules


@dataclasses.dataclass(frozen=True)
class NotNumeric:
    """A value that is no number: what it is, and a text that changes when the value does."""

    what: str
    text: str


@dataclasses.dataclass(frozen=True)
class Container:
    """A list, dict or object whose items have leaves of their own; its length or keys may change."""

    what: str
    shape: tuple[Any, ...]


Leaf = np.ndarray | NotNumeric | Container


def attributes(instance: Any) -> dict[str, Any]:
    """The data attributes of an object, by name, without generators, spaces, functions and windows."""
    found = dict(getattr(instance, "__dict__", {}))
    for cls in type(instance).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(instance, name):
                found.setdefault(name, getattr(instance, name))
    return {name: value for name, value in found.items() if name not in FRAME and not _ignored(value)}


def shared(instance: Any) -> dict[str, Any]:
    """The data that an object has from its class alone, by name."""
    found: dict[str, Any] = {}
    for cls in type(instance).__mro__:
        if not f"{cls.__module__}.".startswith(NOT_THEIR_OWN):
            found = {**vars(cls), **found}
    own = getattr(instance, "__dict__", {})
    return {
        name: value
        for name, value in found.items()
        if name not in own and name not in FRAME and not name.startswith("__") and not _ignored(value)
        if not hasattr(value, "__get__") and not name.startswith("_abc_")
    }


class Leaves:
    """Lists the leaves of one instance again and again; what has not changed is not walked again."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[bytes, dict[str, Leaf]]] = {}  # by attribute

    def of(self, instance: Any) -> dict[str, Leaf]:
        found: dict[str, Leaf] = {}
        for name, value in attributes(instance).items():
            array = number(value) if isinstance(value, bool | int | float | np.generic | np.ndarray) else None
            found.update({name: array} if array is not None else self._of_attribute(name, value, instance))
        return {**_of_class("", instance), **found}

    def _of_attribute(self, name: str, value: Any, instance: Any) -> dict[str, Leaf]:
        fingerprint = _fingerprint(value)
        before, leaves = self._known.get(name, (b"", {}))
        if not fingerprint or fingerprint != before:
            leaves = _walk(name, value, (id(instance),), fingerprint)
            self._known[name] = (fingerprint, leaves)
        return leaves


def _fingerprint(value: Any) -> bytes:
    """A hash that is equal only for equal values; empty where the value cannot be pickled."""
    try:
        return hashlib.blake2b(pickle.dumps(value), digest_size=16).digest()
    except Exception:  # whatever refuses to be pickled may refuse in its own way
        return b""


def number(value: Any) -> np.ndarray | None:
    """A number, an array of numbers or a rectangular list of them as a new array; None for anything else."""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, bool | int | float | np.bool_ | np.integer | np.floating):
        # An int beyond int64 has no array.
        return np.array(value) if not isinstance(value, int) or -(2**63) <= value < 2**63 else None
    if isinstance(value, np.ndarray):
        return value.copy() if value.dtype.kind in "biuf" else None
    if isinstance(value, list | tuple | collections.deque) and len(value) and not hasattr(value, "_fields"):
        return _rectangular(list(value))
    return None


def _rectangular(items: list[Any]) -> np.ndarray | None:
    rows = [number(one) for one in items]
    known = [row for row in rows if row is not None]
    if len(known) < len(rows) or len({row.shape for row in known}) > 1:
        return None
    # A row of flags stays flags; flags beside numbers are told apart by their place, not merged with them.
    return np.array(known) if len({row.dtype.kind == "b" for row in known}) == 1 else None


def _walk(name: str, value: Any, inside: tuple[int, ...], fingerprint: bytes) -> dict[str, Leaf]:
    found: dict[str, Leaf] = {}
    for path, leaf in _leaves(name, value, DEEPEST, inside):
        found[path] = leaf
        if len(found) > MOST_LEAVES:
            return {name: NotNumeric("a table too large to follow number by number", fingerprint.hex())}
    return found


def _leaves(path: str, value: Any, depth: int, inside: tuple[int, ...]) -> Iterator[tuple[str, Leaf]]:
    array = number(value)
    if array is not None:
        yield path, array
        return
    odd = _odd(value)
    if odd is not None:
        yield path, odd
        return
    if id(value) in inside:  # a way back to something above
        return
    inside = (*inside, id(value))
    if isinstance(value, dict):
        if not all(isinstance(key, str | int) and '"' not in str(key) for key in value):
            yield path, NotNumeric("a dict whose keys are neither texts nor integers", repr(sorted(map(repr, value))))
            return
        yield path, Container("dict", tuple(sorted(value, key=str)))
        parts = [(item(path, key), value[key]) for key in sorted(value, key=str)]
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        yield path, Container(type(value).__name__, ())
        parts = [(attribute(path, name), getattr(value, name)) for name in value._fields]  # pyright: ignore[reportAttributeAccessIssue]
    elif isinstance(value, list | tuple | collections.deque):
        yield path, Container("list", (len(value),))
        parts = [(item(path, place), one) for place, one in enumerate(value)][:MOST_ITEMS]
    elif depth == 0:
        yield path, NotNumeric(f"an object ({type(value).__name__}) too deep inside others", "")
        return
    else:
        yield path, Container(type(value).__name__, ())
        yield from _of_class(path, value).items()
        parts = [(attribute(path, name), one) for name, one in attributes(value).items()]
        depth -= 1
    for inner, one in parts:
        if not _ignored(one):
            yield from _leaves(inner, one, depth, inside)


def _of_class(path: str, value: Any) -> dict[str, Leaf]:
    """What is kept in the class of an object: constant in most, and no array can stand for it where it is not."""
    found = shared(value)
    return {attribute(path, name): NotNumeric(SHARED, _fingerprint(one).hex()) for name, one in found.items()}


def _ignored(value: Any) -> bool:
    """Not data, or a part of the frame; generators that are recorded are not state either."""
    if isinstance(value, np.random.RandomState | random.Random):
        return False
    return isinstance(value, NOT_DATA) or callable(value) or type(value).__module__.startswith(NOT_STATE)


def _odd(value: Any) -> NotNumeric | None:
    if value is None:
        return NotNumeric("None", "")
    if isinstance(value, np.random.RandomState | random.Random):
        return NotNumeric("a random generator that is not recorded", "")
    if isinstance(value, str | bytes | bytearray):
        return NotNumeric("a text" if isinstance(value, str) else "bytes", repr(value))
    if isinstance(value, int):
        return NotNumeric("an integer beyond 64 bits", str(value))
    if isinstance(value, set | frozenset):
        return NotNumeric("a set", repr(sorted(map(repr, value))))
    if isinstance(value, np.ndarray):
        return NotNumeric(f"an array of {value.dtype}", repr(value.tolist()))
    return None
