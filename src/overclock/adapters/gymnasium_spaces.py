"""Spaces, converted to Gymnasium's and back."""

from typing import Any

import numpy as np

from overclock.env.spaces import Box, Dict, Discrete, MultiDiscrete, Space
from overclock.errors import MissingError, UsageError

try:
    from gymnasium import spaces
    from gymnasium.vector.utils import batch_space
except ImportError as error:
    raise MissingError("This adapter needs Gymnasium; run: pip install 'overclock[gymnasium]'.") from error


def to_gymnasium_space(space: Space) -> spaces.Space[Any]:
    """A space as Gymnasium describes it, with the same bounds and shape.

    Discrete spaces become int64, Gymnasium's own choice: an int32 space would refuse the int64 actions that NumPy's
    `argmax` produces, and its checker wants int64 observations.
    """
    match space:
        case Discrete():
            return spaces.Discrete(space.n)
        case MultiDiscrete():
            return spaces.MultiDiscrete(np.array(space.nvec))
        case Box():
            low, high = space.bounds()
            return spaces.Box(low, high, dtype=space.dtype.type)
        case Dict():
            return spaces.Dict({name: to_gymnasium_space(inner) for name, inner in space.spaces})
    raise UsageError(f"{space!r} has no counterpart in Gymnasium.")


def from_gymnasium_space(space: spaces.Space[Any]) -> Space:
    """The inverse of `to_gymnasium_space`, for the spaces Overclock has."""
    match space:
        case spaces.Discrete() if int(space.start) == 0:
            return Discrete(int(space.n), space.dtype)
        case spaces.MultiDiscrete() if space.nvec.ndim == 1 and not np.any(space.start):
            return MultiDiscrete(tuple(space.nvec.tolist()), space.dtype)
        case spaces.Box():
            return Box(tuple(space.low.ravel().tolist()), tuple(space.high.ravel().tolist()), space.shape, space.dtype)
        case spaces.Dict():
            return Dict({name: from_gymnasium_space(inner) for name, inner in space.spaces.items()})
    raise UsageError(f"Overclock has no counterpart of Gymnasium's {space}; use Discrete, MultiDiscrete, Box or Dict.")


def in_space(space: spaces.Space[Any], value: Any) -> Any:
    """A copy of a value (or a batch of them) in the dtypes that its Gymnasium space declares."""
    if isinstance(space, spaces.Dict):
        return {name: in_space(inner, value[name]) for name, inner in space.spaces.items()}
    return np.array(value, space.dtype)[()]  # the index makes numbers of arrays without axes


def batched(space: spaces.Space[Any], num_envs: int) -> spaces.Space[Any]:
    """The space of `num_envs` values at once, as Gymnasium's vector environments declare it."""
    return batch_space(space, num_envs)
