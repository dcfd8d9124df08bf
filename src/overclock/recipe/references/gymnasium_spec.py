"""How references are made: by a Gymnasium spec that holds the constructor's arguments.

`gymnasium.make` takes some names for itself (`max_episode_steps`, `vectorization_mode`); a constructor that has such a
parameter would never get it.
"""

import contextlib
import copy
from collections.abc import Mapping
from typing import Any

import gymnasium
from gymnasium.envs.registration import EnvSpec


def spec_of(env_id: str, arguments: Mapping[str, Any], max_steps: int | None = None) -> EnvSpec:
    """An id's spec with these arguments; `max_steps` replaces its time limit."""
    spec = copy.deepcopy(gymnasium.spec(env_id))
    spec.kwargs.update(arguments)
    spec.max_episode_steps = max_steps or spec.max_episode_steps
    return spec


def close(env: Any) -> None:
    """Close an instance that is not needed any more; one that cannot be closed is left to itself."""
    with contextlib.suppress(Exception):
        env.close()
