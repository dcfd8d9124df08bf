"""What the traps have in common: an environment of two methods, `begin` and `play`; what `play` gives is observed."""

import gymnasium
import numpy as np
from gymnasium import spaces


class Trap(gymnasium.Env):
    """`begin` sets up an episode; `play` makes a step and returns a number that shows what happened."""

    action_space = spaces.Discrete(4)
    observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    refused = ""  # a part of the reason, where a case is outside the translator's scope

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.t = 0
        self.shown = 0.0
        self.begin()
        return np.array([self.t, self.shown]), {}

    def step(self, action):
        self.t += 1
        self.shown = float(self.play(action))
        return np.array([self.t, self.shown]), 0.0, False, False, {}

    def begin(self):
        pass

    def play(self, action):
        raise NotImplementedError
