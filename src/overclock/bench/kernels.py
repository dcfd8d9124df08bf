"""Our own rows on fused kernels: the same rules compiled to C or CUDA, whole rollouts at once."""

import dataclasses
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

import overclock
from overclock.bench.program import CHECKSUM_FACTOR, Outputs, Summary, absorb_lane, counted
from overclock.bench.results import Facts
from overclock.bench.runners import CHECKED_STEPS, MOST_UNITS, Identity, JaxRunner
from overclock.env.overflow import OVERFLOW
from overclock.env.rng import Rng
from overclock.vector import LaneTransition, VectorEnv, fused_rollout
from overclock.vector.fused.compiled_files import kept_in

FIRST_STEPS = 64
MOST_STORED = 256 << 20  # bytes; the caller cuts the steps to what fits into memory
WRITTEN = "every step's outputs are written over those of the step before; the checksum is taken apart"


def kernel_runner(
    name: str, venv: VectorEnv, params: Any, platform: str, seed: int = 0, store: bool = False
) -> "KernelRunner":
    """A vector environment on its kernel under uniformly random play."""
    note = WRITTEN if venv.backend == "c" and not store else ""
    identity = Identity(name, overclock.__version__, venv.num_envs, platform, venv.autoreset, note)
    return KernelRunner(identity, venv, params, seed, store)


class KernelRunner(JaxRunner):
    """Whole rollouts by one kernel.

    On a GPU every output is folded into the checksum, as in the rows under XLA. On a processor every output is written
    to memory, one step over the other, as libraries do that step a batch through buffers.
    """

    def __init__(self, identity: Identity, venv: VectorEnv, params: Any, seed: int, store: bool) -> None:
        super().__init__(identity, lambda: venv.reset(Rng.of(seed), params)[1], _no_step, 1, store)
        self._venv, self._params = venv, params
        self._kernels, self._compile_seconds = tempfile.TemporaryDirectory(prefix="overclock-bench-"), 0.0
        self._written = venv.backend == "c" and not store

    def plan(self, seconds: float) -> int:
        """As `Runner.plan`: the number of steps grows until a call lasts so long. The kernel stays the same."""
        state, steps, elapsed = self._start(), FIRST_STEPS, 0.0
        while elapsed < seconds and steps < MOST_UNITS:
            steps *= 1 if elapsed == 0.0 else 2 if elapsed > seconds / 8 else 8
            if self._store and steps * self.stored_bytes() > MOST_STORED:
                break
            self._compile(steps, state)
            self._run(state, 1)  # whatever is slow only the first time
            began = time.perf_counter()
            self._run(state, 1)
            elapsed = time.perf_counter() - began
        self._planned = steps
        return steps

    def stored_bytes(self) -> int:
        if not self._store:
            return 0
        _, _, kept = jax.eval_shape(self._program(1), jax.eval_shape(self._start))
        return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(kept))

    def _compile(self, steps: int, state: Any) -> None:
        began = time.perf_counter()
        with kept_in(Path(self._kernels.name)):
            self._compiled = jax.jit(self._program(steps)).lower(state).compile()
        # The kernel itself is compiled the first time alone; that is what a user waits for.
        self._compile_seconds = max(self._compile_seconds, time.perf_counter() - began)
        self._program_steps = steps

    def _program(self, steps: int) -> Callable[[Any], tuple[Any, Summary, Any]]:
        keep = outputs if self._store or self._written else None
        window = 1 if self._written else None

        def run(state: Any) -> tuple[Any, Summary, Any]:
            state, kept, sums = fused_rollout(
                self._venv, state, steps, keep=keep, window=window, fold=self._fold(), params=self._params
            )
            checksum, counts = sums if not self._written else (jnp.zeros(1, jnp.uint32), sums)
            return state, Summary(jnp.sum(checksum, dtype=jnp.uint32), *counted(*counts)), kept

        return run

    def _fold(self, whole: bool = False) -> tuple[Any, Callable[[Any, LaneTransition], Any]]:
        """Ends of episodes, steps without room, and the checksum where the outputs do not go anywhere else."""
        lanes = self._venv.num_envs
        flags = jax.eval_shape(jax.vmap(self._venv.env.overflow), jax.eval_shape(self._start).lanes.rules)
        counts = jnp.zeros(lanes, jnp.int32), None if flags is None else jnp.zeros(lanes, jnp.int32)

        def count(counts: Any, transition: LaneTransition) -> Any:
            ends, lost = counts
            ends = ends + (transition.terminated | transition.truncated).astype(jnp.int32)
            return ends, None if lost is None else lost + transition.info[OVERFLOW].astype(jnp.int32)

        if self._written and not whole:
            return counts, count

        def add(sums: Any, transition: LaneTransition) -> Any:
            checksum, counts = sums
            return absorb_lane(checksum, outputs(transition)), count(counts, transition)

        return (jnp.zeros(lanes, jnp.uint32), counts), add

    def facts(self) -> Facts:
        found = super().facts()
        if not self._written:
            return found
        _, _, (checksum, _) = fused_rollout(
            self._venv, self._start(), CHECKED_STEPS, fold=self._fold(whole=True), params=self._params, overflow="info"
        )
        total = int(jnp.sum(checksum, dtype=jnp.uint32)) * int(CHECKSUM_FACTOR) % (1 << 32)
        return dataclasses.replace(found, checksum=f"{total:08x}")


def outputs(transition: LaneTransition) -> Outputs:
    """What a learner takes from a step of one lane; the observation is the one after it."""
    return Outputs(
        transition.next_obs, transition.action, transition.reward, transition.terminated, transition.truncated
    )


def _no_step(state: Any) -> Any:
    raise AssertionError("a kernel is not stepped by a loop of XLA")
