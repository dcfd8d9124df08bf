"""The search for branches of a reference that play does not take: single steps from states that are changed a little.

It keeps, for every outcome that is missing, the states from which a step came nearest to it (by branch distance), and
begins further steps there, in states that were met in play, or where the last step ended. A state from which some
outcome was reached first is *found*: it becomes a compared case. What cannot be tried (the reference raises, does not
come back, cannot be put there) is no case. The same seed finds the same states, unless the time runs out.
"""

import contextlib
import dataclasses
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from overclock.verify.reach.counts import SearchCounts
from overclock.verify.reach.distance import Pair
from overclock.verify.reach.mutations import Layout, Mutations
from overclock.verify.reach.nearest import Near, NearestTracer, Outcome, Target
from overclock.verify.sides.subject import Arrays

TRIES, SECONDS = 6144, 60.0
STALE, STALE_COMPLETE = 2048, 1024  # tries without anything new, after which it ends; where no outcome is missing
GO_ON = 0.3  # of the tries that begin where the last one ended
AS_IT_WAS = 0.2  # of the others that begin in a state as it was met, with another action and other draws
TOWARDS = 0.7  # of the changed ones that begin in a state that came near to a missing outcome
NEWEST = 8  # half of the found states that are built on are among the last: the edge of what is known
MOST_NEAR, MOST_CHANGES, MOST_TRIED = 4, 3, 8192
STEP_SECONDS, MOST_HANGS = 2.0, 3  # a step that takes longer does not come back; after some nothing more is tried


@dataclasses.dataclass(frozen=True)
class SearchedInstance:
    """One instance of a reference, as the search handles it.

    `write` puts the instance into a state and returns it as the instance then has it; it raises where that is not
    possible. `step` takes a choice from which its action and its
    draws follow, traces the step, and returns whether the episode ended.
    """

    read: Callable[[], Arrays]
    write: Callable[[Arrays], Arrays]
    step: Callable[[int], bool]


@dataclasses.dataclass(frozen=True)
class Attempt:
    """A step that the reference took: the state it began in, and the choice of its action and draws.

    `played`: the state was met in play, or is one that play leads to from there; otherwise it was changed by hand.
    """

    state: Arrays
    choice: int
    played: bool


@dataclasses.dataclass(frozen=True)
class FoundState:
    """A state from which a step first reached some outcomes, in words."""

    attempt: Attempt
    reached: tuple[str, ...]


