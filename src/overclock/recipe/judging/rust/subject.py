"""A Rust candidate as the performance side of a twin: it replays given draws, or makes its own.

The candidate has the rules only. Steps are counted here, and truncation follows from them; every call hands the whole
state over, so that nothing can be remembered that the contract does not name.
"""

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from overclock.cores import cores
from overclock.recipe.judging.rust.library import Library, load_library, named, rows
from overclock.recipe.judging.rust.toolchain import sysroot
from overclock.verify.sides.subject import Arrays, Observed, SubjectSpec

# As texts, because both modules import this one.
RUNNER = "overclock.recipe.judging.rust.modules:RustModuleRunner"  # level 1
TRAINER = "overclock.recipe.judging.rust.training:RustTrainer"  # level 4
NEVER = np.iinfo(np.int32).max


def rust_spec(folder: Path, contract: Path, worker: Callable[..., Any] | None = None) -> SubjectSpec:
    """The spec of a candidate's subject, or of another worker that takes the same options."""
    root = sysroot()
    options = {"folder": str(folder.resolve()), "contract": str(contract.resolve()), "root": str(root)}
    spec = SubjectSpec.of(worker or RustSubject, **options)
    return dataclasses.replace(spec, files=tuple(options.values()), module_runner=RUNNER, trainer=TRAINER)


class RustSubject:
    """A batch of a candidate's environment; state fields are those of the contract, plus `steps`."""

    def __init__(self, num_envs: int, folder: str, contract: str, root: str, threads: int = 1) -> None:
        self.num_envs, self._threads = num_envs, threads
        self.library: Library = load_library(folder, contract, root)
        self._limit = NEVER if self.library.max_steps is None else self.library.max_steps
        self._keys = self.library.streams(np.arange(num_envs))
        self._states = self.library.init(self.library.draw_reset(self._keys, threads), threads)
        self._steps = np.zeros(num_envs, np.int32)
        self._runners: dict[int, Any] = {}

    def describe(self) -> dict[str, Any]:
        space, more = self.library.actions, {"calls": ["metamorphic", "run"]}
        if space.kind == "discrete":
            return {"kind": "discrete", "n": space.n, **more}
        return {"kind": "box", "low": space.low, "high": space.high, **more}

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.reset`; without draws, from its own randomness for the seeds."""
        if draws is None:
            self._keys = np.where(mask[:, None], self.library.streams(seeds), self._keys)
            return self.restart(mask)
        return self._begin(mask, self._given(draws, self.library.reset_dtype))

    def restart(self, mask: np.ndarray) -> Observed:
        """Start a new episode in the lanes of `mask`, each with the next event of its own stream."""
        drawn = self.library.draw_reset(self._keys, self._threads)
        self._advance()
        return self._begin(mask, drawn)

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.step`; without draws, from its own randomness."""
        if draws is None:
            drawn = self.library.draw_step(self._keys, self._states, self._threads)
            self._advance()
        else:
            drawn = self._given(draws, self.library.step_dtype)
        self._states, reward, terminated = self.library.transition(self._states, actions, drawn, self._threads)
        self._steps = self._steps + np.int32(1)
        flags = {"terminated": terminated, "truncated": self._steps >= self._limit}
        return Observed({**self._seen(), "reward": reward, **flags}, self.get_state(), named(drawn))

    def get_state(self) -> Arrays:
        """Every field of the state, and the number of steps."""
        return {**named(self._states), "steps": self._steps.copy()}

    def set_state(self, state: Arrays) -> None:
        self._states = rows(state, self.library.state_dtype, self.num_envs, "the state field")
        self._steps = np.array(state["steps"], np.int32)

    def metamorphic(self, check: str, strays: dict[str, Any] | None = None) -> dict[str, Any]:
        """One of the checks of this environment against itself (see metamorphic.py); one program never strays."""
        from overclock.recipe.judging.rust import metamorphic

        return metamorphic.check(self.library, check)

    def run(self, batch: int, steps: int) -> float:
        """Take steps to be timed: random actions, automatic resets, all cores, in lanes of their own.

        The border sees to it that everything which a step shows is computed.
        """
        if batch not in self._runners:
            self._runners[batch] = self.library.runner(batch, seed=0, threads=cores())
        value = self.library.run(self._runners[batch], steps)
        return value if math.isfinite(value) else 0.0

    def _begin(self, mask: np.ndarray, drawn: np.ndarray) -> Observed:
        fresh = self.library.init(drawn, self._threads)
        self._states = np.where(mask, fresh, self._states)
        self._steps = np.where(mask, np.int32(0), self._steps)
        return Observed(self._seen(), self.get_state(), named(drawn))

    def _given(self, draws: Arrays, dtype: np.dtype) -> np.ndarray:
        """A reference's draws; randomness that the rules do not take would be lost unnoticed."""
        unknown = sorted(draws.keys() - set(dtype.names or ()))
        if unknown:
            raise ValueError(f"the reference draws {', '.join(unknown)}, which the rules do not take")
        return rows(draws, dtype, self.num_envs, "the draw")

    def _advance(self) -> None:
        """Every stream at its next event."""
        self._keys = self._keys + np.array([0, 0, 1], np.uint32)

    def _seen(self) -> Arrays:
        mask = self.library.action_mask(self._states, self._threads)
        seen = {"obs": self.library.observe(self._states, self._threads)}
        return seen if mask is None else {**seen, "action_mask": mask}
