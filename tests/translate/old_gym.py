"""Environments of the old Gym (four values from `step`, one from `reset`, no seeds) as Gymnasium's."""

import random

import gymnasium
import numpy as np

from overclock.env.registry import load


class OldGym(gymnasium.Env):
    """`game` is 'package.module:Class', an environment of gym 0.21 or before."""

    def __init__(self, game: str, arguments: dict | None = None) -> None:
        self.game = load(game)(**(arguments or {}))
        self.action_space = converted(self.game.action_space)
        self.observation_space = converted(self.game.observation_space)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        if seed is not None:  # most of them draw from the modules
            np.random.seed(seed)
            random.seed(seed)
        return self.game.reset(), {}

    def step(self, action):
        obs, reward, done, info = self.game.step(action)
        return obs, reward, done, False, info


def converted(space) -> gymnasium.Space:
    """The same space as one of Gymnasium's."""
    spaces = gymnasium.spaces
    match type(space).__name__:
        case "Discrete":
            return spaces.Discrete(int(space.n))
        case "Box":
            return spaces.Box(space.low, space.high, space.shape, space.dtype)
        case "MultiDiscrete":
            return spaces.MultiDiscrete(space.nvec)
        case "MultiBinary":
            return spaces.MultiBinary(space.n)
        case "Tuple":
            return spaces.Tuple([converted(one) for one in space.spaces])
        case "Dict":
            return spaces.Dict({key: converted(one) for key, one in space.spaces.items()})
    raise TypeError(f"there is no space like {space} in Gymnasium")
