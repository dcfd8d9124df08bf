"""A counter with switches for everything that a comparison must not overlook; it runs in the test's own process."""

from typing import Any

import numpy as np

from overclock.env import registry
from overclock.verify.contract import OUTPUTS, Contract, Field, Twin
from overclock.verify.rollout.actions import ActionSource, policy
from overclock.verify.sides.subject import Observed, SubjectSpec


class Ticker:
    """Counts steps and ends after `length` of them.

    - `off`: what action 1 adds to the observation; `nan_at`: the step from which on observations are NaN;
    - `mask`: the legal actions it reports; `early`: it terminates that many steps too soon;
    - `overflow_at`: the step at which its room has run out;
    - `first`: what its step counter starts from; `drawn`: the draws it reports; `starts`: one more after a reset;
    - `traces`: it can tell branches, and every step takes a new one.
    """

    def __init__(self, num_envs: int, **options: Any) -> None:
        self.num_envs, self.options = num_envs, options
        self.count = np.zeros(num_envs, np.int32)
        self.seeds: list[int] = []
        self.actions: list[int] = []
        self.traced = 0  # how often that was asked for

    def describe(self) -> dict[str, Any]:
        return {"kind": "discrete", "n": 2}

    def reset(self, mask, seeds, draws=None):
        self.seeds += seeds[mask].tolist()
        self.count = np.where(mask, 0, self.count).astype(np.int32)
        shown = self._shown({"obs": self.count.astype(np.float64)})
        if "starts" in self.options:
            shown.draws["start"] = np.zeros(self.num_envs)
        return shown

    def step(self, actions, draws=None):
        self.actions += actions.tolist()
        self.count = self.count + np.int32(1)
        value = self.count + self.options.get("off", 0.0) * actions
        value = np.where(self.count >= self.options.get("nan_at", np.inf), np.nan, value)
        ended = self.count >= self.options.get("length", 5)
        early = self.count >= self.options.get("length", 5) - self.options.get("early", 0)
        outputs = {"obs": value, "reward": np.ones(self.num_envs), "terminated": early, "truncated": ended}
        if "traces" in self.options:
            outputs["new_branches"] = np.ones(self.num_envs, np.bool_)
        return self._shown(outputs)

    def trace(self):
        self.traced += 1

    def branches(self):
        return {"reached": ["ticker.py:1 True"], "missed": [], "never_entered": []}

    def set_state(self, state):
        self.count = (state["steps"] - self.options.get("first", 0)).astype(np.int32)

    def _shown(self, outputs):
        if "mask" in self.options:
            outputs["action_mask"] = np.tile(np.array(self.options["mask"], np.bool_), (self.num_envs, 1))
        if "overflow_at" in self.options:
            outputs["overflow"] = self.count == self.options["overflow_at"]
        draws = {name: np.zeros(self.num_envs) for name in self.options.get("drawn", ())}
        return Observed(outputs, {"steps": self.count + np.int32(self.options.get("first", 0))}, draws)


def contract(fields: tuple[Field, ...] = (), **more: Any) -> Contract:
    """Every output exactly, and whatever a test adds."""
    return Contract((*(Field(name) for name in OUTPUTS), *fields), **more)


def ticking(reference: dict[str, Any], performance: dict[str, Any], agreed: Contract | None = None) -> Twin:
    reference_spec, performance_spec = (
        SubjectSpec("verify.ticker:Ticker", tuple(options.items())) for options in (reference, performance)
    )
    return Twin("ticker", reference_spec, performance_spec, {"float64": agreed or contract()})


class Here:
    """Stands in for `ProcessSubject`: processes of their own would only cost time here."""

    made: list["Here"] = []  # noqa: RUF012 (tests look at the subjects of the last comparison)

    def __init__(self, spec: SubjectSpec, num_envs: int, name: str, timeout: float) -> None:
        self.num_envs, self.name, self.spec, self.closed = num_envs, name, spec, False
        self.subject: Any = registry.load(spec.entry_point)(num_envs, **dict(spec.options))
        self.description = self.subject.describe()
        self.beside = sum(not made.closed for made in self.made)
        self.made.append(self)

    def ask(self, call: str) -> Any:
        return getattr(self.subject, call)()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.subject, name)

    def __enter__(self) -> "Here":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.closed = True


def still(obs: np.ndarray) -> np.ndarray:
    """A scripted player that never does anything."""
    return np.zeros(len(obs), np.int32)


def idle(description: dict[str, Any]) -> ActionSource:
    """The same as a source of actions."""
    return policy(still)(description)
