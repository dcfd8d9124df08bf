"""The rows of a run's report: one per task, with the candidate that it left and what the levels said about it."""

from collections.abc import Sequence
from typing import Any

from overclock.recipe.journal import Journal
from overclock.recipe.run_candidates import diff, files_of
from overclock.recipe.run_cost import Spending
from overclock.recipe.run_vocabulary import Event

Row = dict[str, Any]


def iterations(journal: Journal, events: Sequence[Event], spent: Spending) -> list[Row]:
    """One row per task, in the order of sending; a candidate that no task left (submitted by hand) has its own."""
    rows: list[Row] = []
    of_task: dict[str, Row] = {}
    of_candidate: dict[str, Row] = {}
    for event in events:
        facts = event.facts
        match event.kind:
            case "task sent":
                keys = ("task", "purpose", "level", "module", "iteration")
                row = of_task.get(facts["task"])
                if row is None:  # a task that a kill cut off is sent again, and stays one row
                    row = of_task[facts["task"]] = _row(**{key: facts[key] for key in keys})
                    rows.append(row)
            case "task ended" if facts["task"] in of_task:
                of_task[facts["task"]]["ended"] = facts["ended"]
            case "candidate frozen":
                row = of_task.get(facts["task"])
                if row is None or row["candidate"] is not None:
                    row = _row(task=facts["task"], purpose="submitted" if facts["task"] is None else "")
                    rows.append(row)
                row |= {"candidate": facts["candidate"], "lines": facts["lines"]}
                of_candidate[facts["candidate"]] = row
            case "judged" if facts["candidate"] in of_candidate:
                of_candidate[facts["candidate"]]["judged"].append(judgement(facts))
    _add_verdicts(rows)
    _add_diffs(journal, rows)
    for row in rows:
        row["cost"] = spent.of_task(row["task"]) if row["task"] in of_task else None
    return rows


def judgement(facts: dict[str, Any]) -> dict[str, Any]:
    """A verdict without what differs from machine to machine."""
    keys = ("level", "module", "field", "step", "sentence")
    failure = facts["failure"]
    return {
        "level": facts["level"],
        "verdict": facts["verdict"],
        "passed": facts["tests_passed"],
        "total": facts["tests_total"],
        "failure": None if failure is None else {key: failure.get(key) for key in keys},
    }


def caught(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Which level caught what, and which later candidate was the first to pass that level again."""
    found = []
    for index, row in enumerate(rows):
        for entry in _standing(row):
            if entry["verdict"] != "fail" and entry["failure"] is None:
                continue  # passed, or nothing is known
            failure = entry["failure"] or {"module": None, "field": None, "step": None, "sentence": entry["verdict"]}
            found.append(
                {
                    "level": entry["level"],
                    "verdict": entry["verdict"],
                    **{key: failure[key] for key in ("module", "field", "step", "sentence")},
                    "task": row["task"],
                    "candidate": row["candidate"],
                    "repaired_by": _repair(rows[index + 1 :], entry["level"]),
                }
            )
    return found


def _standing(row: Row) -> list[dict[str, Any]]:
    """What the levels said last; one that could not decide may have been asked again."""
    return list({entry["level"]: entry for entry in row["judged"]}.values())


def _repair(later: Sequence[Row], level: int | str) -> dict[str, Any] | None:
    for row in later:
        if any(entry["level"] == level and entry["verdict"] == "pass" for entry in _standing(row)):
            return {"task": row["task"], "candidate": row["candidate"]}
    return None


def _row(**facts: Any) -> Row:
    empty = {"task": None, "purpose": "", "level": None, "module": None, "iteration": None, "ended": None}
    return {**empty, "candidate": None, "lines": None, "judged": [], **facts}


def _add_verdicts(rows: Sequence[Row]) -> None:
    """The verdict of a row is that of the first level that did not pass, or else of the last; its tests are all."""
    nothing = {"level": None, "verdict": None, "failure": None}
    for row in rows:
        standing = _standing(row)
        wrong = [entry for entry in standing if entry["verdict"] != "pass"]
        decisive = (wrong or standing[-1:] or [nothing])[0]
        counts = [entry for entry in standing if entry["total"] is not None]
        row |= {
            "level_judged": decisive["level"],
            "verdict": decisive["verdict"],
            "tests_passed": sum(entry["passed"] for entry in counts) if counts else None,
            "tests_total": sum(entry["total"] for entry in counts) if counts else None,
            "failure": decisive["failure"],
        }


def _add_diffs(journal: Journal, rows: Sequence[Row]) -> None:
    before: dict[str, bytes] = {}
    for row in rows:
        if row["candidate"] is None:
            row["diff"] = None
            continue
        after = files_of(journal, row["candidate"])
        row["diff"], before = diff(before, after), after
