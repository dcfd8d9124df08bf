"""`compare`: the same project by several agents, or with parts of the recipe switched off; each a run of its own.

A run that is judged by fewer levels ends sooner and may be wrong. So whatever a run calls done is afterwards judged by
all levels of the project, and the comparison says whether that holds. A row by a script or a recording shows that the
machinery works and says nothing about any model; it is labelled so.
"""

import dataclasses
import datetime
import functools
import json
import re
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from overclock.errors import OverclockError, UsageError
from overclock.files import write_whole
from overclock.processor import Processor, processor
from overclock.recipe import sandbox as sandboxes
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.judge import Judge
from overclock.recipe.judging.required_levels import levels_up_to
from overclock.recipe.judging.verdict import Level
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.translate import translate
from overclock.recipe.project.project import Changes, Project
from overclock.recipe.runs.candidates import files_of
from overclock.recipe.runs.report import run_report
from overclock.recipe.runs.run import Run
from overclock.results import absent, encode
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.versions import versions

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


@dataclasses.dataclass(frozen=True)
class AllLevels:
    """What a run called done, judged by the levels that it left out; `level` is the first that failed."""

    verdict: str
    level: int | str | None
    sentence: str


@dataclasses.dataclass(frozen=True)
class CaughtFailure:
    """A failure that a level found, and whether a later candidate was without it."""

    level: Level
    module: str | None
    field: str | None
    step: int | None
    sentence: str
    repaired: bool


@dataclasses.dataclass(frozen=True)
class CostInShort:
    """The cost of a run, without its parts."""

    basis: str
    tokens: int | None
    calls: int | None
    dollars: float | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparedRun:
    """An agent's run in one way; nothing is known of one that could not start.

    `tests` are the last verdicts on the candidate that the run stands by.
    """

    agent: str
    by: str = NOBODY
    model: bool = False
    way: str
    levels: list[int]
    run: str | None = None
    outcome: str | None
    sentence: str | None
    tasks: int | None = None
    repairs: int | None = None
    candidate: str | None = None
    tests: dict[str, str] | None = None
    tests_passed: int | None = None
    tests_total: int | None = None
    caught: list[CaughtFailure] | None = None
    caught_by_level: dict[str, int] | None = None
    cost: CostInShort | None = None
    elapsed_s: float | None = None
    agent_s: float | None = None
    judge_s: float | None = None
    help_asked: int | None = None
    all_levels: AllLevels | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Comparison:
    """Every agent in every way (overclock.compare/1); `models` counts the rows that are a model's work."""

    schema: Literal["overclock.compare/1"] = "overclock.compare/1"
    project: str
    reference: str
    levels: list[int]
    ways: dict[str, str]
    rows: list[ComparedRun]
    models: int
    seconds: float
    date: str
    versions: dict[str, Any]
    processor: Processor | None = absent()
    file: str | None = absent()


def compare(
    project: Project,
    agents: Sequence[str] = (),
    ways: Sequence[str] = (FULL,),
    options: RunOptions = RunOptions(),
    judge: Callable[..., Any] = Judge,
) -> Comparison:
    """Every agent in every way; the comparison is kept beside the runs.

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
    report = Comparison(
        project=project.name,
        reference=project.reference.source,
        levels=list(project.judging.levels),
        ways={way: WAYS[way].what for way in dict.fromkeys(ways)},
        rows=rows,
        models=sum(row.model for row in rows),
        seconds=round(time.monotonic() - began, 1),
        date=now.isoformat(timespec="seconds"),
        versions=versions(),
        processor=processor(),
    )
    path = project.folder / "runs" / f"{name}.json"
    write_whole(path, json.dumps(encode(report), indent=1).encode() + b"\n")
    return dataclasses.replace(report, file=str(path))


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
) -> ComparedRun:
    levels = WAYS[way].levels(project.judging.levels)
    row = functools.partial(ComparedRun, agent=said, way=way, levels=list(levels))
    steps = OptionalSteps(repair=WAYS[way].repair, optimise=False)
    try:
        finished = translate(
            project, run_id, dataclasses.replace(options, steps=steps), Changes(agent=agent, levels=levels)
        )
    except OverclockError as error:
        return row(outcome="not run", sentence=str(error))
    with Run.open(finished.run) as run:
        report = run_report(run)
        model, by = who(said, report.cost.metered.calls if report.cost.metered else 0, options)
        final, volatile, cost = report.final, report.volatile, report.cost
        verdicts = [] if final is None else final.levels
        tests = {str(one.level): one.verdict for one in verdicts}
        checked = None
        if report.outcome == "done" and final is not None:
            frozen = Frozen(final.candidate, files_of(run.journal, final.candidate))
            checked = _checked(project, run, frozen, tests, options, judge)
        return row(
            by=by,
            model=model,
            run=str(finished.run),
            outcome=report.outcome,
            sentence=report.sentence,
            tasks=len(report.iterations),
            # Candidates that were made side by side are one repair.
            repairs=len({one.group or one.task for one in report.iterations if one.purpose == "repair"}),
            candidate=None if final is None else final.candidate,
            tests=tests,
            tests_passed=sum(one.passed or 0 for one in verdicts if one.total is not None),
            tests_total=sum(one.total for one in verdicts if one.total is not None),
            caught=[
                CaughtFailure(one.level, one.module, one.field, one.step, one.sentence, one.repaired_by is not None)
                for one in report.caught
            ],
            caught_by_level=report.caught_by_level,
            cost=CostInShort(cost.basis, cost.tokens, cost.calls, cost.dollars),
            elapsed_s=volatile.elapsed_s,
            agent_s=volatile.agent_s,
            judge_s=volatile.judge_s,
            help_asked=len(report.help_asked),
            all_levels=checked,
        )


def _checked(
    project: Project, run: Run, frozen: Frozen, known: dict[str, str], options: RunOptions, judge: Callable[..., Any]
) -> AllLevels:
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
            return AllLevels("could not verify", level, str(error))
        if not verdict.passed:
            said = verdict.verdict if verdict.failure is None else verdict.failure.sentence
            return AllLevels(verdict.verdict, level, said)
    return AllLevels("pass", None, "It holds at every level of the project.")


def _slug(agent: str) -> str:
    return re.sub(r"\W+", "-", Path(agent).name if "/" in agent else agent).strip("-") or "agent"
