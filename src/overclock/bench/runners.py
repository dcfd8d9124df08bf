"""What is timed, behind one interface: a JAX program (`JaxRunner`) or a batch stepped from Python (`HostRunner`)."""

import dataclasses
import time
from collections.abc import Callable
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from overclock.bench.program import Outputs, Step, absorb, pilot, program

ROWS_OF_ACTIONS = 256  # of a host runner's table of random actions, used again and again
MOST_ACTIONS = 1 << 22  # numbers in that table, whatever the batch
CHECKED_STEPS = 64  # at least, of a host runner's untimed check
MOST_UNITS = 1 << 30  # where the growing of a call stops, far beyond what any environment needs
CHECKED_LANE_STEPS = 1 << 13  # at least: enough episodes for a mean


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

    def facts(self) -> dict[str, Any]:
        """After the timed calls: `checksum`, `mean_episode_length`, `program_bytes`."""
        ...


class JaxRunner:
    """`start() -> state` and `step(state) -> (state, Outputs)`, compiled into one loop."""

    actions = "drawn inside the timed program"

    def __init__(
        self, identity: Identity, start: Callable[[], Any], step: Step, unroll: int = 1, store: bool = False
    ) -> None:
        self.identity, self.unroll = identity, unroll
        self._start, self._step, self._store = start, step, store

    def plan(self, seconds: float) -> int:
        """As `Runner.plan`."""
        state = self._start()
        compiled = jax.jit(pilot(self._step, self.identity.batch, self.unroll)).lower(state, np.int32(1)).compile()
        return self.unroll * units_lasting(seconds, lambda blocks: int(compiled(state, np.int32(blocks)).checksum))

    def prepare(self, steps: int) -> float:
        """As `Runner.prepare`; tracing, lowering and compiling are all in the seconds."""
        self._steps, self._calls, self.episodes = steps, 0, 0.0
        self.state = jax.block_until_ready(self._start())
        run = program(self._step, self.identity.batch, steps, self.unroll, self._store)
        began = time.perf_counter()
        self._compiled = jax.jit(run).lower(self.state).compile()
        return time.perf_counter() - began

    def stored_bytes(self) -> int:
        """As `Runner.stored_bytes`."""
        if not self._store:
            return 0
        _, outputs = jax.eval_shape(self._step, jax.eval_shape(self._start))
        return sum(leaf.size * leaf.dtype.itemsize for leaf in jax.tree.leaves(outputs))

    def call(self) -> None:
        """As `Runner.call`; the checksum is fetched, because a number on the host proves that the work is done."""
        self.state, summary, _ = jax.block_until_ready(self._compiled(self.state))
        checksum = int(summary.checksum)
        if self._calls == 0:
            self._checksum = checksum
        self._calls += 1
        self.episodes += float(summary.episodes)

    def facts(self) -> dict[str, Any]:
        """As `Runner.facts`; episodes are counted over all calls, the checksum is the first call's."""
        steps = self._calls * self._steps * self.identity.batch
        memory = self._compiled.memory_analysis()
        sizes = ("argument_size_in_bytes", "output_size_in_bytes", "temp_size_in_bytes")
        return {
            "checksum": f"{self._checksum:08x}",
            "mean_episode_length": steps / self.episodes if self.episodes else None,
            "program_bytes": None if memory is None else int(sum(getattr(memory, size) for size in sizes)),
        }


class HostBatch(Protocol):
    """A batch of environments as a host runner drives it."""

    def reset(self) -> Any:
        """Start every lane anew, the same way every time."""
        ...

    def step(self, actions: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        """(obs, reward, terminated, truncated)."""
        ...


class HostRunner:
    """A batch stepped by a Python loop with actions from a table drawn beforehand.

    Its outputs are NumPy arrays, which nothing can optimise away, so a timed call only produces (and stores) them;
    checksum and episode lengths come from a separate, untimed call. Both choices favour what is measured this way.
    """

    unroll = None
    actions = "from a table drawn beforehand"

    def __init__(self, identity: Identity, batch: HostBatch, table: np.ndarray, store: bool = False) -> None:
        self.identity = identity
        self._batch, self._table, self._store = batch, table, store

    def plan(self, seconds: float) -> int:
        """As `Runner.plan`."""
        self._batch.reset()
        self._memory = None
        return units_lasting(seconds, self._play)

    def prepare(self, steps: int) -> None:
        """As `Runner.prepare`."""
        self._steps = steps
        self._batch.reset()
        self._memory = None
        if self._store:
            self._memory = [np.empty((steps, *leaf.shape), leaf.dtype) for leaf in self._one_step()]

    def stored_bytes(self) -> int:
        """As `Runner.stored_bytes`."""
        self._batch.reset()
        return sum(leaf.nbytes for leaf in self._one_step()) if self._store else 0

    def _one_step(self) -> list[np.ndarray]:
        return [np.asarray(leaf) for leaf in jax.tree.leaves((*self._batch.step(self._table[0]), self._table[0]))]

    def call(self) -> None:
        """As `Runner.call`."""
        self._play(self._steps)

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

    def facts(self) -> dict[str, Any]:
        """As `Runner.facts`; the lanes go on from where the timed calls left them, by now out of step."""
        lanes, fold = self.identity.batch, jax.jit(absorb)
        steps = max(CHECKED_STEPS, CHECKED_LANE_STEPS // lanes)
        checksum, ends = jnp.zeros(lanes, jnp.uint32), 0
        for i in range(steps):
            action = self._table[i % len(self._table)]
            obs, *rest = self._batch.step(action)
            checksum = fold(checksum, Outputs(obs, action, *map(jnp.asarray, rest)))
            _, terminated, truncated = rest
            ends += int(np.count_nonzero(terminated | truncated))
        restarts = ends if self.identity.autoreset == "next_step" else 0
        return {
            "checksum": f"{int(jnp.sum(checksum, dtype=jnp.uint32)):08x}",
            "mean_episode_length": (steps * lanes - restarts) / ends if ends else None,
            "program_bytes": None,
        }


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
