"""Clocks that decide by a sum of floats, in float64 and as float32 programs; they run in the test's own process."""

from typing import Any

import numpy as np

from overclock.verify.contract import OUTPUTS, Contract, Field, Twin
from overclock.verify.sides.subject import Observed, SubjectSpec


class Clock:
    """Adds `step` to `t` in every step and ends when `ends` says so; `dtype` is what it computes in.

    - `rate`: the step is so many times as large after action 1; `noise`: the reset draws a number that `t` starts from;
    - `pays`: it rewards 2.5 when `t` reaches this, and begins anew; every other step costs 0.1;
    - `equal`: it ends where `t` is equal to `limit`; `down`: it counts down from `limit` to zero;
    - `lamp`: the observation shows whether `t` has reached this;
    - `skews`: a share by which its rewards are larger, which vary from step to step;
    - `flips`: episodes whose seed is a multiple of this end a step late; `wrong_from`: they end at that step.
    """

    def __init__(self, num_envs: int, **options: Any) -> None:
        self.num_envs, self.options = num_envs, options
        self.type: Any = np.dtype(options.get("dtype", "float64")).type
        self.t, self.steps = np.zeros(num_envs, self.type), np.zeros(num_envs, np.int32)
        self.seeds, self.total = np.zeros(num_envs, np.int64), np.zeros(num_envs, self.type)

    def describe(self) -> dict[str, Any]:
        return {"kind": "discrete", "n": 2}

    def reset(self, mask, seeds, draws=None):
        start = np.array([np.random.default_rng(seed).uniform(0.0, 0.05) for seed in seeds])
        start = start if self.options.get("noise") else 0.0 * start
        first = self.options["limit"] if self.options.get("down") else start
        self.t = np.where(mask, first, self.t).astype(self.type)
        self.steps = np.where(mask, 0, self.steps).astype(np.int32)
        self.seeds = np.where(mask, seeds, self.seeds)
        return Observed({"obs": self._seen()}, self._state(), {"start": start})

    def step(self, actions, draws=None):
        step, limit = self.type(self.options["step"]), self.type(self.options["limit"])
        grown = np.where(actions == 1, self.options.get("rate", 1.0), 1.0).astype(self.type) * step
        self.t = (self.t - grown if self.options.get("down") else self.t + grown).astype(self.type)
        self.steps = self.steps + np.int32(1)
        if self.options.get("equal"):
            over = self.t == limit
        elif self.options.get("down"):
            over = self.t <= 0.0
        else:
            over = self.t >= limit
        reward: Any = np.full(self.num_envs, -0.1)
        if "skews" in self.options:
            reward = (1.0 + np.sin(17.0 * self.seeds + self.steps) ** 2) * (1.0 + self.options["skews"])
        if pays := self.options.get("pays"):
            paid = self.t >= self.type(pays)
            reward, self.t = np.where(paid, 2.5, reward), np.where(paid, 0.0, self.t).astype(self.type)
            over = np.zeros(self.num_envs, np.bool_)
        if every := self.options.get("flips"):
            over &= (self.seeds % every != 0) | (self.steps > self.options["at"])
        truncated = self.steps >= self.options.get("length", 100)
        outputs = {"obs": self._seen(), "reward": reward, "terminated": over, "truncated": truncated}
        return Observed(outputs, self._state(), {})

    def _seen(self):
        lit = self.t >= self.type(self.options.get("lamp", np.inf))
        return np.stack([self.t, lit.astype(self.type)], axis=1)

    def set_state(self, state):
        self.t, self.steps = state["t"].astype(self.type), state["steps"].astype(np.int32)

    def _state(self):
        return {"t": self.t.copy(), "steps": self.steps.copy()}


def clocks(performance: dict[str, Any] | None = None, horizon: int | None = 16, **reference: Any) -> Twin:
    """A clock and the same in float32, changed by `performance`; the tolerances are those of a project."""
    close = {"per_step": 2e-5, "free_running": 5e-4, "reason": "float32"}
    observed = Field("obs", **close, whole=(False, True))
    fields = (observed, Field("state.t", **close), *map(Field, OUTPUTS[2:]), Field("state.steps"))
    reward = Field("reward", per_step=1e-6, free_running=1e-6, reason="float32")
    agreed = Contract((*fields, reward), free_running_steps=horizon, free_running_reason="" if horizon is None else "x")
    ours = {**reference, "dtype": "float32", **(performance or {})}
    specs = (SubjectSpec("verify.clocks:Clock", tuple(options.items())) for options in (reference, ours))
    return Twin("clock", *specs, {"float32": agreed})
