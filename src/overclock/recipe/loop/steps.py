"""The steps of a run, each an event of its journal: done once, and taken from the journal when a run is resumed.

What the steps add up to is the loop's business (loop.py).
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.ranking import Placing, best, undecided
from overclock.recipe.judging.speed import Race
from overclock.recipe.judging.verdict import HYGIENE, Level, Verdict
from overclock.recipe.loop.diary import Diary
from overclock.recipe.loop.parts import Parts, Stop
from overclock.recipe.loop.tasks import Call, Tasks
from overclock.recipe.loop.verdicts import Verdicts


class Steps:
    """The steps of one run, and the candidate that it stands at."""

    def __init__(self, parts: Parts) -> None:
        self._diary = Diary(parts.run)
        self._tasks, self._verdicts = Tasks(parts, self._diary), Verdicts(parts, self._diary)
        self._number = 0
        self._frozen: Frozen | None = None

    @property
    def candidate(self) -> Frozen:
        """What the last task left, or what was put in its place."""
        assert self._frozen is not None, "no task has ended yet"
        return self._frozen

    @property
    def replaying(self) -> bool:
        """Whether the next step is one that the journal knows."""
        return not self._diary.past.over

    def go_back(self, frozen: Frozen) -> None:
        """Go on with an earlier candidate."""
        self._frozen = frozen

    def tell(self, kind: str, checked: tuple[str, ...] = (), **facts: Any) -> dict[str, Any]:
        """As `Diary.tell`."""
        return self._diary.tell(kind, checked, **facts)

    def freeze(self, task: str | None) -> None:
        """Go on with what is in the agent's folder; no task: a person changed it."""
        self._frozen = self._diary.freeze(task)

    def lay_out(self) -> None:
        """Let the agent's folder hold the candidate."""
        self._tasks.lay_out(self._frozen)

    def task(self, call: Call) -> None:
        """One task for the agent, and the candidate that comes of it: the best, where several are made side by side."""
        self._number += 1
        task = f"{self._number:03}-{call.name}"
        count = self._tasks.candidates()
        if count == 1:
            self._frozen = self._tasks.alone(task, call, self._frozen)
        else:
            self._frozen = self._best(task, call, count)

    def judge(self, level: Level, module: str | None = None) -> Verdict:
        """The verdict on the candidate, or on one module of it."""
        return self._verdicts.judge(self.candidate, level, module)

    def speed(self) -> dict[str, float]:
        """Steps per second of the candidate by batch; nothing where it broke down."""
        return self._verdicts.speed(self.candidate)

    def race(self, best: Frozen) -> Race | None:
        """The candidate timed by turns with an earlier one; None where one of them broke down."""
        return self._verdicts.race(best, self.candidate)

    def ask(self, level: Level, sentence: str, how: str) -> None:
        """Stop for help; returns where it was given. All verdicts are then asked for anew: much may have changed."""
        helped = self._diary.past.take_if("help given")
        if helped is None:
            self._diary.journal.append("help asked", level=level, sentence=sentence, how=how)
            raise Stop("stuck", f"{sentence} {how}")
        self._verdicts.forget()
        if helped.get("changed"):
            self.freeze(None)

    # ---- side by side ----

    def _best(self, task: str, call: Call, count: int) -> Frozen:
        """Ask for several candidates at once, judge each, and go on with the best (choice.py)."""
        with self._tasks.several(task, call, count, self._frozen) as attempts:
            every = [attempt.frozen for attempt in attempts]
            found = [self._climb(frozen, call) for frozen in every]
            placings = self._timed(call, every, [_placing(*one, call) for one in zip(every, found, strict=True)])
            index, why = best(placings)
            if self._diary.past.over:  # before it is written: a person who is asked next must find it in its place
                self._tasks.keep(attempts[index])
            self._diary.tell(
                "candidate chosen", ("task", "candidate"), task=task, candidate=every[index].hash, number=index + 1,
                candidates=[frozen.hash for frozen in every], why=why,
            )  # fmt: skip
            self._verdicts.add_tests(found[index][-1])
            return every[index]

    def _climb(self, frozen: Frozen, call: Call) -> list[Verdict]:
        """The verdicts on one of several candidates, up to the first that is no pass.

        No tests are added meanwhile: the next one would be judged by more of them.
        """
        found: list[Verdict] = []
        for level in call.ranked_by:
            found.append(self._verdicts.judge(frozen, level, call.part, add_tests=False))
            if not found[-1].passed:
                break
        return found

    def _timed(self, call: Call, every: Sequence[Frozen], placings: list[Placing]) -> list[Placing]:
        """The same with speeds, where only these can decide and there is an environment to be timed."""
        if call.part is not None or set(call.ranked_by) == {HYGIENE}:
            return placings
        equals = undecided(placings)
        return [
            dataclasses.replace(one, sps=self._verdicts.speed(frozen)) if frozen.hash in equals else one
            for one, frozen in zip(placings, every, strict=True)
        ]


def _placing(frozen: Frozen, found: Sequence[Verdict], call: Call) -> Placing:
    passed, tests = sum(verdict.passed for verdict in found), sum(verdict.tests_passed for verdict in found)
    return Placing(frozen.hash, passed, len(call.ranked_by), tests)
