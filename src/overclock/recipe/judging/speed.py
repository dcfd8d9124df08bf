"""How fast a candidate steps: whole rollouts in the very worker that is judged, and the clock is ours.

Two candidates are timed by turns in one session: what else a machine does changes from one minute to the next, and by
more than most changes of a program gain.
"""

import contextlib
import dataclasses
import math
import random
import secrets
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from overclock.verify.contract import Precision, Twin
from overclock.verify.rollout.actions import random_legal
from overclock.verify.rollout.lockstep import compare_sides
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject

EPISODES = 8  # that a worker plays once more after it was timed
CHUNK = 64  # steps of one compiled program
CALL_SECONDS = 0.05  # a timed call takes at least this long, so that the way to the worker does not count
FEWEST = 3  # timed calls of one measurement
LANES, SEEN = 16, 5  # of a timed batch: lanes that are stepped again in a batch of their own, and for how many steps
MOST_LANES = 5000  # of the batch that nobody timed
CLOSE = 1e-5  # compiled for another batch, sums may be taken in another order
PAIRS = 7  # of two candidates that are equally fast, one is ahead in all of them once in 128 times


@contextlib.contextmanager
def timed(twin: Twin, timeout: float = 120.0) -> Iterator[ProcessSubject]:
    """A worker of the performance side to be timed, in what people run; afterwards it must still be what was judged."""
    precision = twin.usual
    with ProcessSubject(twin.performance_in(precision), EPISODES, "the candidate", timeout) as worker:
        yield worker
        if "shown" in worker.description["calls"]:
            require_as_timed(twin, worker, precision, timeout)
        with ProcessSubject(twin.reference, EPISODES, "the reference", timeout) as reference:
            found = compare_sides(
                reference, worker, twin, EPISODES, "per_step", precision, "uniform", random_legal, secrets.randbits(30)
            )
    if not found.passed:
        raise CouldNotVerifyError(
            "could not verify: the candidate: the worker that was timed does not step as the reference does, so its "
            "speed says nothing.", "the candidate",
        )  # fmt: skip


def require_as_timed(twin: Twin, worker: ProcessSubject, precision: Precision, timeout: float) -> None:
    """Lanes of every batch that was timed, and of one that was not, step in a small batch as they did in the large."""
    generator = random.SystemRandom()
    batches = [*worker.ask("timed"), generator.randrange(LANES, MOST_LANES)]
    with ProcessSubject(twin.performance_in(precision), LANES, "the candidate", timeout) as fresh:
        for batch in batches:
            shown = worker.ask("shown", batch=batch, lanes=[generator.randrange(batch) for _ in range(LANES)])
            again = fresh.ask("replayed", state=shown.pop("state"))
            if not alike(shown, again):
                raise CouldNotVerifyError(
                    f"could not verify: the candidate: lanes of a batch of {batch} step otherwise while they are timed "
                    "than in a batch of their own, so its speed says nothing.", "the candidate",
                )  # fmt: skip


def alike(shown: Mapping[str, Any], again: Mapping[str, Any]) -> bool:
    """Whether two sides saw the same; floats may be rounded otherwise in another program, for a few steps."""
    if shown.keys() != again.keys():
        return False
    for name, one in shown.items():
        other = again[name]
        if not (isinstance(one, np.ndarray) and isinstance(other, np.ndarray) and one.shape == other.shape):
            return False
        if one.dtype.kind != "f":
            if not np.array_equal(one, other):
                return False
            continue
        size = np.abs(one).max(axis=(0, 1), initial=0.0, keepdims=True, where=np.isfinite(one))
        with np.errstate(invalid="ignore"):  # infinite ones are equal or not
            close = (one == other) | (np.abs(one - other) <= CLOSE * (size + np.abs(one)))
        if not (close | (np.isnan(one) & np.isnan(other))).all():
            return False
    return True


class Stopwatch:
    """Timed calls of one worker at one batch; compiling, and how long a call has to be, come first."""

    def __init__(self, worker: ProcessSubject, batch: int) -> None:
        self._worker, self._batch, self._steps = worker, batch, CHUNK
        self._seconds()
        while self._seconds() < CALL_SECONDS:
            self._steps *= 2

    def sps(self) -> float:
        """Steps per second of one call."""
        return self._batch * self._steps / self._seconds()

    def _seconds(self) -> float:
        began = time.perf_counter()
        self._worker.ask("run", batch=self._batch, steps=self._steps)
        return time.perf_counter() - began


@dataclasses.dataclass(frozen=True)
class Race:
    """Two candidates timed by turns: the speed of each by batch, and how many times as fast the second was, by pair."""

    before: dict[str, float]
    after: dict[str, float]
    gains: tuple[float, ...]

    @property
    def gain(self) -> float:
        """The gain of the pair in the middle."""
        return statistics.median(self.gains)

    @property
    def won(self) -> bool:
        """Whether the second was faster every time."""
        return min(self.gains) > 1.0


