"""The search for branches with a whole subject: it plays a little, then searches from the states that it met.

Runs in the reference's process. Each try is an episode of its own, reset from the try's choice and put into a state, so
that a comparison can begin it again, on either side and with the same draws.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overclock.verify.reach.counts import SearchCounts
from overclock.verify.reach.mutations import Layout
from overclock.verify.reach.nearest import NearestTracer
from overclock.verify.reach.search import Attempt, BranchSearch, SearchedInstance
from overclock.verify.rollout.actions import random_legal
from overclock.verify.sides.subject import Arrays, Observed, Subject

MET = 256  # states of random play
MOST_STATES = 128  # that are handed over, one by one for what they reached and with further choices
STEPS = "steps"  # of the time limit, which counts outside of the rules


@dataclasses.dataclass(frozen=True)
class FoundStates:
    """States to begin episodes in, with the seeds of their resets and their actions; stacked.

    Episode k has `lengths[k]` actions: as many steps as the reference takes from there without an error, `steps` at
    most. `played` tells states that play leads to from those that were changed.
    """

    counts: SearchCounts
    states: Arrays
    seeds: np.ndarray
    actions: np.ndarray
    lengths: np.ndarray
    played: np.ndarray


def search_subject(
    subject: Subject,
    state_of: Callable[[], Arrays],
    files: Sequence[str],
    constants: Sequence[float],
    layout: Layout | None,
    seed: int,
    tries: int,
    seconds: float,
    steps: int,
) -> FoundStates:
    """Search with a subject of one lane, whose state `state_of` reads; that raises where no step can begin.

    Found states come first, then those that came nearest to what is missing, then others in which something rare was
    done.
    """
    played = _Played(subject, state_of, seed)
    met = played.met(MET)
    tracer = NearestTracer(list(files))
    instance = SearchedInstance(played.read, played.write, lambda choice: played.step(choice, tracer))
    layout = Layout.of(met[0], (STEPS,)) if layout is None else layout
    search = BranchSearch(instance, layout, tracer, met, constants, seed)
    counts = search.run(tries, seconds)
    chosen = [one.attempt for one in search.found] + search.nearest() + search.rare
    chosen, actions = chosen[:MOST_STATES], [played.actions(one, steps) for one in chosen[:MOST_STATES]]
    return FoundStates(
        counts,
        {name: np.stack([one.state[name] for one in chosen]) for name in (met[0] if chosen else ())},
        np.array([one.choice for one in chosen], np.int64),
        np.stack([np.stack(one + one[-1:] * (steps - len(one))) for one in actions]) if chosen else np.zeros(0),
        np.array([len(one) for one in actions], np.int64),
        np.array([one.played for one in chosen], np.bool_),
    )


class _Played:
    """One lane of a subject as the search handles an instance."""

    def __init__(self, subject: Subject, state_of: Callable[[], Arrays], seed: int) -> None:
        self._state_of = state_of
        self._subject, self._act = subject, random_legal(subject.describe())
        self._generator = np.random.default_rng((seed, 3))
        self._state: Arrays = {}
        self._shown: Observed | None = None

    def met(self, count: int) -> list[Arrays]:
        """States of random play, in which steps begin."""
        found: list[Arrays] = []
        shown = self._reset(int(self._generator.integers(2**31)))
        while len(found) < count:
            found.append(_of_lane(shown.state))
            shown = self._subject.step(self._act(self._generator, shown))
            if shown.outputs["terminated"][0] or shown.outputs["truncated"][0]:
                shown = self._reset(int(self._generator.integers(2**31)))
        return found

    def read(self) -> Arrays:
        """The state after the last step, or the one that is to be stepped from."""
        return self._state

    def write(self, state: Arrays) -> Arrays:
        """Step from this state next, as the reference shows it."""
        self._put(state)
        self._state = _of_lane(self._state_of())
        return self._state

    def action(self, choice: int) -> np.ndarray:
        """The action of a choice, for the one lane."""
        assert self._shown is not None
        return self._act(np.random.default_rng(choice), self._shown)

    def step(self, choice: int, tracer: contextlib.AbstractContextManager[Any]) -> bool:
        """A step of a new episode that begins in the state, with the draws of this seed."""
        self._shown = self._reset(choice)
        self._put(self._state)
        with tracer:
            shown = self._subject.step(self.action(choice))
        self._state = _of_lane(shown.state)
        return bool(shown.outputs["terminated"][0] or shown.outputs["truncated"][0])

    def actions(self, attempt: Attempt, steps: int) -> list[np.ndarray]:
        """The action of an attempt and further ones, until there are enough or the reference raises."""
        shown, generator = self._reset(attempt.choice), np.random.default_rng(attempt.choice)
        self._put(attempt.state)
        found: list[np.ndarray] = []
        with contextlib.suppress(Exception):  # whatever a reference raises in a state it does not know
            while len(found) < steps:
                action = self._act(generator, shown)
                shown = self._subject.step(action)
                found.append(action[0])
        return found or [self.action(attempt.choice)[0]]

    def _put(self, state: Arrays) -> None:
        self._subject.set_state({name: np.asarray(value)[None] for name, value in state.items()})

    def _reset(self, seed: int) -> Observed:
        self._shown = self._subject.reset(np.ones(1, np.bool_), np.array([seed], np.int64))
        return self._shown


def _of_lane(state: Arrays) -> Arrays:
    return {name: np.asarray(value[0]) for name, value in state.items()}
