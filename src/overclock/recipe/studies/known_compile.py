"""How long a translation takes to compile: from Python functions to a program of the CPU, in a process of its own."""

import time
from pathlib import Path
from typing import Any

import jax

from overclock.env.rng import Rng
from overclock.recipe.judging.candidate import load_candidate
from overclock.vector.vectorize import vectorize
from overclock.verify.contract import Twin
from overclock.verify.sides.process import ProcessSubject

WAITING = 600.0  # seconds; what takes longer is told as a failure


def compile_seconds(twin: Twin, batch: int) -> float:
    """Tracing, lowering and XLA's compile of one batched step with automatic reset, in the precision that is timed.

    No cache of earlier compilations is read; imports come before. The clock is ours.
    """
    precision = twin.usual
    spec = twin.performance_in(precision).with_environment(JAX_ENABLE_COMPILATION_CACHE="false")
    spec = spec.with_worker(Compiled, folder=dict(spec.options)["folder"])
    with ProcessSubject(spec, batch, "the candidate", WAITING) as worker:
        began = time.perf_counter()
        worker.ask("compile")
        return round(time.perf_counter() - began, 2)


class Compiled:
    """Runs in the worker: a batch of a candidate that is compiled and never run."""

    def __init__(self, num_envs: int, folder: str) -> None:
        env, self._params = load_candidate(Path(folder))
        self._batch = vectorize(env, num_envs)
        jax.device_count()  # starts the backend, which is no part of compiling

    def describe(self) -> dict[str, Any]:
        """The calls that this worker answers."""
        return {"calls": ["compile"]}

    def compile(self) -> None:
        """From nothing: one step of the batch, with automatic reset."""
        _, state = jax.eval_shape(lambda rng: self._batch.reset(rng, self._params), Rng.of(0))
        actions = jax.eval_shape(lambda state: self._batch.sample_actions(state, self._params), state)
        jax.jit(lambda state, actions: self._batch.step(state, actions, self._params)).lower(state, actions).compile()
