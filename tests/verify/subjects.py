"""Subjects with known faults, built inside worker processes by entry point."""

import os
import subprocess
import sys
import time
from typing import Any

import numpy as np

from overclock.envs.cartpole import env as cartpole
from overclock.verify.performance import JaxSubject


class CountingSubject:
    """A little world of its own: counts steps and ends after five; faults are switched on by options."""

    def __init__(self, num_envs: int, fault: str = "", pid_file: str = "") -> None:
        self.num_envs, self.fault, self.pid_file = num_envs, fault, pid_file
        self.count = np.zeros(num_envs, np.int32)

    def describe(self) -> dict[str, Any]:
        return {"kind": "discrete", "n": 2}

    def reset(self, mask, seeds, draws=None):
        self.count = np.where(mask, 0, self.count)
        return self._shown()

    def step(self, actions, draws=None):
        self.count += 1
        if self.count.max() == 3:
            if self.fault == "crash":
                os._exit(7)
            if self.fault == "raise":
                raise ArithmeticError("the reference lost its way")
            if self.fault == "print":
                print("a careless line on stdout")  # noqa: T201
            if self.fault == "hang":
                child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
                with open(self.pid_file, "w") as file:
                    file.write(str(child.pid))
                time.sleep(600)
        return self._shown()

    def set_state(self, state):
        self.count = state["steps"].copy()

    def _shown(self):
        from overclock.verify.subject import Observed

        value = self.count.astype(np.float64)
        if self.fault == "nan" and self.count.max() >= 3:
            value = value * np.nan
        if self.fault == "shape" and self.count.max() >= 3:
            value = np.stack([value, value], axis=1)
        ended = self.count >= 5
        outputs = {"obs": value, "reward": value, "terminated": ended, "truncated": np.zeros_like(ended)}
        return Observed(outputs, {"steps": self.count.copy()}, {})


def cartpole_with(num_envs: int, change: str) -> JaxSubject:
    """The performance side of CartPole with one planted mistake."""
    cls = cartpole.CartPole
    if change == "angle limit":
        plain = cls.default_params
        cls.default_params = lambda self: plain(self).replace(theta_threshold_radians=0.209)
    if change == "late truncation":
        plain = cls.default_params
        cls.default_params = lambda self: plain(self).replace(max_steps=501)
    if change == "gravity":
        plain = cls.default_params
        cls.default_params = lambda self: plain(self).replace(gravity=9.81)
    if change == "ignores the draw":
        cls.init = lambda self, draw, params: draw.replace(x=draw.x * 0)
    return JaxSubject(num_envs, "cartpole-v1")
