"""Small references for the tests of the reference's side: several choices, several rewards, nested observations."""

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Tuple


class Fleet(gymnasium.Env):
    """Boats that are moved one by one; what happened to each is a reward of its own."""

    def __init__(self):
        self.action_space = MultiDiscrete([3, 2])
        self.observation_space = Dict(
            boats=Tuple((Box(-9.0, 9.0, (2,), np.float32), Discrete(4))), sails=MultiDiscrete([2, 2])
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.boats = [float(self.np_random.uniform(-1.0, 1.0)) for _ in range(2)]
        self.sails = np.zeros(2, np.int64)
        return self._seen(), {}

    def step(self, action):
        self.boats[0] += float(action[0]) - 1.0
        self.sails[1] = action[1]
        return self._seen(), np.array([self.boats[0], -1.0], np.float32), False, False, {}

    def _seen(self):
        return {"boats": (np.array(self.boats, np.float32), len(self.boats)), "sails": self.sails}
