"""How fast a candidate steps: it runs whole rollouts in its worker, and the clock is ours."""

import functools
import math
import time
from pathlib import Path
from typing import Any

from overclock.recipe.prompts import BATCHES
from overclock.verify.process import ProcessSubject
from overclock.verify.subject import SubjectSpec

STEPS = 64  # of one call
SECONDS = 0.2  # a batch is measured for about this long
FEWEST = 3


def speed_spec(folder: Path) -> SubjectSpec:
    """The worker that steps a candidate."""
    place = str(folder.resolve())
    environment = (("JAX_PLATFORMS", "cpu"), ("JAX_ENABLE_X64", "0"))
    return SubjectSpec("overclock.recipe.speed:Stepper", (("folder", place),), environment, files=(place,))


def measure(spec: SubjectSpec, timeout: float = 120.0, batches: tuple[int, ...] = BATCHES) -> dict[str, float]:
    """Steps per second by batch: the median of calls that were timed here, compiling left out."""
    found = {}
    with ProcessSubject(spec, 1, "the candidate", timeout) as worker:
        for batch in batches:
            worker.ask("run", batch=batch, steps=STEPS)
            times: list[float] = []
            while len(times) < FEWEST or sum(times) < SECONDS:
                began = time.perf_counter()
                worker.ask("run", batch=batch, steps=STEPS)
                times.append(time.perf_counter() - began)
            found[str(batch)] = round(batch * STEPS / sorted(times)[len(times) // 2], 1)
    return found


class Stepper:
    """Runs in the worker: random actions, automatic resets, one compiled call for many steps."""

    def __init__(self, num_envs: int, folder: str) -> None:
        from overclock.recipe.candidate import load_candidate

        self._env, self._params = load_candidate(Path(folder))
        self._states: dict[int, Any] = {}

    def describe(self) -> dict[str, Any]:
        """The calls it offers."""
        return {"calls": ["run"]}

    def run(self, batch: int, steps: int) -> float:
        """Step a batch; the sum of what came out shows that all of it was computed."""
        import jax

        from overclock.vector.vectorize import vectorize

        if batch not in self._states:
            self._states[batch] = vectorize(self._env, batch).reset(jax.random.key(0), self._params)[1]
        self._states[batch], total = _rollout(self._env, batch, steps)(self._states[batch], self._params)
        value = float(total)
        return value if math.isfinite(value) else 0.0


@functools.cache
def _rollout(env: Any, batch: int, steps: int) -> Any:
    import jax
    import jax.numpy as jnp

    from overclock.vector.rollout import rollout
    from overclock.vector.vectorize import vectorize

    venv = vectorize(env, batch)

    def run(state: Any, params: Any) -> Any:
        state, kept = rollout(venv, state, num_steps=steps, params=params)
        return state, sum(jnp.sum(leaf, dtype=jnp.float32) for leaf in jax.tree.leaves((kept.obs, kept.reward)))

    return jax.jit(run)
