"""`compare`: the same project by several agents, or with parts of the recipe switched off; each a run of its own.

A run that is judged by fewer levels ends sooner and may be wrong. So whatever a run calls done is afterwards judged by
all levels of the project, and the comparison says whether that holds. A row by a script or a recording shows that the
machinery works and says nothing about any model; it is labelled so.
"""

import dataclasses
import datetime
import json
import re
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from overclock.errors import OverclockError, UsageError
from overclock.files import write_whole
from overclock.recipe import sandbox as sandboxes
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.judge import Judge
from overclock.recipe.judging.required_levels import levels_up_to
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.translate import translate
from overclock.recipe.project.project import Changes, Project
from overclock.recipe.runs.candidates import files_of
from overclock.recipe.runs.report import run_report
from overclock.recipe.runs.run import Run
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.versions import versions

SCHEMA = "overclock.compare/1"
FULL = "full"
NOBODY = "nobody: it did not run"
WITHOUT_MODEL = {
    "scripted": "no model: a script",
    "replay": "no model: a recording",
    "manual": "no model: a person",
    "builtin": "no model: the built-in translator",
}


@dataclasses.dataclass(frozen=True)
class Way:
    """A way of working: which of the project's levels judge, and whether failures go back to the agent."""

    what: str
    levels: Callable[[tuple[int, ...]], tuple[int, ...]] = lambda levels: levels
    repair: bool = True


WAYS = {
    FULL: Way("every level of the project"),
    "l3-only": Way("whole episodes only", lambda levels: tuple(level for level in levels if level == 3)),
    "no-l2": Way("without scenarios", lambda levels: tuple(level for level in levels if level != 2)),
    "no-repair": Way("the first failure ends it", repair=False),
}


def compare(
    project: Project,
    agents: Sequence[str] = (),
    ways: Sequence[str] = (FULL,),
    options: RunOptions = RunOptions(),
    judge: Callable[..., Any] = Judge,
) -> dict[str, Any]:
    """Every agent in every way; returns the report (schema overclock.compare/1), which is kept beside the runs.

    Without `agents` it is the project's own. `options` is how runs are options out; nothing is optimised, since that
    costs iterations after the question is answered. A combination that cannot even start is a row that says why.
    """
    unknown = [way for way in ways if way not in WAYS]
    if unknown or not ways:
        raise UsageError(f"There are the ways {', '.join(WAYS)}; got '{', '.join(unknown)}'.")
    for way in ways:
        if not WAYS[way].levels(project.judging.levels):
            raise UsageError(f"This project is not judged at level 3, so there is no '{way}' of it.")
    began, now = time.monotonic(), datetime.datetime.now(datetime.UTC)
    name = f"compare-{now:%Y%m%d-%H%M%S}"
    rows = []
    for agent in list(dict.fromkeys(agents)) or [None]:
        for way in dict.fromkeys(ways):
            said = agent or (options.agent.name if options.agent is not None else project.agent.name)
            options.say(f"{said}, {way}: {WAYS[way].what}")
            rows.append(_row(project, said, agent, way, f"{name}-{len(rows) + 1}-{_slug(said)}-{way}", options, judge))
    report = {
        "schema": SCHEMA,
        "project": project.name,
        "reference": project.reference.source,
        "levels": list(project.judging.levels),
        "ways": {way: WAYS[way].what for way in dict.fromkeys(ways)},
        "rows": rows,
        "models": sum(row["model"] for row in rows),
        "seconds": round(time.monotonic() - began, 1),
        "date": now.isoformat(timespec="seconds"),
        "versions": versions(),
    }
    path = project.folder / "runs" / f"{name}.json"
    write_whole(path, json.dumps(report, indent=1).encode() + b"\n")
    return {**report, "file": str(path)}


def who(agent: str, calls: int, options: RunOptions = RunOptions()) -> tuple[bool, str]:
    """(whether a model did the work, in words): what may be said about the row of an agent.

    A program of any name may run here, so only calls that our own gateway passed on to a provider show a model.
    """
    kind = agent.partition(":")[0]
    if kind in WITHOUT_MODEL:
        return False, WITHOUT_MODEL[kind]
    if options.recorded is not None:
        return False, "no model: recorded answers"
    if options.upstream is not None or options.backend is not None:
        return False, f"whatever answers {f'at {options.upstream}' if options.upstream else 'in the place of a model'}"
    return (True, "a model") if calls else (False, "a program that called no model through the gateway")