class BranchSearch:
    """Searches with one instance; `found` and `tried` grow with every run."""

    def __init__(
        self,
        instance: SearchedInstance,
        layout: Layout,
        tracer: NearestTracer,
        met: Sequence[Arrays],
        constants: Sequence[float] = (),
        seed: int = 0,
    ) -> None:
        self.found: list[FoundState] = []
        self.tried: list[Attempt] = []  # a uniform sample of all steps, the last of them included
        self._instance, self._tracer, self._met, self._seed = instance, tracer, list(met), seed
        self._mutations = Mutations(layout, met, constants)
        self.rare: list[Attempt] = []  # those in which something happened that play did not show
        self._near: dict[Target, list[tuple[float, Attempt, list[Pair]]]] = {}
        self._last: Arrays | None = None
        self._last_played = True
        self._tries = self._steps = self._hangs = 0
        self._reservoir = np.random.default_rng((seed, 1))

    def run(self, tries: int = TRIES, seconds: float = SECONDS) -> SearchCounts:
        """Try so often, for so long at most, or until nothing new has come for a while."""
        ends, fresh, missing, ended_by = time.monotonic() + seconds, self._tries, True, "the number of tries"
        for _ in range(tries if self._met else 0):
            if time.monotonic() > ends:
                ended_by = f"the time of {seconds:g} s"
                break
            if self._hangs >= MOST_HANGS:
                ended_by = "steps that did not come back"
                break
            if self._tries - fresh > (stale := STALE if missing else STALE_COMPLETE):
                ended_by = f"{stale} tries without anything new"
                break
            if self._attempt():
                fresh, missing = self._tries, bool(self._missed())
        return self.counts(ended_by)

    def counts(self, ended_by: str = "") -> SearchCounts:
        """What was done and found so far."""
        found: dict[bool, list[str]] = {True: [], False: []}
        for one in self.found:
            found[one.attempt.played] += one.reached
        return SearchCounts(self._tries, self._steps, found[True], found[False], self._missed(), ended_by)

    def _missed(self) -> list[str]:
        """In words, each once: the compiler may place one test twice, of which either counts."""
        reached = {Target(outcome).text for outcome in self._tracer.reached}
        return sorted({Target(outcome).text for outcome in self._tracer.missed()} - reached)

    def nearest(self) -> list[Attempt]:
        """The attempts that came nearest to outcomes which are missing still."""
        return [row[0][1] for row in self._near.values()]

    def _attempt(self) -> bool:
        """One step from a chosen state; returns whether it reached or neared anything new."""
        generator = np.random.default_rng((self._seed, 0, self._tries))
        self._tries += 1
        last, self._last, played = self._last, None, self._last_played
        known, tracer = set(self._tracer.reached), self._tracer
        if self._tries == len(self._met) + 1:
            tracer.play_ended()
        tracer.begin()
        try:
            if last is None or generator.random() >= GO_ON:
                last, played = self._begin(generator)
                last = self._instance.write(last)
            choice = int(generator.integers(2**31))
            attempt = Attempt(last, choice, played)
            with limited():
                ended = self._instance.step(choice)
            after = self._instance.read()
        except _TooLongError:
            self._hangs += 1
            tracer.forget(tracer.reached - known)
            return False
        except Exception:  # whatever a reference raises in a state it does not know
            tracer.forget(tracer.reached - known)
            return False
        self._steps += 1
        self._keep(attempt)
        if not ended:
            self._last, self._last_played = after, played
        return self._learn(attempt, known)

    def _learn(self, attempt: Attempt, known: set[Outcome]) -> bool:
        tracer, nearer = self._tracer, False
        new = [Target(outcome) for outcome in tracer.reached - known]
        for target, near in tracer.end().items():
            if near.distance == 0.0:
                tracer.times[target.outcome] = target.times
                self._near.pop(target, None)
                new += [target] if target.times > 1 else []
            elif target.times > 1 or target.outcome not in tracer.reached:
                nearer |= self._rank(target, near, attempt)
        if new:
            self.found.append(FoundState(attempt, tuple(sorted(target.text for target in new))))
            self._near = {one: row for one, row in self._near.items() if one not in new}
        if (new or tracer.took()) and len(self.rare) < MOST_TRIED:
            self.rare.append(attempt)
        return bool(new) or nearer

    def _rank(self, target: Target, near: Near, attempt: Attempt) -> bool:
        """Keep the attempt if few came nearer; returns whether none came as near."""
        row = self._near.setdefault(target, [])
        best = row[0][0] if row else np.inf
        if len(row) == MOST_NEAR and near.distance > row[-1][0]:
            return False
        # Of equals the newest first: a search that drifts gets further than one that stays.
        place = next((number for number, one in enumerate(row) if near.distance <= one[0]), len(row))
        row.insert(place, (near.distance, attempt, near.pairs))
        del row[MOST_NEAR:]
        return near.distance < best

    def _keep(self, attempt: Attempt) -> None:
        if len(self.tried) < MOST_TRIED:
            self.tried.append(attempt)
        elif (place := int(self._reservoir.integers(self._steps))) < MOST_TRIED:
            self.tried[place] = attempt

    def _begin(self, generator: np.random.Generator) -> tuple[Arrays, bool]:
        """A state to begin in, and whether play leads there; first every one that was met, as it was."""
        if self._tries <= len(self._met):
            return self._met[self._tries - 1], True
        state, played = self._parent(generator)
        if generator.random() < AS_IT_WAS:
            return state, played
        pairs: list[Pair] = []
        if self._near and generator.random() < TOWARDS:
            rows = list(self._near.values())
            row = rows[generator.integers(len(rows))]
            _, attempt, pairs = row[generator.integers(len(row))]
            state = attempt.state
        for _ in range(generator.integers(1, MOST_CHANGES + 1)):
            state = self._mutations.change(state, self._parent(generator)[0], pairs, generator)
        return state, False

    def _parent(self, generator: np.random.Generator) -> tuple[Arrays, bool]:
        if self.found and generator.random() < 0.5:
            newest = self.found[-1 - generator.integers(min(NEWEST, len(self.found)))].attempt
            return newest.state, newest.played
        place = int(generator.integers(len(self._met) + len(self.found)))
        if place < len(self._met):
            return self._met[place], True
        one = self.found[place - len(self._met)].attempt
        return one.state, one.played


class _TooLongError(Exception):
    """A step that does not come back."""


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Inside, what takes too long is interrupted; that needs the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: Any) -> None:
        raise _TooLongError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, STEP_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
