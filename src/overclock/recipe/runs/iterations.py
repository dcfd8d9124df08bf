"""The rows of a run's report: one per task, with the candidate that it left and what the levels said about it."""

from collections.abc import Sequence
from typing import Any

from overclock.recipe.runs.candidates import diff, files_of
from overclock.recipe.runs.cost import Spending
from overclock.recipe.runs.groups import kept
from overclock.recipe.runs.journal import Journal
from overclock.recipe.runs.vocabulary import Event

Row = dict[str, Any]


def iterations(journal: Journal, events: Sequence[Event], spent: Spending) -> list[Row]:
    """One row per task, in the order of sending; a candidate that no task left (submitted by hand) has its own."""
    rows: list[Row] = []
    of_task: dict[str, Row] = {}
    of_candidate: dict[str, list[Row]] = {}
    chosen = kept(events)
    for event in events:
        facts = event.facts
        match event.kind:
            case "task sent":
                keys = ("task", "purpose", "level", "module", "iteration")
                row = of_task.get(facts["task"])
                if row is None:  # a task that a kill cut off is sent again, and stays one row
                    asked = {"group": facts.get("group"), "kept": chosen.get(facts["task"])}
                    row = of_task[facts["task"]] = _row(**{key: facts[key] for key in keys}, **asked)
                    rows.append(row)
            case "task ended" if facts["task"] in of_task:
                of_task[facts["task"]]["ended"] = facts["ended"]
            case "candidate frozen":
                row = of_task.get(facts["task"])
                # One of several is frozen before its end is written; a kill in between makes that happen again.
                if row is None or (row["candidate"] is not None and row["ended"] is not None):
                    row = _row(task=facts["task"], purpose="submitted" if facts["task"] is None else "")
                    rows.append(row)
                row |= {"candidate": facts["candidate"], "lines": facts["lines"]}
                same = [one for one in of_candidate.get(facts["candidate"], []) if one["group"] is not None]
                twins = [one for one in same if one["group"] == row["group"] and one is not row]
                of_candidate[facts["candidate"]] = [*twins, row]
            case "judged":
                for row in of_candidate.get(facts["candidate"], []):
                    row["judged"].append(judgement(facts))
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
        "failure": None if failure is None else {**{key: failure.get(key) for key in keys}, **_all_modules(failure)},
    }


def _all_modules(failure: dict[str, Any]) -> dict[str, Any]:
    """Every module that level 1 found wrong; the other levels do not say."""
    return {"modules": failure["modules"]} if "modules" in failure else {}


def caught(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Which level caught what, and which later candidate was the first in which that level did not find it again."""
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
                    "kept": row["kept"],
                    "repaired_by": None if row["kept"] is False else _repair(rows[index + 1 :], entry),
                }
            )
    return found


def _standing(row: Row) -> list[dict[str, Any]]:
    """What the levels said last; one that could not decide may have been asked again."""
    return list({entry["level"]: entry for entry in row["judged"]}.values())


def _repair(later: Sequence[Row], wrong: dict[str, Any]) -> dict[str, Any] | None:
    for row in later:
        right = any(_repaired(wrong, entry) for entry in _standing(row) if entry["level"] == wrong["level"])
        if right and row["kept"] is not False:
            return {"task": row["task"], "candidate": row["candidate"]}
    return None


def _repaired(wrong: dict[str, Any], entry: dict[str, Any]) -> bool:
    """Whether a level no longer finds what it found; level 1 tells of every module, so another may still be wrong."""
    if entry["verdict"] == "pass":
        return True
    module = (wrong["failure"] or {}).get("module")
    return module is not None and module not in ((entry["failure"] or {}).get("modules") or [module])


def _row(**facts: Any) -> Row:
    empty = {"task": None, "purpose": "", "level": None, "module": None, "iteration": None, "ended": None}
    side_by_side = {"group": None, "kept": None}  # of one among several: what they were asked for together
    return {**empty, **side_by_side, "candidate": None, "lines": None, "judged": [], **facts}


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
    """What each task changed; candidates made side by side began with the same files, and the kept one goes on."""
    before: dict[str, bytes] = {}
    began, group = before, None
    for row in rows:
        if row["group"] != group:
            began, group = before, row["group"]
        if row["candidate"] is None:
            row["diff"] = None
            continue
        after = files_of(journal, row["candidate"])
        row["diff"] = diff(before if group is None else began, after)
        if group is None or row["kept"]:
            before = after
