"""A logistic map, whose errors double at every step; it runs in the test's own process."""

from typing import Any

import numpy as np

from overclock.verify.contract import OUTPUTS, Contract, Envelope, Field, Twin
from overclock.verify.sides.subject import Observed, SubjectSpec

RATE = 3.99
LENGTH = 60


class Logistic:
    """`other`: computes the same in another order; `kick`: how much it adds in step `kick_at`; `short`: ends early.

    `guess` is what a reference knows beside what is compared, as a solver does that starts from its last answer.
    """

    def __init__(self, num_envs: int, **options: Any) -> None:
        self.num_envs, self.options = num_envs, options
        self.x, self.steps = np.zeros(num_envs), np.zeros(num_envs, np.int32)
        self.guess, self.put_back = np.zeros(num_envs), []

    def describe(self) -> dict[str, Any]:
        return {"kind": "discrete", "n": 2}

    def reset(self, mask, seeds, draws=None):
        drawn = np.array([np.random.default_rng(seed).uniform(0.1, 0.9) for seed in seeds])
        self.start = drawn if draws is None else draws["start"]
        self.x = np.where(mask, self.start, self.x)
        self.steps = np.where(mask, 0, self.steps).astype(np.int32)
        self.guess = np.where(mask, 1.0, self.guess)
        return Observed({"obs": self.x.copy()}, self._state(), {"start": self.start})

    def step(self, actions, draws=None):
        x, rate = self.x, RATE - 0.05 * actions
        self.x = rate * x - rate * x * x if "other" in self.options else rate * x * (1.0 - x)
        self.steps, self.guess = self.steps + np.int32(1), self.guess + 1.0
        self.x = self.x + np.where(self.steps == self.options.get("kick_at", 5), self.options.get("kick", 0.0), 0.0)
        ends = LENGTH - (self.start * 50).astype(np.int32) if "short" in self.options else LENGTH
        never, ended = np.zeros(self.num_envs, np.bool_), self.steps >= ends
        outputs = {"obs": self.x.copy(), "reward": np.zeros(self.num_envs), "terminated": never, "truncated": ended}
        return Observed(outputs, self._state(), {})

    def set_state(self, state):
        self.x, self.steps = state["x"].copy(), state["steps"].copy()
        self.put_back.append(state)
        self.guess = state["guess"].copy()

    def _state(self):
        return {"x": self.x.copy(), "steps": self.steps, "guess": self.guess}


ENVELOPE = Envelope("state.x", ("x",), 100.0, "it rounds at every step")


def chaotic(reference: dict[str, Any], performance: dict[str, Any], per_step: float = 1e-14) -> Twin:
    close = {"per_step": per_step, "free_running": 1.0, "reason": "rounding"}
    fields = [Field(name, **(close if name == "obs" else {})) for name in OUTPUTS]
    agreed = Contract((*fields, Field("state.x", **close, draws=("start",))), envelope=ENVELOPE)
    specs = (SubjectSpec("verify.chaos:Logistic", tuple(options.items())) for options in (reference, performance))
    return Twin("logistic", *specs, {"float64": agreed}, lanes=32)
