"""What has to be there before a run begins: an agent that can work, and a reference that does what the project says.

Everything here could only fail later, after somebody was paid.
"""

import tempfile
from pathlib import Path

import numpy as np

from overclock.errors import UsageError
from overclock.recipe import sandbox as sandboxes
from overclock.recipe.agents import by_name
from overclock.recipe.agents.command import CommandAgent
from overclock.recipe.agents.replay import ReplayAgent
from overclock.recipe.gateway import Prices
from overclock.recipe.judging.rust import target as rust
from overclock.recipe.loop.briefing import Briefing, source_text
from overclock.recipe.loop.context import RunOptions
from overclock.recipe.loop.specification import KIND as SPECIFICATION
from overclock.recipe.loop.workers import BUILT_IN, require_workers
from overclock.recipe.project.project import Project
from overclock.recipe.project.twin import also_spec, project_twin, transfer_plan
from overclock.recipe.references.changes import moved_on
from overclock.recipe.references.surveyor import reference_text
from overclock.recipe.runs.run import Run
from overclock.recipe.survey.static.decompose import plan
from overclock.recipe.survey.static.source import resolve
from overclock.verify.contract import Twin
from overclock.verify.interaction.playback import play_reference, stale_sentence
from overclock.verify.interaction.scenario import Scenario, load_scenarios
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject

HERE = "Nothing was started"


def require_means(project: Project, options: RunOptions) -> None:
    """Refuse a run whose agent, sandbox, prices or compiler are not there."""
    require_workers(project, options)
    sandboxes.by_name(options.sandbox)
    Prices.load(options.prices)
    if project.target == "rust":
        rust.require_toolchain()
    if options.agent is not None or project.agent.name == BUILT_IN:
        return
    with tempfile.TemporaryDirectory(prefix="overclock-") as place:
        agent = by_name(
            project.agent.name, run="", logs=Path(place, "logs"), home=Path(place, "home"),
            model=project.agent.model or None, program=options.program,
        )  # fmt: skip
        if isinstance(agent, CommandAgent):
            agent.check_version()
        elif isinstance(agent, ReplayAgent):
            _require_recorded(agent.run)


def require_ready(project: Project, scenarios: Path) -> None:
    """Refuse a project whose reference, contract, tests or prompts cannot be used as they are."""
    texts = {module.name: source_text(project, module) for module in project.modules}
    if project.reference.kind == SPECIFICATION:
        return  # there is no reference yet
    _require_unmoved(project, texts)
    Briefing(project, scenarios).translate("none", project.modules[0])  # its prompts can be written
    tests = load_scenarios(str(scenarios))
    if 2 in project.judging.levels and not tests:
        raise UsageError(f"Level 2 has nothing to play: there is no scenario in '{scenarios}'; write or record one.")
    if 4 in project.judging.levels:
        _require_training(project)
    with tempfile.TemporaryDirectory(prefix="overclock-") as nothing:
        twin = project_twin(project, Path(nothing), scenarios)
        try:
            _require_played(twin, tests if 2 in project.judging.levels else [], project.limits.timeout)
        except CouldNotVerifyError as error:
            raise UsageError(f"{HERE}, because the reference cannot be used: {error}") from error
    if project.judging.also:
        try:
            ProcessSubject(also_spec(project), 1, "the other implementation", project.limits.timeout).close()
        except CouldNotVerifyError as error:
            raise UsageError(f"{HERE}, because judging.also cannot be used: {error}") from error


def _require_unmoved(project: Project, texts: dict[str, str]) -> None:
    """What an agent would be told must be what its work is compared with."""
    found = plan(resolve(reference_text(project.reference), sources=project.reference.sources))
    changed = moved_on(texts, {module.name: module.text for module in found})
    if changed:
        raise UsageError(
            f"The reference has changed since '{project.folder / 'modules'}' was written ({', '.join(changed)}); "
            f"`overclock update {project.folder}` follows it where a run is done, otherwise make a new project of it."
        )


def _require_played(twin: Twin, tests: list[Scenario], timeout: float) -> None:
    """The reference starts, and does what the scenarios say."""
    if not tests:
        with ProcessSubject(twin.reference, 1, "the reference", timeout) as reference:
            reference.reset(np.ones(1, np.bool_), np.zeros(1, np.int64))
        return
    played = play_reference(twin, tests, timeout)
    for lane, scenario in enumerate(tests):
        if said := stale_sentence(twin, scenario, played, lane):
            raise UsageError(f"{HERE}, because the reference does not play the scenario '{scenario.name}': {said}.")


def _require_training(project: Project) -> None:
    from overclock.train.ppo import PPOConfig  # needs packages of its own, which level 4 does as well

    try:
        PPOConfig(**transfer_plan(str(project.folder)).training)
    except TypeError as error:
        raise UsageError(f"judging.training is not what level 4 can train by: {error}.") from error


def _require_recorded(folder: Path) -> None:
    with Run.open(folder) as run:
        if not run.journal.events("task ended"):
            raise UsageError(f"The run '{folder}' has no finished task that could be repeated.")
