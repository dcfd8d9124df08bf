"""Which loop a run goes through: a translation, an update of one, or a specification that becomes a reference first."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from overclock.recipe.agents.base import Agent, Endpoint
from overclock.recipe.briefing import Briefing
from overclock.recipe.judge import Judge
from overclock.recipe.loop import Loop, Options
from overclock.recipe.project import Project
from overclock.recipe.run import Run
from overclock.recipe.specification import KIND as SPECIFICATION
from overclock.recipe.specification import SpecificationBriefing
from overclock.recipe.specification_loop import SpecificationJudge, SpecificationLoop
from overclock.recipe.update_loop import WORKFLOW as UPDATE
from overclock.recipe.update_loop import UpdateBriefing, UpdateLoop, sources_folder

NOTHING: Mapping[str, Any] = MappingProxyType({})


def about(project: Project, more: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """What a new run's run.json says; `more` is about a workflow of its own."""
    kind = {"workflow": SPECIFICATION} if project.reference.kind == SPECIFICATION else {}
    return {"project": project.name, "folder": str(project.folder.resolve()), **kind, **more}


def loop_for(
    project: Project,
    run: Run,
    agent: Agent,
    judge: Judge,
    briefing: Briefing,
    endpoint: Endpoint | None,
    options: Options,
    submitted: bool,
    remembered: Mapping[str, object],
    say: Callable[[str], None],
) -> Loop:
    """The loop of a run, by what its run.json says."""
    given = (endpoint, options, submitted, remembered, say)
    workflow = run.about.get("workflow")
    if workflow == SPECIFICATION:
        first = SpecificationBriefing(project, briefing.scenarios, briefing.sandbox)
        return SpecificationLoop(project, run, agent, SpecificationJudge(judge), first, *given)
    if workflow == UPDATE:
        before = sources_folder(run.folder.parent / Path(run.about["verified"]).name)
        again = UpdateBriefing(project, briefing.scenarios, briefing.sandbox, before)
        return UpdateLoop(tuple(run.about["again"]), project, run, agent, judge, again, *given)
    return Loop(project, run, agent, judge, briefing, *given)
