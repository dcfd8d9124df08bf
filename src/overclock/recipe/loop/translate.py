"""`translate` and `resume`: one run of a project from its folder to its report, put together here once."""

import contextlib
import dataclasses
import datetime
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from overclock.errors import UsageError
from overclock.recipe import sandbox as sandboxes
from overclock.recipe.judging.judge import Judge
from overclock.recipe.loop.briefing import MAIN, Briefing
from overclock.recipe.loop.context import OptionalSteps, RunContext, RunOptions
from overclock.recipe.loop.loop import Loop
from overclock.recipe.loop.readiness import require_means, require_ready
from overclock.recipe.loop.specification import KIND as SPECIFICATION
from overclock.recipe.loop.specification import SpecificationBriefing
from overclock.recipe.loop.specification_loop import SpecificationJudge, SpecificationLoop
from overclock.recipe.loop.update_loop import WORKFLOW as UPDATE
from overclock.recipe.loop.update_loop import UpdateBriefing, UpdateLoop, sources_folder
from overclock.recipe.loop.workers import workers
from overclock.recipe.project.project import Changes, Project, load_project
from overclock.recipe.runs.cost import Cost
from overclock.recipe.runs.groups import current
from overclock.recipe.runs.page import write_run_report
from overclock.recipe.runs.report import run_report
from overclock.recipe.runs.run import RUNS, Run, latest
from overclock.recipe.runs.status import last
from overclock.recipe.runs.vocabulary import Facts
from overclock.recipe.runs.work_tree import frozen_tree

if TYPE_CHECKING:
    from overclock.translate.program import Program

NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclasses.dataclass(frozen=True)
class Finished:
    """How a run ended, its page, and where the translation lies if it is done."""

    outcome: str
    sentence: str
    run: Path
    page: Path
    cost: Cost
    result: Path | None = None


def translate(
    project: Project,
    run_id: str | None = None,
    options: RunOptions = RunOptions(),
    changes: Changes = Changes(),
    workflow: Mapping[str, Any] = NOTHING,
    program: "Program | None" = None,
) -> Finished:
    """Start a run.

    `workflow` is what its run.json says about a workflow of its own. `program` is what the built-in translator made of
    the reference, where it did that already.
    """
    now = datetime.datetime.now(datetime.UTC)
    # The whole path: what is said about it in sentences must hold in any folder.
    folder = project.run_folder(run_id or f"{project.name}-{now:%Y%m%d-%H%M%S}").resolve()
    changed = changes.of(project)
    if run_id is None:
        _require_none_waits(project)
    require_means(changed, options)
    require_ready(changed, project.scenarios)
    with Run.create(folder, about(project, workflow)) as run:
        shutil.copytree(project.scenarios, run.folder / "scenarios", dirs_exist_ok=True)
        with _loop(changed, run, options, changes, program=program) as loop:
            outcome = loop.go()
        return _finished(changed, run, outcome)


def about(project: Project, workflow: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """The content of a new run's run.json."""
    kind = {"workflow": SPECIFICATION} if project.reference.kind == SPECIFICATION else {}
    return {"project": project.name, "folder": str(project.folder.resolve()), **kind, **workflow}


def resume(
    project: Project,
    folder: Path,
    options: RunOptions = RunOptions(),
    note: str = "",
    submitted: bool = False,
    changes: Changes = Changes(),
    discard: bool = False,
    steps: OptionalSteps | None = None,
) -> Finished:
    """Continue a run; what its journal knows is not done again, and what it was started with still holds.

    `submitted`: a person has done the task that it waits for; `discard`: their work on it may be thrown away. `changes`
    add to those of its start, `steps` replace its own.
    """
    with Run.open(folder.resolve(), write=True) as run:
        _require_going_on(run, submitted)
        if not submitted and not discard:
            _require_nothing_lost(run)
        starts = run.journal.events("run started")
        if starts:
            changes = changes.over(Changes.from_json(starts[-1].facts["changes"]))
            steps, answers = steps or OptionalSteps(**starts[-1].facts["options"]), starts[-1].facts.get("recorded")
            recorded = options.recorded or (answers and Path(answers))
            options = dataclasses.replace(options, steps=steps, recorded=recorded)
        else:  # killed before it began: its tests may not be there yet
            shutil.copytree(project.scenarios, run.folder / "scenarios", dirs_exist_ok=True)
        changed = changes.of(project)
        require_means(changed, options)
        require_ready(changed, run.folder / "scenarios")
        if _asked(run) is not None:
            run.journal.append("help given", note=note, changed=_by_hand(run))
        with _loop(changed, run, options, changes, submitted) as loop:
            outcome = loop.go()
        return _finished(changed, run, outcome)


def project_of_run(folder: Path) -> Project:
    """The project of a run, as it is now."""
    with Run.open(folder) as run:
        return load_project(Path(run.about["folder"]))


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


def _asked(run: Run) -> Facts | None:
    """What somebody was asked for and has not given yet."""
    newest = last(run.journal.events(), "help asked", "help given")
    return newest.facts if newest is not None and newest.kind == "help asked" else None


def _by_hand(run: Run) -> bool:
    """Whether the candidate is another one than the run left in its folder."""
    left = current(run.journal.events())
    return left is not None and frozen_tree(run.candidate).hash != left


@contextlib.contextmanager
def _loop(
    project: Project, run: Run, options: RunOptions, changes: Changes, submitted: bool = False,
    program: "Program | None" = None,
) -> Iterator[Loop]:  # fmt: skip
    """The loop of a run, by what its run.json says, with everything that it needs; its agents end with the context."""
    scenarios = run.folder / "scenarios"
    sandbox = sandboxes.by_name(options.sandbox).name
    judge = Judge(project, scenarios, run.folder / "repro", sandbox, options.progress)
    with workers(project, run, options, program) as hired:
        remembered = {
            "changes": dataclasses.asdict(changes), "candidate_sandbox": sandbox, "agent_sandbox": hired.sandbox,
            "recorded": None if options.recorded is None else str(options.recorded.resolve()),
        }  # fmt: skip
        context = RunContext(
            project, run, hired.agents, judge, Briefing(project, scenarios), options, hired.endpoint, submitted,
            remembered,
        )  # fmt: skip
        try:
            if run.about.get("workflow") == SPECIFICATION:
                context.judge = checker = SpecificationJudge(judge)
                context.briefing = SpecificationBriefing(project, scenarios)
                yield SpecificationLoop(context, checker)
            elif run.about.get("workflow") == UPDATE:
                before = sources_folder(run.folder.parent / Path(run.about["verified"]).name)
                context.briefing = UpdateBriefing(project, scenarios, before)
                yield UpdateLoop(tuple(run.about["again"]), context)
            else:
                yield Loop(context)
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt(f"interrupted; `overclock resume {run.folder}` goes on") from stop


def _finished(project: Project, run: Run, outcome: str) -> Finished:
    report = run_report(run)
    page = write_run_report(run.folder, report)
    result = run.candidate / MAIN[project.target] if outcome == "done" else None
    return Finished(outcome, report.sentence or "", run.folder, page, report.cost, result)
