"""Level 2 after a reference moved on: which scenarios it still plays, and what the others become."""

import dataclasses
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.recipe.contract.file import format_contract
from overclock.recipe.project.project import Project
from overclock.recipe.project.twin import project_twin
from overclock.verify.contract import Twin
from overclock.verify.interaction.playback import Playback, lane_values, play_reference, stale_sentence
from overclock.verify.interaction.scenario import Scenario, Step, format_scenario, load_scenarios
from overclock.verify.sides.process import CouldNotVerifyError

ENDS = ("terminated", "truncated")
UNPLAYABLE = (CouldNotVerifyError, UsageError)  # the reference breaks down, or has no such field any more


@dataclasses.dataclass(frozen=True)
class Guard:
    """All scenarios there are. `stale`: those that the reference no longer plays, by name, with where they part."""

    scenarios: tuple[Scenario, ...]  # as the reference plays them now
    stale: Mapping[str, str]
    dropped: tuple[str, ...] = ()  # stale ones that it cannot play at all

    def write(self, folder: Path) -> None:
        """Put them into a project's folder of level 2."""
        for scenario in self.scenarios:
            write_whole(folder / f"{scenario.name}.json", format_scenario(scenario).encode())
        for name in self.dropped:
            (folder / f"{name}.json").unlink(missing_ok=True)


def guard(project: Project, *folders: Path) -> Guard:
    """The scenarios of some folders, played by a project's reference as it is now; of one name the last one counts."""
    there = [str(folder) for folder in folders if folder.is_dir()]
    known = {one.name: one for folder in there for one in load_scenarios(folder)}
    scenarios = [known[name] for name in sorted(known)]
    with tempfile.TemporaryDirectory() as place:
        scratch = dataclasses.replace(project, folder=Path(place))  # its contract is not written yet
        write_whole(scratch.contract_path, format_contract(project.contract).encode())
        twin = project_twin(scratch, Path(place))
        try:
            return _judged(twin, scenarios, play_reference(twin, scenarios))
        except UNPLAYABLE:  # one of them; which?
            return _one_by_one(twin, scenarios)


def _one_by_one(twin: Twin, scenarios: list[Scenario]) -> Guard:
    parts = []
    for scenario in scenarios:
        try:
            parts.append(_judged(twin, [scenario], play_reference(twin, [scenario])))
        except UNPLAYABLE as error:
            parts.append(Guard((), {scenario.name: str(error)}, (scenario.name,)))
    return Guard(
        tuple(one for part in parts for one in part.scenarios),
        {name: said for part in parts for name, said in part.stale.items()},
        tuple(name for part in parts for name in part.dropped),
    )


def _judged(twin: Twin, scenarios: list[Scenario], played: Playback) -> Guard:
    stale, kept = dict[str, str](), list[Scenario]()
    names = [field.name for field in twin.contracts[twin.strictest].fields]
    for lane, scenario in enumerate(scenarios):
        unknown = [name for name in scenario.fields if name not in names]
        gone = f"it expects {unknown[0]}, which is gone" if unknown else None
        sentence = gone or stale_sentence(twin, scenario, played, lane)
        if sentence is None:
            kept.append(scenario)
        else:
            stale[scenario.name] = sentence
            kept.append(_recorded(scenario, names, played, lane))
    return Guard(tuple(kept), stale)


def _recorded(scenario: Scenario, names: list[str], played: Playback, lane: int) -> Scenario:
    """The same setup and actions with what the reference does now, up to the end of the episode."""
    setup = scenario.setup
    if not setup.state:
        first = played[0]
        setup = dataclasses.replace(setup, draws=lane_values(first.draws, lane), expect=_values(first, names, lane))
    steps: list[Step] = []
    for step, after in zip(scenario.steps, played[1:], strict=False):
        steps.append(Step(step.action, _values(after, names, lane), lane_values(after.draws, lane), step.deviation))
        if any(bool(after.outputs[name][lane]) for name in ENDS):
            break
    return Scenario(scenario.name, scenario.why, setup, tuple(steps))


def _values(observed: Any, names: list[str], lane: int) -> dict[str, Any]:
    shown = {**observed.outputs, **{f"state.{name}": values for name, values in observed.state.items()}}
    return {name: shown[name][lane].tolist() for name in names if name in shown}
