"""What is timed, behind one interface: a JAX program (`JaxRunner`) or a batch stepped from Python (`HostRunner`)."""

import dataclasses
import math
import time
from collections.abc import Callable
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from overclock.bench.program import CHECKSUM_FACTOR, Outputs, Step, absorb, hexadecimal, pilot, program
from overclock.bench.results import Facts, TrainingFacts

MOST_UNITS = 1 << 30  # where the growing of a call stops, far beyond what any environment needs
FRESH_ACTIONS = 1 << 12  # of a batch, at most, are new at a step of a host runner; see `windows`

# The mean episode length is counted after lanes that started together are out of step (a mean taken from their start
# is too long, since every lane is cut inside an episode), and over enough episodes: a standard error below 2 % where
# lengths vary as CartPole's do.
BURN_IN = 200
EPISODES = 1000
MOST_COUNTED = 1 << 17  # lane steps after which counting stops, where episodes are long or never end
# What a host runner, which may take seconds per step of a large batch, does of this at most, and at least.
MOST_BURN_IN_LANE_STEPS, LEAST_BURN_IN = 1 << 22, 64
CHECKED_LANE_STEPS, CHECKED_STEPS = 1 << 20, 64
COUNTED_LENGTHS, MOST_SECONDS = 2, 1.0


@dataclasses.dataclass(frozen=True)
class Identity:
    """Which implementation runs, and what a reader must know about it."""

    name: str
    version: str
    batch: int  # the batch that really runs
    platform: str
    autoreset: str  # same_step, next_step or off; in next_step a restart is counted as a step
    note: str = ""


class Runner(Protocol):
    """An implementation that can be timed."""

    identity: Identity

    @property
    def unroll(self) -> int | None:
        """Steps per iteration of the compiled loop; None where there is none."""
        ...

    @property
    def actions(self) -> str:
        """Where random actions come from."""
        ...

    def plan(self, seconds: float) -> int:
        """How many steps make a call last about that long."""
        ...

    def prepare(self, steps: int) -> float | None:
        """Set up calls of `steps` steps from the first states; returns compile seconds, None without compiler."""
        ...

    def stored_bytes(self) -> int:
        """Memory that one stored step takes; 0 when nothing is stored."""
        ...

    def call(self) -> None:
        """What is timed: `steps` steps; returns when every result is there."""
        ...

    def facts(self) -> Facts | TrainingFacts:
        """What is known after the timed calls."""
        ...