def measure(worker: ProcessSubject, batches: Sequence[int]) -> dict[str, float]:
    """Steps per second by batch."""
    found = {}
    for batch in batches:
        watch = Stopwatch(worker, batch)
        found[str(batch)] = _middle([watch.sps() for _ in range(FEWEST)])
    return found


def race(first: ProcessSubject, second: ProcessSubject, batches: Sequence[int]) -> Race:
    """Both by turns, and who begins changes as well."""
    speeds: tuple[dict[str, list[float]], ...] = ({}, {})
    for batch in batches:
        watches = [Stopwatch(worker, batch) for worker in (first, second)]
        for one in speeds:
            one[str(batch)] = []
        for pair in range(PAIRS):
            for place in (0, 1) if pair % 2 else (1, 0):
                speeds[place][str(batch)].append(watches[place].sps())
    gains = [
        math.prod((after[pair] / before[pair]) ** (1.0 / len(batches)) for before, after in _beside(*speeds))
        for pair in range(PAIRS)
    ]
    before, after = ({batch: _middle(values) for batch, values in one.items()} for one in speeds)
    return Race(before, after, tuple(round(gain, 4) for gain in gains))


def _beside(
    first: Mapping[str, Sequence[float]], second: Mapping[str, Sequence[float]]
) -> list[tuple[Sequence[float], Sequence[float]]]:
    return [(first[batch], second[batch]) for batch in first]


def _middle(values: Sequence[float]) -> float:
    return round(statistics.median(values), 1)


def geomean(sps: Mapping[str, float]) -> float:
    """One number for the speed at all batches."""
    return math.prod(value ** (1.0 / len(sps)) for value in sps.values())


class Stepper:
    """Runs in the worker: random actions, automatic resets, one compiled call for many steps."""

    def __init__(self, env: Any, params: Any) -> None:
        self._env, self._params = env, params
        self._batches: dict[tuple[int, int], tuple[Any, Any]] = {}  # a compiled rollout, and where its lanes are

    def run(self, batch: int, steps: int) -> float:
        """Step a batch; every observation is in memory at the end. The sum of rewards and of what is seen last."""
        import jax

        chunk, total = min(steps, CHUNK), 0.0
        if (batch, chunk) not in self._batches:
            self._batches[batch, chunk] = self._begin(batch, chunk)
        for _ in range(steps // chunk):
            program, state = self._batches[batch, chunk]
            state, _, sums = jax.block_until_ready(program(state, self._params))
            self._batches[batch, chunk] = program, state
            total += float(sums)
        return total if math.isfinite(total) else 0.0

    def timed(self) -> list[int]:
        """The batches that were stepped so far."""
        return sorted({batch for batch, _ in self._batches})

    def shown(self, batch: int, lanes: Sequence[int]) -> dict[str, Any]:
        """What some lanes of a timed batch see in the first steps of one more call, and the state that they had."""
        import jax

        from overclock.vector.host import flatten_state

        key = next((known for known in self._batches if known[0] == batch), (batch, CHUNK))
        if key not in self._batches:
            self._batches[key] = self._begin(*key)
        program, state = self._batches[key]
        after, obs, _ = program(state, self._params)
        self._batches[key] = program, after
        chosen = np.asarray(lanes)
        few = jax.tree.map(lambda leaf: leaf[chosen] if leaf.ndim and leaf.shape[0] == batch else leaf, state)
        return {**flatten_state(jax.tree.map(lambda leaf: leaf[:SEEN, chosen], obs)), "state": flatten_state(few)}

    def replayed(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """What lanes see that begin in such a state, in a batch of their own."""
        import jax

        from overclock.vector.host import flatten_state, unflatten_state

        count = len(state["ended"])
        program, like = self._begin(count, SEEN)
        _, obs, _ = program(unflatten_state(dict(state), like), self._params)
        return flatten_state(jax.tree.map(lambda leaf: leaf[:SEEN], obs))

    def _begin(self, batch: int, steps: int) -> tuple[Any, Any]:
        import jax

        begin, program = timed_programs(self._env, batch, steps)
        return jax.jit(program), begin(self._params)


def timed_programs(env: Any, batch: int, steps: int) -> tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]:
    """What is compiled to time a batch: its first state from parameters, and so many steps of it."""
    import jax
    import jax.numpy as jnp

    from overclock.vector.rollout import rollout
    from overclock.vector.vectorize import vectorize

    venv = vectorize(env, batch, backend="xla")

    def program(state: Any, params: Any) -> Any:
        state, kept = rollout(venv, state, num_steps=steps, params=params)
        # To add up all observations would take longer than most environments take to step.
        last = [leaf[-1] for leaf in jax.tree.leaves(kept.obs)]
        return state, kept.obs, sum(jnp.sum(leaf, dtype=jnp.float32) for leaf in (kept.reward, *last))

    return lambda params: venv.reset(jax.random.key(0), params)[1], program
