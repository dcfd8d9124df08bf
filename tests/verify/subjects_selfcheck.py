"""References that are not reproducible, or not sound; built inside worker processes by entry point."""

import random
import time
from typing import Any

import numpy as np

from overclock.verify.sides.subject import Observed

NAMES = ("north", "east", "south", "west", "up", "down", "in", "out")


class Reference:
    """A counter with a seeded start that ends after seven steps; `fault` says what is wrong with it."""

    def __init__(self, num_envs: int, fault: str = "") -> None:
        self.num_envs, self.fault = num_envs, fault
        self.value, self.steps = np.zeros(num_envs), np.zeros(num_envs, np.int32)
        self.generators = [np.random.default_rng(0)] * num_envs
        self.unseeded, self.hidden = np.random.default_rng(), np.zeros(num_envs)
        random.seed(5)  # a global generator, seeded once per process

    def describe(self) -> dict[str, Any]:
        return {"kind": "discrete", "n": 3}

    def reset(self, mask, seeds, draws=None):
        for lane in np.flatnonzero(mask):
            self.generators[lane] = np.random.default_rng(seeds[lane])
            if self.fault == "shared":
                random.seed(int(seeds[lane]))  # every lane seeds the one generator they all use
            self.value[lane] = self.generators[lane].uniform()
        self.steps, self.hidden = np.where(mask, 0, self.steps).astype(np.int32), np.where(mask, 0.0, self.hidden)
        return Observed({"obs": self.value.copy()}, self._state(), {})

    def step(self, actions, draws=None):
        self.value, self.steps = self.value + actions, self.steps + np.int32(1)
        self.hidden = self.hidden + actions
        third = self.steps.max() >= 3
        if third and self.fault == "clock":
            self.value = self.value + time.time() * 1e-6
        if third and self.fault == "unseeded":
            self.value = self.value + self.unseeded.uniform(size=self.num_envs)
        if third and self.fault in ("global", "shared"):
            self.value = self.value + random.random()
        if third and self.fault == "hash":
            self.value = self.value + list(set(NAMES)).index("up")  # the order of a set of strings
        noise = np.array([g.uniform() for g in self.generators]) if self.fault == "random" else None
        obs = self.value + (0.0 if noise is None else noise)
        if third and self.fault == "nan":
            obs = np.where(np.arange(self.num_envs) == 2, np.nan, obs)
        if third and self.fault == "shape":
            obs = np.stack([obs, obs], axis=1)
        if third and self.fault == "dtype":
            obs = obs.astype(np.float32)
        if self.fault == "hidden":
            obs = obs + self.hidden
        ended = self.steps >= 7
        outputs = {"obs": obs, "reward": self.value.copy(), "terminated": ended, "truncated": np.zeros_like(ended)}
        if self.fault == "rewardless" or (third and self.fault == "forgets"):
            del outputs["reward"]
        if third and self.fault == "extra":
            outputs["bonus"] = self.value.copy()
        if self.fault == "int flags":
            outputs["terminated"] = ended.astype(np.int32)
        if self.fault == "batchless":
            outputs["reward"] = np.array(1.0)
        return Observed(outputs, self._state(), {} if noise is None else {"noise": noise})

    def set_state(self, state):
        if self.fault == "fixed":
            raise NotImplementedError("it cannot be put into a state")
        if self.fault != "deaf":
            self.value = state["value"].copy()
        self.steps = state["steps"].copy()

    def _state(self):
        return {"value": self.value.copy(), "steps": self.steps.copy()}
