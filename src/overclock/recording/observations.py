"""Observations and actions that are tuples, dicts or single numbers, as one array: what both sides of a twin show.

The order is said in one place, `parts`: a Tuple item by item, a Dict in the key order of its space, each part in C
order. A space without parts keeps its own shape; a Discrete alone is one whole number.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np

from overclock.errors import MissingError, UsageError

try:
    from gymnasium import spaces
except ImportError as error:
    raise MissingError("A Python reference is run with Gymnasium: pip install 'overclock[gymnasium]'.") from error

Key = str | int
NUMBERS = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


@dataclasses.dataclass(frozen=True)
class FlatSpace:
    """The space of the flat array: `n` where it is one of n choices from zero, otherwise bounds."""

    shape: tuple[int, ...]
    dtype: np.dtype
    low: np.ndarray
    high: np.ndarray
    n: int = 0


def parts(space: spaces.Space[Any]) -> list[tuple[tuple[Key, ...], spaces.Space[Any]]]:
    """The spaces of numbers inside a space, in the order of the flat array, each with the path to it."""
    if isinstance(space, NUMBERS):
        return [((), space)]
    if isinstance(space, spaces.Tuple):
        inner: list[tuple[Key, Any]] = list(enumerate(space.spaces))
    elif isinstance(space, spaces.Dict):
        inner = list(space.spaces.items())
    else:
        raise UsageError(f"{space} does not hold a fixed number of numbers, so it cannot be one array.")
    return [((key, *path), part) for key, one in inner for path, part in parts(one)]


def flatten(space: spaces.Space[Any], value: Any) -> np.ndarray:
    """A value of the space as one array, which is a copy."""
    if isinstance(space, spaces.Box):
        return np.array(value)
    dtype = _dtype(space)
    pieces = [_cast(_at(value, path), part, dtype, path) for path, part in parts(space)]
    return pieces[0] if isinstance(space, NUMBERS) else np.concatenate([piece.reshape(-1) for piece in pieces])


def unflatten(space: spaces.Space[Any], flat: np.ndarray) -> Any:
    """The value of a space from its flat array, as an action is given to an instance."""
    if isinstance(space, spaces.Discrete):
        return int(flat)
    if isinstance(space, NUMBERS):
        return np.array(flat, space.dtype)
    found: dict[tuple[Key, ...], Any] = {}
    place = 0
    for path, part in parts(space):
        size = int(np.prod(part.shape or ()))
        piece = np.asarray(flat[place : place + size]).reshape(part.shape or ())
        found[path] = unflatten(part, piece)
        place += size
    return _nested(space, found, ())


def flat_space(space: spaces.Space[Any]) -> FlatSpace:
    """Shape, dtype and bounds of what `flatten` gives."""
    dtype = _dtype(space)
    if isinstance(space, spaces.Discrete) and space.start == 0:
        zero = np.zeros((), dtype)
        return FlatSpace((), dtype, zero, zero, int(space.n))
    pieces = [_bounds(part) for _, part in parts(space)]
    if isinstance(space, NUMBERS):
        low, high = pieces[0]
    else:
        low, high = (np.concatenate([np.reshape(pair[side], -1) for pair in pieces]) for side in range(2))
    return FlatSpace(low.shape, dtype, low.astype(dtype), high.astype(dtype))


def _dtype(space: spaces.Space[Any]) -> np.dtype:
    found = {
        np.dtype(np.int64) if isinstance(part, spaces.Discrete) else np.dtype(part.dtype) for _, part in parts(space)
    }
    return np.result_type(*found) if found else np.dtype(np.float64)


def _bounds(space: spaces.Space[Any]) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(space, spaces.Box):
        return space.low, space.high
    if isinstance(space, spaces.Discrete):
        low = np.int64(space.start)
        return np.asarray(low), np.asarray(low + np.int64(space.n) - 1)
    if isinstance(space, spaces.MultiDiscrete):
        return np.asarray(space.start), np.asarray(space.start + space.nvec - 1)
    shape = tuple(space.shape or ())
    return np.zeros(shape, space.dtype), np.ones(shape, space.dtype)


def _at(value: Any, path: tuple[Key, ...]) -> Any:
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError) as error:
            raise UsageError(f"An observation has no part {key!r}, which its space has.") from error
    return value


def _cast(value: Any, part: spaces.Space[Any], dtype: np.dtype, path: tuple[Key, ...]) -> np.ndarray:
    """One part in the dtype of the whole array; UsageError for a part that would lose something by it."""
    given = np.asarray(value)
    cast = given.astype(dtype)
    wanted = tuple(part.shape or ())
    if given.shape != wanted or (dtype.kind in "biu" and not np.array_equal(cast, given)):
        where = f" at {list(path)}" if path else ""
        raise UsageError(f"The observation{where} is {value!r:.60}, which {part} does not hold.")
    return cast


def _nested(space: spaces.Space[Any], found: Mapping[tuple[Key, ...], Any], path: tuple[Key, ...]) -> Any:
    if isinstance(space, spaces.Tuple):
        return tuple(_nested(inner, found, (*path, place)) for place, inner in enumerate(space.spaces))
    if isinstance(space, spaces.Dict):
        return {key: _nested(inner, found, (*path, key)) for key, inner in space.spaces.items()}
    return found[path]