class JaxRunner:
    """`start() -> state` and `step(state) -> (state, Outputs)`, compiled into one loop."""

    actions = "drawn inside the timed program"

    def __init__(
        self,
        identity: Identity,
        start: Callable[[], Any],
        step: Step,
        unroll: int = 1,
        store: bool = False,
        program_steps: int | None = None,
    ) -> None:
        """`program_steps` are compiled where it is known how many are good; else a pilot finds out."""
        self.identity, self.unroll, self._known_steps = identity, unroll, program_steps
        self._overflowed: float | None = None
        self._start, self._step, self._store = start, step, store
        self._planned: int | None = None

    def plan(self, seconds: float) -> int:
        """As `Runner.plan`: the pilot says how many steps to compile, and a call runs that program often enough.

        So the unrolled loop, which may take half a minute to compile, is compiled once for planning and timing.
        """
        state = self._start()
        steps = self._known_steps
        if steps is None:
            compiled = jax.jit(pilot(self._step, self.identity.batch)).lower(state, np.int32(1)).compile()
            steps = units_lasting(seconds, lambda steps: int(compiled(state, np.int32(steps)).checksum))
            steps = -(-steps // self.unroll) * self.unroll
        if self._store:
            return steps  # to be cut to what fits into memory before it is compiled
        self._compile(steps, state)
        self._planned = steps * units_lasting(seconds, lambda programs: self._run(state, programs))
        return self._planned

    def prepare(self, steps: int) -> float:
        """As `Runner.prepare`; tracing, lowering and compiling are all in the seconds."""
        self._calls, self._played, self.episodes = 0, 0, 0.0
        self._overflowed = None
        self._counted_steps, self._counted_episodes = 0, 0.0
        self.state = jax.block_until_ready(self._start())
        if steps != self._planned:
            self._compile(steps, self.state)
        self._programs = steps // self._program_steps
        return self._compile_seconds

    def _compile(self, steps: int, state: Any) -> None:
        run = program(self._step, self.identity.batch, steps, self.unroll, self._store)
        began = time.perf_counter()
        self._compiled = jax.jit(run).lower(state).compile()
        self._compile_seconds, self._program_steps = time.perf_counter() - began, steps

    def _run(self, state: Any, programs: int) -> tuple[Any, int, float]:
        """Run the program so often: (state, checksum, ends of episodes), all of it finished."""
        summaries, stored = [], None
        for _ in range(programs):
            state, summary, stored = self._compiled(state)
            summaries.append(summary)
        jax.block_until_ready((state, stored))
        summaries = jax.device_get(summaries)
        checksum = 0
        for summary in summaries:
            checksum = (checksum * int(CHECKSUM_FACTOR) + int(summary.checksum)) % (1 << 32)
        lost = [summary.overflowed for summary in summaries if summary.overflowed is not None]
        self._overflowed = (self._overflowed or 0.0) + float(sum(lost)) if lost else None
        return state, checksum, float(sum(summary.episodes for summary in summaries))

    def stored_bytes(self) -> int:
        if not self._store:
            return 0
        _, outputs = jax.eval_shape(self._step, jax.eval_shape(self._start))
        return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(outputs))

    def call(self) -> None:
        """As `Runner.call`; the checksum is fetched, because a number on the host proves that the work is done."""
        self.state, checksum, ends = self._run(self.state, self._programs)
        if self._calls == 0:
            self._checksum = checksum
        if self._played >= BURN_IN:
            self._counted_steps += self._programs * self._program_steps
            self._counted_episodes += ends
        self._calls += 1
        self._played += self._programs * self._program_steps
        self.episodes += ends

    def facts(self) -> Facts:
        """As `Runner.facts`; the checksum is the first call's, episodes are counted in the calls after `BURN_IN` steps.

        Where the timed calls saw too few episodes, the lanes go on untimed.
        """
        lanes = self.identity.batch
        while self._counted_steps == 0 or (
            self._counted_episodes < EPISODES and self._counted_steps * lanes < MOST_COUNTED
        ):
            self.call()
        memory = self._compiled.memory_analysis()
        sizes = ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes")
        length = self._counted_steps * lanes / self._counted_episodes if self._counted_episodes else None
        used = None if memory is None else int(sum(getattr(memory, size) for size in sizes))
        lost = None if self._overflowed is None else int(self._overflowed)
        return Facts(f"{self._checksum:08x}", length, used, lost)


