"""Several candidates for one task, made and judged side by side; the run goes on with the best of them."""

import contextlib
import dataclasses
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from overclock.recipe.agents.base import Task, Work
from overclock.recipe.agents.parallel import side_by_side
from overclock.recipe.agents.worktrees import worktrees
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.ranking import Placing, best, undecided
from overclock.recipe.judging.verdict import HYGIENE, Verdict
from overclock.recipe.loop.context import RunContext
from overclock.recipe.loop.tasks import TaskRequest, Tasks
from overclock.recipe.loop.verdicts import Verdicts
from overclock.recipe.runs.session import JournalSession
from overclock.recipe.runs.vocabulary import Facts
from overclock.recipe.runs.work_tree import copy_tree, frozen_tree
from overclock.recipe.runs.writing import write_candidate

WORKTREES = "candidates"  # of a run's folder, while candidates are made side by side


@dataclasses.dataclass(frozen=True)
class Attempt:
    """One of several candidates; `folder` is where it was made, unless that was before the run was resumed."""

    frozen: Frozen
    folder: Path | None = None


class SideBySide:
    """Asks several agents for the same task, judges what each leaves, and keeps the best."""

    def __init__(self, context: RunContext, session: JournalSession, tasks: Tasks, verdicts: Verdicts) -> None:
        self._context, self._session, self._tasks, self._verdicts = context, session, tasks, verdicts

    def best(self, task: str, request: TaskRequest, count: int, start: Frozen | None) -> Frozen:
        """Ask for `count` candidates at once, each from the files of `start`; the best of them (ranking.py)."""
        with self._attempts(task, request, count, start) as attempts:
            every = [attempt.frozen for attempt in attempts]
            # No tests are added meanwhile: the next candidate would be judged by more of them.
            found = [
                list(self._verdicts.climb(frozen, request.ranked_by, request.part, add_tests=False)) for frozen in every
            ]
            placings = [_placing(frozen, verdicts, request) for frozen, verdicts in zip(every, found, strict=True)]
            index, why = best(self._timed(request, every, placings))
            if not self._session.replaying:  # before it is written: a person who is asked next must find it in place
                self._keep(attempts[index])
            self._session.record(
                "candidate chosen", ("task", "candidate"), task=task, candidate=every[index].hash, number=index + 1,
                candidates=[frozen.hash for frozen in every], why=why,
            )  # fmt: skip
            self._verdicts.add_tests(found[index][-1])
            return every[index]

    @contextlib.contextmanager
    def _attempts(self, task: str, request: TaskRequest, count: int, start: Frozen | None) -> Iterator[list[Attempt]]:
        """`count` calls of the agent, each in a folder of its own; the folders go with the context."""
        made: dict[str, Attempt] = {}
        while self._session.peek("task sent") is not None:
            one = (self._session.take("task sent", group=task) or {})["task"]
            self._session.take("task ended", task=one)
            made[one] = Attempt(self._session.frozen(self._session.take("candidate frozen", task=one) or {}))
        names = [f"{task}.{number}" for number in range(1, count + 1)]
        missing = [name for name in names if name not in made]
        place = self._context.run.folder / WORKTREES
        with contextlib.ExitStack() as stack:
            if missing:
                self._tasks.require_budget()
                self._tasks.lay_out(start)
                self._tasks.prepare()
                folders = stack.enter_context(worktrees(self._context.run.candidate, place, len(missing)))
                sent = [
                    self._tasks.send(name, request, folder, group=task, candidates=count)
                    for name, folder in zip(missing, folders, strict=True)
                ]
                made |= self._work(sent)
            else:
                shutil.rmtree(place, ignore_errors=True)  # left by a run that was killed
            yield [made[name] for name in names]

    def _work(self, tasks: Sequence[Task]) -> dict[str, Attempt]:
        began, attempts, ends = time.monotonic(), dict[str, Attempt](), list[Facts]()

        def ended(task: Task, work: Work) -> None:
            frozen = frozen_tree(task.folder)
            write_candidate(self._session.journal, frozen, task.id)  # before its end: see runs/session.py
            ends.append(self._tasks.end(task, work, time.monotonic() - began))
            attempts[task.id] = Attempt(frozen, task.folder)

        self._context.options.say(f"{self._context.agent}: {', '.join(task.id for task in tasks)}, side by side")
        with self._tasks.sealed():
            side_by_side(self._context.agents, tasks, self._context.endpoint, ended)
        self._tasks.require_accepted(ends)
        return attempts

    def _keep(self, attempt: Attempt) -> None:
        """Let the run's own folder hold a candidate; with its author's tests and notes where they still are."""
        if attempt.folder is None:
            self._tasks.lay_out(attempt.frozen)
        else:
            copy_tree(attempt.folder, self._context.run.candidate)

    def _timed(self, request: TaskRequest, every: Sequence[Frozen], placings: list[Placing]) -> list[Placing]:
        """The same with speeds, where only these can decide and there is an environment to be timed."""
        if request.part is not None or set(request.ranked_by) == {HYGIENE}:
            return placings
        equals = undecided(placings)
        return [
            dataclasses.replace(one, sps=self._verdicts.speed(frozen)) if frozen.hash in equals else one
            for one, frozen in zip(placings, every, strict=True)
        ]


def _placing(frozen: Frozen, verdicts: Sequence[Verdict], request: TaskRequest) -> Placing:
    passed, tests = sum(verdict.passed for verdict in verdicts), sum(verdict.tests_passed for verdict in verdicts)
    return Placing(frozen.hash, passed, len(request.ranked_by), tests)
