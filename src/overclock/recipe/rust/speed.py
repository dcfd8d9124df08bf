"""How fast a Rust candidate steps: whole rollouts in its worker, on all its cores, and the clock is ours."""

import math
import os
import time
from pathlib import Path
from typing import Any

from overclock.recipe.prompts import BATCHES
from overclock.recipe.rust.library import load_library
from overclock.recipe.rust.subject import rust_spec
from overclock.verify.process import ProcessSubject
from overclock.verify.subject import SubjectSpec

FIRST_STEPS = 16
CALL_SECONDS = 0.05  # one timed call takes at least this long, so that the way to the worker does not count
FEWEST = 3


def speed_spec(folder: Path, contract: Path) -> SubjectSpec:
    """The worker that steps a candidate."""
    return rust_spec(folder, contract, "overclock.recipe.rust.speed:RustStepper")


def measure(spec: SubjectSpec, timeout: float = 120.0, batches: tuple[int, ...] = BATCHES) -> dict[str, float]:
    """Steps per second by batch: the median of calls that were timed here, as long as they need to be."""
    found = {}
    with ProcessSubject(spec, 1, "the candidate", timeout) as worker:
        for batch in batches:
            steps = FIRST_STEPS
            _timed(worker, batch, steps)  # makes the lanes
            while (taken := _timed(worker, batch, steps)) < CALL_SECONDS:
                steps *= 2
            times = sorted([taken, *(_timed(worker, batch, steps) for _ in range(FEWEST - 1))])
            found[str(batch)] = round(batch * steps / times[len(times) // 2], 1)
    return found


def _timed(worker: ProcessSubject, batch: int, steps: int) -> float:
    began = time.perf_counter()
    worker.ask("run", batch=batch, steps=steps)
    return time.perf_counter() - began


class RustStepper:
    """Runs in the worker: random actions, observations, automatic resets, threads over the lanes."""

    def __init__(self, num_envs: int, folder: str, contract: str, root: str) -> None:
        self._library = load_library(folder, contract, root)
        self._runners: dict[int, Any] = {}

    def describe(self) -> dict[str, Any]:
        """The calls it offers."""
        return {"calls": ["run"]}

    def run(self, batch: int, steps: int) -> float:
        """Step a batch; the sum of what came out shows that all of it was computed."""
        if batch not in self._runners:
            self._runners[batch] = self._library.runner(batch, seed=0)
        value = self._library.run(self._runners[batch], steps, len(os.sched_getaffinity(0)))
        return value if math.isfinite(value) else 0.0
