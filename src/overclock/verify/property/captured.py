"""Values of a running program as plain data: deep copies that nothing can change later, their hash and their kind.

An environment may change an array in place right after it was drawn, returned or passed on, so a recording that kept
references would show what the program did next instead of what happened.
"""

import collections
import enum
import hashlib
import math
import struct
import types
from collections.abc import Collection
from typing import Any

import numpy as np

SCALARS = (bool, int, float, complex, str, bytes, np.generic)
PLAIN = frozenset((type(None), bool, int, float, str, np.float64, np.float32, np.int64, np.int32, np.bool_))
SMALL = 8  # integers up to this size tell kinds of calls apart (actions, modes, flags); larger ones are quantities


class Opaque:
    """Stands for something that is not data: a function, a window, a random generator."""

    def __repr__(self) -> str:
        return "OPAQUE"


OPAQUE = Opaque()
NOT_DATA = (
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type, types.GeneratorType,
    np.random.Generator, np.random.BitGenerator, np.random.RandomState, np.dtype,
)  # fmt: skip


def captured(value: Any, depth: int = 0) -> Any:
    """A deep copy made of scalars, arrays, lists, tuples and dicts; objects up to `depth` deep become dicts."""
    return _captured(value, depth, ())


def captured_attributes(instance: Any, depth: int = 0, names: Collection[str] | None = None) -> dict[str, Any]:
    """The attributes of an object that are data: all of them, or those with these names."""
    return _attributes(instance, depth, (id(instance),), names)


def _captured(value: Any, depth: int, inside: tuple[int, ...]) -> Any:
    if type(value) in PLAIN:  # nearly every value; the rest of the order below matters, this only saves time
        return value
    if isinstance(value, SCALARS):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, enum.Enum):
        return _captured(value.value, depth, inside)
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.copy()
    if isinstance(value, NOT_DATA) or id(value) in inside:
        return OPAQUE
    inside = (*inside, id(value))
    if isinstance(value, np.ndarray):
        return [_captured(item, depth, inside) for item in value.tolist()]
    if isinstance(value, dict):
        return {str(key): _captured(item, depth, inside) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple(_captured(item, depth, inside) for item in value)
    if isinstance(value, list | collections.deque):
        return [_captured(item, depth, inside) for item in value]
    if isinstance(value, set | frozenset):
        return sorted((_captured(item, depth, inside) for item in value), key=digest)
    if hasattr(value, "__array__"):
        return np.array(value)
    return _attributes(value, depth - 1, inside) if depth > 0 else OPAQUE


def _attributes(
    instance: Any, depth: int, inside: tuple[int, ...], names: Collection[str] | None = None
) -> dict[str, Any]:
    found = dict(getattr(instance, "__dict__", {}))
    for cls in type(instance).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(instance, name):
                found.setdefault(name, getattr(instance, name))
    wanted = found.items() if names is None else [(name, found[name]) for name in names if name in found]
    copies = ((str(name), _captured(value, depth, inside)) for name, value in wanted)
    return {name: value for name, value in copies if value is not OPAQUE}


def digest(value: Any) -> bytes:
    """A hash of captured data by content: type, shape and every bit count, so 0.0 and -0.0 differ."""
    hashing = hashlib.blake2b(digest_size=16)
    _feed(hashing, value)
    return hashing.digest()


def _feed(hashing: Any, value: Any) -> None:
    if isinstance(value, np.ndarray):
        hashing.update(f"a{value.dtype.str}{value.shape}".encode())
        hashing.update(np.ascontiguousarray(value).tobytes())
    elif isinstance(value, dict):
        hashing.update(b"{%d" % len(value))
        for key in sorted(value):
            hashing.update(f"{len(key)}:{key}".encode())
            _feed(hashing, value[key])
    elif isinstance(value, list | tuple):
        hashing.update(b"[%d" % len(value))
        for item in value:
            _feed(hashing, item)
    elif isinstance(value, float):
        hashing.update(b"f" + struct.pack("<d", value))
    else:
        text = repr(value).encode()
        hashing.update(b"%d:%s:" % (len(text), type(value).__name__.encode()) + text)


def kind(value: Any) -> Any:
    """What sort of value this is, coarsely: calls of equal kind very likely took the same branches.

    Flags, texts, small integers and None are kept, floats become their sign, arrays their shape and whether all of
    it is finite.
    """
    if value is None or isinstance(value, bool | str | bytes | np.bool_):
        return value
    if isinstance(value, int | np.integer):
        return int(value) if abs(int(value)) <= SMALL else math.copysign(math.inf, int(value))
    if isinstance(value, float | np.floating):
        return str(np.sign(value)) if math.isfinite(value) else str(value)  # text, because NaN is unequal to itself
    if isinstance(value, np.ndarray):
        finite = bool(np.isfinite(value).all()) if value.dtype.kind in "fc" else True
        return value.shape, finite, kind(value.item()) if value.ndim == 0 else None
    if isinstance(value, dict):
        return tuple((key, kind(value[key])) for key in sorted(value))
    if isinstance(value, list | tuple):
        return tuple(kind(item) for item in value)
    return type(value).__name__
