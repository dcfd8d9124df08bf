"""`translate`: one run of a project from its folder to its report. It puts the parts together and holds no logic."""

import dataclasses
import datetime
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.recipe import sandbox as sandboxes
from overclock.recipe.judging.judge import Judge
from overclock.recipe.loop.briefing import MAIN, Briefing
from overclock.recipe.loop.parts import Options, Parts
from overclock.recipe.loop.readiness import require_means, require_ready
from overclock.recipe.loop.ways import Ways
from overclock.recipe.loop.workers import workers
from overclock.recipe.loop.workflows import NOTHING, about, loop_for
from overclock.recipe.project.project import Changes, Project
from overclock.recipe.runs.groups import current
from overclock.recipe.runs.page import write_run_report
from overclock.recipe.runs.report import run_report
from overclock.recipe.runs.run import RUNS, Run, latest
from overclock.recipe.runs.status import last
from overclock.recipe.runs.work_tree import frozen_tree


@dataclasses.dataclass(frozen=True)
class Finished:
    """How a run ended, its page, and where the translation lies if it is done."""

    outcome: str
    sentence: str
    run: Path
    page: Path
    cost: dict[str, Any]
    result: Path | None = None


def translate(
    project: Project,
    run_id: str | None = None,
    ways: Ways = Ways(),
    changes: Changes = Changes(),
    more: Mapping[str, Any] = NOTHING,
) -> Finished:
    """Start a run; `more` is what its run.json says about a workflow of its own (workflows.py)."""
    now = datetime.datetime.now(datetime.UTC)
    # The whole path: what is said about it in sentences must hold in any folder.
    folder = project.run_folder(run_id or f"{project.name}-{now:%Y%m%d-%H%M%S}").resolve()
    changed = changes.of(project)
    if run_id is None:
        _require_none_waits(project)
    require_means(changed, ways)
    require_ready(changed, project.scenarios)
    with Run.create(folder, about(project, more)) as run:
        shutil.copytree(project.scenarios, run.folder / "scenarios", dirs_exist_ok=True)
        return _work(changed, run, ways, changes)


def resume(
    project: Project,
    folder: Path,
    ways: Ways = Ways(),
    note: str = "",
    submitted: bool = False,
    changes: Changes = Changes(),
    discard: bool = False,
    options: Options | None = None,
) -> Finished:
    """Go on with a run; what its journal knows is not done again, and what it was started with still holds.

    `submitted`: a person has done the task that it waits for; `discard`: their work on it may be thrown away. `changes`
    add to those of its start, `options` replace them.
    """
    with Run.open(folder.resolve(), write=True) as run:
        _require_going_on(run, submitted)
        if not submitted and not discard:
            _require_nothing_lost(run)
        starts = run.journal.events("run started")
        if starts:
            changes = changes.over(Changes.from_json(starts[-1].facts["changes"]))
            chosen, answers = options or Options(**starts[-1].facts["options"]), starts[-1].facts.get("recorded")
            ways = dataclasses.replace(ways, options=chosen, recorded=ways.recorded or (answers and Path(answers)))
        else:  # killed before it began: its tests may not be there yet
            shutil.copytree(project.scenarios, run.folder / "scenarios", dirs_exist_ok=True)
        changed = changes.of(project)
        require_means(changed, ways)
        require_ready(changed, run.folder / "scenarios")
        if _asked(run) is not None:
            run.journal.append("help given", note=note, changed=_by_hand(run))
        return _work(changed, run, ways, changes, submitted)


def _require_none_waits(project: Project) -> None:
    """Refuse to begin anew beside a run that somebody is working on, unless the new one is given a name."""
    newest = latest(project.folder / RUNS)
    if newest is None:
        return
    with Run.open(newest) as run:
        end = last(run.journal.events(), "run ended")
    if end is not None and end.facts["outcome"] == "waiting":
        raise UsageError(
            f"The run '{newest.name}' waits for you: `overclock submit {newest}` hands your work in, `overclock resume "
            f"{newest}` goes on; --run-id NAME begins another one."
        )


def _require_going_on(run: Run, submitted: bool) -> None:
    """Refuse what this run does not wait for."""
    ends = run.journal.events("run ended")
    outcome = ends[-1].facts["outcome"] if ends else None
    if outcome == "done":
        raise UsageError(f"The run '{run.id}' is done; `overclock report {run.folder}` shows it.")
    if not submitted:
        return
    if outcome != "waiting":
        raise UsageError(
            f"'{run.folder}' does not wait for anybody's work; `overclock resume {run.folder}` continues it."
        )
    if (asked := _asked(run)) is not None:  # what would be handed in is the answer to another task
        how = f"{asked['sentence']} {asked['how']}"
        raise UsageError(f"The run '{run.id}' waits for your approval, there is nothing to submit. {how}")
    if not frozen_tree(run.candidate).files:
        raise UsageError(f"There is nothing to hand in: '{run.candidate}' is empty.")


def _require_nothing_lost(run: Run) -> None:
    """Refuse to go on where the files of the next task would replace what a person has written for it."""
    events = run.journal.events()
    end, sent = last(events, "run ended"), last(events, "task sent")
    if end is None or end.facts["outcome"] != "waiting" or _asked(run) is not None:
        return
    frozen = last(events, "candidate frozen")  # handed in, where a kill came between that and the next end
    kept = [sent and sent.facts.get("start"), frozen and frozen.facts["candidate"]]
    if sent is not None and frozen_tree(run.candidate).hash not in kept:
        raise UsageError(
            f"'{run.candidate}' has changes that were not handed in; hand them in with `overclock submit {run.folder}` "
            f"or throw them away with `overclock resume {run.folder} --discard`."
        )


def _asked(run: Run) -> dict[str, Any] | None:
    """What somebody was asked for and has not given yet."""
    newest = last(run.journal.events(), "help asked", "help given")
    return newest.facts if newest is not None and newest.kind == "help asked" else None


def _by_hand(run: Run) -> bool:
    """Whether the candidate is another one than the run left in its folder."""
    left = current(run.journal.events())
    return left is not None and frozen_tree(run.candidate).hash != left


def _work(project: Project, run: Run, ways: Ways, changes: Changes, submitted: bool = False) -> Finished:
    scenarios = run.folder / "scenarios"
    sandbox = sandboxes.by_name(ways.sandbox).name
    judge = Judge(project, scenarios, run.folder / "repro", sandbox, ways.progress)
    with workers(project, run, ways) as hired:
        remembered = {
            "changes": dataclasses.asdict(changes), "candidate_sandbox": sandbox, "agent_sandbox": hired.sandbox,
            "recorded": None if ways.recorded is None else str(ways.recorded.resolve()),
        }  # fmt: skip
        parts = Parts(
            project, run, hired.agents, judge, Briefing(project, scenarios), hired.endpoint, ways.options, submitted,
            remembered, ways.say,
        )  # fmt: skip
        try:
            outcome = loop_for(parts, judge).go()
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt(f"interrupted; `overclock resume {run.folder}` goes on") from stop
    report = run_report(run)
    page = write_run_report(run.folder, report)
    result = run.candidate / MAIN[project.target] if outcome == "done" else None
    return Finished(outcome, report["sentence"], run.folder, page, report["cost"], result)
