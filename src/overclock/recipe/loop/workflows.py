"""Which loop a run goes through: a translation, an update of one, or a specification that becomes a reference first."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from overclock.recipe.judging.judge import Judge
from overclock.recipe.loop.loop import Loop
from overclock.recipe.loop.parts import Parts
from overclock.recipe.loop.specification import KIND as SPECIFICATION
from overclock.recipe.loop.specification import SpecificationBriefing
from overclock.recipe.loop.specification_loop import SpecificationJudge, SpecificationLoop
from overclock.recipe.loop.update_loop import WORKFLOW as UPDATE
from overclock.recipe.loop.update_loop import UpdateBriefing, UpdateLoop, sources_folder
from overclock.recipe.project.project import Project

NOTHING: Mapping[str, Any] = MappingProxyType({})


def about(project: Project, more: Mapping[str, Any] = NOTHING) -> dict[str, Any]:
    """What a new run's run.json says; `more` is about a workflow of its own."""
    kind = {"workflow": SPECIFICATION} if project.reference.kind == SPECIFICATION else {}
    return {"project": project.name, "folder": str(project.folder.resolve()), **kind, **more}


def loop_for(parts: Parts, judge: Judge) -> Loop:
    """The loop of a run, by what its run.json says; `parts` as for an ordinary translation, whose judge is `judge`."""
    about, briefing = parts.run.about, parts.briefing
    if about.get("workflow") == SPECIFICATION:
        parts.judge = checker = SpecificationJudge(judge)
        parts.briefing = SpecificationBriefing(parts.project, briefing.scenarios)
        return SpecificationLoop(parts, checker)
    if about.get("workflow") == UPDATE:
        before = sources_folder(parts.run.folder.parent / Path(about["verified"]).name)
        parts.briefing = UpdateBriefing(parts.project, briefing.scenarios, before)
        return UpdateLoop(tuple(about["again"]), parts)
    return Loop(parts)
