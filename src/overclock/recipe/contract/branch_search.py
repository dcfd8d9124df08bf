"""Steps from states that play rarely comes to: a search for every branch of a reference's rules, one step at a time.

It runs in the reference's process while level 1 records. A try begins where the last one ended, or in a state that was
met before, or in such a state with a few parts changed: those of another state, a number at an end of what was seen, an
array moved, thinned or empty. A state that first led to some branch is kept and built on. What cannot be tried (the
reference raises, does not come back, cannot be put there) is no case. All other steps are, whether they found anything
or not: two programs that agree on states nobody can reach are the more alike.
"""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from overclock.recipe.contract.file import ContractFile
from overclock.recipe.contract.outputs import boundary_value
from overclock.recording.codec import InstanceCodec
from overclock.recording.shapes import leaves
from overclock.verify.rollout.branches import BranchTracer
from overclock.verify.sides.subject import Arrays

TRIES = 2048
GO_ON = 0.5  # of the tries that begin where the last one ended
AS_IT_WAS = 0.2  # of the others that begin in a state as it was met, with another action and other draws
NEWEST = 8  # half of the states that are built on are among the last ones kept: the edge of what is known
FLOATS = 0.3  # of the changed ones in which every float is moved, and nothing else
MOST_CHANGES = 3
SECONDS, MOST_HANGS = 2.0, 3  # a step that takes longer does not come back; after some of them nothing more is tried


class _TooLongError(Exception):
    """A step that does not come back."""


class StateSearch:
    """Chooses the states in which steps begin; states that reached a new branch are built on."""

    def __init__(
        self, contract: ContractFile, codec: InstanceCodec, seen: Sequence[Arrays], tracer: BranchTracer
    ) -> None:
        self._pool, self._kept, self._tracer = list(seen), list[Arrays](), tracer
        self._groups = [
            [leaf.name for leaf in leaves(shape, codec.prefixes[path])] for path, shape in codec.attributes.items()
        ]
        self._plain = [field for field in contract.state if field.name in codec.plain]
        self._floats = [field for field in contract.state if not field.exact and field.low is not None]
        self._rest = {field.name: np.zeros(field.shape, field.dtype) for field in contract.state if not field.read}
        ends = {field.name: [state[field.name] for state in seen] for field in self._plain} if seen else {}
        self._ends = {name: (np.min(values), np.max(values)) for name, values in ends.items()}
        self._last: Arrays | None = None  # where the last try ended, if its episode goes on
        self._hangs = 0

    def attempt(
        self, number: int, write: Callable[[Arrays], None], step: Callable[[int], bool], read: Callable[[], Arrays]
    ) -> None:
        """One step from a chosen state.

        `write` puts the instance into a state, `step` takes a choice of action and returns whether the episode ended,
        `read` returns the state.
        """
        if not self._pool or self._hangs >= MOST_HANGS:
            return
        generator = np.random.default_rng(number)
        last, self._last = self._last, None
        known = len(self._tracer.reached)
        begins = last
        try:
            if last is None or generator.random() >= GO_ON:
                begins = self._begin(generator)
                write({**self._rest, **begins})
            with _limited(), self._tracer:
                ended = step(int(generator.integers(2**31)))
            self._last = None if ended else read()
        except _TooLongError:
            self._hangs += 1
        except Exception:  # whatever a reference raises in a state it does not know
            return
        if len(self._tracer.reached) > known and begins is not None:
            self._kept.append(begins)

    def _begin(self, generator: np.random.Generator) -> Arrays:
        state = self._parent(generator)
        if generator.random() < AS_IT_WAS:
            return state
        state = dict(state)
        if self._floats and generator.random() < FLOATS:
            return state | {field.name: boundary_value(field, generator) for field in self._floats}
        for _ in range(generator.integers(1, MOST_CHANGES + 1)):
            if self._plain and generator.random() < 0.6:
                field = self._plain[generator.integers(len(self._plain))]
                state[field.name] = self._changed(field, state[field.name], generator)
            else:
                other, group = self._parent(generator), self._groups[generator.integers(len(self._groups))]
                state |= {name: other[name] for name in group}
        return state

    def _parent(self, generator: np.random.Generator) -> Arrays:
        if self._kept and generator.random() < 0.5:
            return self._kept[-1 - generator.integers(min(NEWEST, len(self._kept)))]
        place = int(generator.integers(len(self._pool) + len(self._kept)))
        return self._pool[place] if place < len(self._pool) else self._kept[place - len(self._pool)]

    def _changed(self, field: Any, value: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        if value.ndim:
            return _array_changed(value, generator)
        if not field.exact:
            return boundary_value(field, generator)
        if value.dtype == np.bool_:  # a flag that no step began with is usually that of an end
            return value
        low, high = map(int, self._ends[field.name])
        near = min(max(int(value) + int(generator.integers(-1, 2)), low), high)
        return np.asarray((0, 1, low, high, near)[generator.integers(5)], value.dtype)


def _array_changed(value: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    match generator.integers(5):
        case 0:
            return np.zeros_like(value)
        case 1:
            axis = int(generator.integers(value.ndim))
            return np.roll(value, int(generator.integers(value.shape[axis] or 1)), axis)
        case 2:  # thinned
            return np.where(generator.random(value.shape) < generator.random(), value, np.zeros_like(value))
        case 3:  # a few of its numbers elsewhere
            changed = value.copy()
            places = generator.integers(0, value.size or 1, (2, 2)) if value.size else np.zeros((2, 0), int)
            changed.flat[places[0]] = value.flat[places[1]]
            return changed
        case _:
            return generator.permutation(value.ravel()).reshape(value.shape)


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Inside, what takes too long is interrupted; that needs the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: Any) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