def _row(
    project: Project,
    said: str,
    agent: str | None,
    way: str,
    run_id: str,
    options: RunOptions,
    judge: Callable[..., Any],
) -> dict[str, Any]:
    levels = WAYS[way].levels(project.judging.levels)
    row: dict[str, Any] = {"agent": said, "by": NOBODY, "model": False, "way": way, "levels": list(levels)}
    steps = OptionalSteps(repair=WAYS[way].repair, optimise=False)
    try:
        finished = translate(
            project, run_id, dataclasses.replace(options, steps=steps), Changes(agent=agent, levels=levels)
        )
    except OverclockError as error:
        return {**row, "outcome": "not run", "sentence": str(error), "run": None, **dict.fromkeys(MEASURED)}
    with Run.open(finished.run) as run:
        report = run_report(run)
        row["model"], row["by"] = who(said, (report["cost"]["metered"] or {"calls": 0})["calls"], options)
        measured = _measured(report)
        chosen = measured["candidate"]
        if measured["outcome"] == "done" and chosen is not None:
            frozen = Frozen(chosen, files_of(run.journal, chosen))
            measured["all_levels"] = _checked(project, run, frozen, measured["tests"], options, judge)
    return {**row, "run": str(finished.run), **measured}


MEASURED = (
    "tasks", "repairs", "candidate", "tests", "tests_passed", "tests_total", "caught", "caught_by_level", "cost",
    "elapsed_s", "agent_s", "judge_s", "help_asked", "all_levels",
)  # fmt: skip


def _measured(report: dict[str, Any]) -> dict[str, Any]:
    """What a run did, from its report; `tests` are the last verdicts on the candidate that it stands by."""
    final, volatile = report["final"], report["volatile"]
    verdicts = [] if final is None else final["levels"]
    counted = [one for one in verdicts if one["total"] is not None]
    keys = ("level", "module", "field", "step", "sentence")
    return {
        "outcome": report["outcome"],
        "sentence": report["sentence"],
        "tasks": len(report["iterations"]),
        # Candidates that were made side by side are one repair.
        "repairs": len({row["group"] or row["task"] for row in report["iterations"] if row["purpose"] == "repair"}),
        "candidate": None if final is None else final["candidate"],
        "tests": {str(one["level"]): one["verdict"] for one in verdicts},
        "tests_passed": sum(one["passed"] for one in counted),
        "tests_total": sum(one["total"] for one in counted),
        "caught": [
            {**{key: one[key] for key in keys}, "repaired": one["repaired_by"] is not None} for one in report["caught"]
        ],
        "caught_by_level": report["caught_by_level"],
        "cost": {key: report["cost"][key] for key in ("basis", "tokens", "calls", "dollars")},
        **{key: volatile[key] for key in ("elapsed_s", "agent_s", "judge_s")},
        "help_asked": len(report["help_asked"]),
        "all_levels": None,
    }


def _checked(
    project: Project, run: Run, frozen: Frozen, known: dict[str, str], options: RunOptions, judge: Callable[..., Any]
) -> dict[str, Any]:
    """What a run calls done, judged by the levels that it left out; stops at the first that fails."""
    levels = levels_up_to(project, max(project.judging.levels))
    missing = [level for level in levels if known.get(str(level)) != "pass"]
    used = sandboxes.by_name(options.sandbox).name
    judging = judge(project, project.scenarios, run.folder / "repro", used, options.progress)
    for level in missing:
        options.say(f"judging the outcome at level {level}")
        try:
            verdict = judging.judge(frozen, level, secrets.randbits(30))
        except CouldNotVerifyError as error:
            return {"verdict": "could not verify", "level": level, "sentence": str(error)}
        if not verdict.passed:
            said = verdict.verdict if verdict.failure is None else verdict.failure.sentence
            return {"verdict": verdict.verdict, "level": level, "sentence": said}
    return {"verdict": "pass", "level": None, "sentence": "It holds at every level of the project."}


def _slug(agent: str) -> str:
    return re.sub(r"\W+", "-", Path(agent).name if "/" in agent else agent).strip("-") or "agent"
