"""The rows of a run's report: one per task, with the candidate that it left and what the levels said about it."""

import dataclasses
from collections.abc import Sequence

from overclock.recipe.judging.verdict import Level
from overclock.recipe.runs.candidates import diff, files_of
from overclock.recipe.runs.cost import Cost, Spending
from overclock.recipe.runs.groups import kept
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.vocabulary import Event, Facts
from overclock.results import absent


@dataclasses.dataclass(frozen=True)
class FailureSummary:
    """What was wrong with a candidate; `modules` are all that level 1 found wrong, which other levels do not say."""

    level: Level
    module: str | None
    field: str | None
    step: int | None
    sentence: str
    modules: list[str] | None = absent()


@dataclasses.dataclass(frozen=True)
class Judgement:
    """A verdict without what differs from machine to machine."""

    level: Level
    verdict: str
    passed: int | None
    total: int | None
    failure: FailureSummary | None

    @classmethod
    def of(cls, facts: Facts) -> "Judgement":
        """The judgement of an event 'judged' of the journal."""
        names = [field.name for field in dataclasses.fields(FailureSummary)]
        failure = facts["failure"] and FailureSummary(**{name: facts["failure"].get(name) for name in names})
        return cls(facts["level"], facts["verdict"], facts["tests_passed"], facts["tests_total"], failure)


@dataclasses.dataclass
class Iteration:
    """One row. `group` is the task of those that were made side by side, `kept` whether this one was chosen.

    The verdict is that of the first level that did not pass, or else of the last; its tests are those of all levels.
    """

    task: str | None = None
    purpose: str = ""
    level: Level | None = None
    module: str | None = None
    iteration: int | None = None
    ended: str | None = None
    group: str | None = None
    kept: bool | None = None
    candidate: str | None = None
    lines: int | None = None
    judged: list[Judgement] = dataclasses.field(default_factory=list)
    level_judged: Level | None = None
    verdict: str | None = None
    tests_passed: int | None = None
    tests_total: int | None = None
    failure: FailureSummary | None = None
    diff: str | None = None
    cost: Cost | None = None

    def standing(self) -> list[Judgement]:
        """What the levels said last; one that could not decide may have been asked again."""
        return list({judgement.level: judgement for judgement in self.judged}.values())


@dataclasses.dataclass(frozen=True)
class RepairedBy:
    """The first later candidate in which a level did not find again what it had found."""

    task: str | None
    candidate: str | None


@dataclasses.dataclass(frozen=True)
class Caught:
    """What a level found wrong with a candidate."""

    level: Level
    verdict: str
    module: str | None
    field: str | None
    step: int | None
    sentence: str
    task: str | None
    candidate: str | None
    kept: bool | None
    repaired_by: RepairedBy | None


def iterations(journal: Journal, events: Sequence[Event], spent: Spending) -> list[Iteration]:
    """One row per task, in the order of sending; a candidate that no task left (submitted by hand) has its own."""
    rows: list[Iteration] = []
    of_task: dict[str, Iteration] = {}
    of_candidate: dict[str, list[Iteration]] = {}
    chosen = kept(events)
    for event in events:
        facts = event.facts
        match event.kind:
            case "task sent":
                if facts["task"] not in of_task:  # a task that a kill cut off is sent again, and stays one row
                    row = of_task[facts["task"]] = Iteration(
                        facts["task"], facts["purpose"], facts["level"], facts["module"], facts["iteration"],
                        group=facts.get("group"), kept=chosen.get(facts["task"]),
                    )  # fmt: skip
                    rows.append(row)
            case "task ended" if facts["task"] in of_task:
                of_task[facts["task"]].ended = facts["ended"]
            case "candidate frozen":
                row = of_task.get(facts["task"])
                # One of several is frozen before its end is written; a kill in between makes that happen again.
                if row is None or (row.candidate is not None and row.ended is not None):
                    row = Iteration(facts["task"], "submitted" if facts["task"] is None else "")
                    rows.append(row)
                row.candidate, row.lines = facts["candidate"], facts["lines"]
                same = [one for one in of_candidate.get(facts["candidate"], []) if one.group is not None]
                twins = [one for one in same if one.group == row.group and one is not row]
                of_candidate[facts["candidate"]] = [*twins, row]
            case "judged":
                for row in of_candidate.get(facts["candidate"], []):
                    row.judged.append(Judgement.of(facts))
    for row in rows:
        _add_verdict(row)
        row.cost = spent.of_task(row.task) if row.task in of_task else None
    _add_diffs(journal, rows)
    return rows


def caught(rows: Sequence[Iteration]) -> list[Caught]:
    """Which level caught what, and which later candidate was the first in which that level did not find it again."""
    found = []
    for index, row in enumerate(rows):
        for entry in row.standing():
            if entry.verdict != "fail" and entry.failure is None:
                continue  # passed, or nothing is known
            failure = entry.failure or FailureSummary(entry.level, None, None, None, entry.verdict)
            repaired_by = None if row.kept is False else _repair(rows[index + 1 :], entry)
            found.append(Caught(
                entry.level, entry.verdict, failure.module, failure.field, failure.step, failure.sentence, row.task,
                row.candidate, row.kept, repaired_by,
            ))  # fmt: skip
    return found


def _repair(later: Sequence[Iteration], wrong: Judgement) -> RepairedBy | None:
    for row in later:
        right = any(_repaired(wrong, entry) for entry in row.standing() if entry.level == wrong.level)
        if right and row.kept is not False:
            return RepairedBy(row.task, row.candidate)
    return None


def _repaired(wrong: Judgement, entry: Judgement) -> bool:
    """Whether a level no longer finds what it found; level 1 tells of every module, so another may still be wrong."""
    if entry.verdict == "pass":
        return True
    module = wrong.failure and wrong.failure.module
    return module is not None and module not in ((entry.failure and entry.failure.modules) or [module])


def _add_verdict(row: Iteration) -> None:
    standing = row.standing()
    wrong = [entry for entry in standing if entry.verdict != "pass"]
    if decisive := next(iter(wrong or standing[-1:]), None):
        row.level_judged, row.verdict, row.failure = decisive.level, decisive.verdict, decisive.failure
    if counted := [entry for entry in standing if entry.total is not None]:
        row.tests_passed = sum(entry.passed or 0 for entry in counted)
        row.tests_total = sum(entry.total or 0 for entry in counted)


def _add_diffs(journal: Journal, rows: Sequence[Iteration]) -> None:
    """What each task changed; candidates made side by side began with the same files, and the kept one goes on."""
    before: dict[str, bytes] = {}
    began, group = before, None
    for row in rows:
        if row.group != group:
            began, group = before, row.group
        if row.candidate is None:
            continue
        after = files_of(journal, row.candidate)
        row.diff = diff(before if group is None else began, after)
        if group is None or row.kept:
            before = after
