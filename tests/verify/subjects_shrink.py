"""A small world without JAX whose performance side can have known bugs; built in worker processes by entry point.

Action 0 waits, 1 takes a key, 2 warms up by 0.3, 3 opens the door and is paid one per key. Twelve steps are the limit.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

from overclock.verify.contract import Contract, Field, Twin
from overclock.verify.sides.patched import Patch
from overclock.verify.sides.subject import Observed, SubjectSpec

LIMIT = 12
BUGS = ("door", "drift", "noise", "start", "obs", "both")


class House:
    """`options` switch on what a test needs: random, replays, masked, fragile, fixed (no set_state), crash, other."""

    def __init__(self, num_envs: int, options: str = "", patches: list[dict[str, str]] | None = None) -> None:
        self.num_envs, self.options = num_envs, options.split()
        self.bug = patches[0]["new"] if patches else os.environ.get("HOUSE_BUG", "") if "performance" in options else ""
        self.keys, self.steps = np.zeros(num_envs, np.int32), np.zeros(num_envs, np.int32)
        self.warmth = np.zeros(num_envs)
        self.drawn: dict[str, np.ndarray] = {"start": np.zeros(num_envs)}
        self.generators = [np.random.default_rng(0)] * num_envs

    def describe(self) -> dict[str, Any]:
        return {"kind": "discrete", "n": 4}

    def reset(self, mask, seeds, draws=None):
        for lane in np.flatnonzero(mask):
            self.generators[lane] = np.random.default_rng(seeds[lane])
            given = draws is not None and ("replays" in self.options or "performance" in self.options)
            drawn = self.generators[lane].uniform(0.1, 1.0)
            self.drawn["start"][lane] = draws["start"][lane] if given else drawn
        self.keys, self.steps = np.where(mask, 0, self.keys), np.where(mask, 0, self.steps).astype(np.int32)
        start = self.drawn["start"] + (0.25 if "other" in self.options else 0.0)
        self.warmth = np.where(mask, start * (0.5 if self.bug == "start" else 1.0), self.warmth)
        return Observed(self._seen(), self._state(), {"start": self.drawn["start"].copy()})

    def step(self, actions, draws=None):
        if (self.steps >= LIMIT).any():
            raise RuntimeError("stepped beyond the end")
        if "fragile" in self.options and (self.warmth == 0.0).any():
            raise ArithmeticError("too cold")
        if "masked" in self.options and not np.take_along_axis(self._seen()["action_mask"], actions[:, None], 1).all():
            raise ValueError("an illegal action")
        noise = np.zeros(self.num_envs)
        if "random" in self.options:
            given = draws is not None and ("replays" in self.options or "performance" in self.options)
            noise = draws["noise"] if given else np.array([g.uniform(-0.1, 0.1) for g in self.generators])
        self.keys = self.keys + (actions == 1)
        self.warmth = self.warmth + np.where(actions == 2, 0.3 + (1e-4 if self.bug == "drift" else 0.0), 0.0)
        self.warmth = self.warmth + np.where((noise > 0) & (self.bug == "noise"), 0.0, noise)
        self.steps = self.steps + np.int32(1)
        many = (self.keys >= 2) | (self.keys == 0)
        if self.bug == "both":  # two bugs: the door with many keys, and warming up before the first key
            many = self.keys >= 2
            self.warmth = self.warmth + np.where((actions == 2) & (self.keys == 0), 0.5, 0.0)
        reward = np.where(actions == 3, self.keys + (many & (self.bug in ("door", "both"))), 0).astype(np.float64)
        ended = np.zeros(self.num_envs, np.bool_)
        outputs = {**self._seen(), "reward": reward, "terminated": ended, "truncated": self.steps >= LIMIT}
        return Observed(outputs, self._state(), {"noise": noise} if "random" in self.options else {})

    def set_state(self, state):
        if "fixed" in self.options:
            raise NotImplementedError("this house cannot be rearranged")
        self.keys, self.warmth, self.steps = (state[name].copy() for name in ("keys", "warmth", "steps"))

    def _seen(self):
        value = np.stack([self.keys, self.warmth], axis=1)
        if self.bug == "obs":
            value = np.where(self.keys[:, None] >= 1, np.nan, value)
        mask = np.stack([np.ones_like(self.keys), *[self.keys < 5] * 2, self.keys >= 1], axis=1).astype(np.bool_)
        return {"obs": value, **({"action_mask": mask} if "masked" in self.options else {})}

    def _state(self):
        return {"keys": self.keys.copy(), "warmth": self.warmth.copy(), "steps": self.steps.copy()}


CONTRACT = Contract(
    fields=(
        Field("state.keys"),
        Field("state.warmth", per_step=2e-4, free_running=6e-4, reason="a thermometer"),
        Field("obs", per_step=2e-4, free_running=6e-4, reason="a thermometer"),
        Field("reward"),
        Field("terminated"),
        Field("truncated"),
    )
)


def twin(options: str = "", reference: str = "") -> Twin:
    """Both sides with the same options, and further ones for the reference."""

    def side(more: str) -> SubjectSpec:
        environment = (("PYTHONPATH", str(Path(__file__).parents[1])),)
        return SubjectSpec("verify.subjects_shrink:House", (("options", f"{options} {more}"),), environment)

    return Twin(
        name="verify.subjects_shrink:twin",
        reference=side(reference),
        performance=side("performance"),
        contracts={"float64": CONTRACT},
        plants={bug: Patch("house", "", bug) for bug in BUGS},
    )


def changed() -> Twin:
    """The same house with a reference that does something else."""
    return twin(reference="other")
