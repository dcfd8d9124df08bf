"""PufferLib's C Pong as a verify Subject: its lanes are stepped one by one by calls that level 1 can record."""

from typing import Any

import numpy as np

from overclock.envs.pong.library import STATE, Lanes, space_sizes
from overclock.verify.property.calls import read_by
from overclock.verify.sides.subject import Arrays, Observed

HERE = "overclock.envs.pong.reference"


def cut(steps: np.ndarray) -> np.ndarray:
    """Whether the step after so many is the last one that an episode may have: PufferLib's Pong has no time limit."""
    return np.zeros(np.shape(steps), np.bool_)


class CPong:
    """One lane; its methods are functions of pong.h under their own names."""

    def __init__(self, lanes: Lanes, lane: int) -> None:
        self.lanes, self.lane = lanes, lane

    def reset_round(self, serve: int) -> None:
        """Serve a ball, down (0) or level (1)."""
        self.lanes.serve(self.lane, serve)

    def c_reset(self, serve: int) -> None:
        self.lanes.reset(self.lane, serve)

    def c_step(self, action: float, serve: int) -> None:
        """One step; what the reference does after the last one of a game, a reset, is left out."""
        self.lanes.step(self.lane, action, serve)

    def compute_observations(self) -> None:
        self.lanes.observe(self.lane)

    def read(self) -> dict[str, Any]:
        """The state and outputs of the lane, by name."""
        shown = self.lanes.get()[self.lane]
        facts = {"frameskip": self.lanes.frameskip, "continuous": self.lanes.continuous}
        return {**{name: np.array(shown[name]) for name in shown.dtype.names}, **facts}

    def write(self, values: Arrays) -> None:
        """Put it into a state; what is not named stays."""
        shown = self.lanes.get()
        for name, value in values.items():
            shown[name][self.lane] = value
        self.lanes.set(shown)


class PongReference:
    """`num_envs` games of PufferLib's Pong.

    Every reset and every step has a serve bit of its own, which follows from the seed and the number of steps; pong.h
    takes it where it would call `rand()`.
    """

    def __init__(self, num_envs: int, frameskip: int = 1, continuous: bool = False) -> None:
        self.num_envs = num_envs
        self._continuous = continuous
        self._actions = space_sizes(continuous)["actions"]
        self._lanes = Lanes(num_envs, frameskip, continuous)
        self.instances = [CPong(self._lanes, lane) for lane in range(num_envs)]
        self._seeds = np.zeros(num_envs, np.uint64)
        self._steps = np.zeros(num_envs, np.int32)
        methods = ("reset_round", "c_reset", "c_step", "compute_observations")
        read_by(CPong.read, *(f"{HERE}:CPong.{method}" for method in methods))

    def describe(self) -> dict[str, Any]:
        if self._continuous:
            low = np.full(self._actions, -1, np.float32)
            return {"kind": "box", "low": low, "high": -low}
        return {"kind": "discrete", "n": self._actions}

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        self._seeds = np.where(mask, seeds, self._seeds).astype(np.uint64)
        self._steps[mask] = 0
        serves = self._serves() if draws is None else draws["serve"]
        for lane in np.flatnonzero(mask):
            self.instances[lane].c_reset(int(serves[lane]))
        return self._observed(serves, after_step=False)

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.step`; continuous actions are limited as PufferLib's Python class does."""
        self._steps += 1
        serves = self._serves() if draws is None else draws["serve"]
        taken = np.clip(actions.reshape(self.num_envs), -1.0, 1.0) if self._continuous else actions
        for instance, action, serve in zip(self.instances, taken.tolist(), serves.tolist(), strict=True):
            instance.c_step(action, serve)
        return self._observed(serves, after_step=True)

    def set_state(self, state: Arrays) -> None:
        shown = self._lanes.get()
        for name in STATE:
            shown[name] = state[name]
        self._lanes.set(shown)
        self._steps = np.array(state["steps"], np.int32)

    def _observed(self, serves: np.ndarray, after_step: bool) -> Observed:
        shown = self._lanes.get()
        outputs = {"obs": shown["obs"].copy()}
        if after_step:
            truncated = np.broadcast_to(cut(self._steps - 1), self.num_envs).copy()
            outputs |= {"reward": shown["reward"].copy(), "terminated": shown["terminal"] != 0, "truncated": truncated}
        state = {**{name: shown[name].copy() for name in STATE}, "steps": self._steps.copy()}
        return Observed(outputs, state, {"serve": np.array(serves, np.int32)})

    def _serves(self) -> np.ndarray:
        """One bit per lane from its seed and step: SplitMix64's last bits are as good as any."""
        with np.errstate(over="ignore"):
            word = self._seeds * np.uint64(0x9E3779B97F4A7C15) + self._steps.astype(np.uint64)
            word = (word + np.uint64(1)) * np.uint64(0xD1342543DE82EF95)
            for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
                word = (word ^ (word >> np.uint64(shift))) * np.uint64(factor)
        return ((word >> np.uint64(40)) & np.uint64(1)).astype(np.int32)
