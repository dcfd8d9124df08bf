"""Gymnasium's spaces in plain words and numbers, for files and prompts."""

from typing import Any

import numpy as np

from overclock.recipe.survey.live.loading import gymnasium


def describe_space(space: Any) -> dict[str, Any]:
    """A space as a plain dict: its kind and what decides it; bounds that are all alike become one number."""
    spaces = gymnasium.spaces
    match space:
        case spaces.Discrete():
            return {"kind": "discrete", "n": int(space.n), "start": int(space.start)}
        case spaces.MultiDiscrete():
            return {"kind": "multidiscrete", "nvec": space.nvec.tolist()}
        case spaces.MultiBinary():
            return {"kind": "multibinary", "shape": list(space.shape)}
        case spaces.Box():
            bounds = {"low": _bound(space.low), "high": _bound(space.high)}
            return {"kind": "box", "shape": list(space.shape), "dtype": str(space.dtype), **bounds}
        case spaces.Tuple():
            return {"kind": "tuple", "spaces": [describe_space(inner) for inner in space.spaces]}
        case spaces.Dict():
            return {"kind": "dict", "spaces": {name: describe_space(inner) for name, inner in space.spaces.items()}}
    return {"kind": "other", "text": repr(space)}


def _bound(values: np.ndarray) -> Any:
    flat = values.ravel()
    return flat[0].item() if flat.size and (flat == flat[0]).all() else values.tolist()