class HostBatch(Protocol):
    """A batch of environments as a host runner drives it."""

    def reset(self) -> Any:
        """Start every lane anew, the same way every time."""
        ...

    def step(self, actions: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """Step every lane: (obs, reward, terminated, truncated)."""
        ...


class HostRunner:
    """A batch stepped by a Python loop with `actions`, one long row of random ones, drawn beforehand.

    Its outputs are NumPy arrays, which nothing can optimise away, so a timed call only produces (and stores) them;
    checksum and episode lengths come from a separate, untimed call. Both choices favour what is measured this way.
    """

    unroll = None
    actions = "from a table drawn beforehand"

    def __init__(self, identity: Identity, batch: HostBatch, actions: np.ndarray, store: bool = False) -> None:
        self.identity = identity
        self._batch, self._table, self._store = batch, windows(actions, identity.batch), store

    def plan(self, seconds: float) -> int:
        self._batch.reset()
        self._memory = None
        return units_lasting(seconds, self._play)

    def prepare(self, steps: int) -> None:
        self._steps, self._played = steps, 0
        self._batch.reset()
        self._memory = None
        if self._store:
            self._memory = [np.empty((steps, *leaf.shape), leaf.dtype) for leaf in self._one_step()]

    def stored_bytes(self) -> int:
        self._batch.reset()
        return sum(leaf.nbytes for leaf in self._one_step()) if self._store else 0

    def _one_step(self) -> list[np.ndarray]:
        return [np.asarray(leaf) for leaf in jax.tree.leaves((*self._batch.step(self._table[0]), self._table[0]))]

    def call(self) -> None:
        self._play(self._steps)
        self._played += self._steps

    def _play(self, steps: int) -> None:
        step, table, rows, memory = self._batch.step, self._table, len(self._table), self._memory
        if memory is None:
            for i in range(steps):
                step(table[i % rows])
            return
        for i in range(steps):
            action = table[i % rows]
            for stored, leaf in zip(memory, jax.tree.leaves((*step(action), action)), strict=True):
                stored[i] = leaf

    def facts(self) -> Facts:
        """As `Runner.facts`; the lanes go on, untimed, from where the timed calls left them."""
        lanes, fold = self.identity.batch, jax.jit(absorb)
        burn_in = max(LEAST_BURN_IN, min(BURN_IN, MOST_BURN_IN_LANE_STEPS // lanes))
        first = max(self._played, burn_in)
        for i in range(self._played, first):
            self._batch.step(self._table[i % len(self._table)])
        checksum, steps, ends = jnp.zeros(lanes, jnp.uint32), 0, 0
        least = max(1, min(CHECKED_STEPS, CHECKED_LANE_STEPS // lanes))
        began = time.perf_counter()
        while steps < least or (
            (ends < EPISODES and steps * lanes < MOST_COUNTED)
            # Lanes of a large batch play alike, and a window shorter than their episodes may miss most of the ends.
            or (ends < COUNTED_LENGTHS * lanes and time.perf_counter() - began < MOST_SECONDS)
        ):
            action = self._table[(first + steps) % len(self._table)]
            obs, *rest = self._batch.step(action)
            if steps < least:
                # Awaited: the next step may write over what JAX would still read.
                checksum = jax.block_until_ready(fold(checksum, Outputs(obs, action, *map(jnp.asarray, rest))))
            _, terminated, truncated = rest
            ends += int(np.count_nonzero(terminated | truncated))
            steps += 1
        restarts = ends if self.identity.autoreset == "next_step" else 0
        return Facts(hexadecimal(checksum), (steps * lanes - restarts) / ends if ends else None, program_bytes=None)


class UpdatesRunner:
    """Updates of a trainer as something that is timed; `_run(updates)` notes their mean returns."""

    unroll = None
    actions = "the policy's"

    def __init__(self, identity: Identity) -> None:
        self.identity, self._updates, self._compile_seconds = identity, 0, 0.0
        self._returns: list[float] = []

    def stored_bytes(self) -> int:
        return 0

    def call(self) -> None:
        self._run(self._updates)

    def _run(self, updates: int) -> None:
        raise NotImplementedError

    def facts(self) -> TrainingFacts:
        """The last mean return, None where no episode ended in the last update."""
        return TrainingFacts(self._returns[-1] if math.isfinite(self._returns[-1]) else None, None)


def windows(actions: np.ndarray, lanes: int) -> np.ndarray:
    """One long row of actions as [steps, lanes, ...], without copying it.

    The lanes' actions at a step begin `lanes` further on in the row than those of the step before; with more than
    `FRESH_ACTIONS` lanes only that much further, so that the row need not grow with the batch: then a lane gets
    what the lane `FRESH_ACTIONS` above it got one step earlier. No lane sees its own actions again for long.
    """
    stride, (first, *rest) = min(lanes, FRESH_ACTIONS), actions.strides
    steps = (len(actions) - lanes) // stride + 1
    shape, strides = (steps, lanes, *actions.shape[1:]), (stride * first, first, *rest)
    return np.lib.stride_tricks.as_strided(actions, shape, strides, writeable=False)


def units_lasting(seconds: float, run: Callable[[int], Any]) -> int:
    """The power of two for which `run(units)` lasts at least `seconds`, found by growing it."""
    run(1)  # whatever is slow only the first time
    units = 1
    while units < MOST_UNITS:
        began = time.perf_counter()
        run(units)
        elapsed = time.perf_counter() - began
        if elapsed >= seconds:
            break
        units *= 8 if elapsed < seconds / 8 else 2
    return units
