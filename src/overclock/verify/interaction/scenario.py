"""Scenarios: short scripted episodes that cross modules, kept as readable files (one line per step).

    {
      "schema": "overclock.scenario/1",
      "name": "falls-right",                    the file is called falls-right.json
      "why": "what a reader learns from it",
      "rare": "why its steps may all be rare events (left out where they may not)",
      "setup": {
        "seed": 0,                              the reference resets from this seed
        "draws": {"x": 0.01, ...},              the randomness that led to; the other side resets from it
        "expect": {"obs": [...], ...},          fields after the reset (left out where a state is given)
        "state": {"x": 2.4, ..., "steps": 0}    optional: both sides are put into this state instead
      },
      "steps": [
        {"action": 1, "draws": {...}, "expect": {"state.x": 2.44, "reward": 1.0, "terminated": true, ...}},
        {"action": 0, "expect": {"reward": 0.0},
         "deviation": {"fields": {"reward": 1.0}, "reason": "why the performance side says something else here"}}
      ]
    }

`expect` always holds what the reference does: `state.<field>`, `obs`, `reward`, `terminated`, `truncated`. A recorded
scenario lists every field of the contract, one written by hand may list only those that matter. `draws` is left out
where there are none. Numbers are written so that they read back bit for bit.
"""

import dataclasses
import importlib.resources
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overclock.errors import UsageError

SCHEMA = "overclock.scenario/1"
Values = Mapping[str, Any]  # JSON values: numbers, booleans, nested lists


@dataclasses.dataclass(frozen=True)
class Deviation:
    """Where the performance side is known to differ: the values it must give instead, and why."""

    fields: Values
    reason: str

    def __post_init__(self) -> None:
        if not self.reason:
            raise UsageError("A deviation needs a reason.")


@dataclasses.dataclass(frozen=True)
class Step:
    """One action, the randomness of its step, and what must come of it."""

    action: Any
    expect: Values
    draws: Values = dataclasses.field(default_factory=dict)
    deviation: Deviation | None = None


@dataclasses.dataclass(frozen=True)
class Setup:
    """Where a scenario starts: a reset, and a state that replaces the reset's where one is given."""

    seed: int = 0
    state: Values = dataclasses.field(default_factory=dict)
    draws: Values = dataclasses.field(default_factory=dict)
    expect: Values = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Scenario:
    """A setup, and the steps from it.

    `rare` is why each step may be off by what the contract allows rare events (`Field.rare`): it is a corner where they
    are the rule. Elsewhere they are counted.
    """

    name: str
    why: str
    setup: Setup
    steps: tuple[Step, ...]
    rare: str = ""

    def __post_init__(self) -> None:
        if not self.steps:
            raise UsageError(f"The scenario '{self.name}' has no steps.")

    @property
    def fields(self) -> list[str]:
        """Every field that is expected somewhere."""
        return list(dict.fromkeys(name for part in (self.setup, *self.steps) for name in part.expect))


def load_scenarios(folder: str) -> list[Scenario]:
    """Every scenario of a folder, given as a path or as a package ('overclock.envs.cartpole.scenarios')."""
    try:
        place = Path(folder) if Path(folder).is_dir() else importlib.resources.files(folder)
    except ModuleNotFoundError:
        raise UsageError(f"There is no scenario folder '{folder}'.") from None
    files = sorted((file for file in place.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    return [parse_scenario(file.read_text(encoding="utf-8"), file.name) for file in files]


def parse_scenario(text: str, file_name: str) -> Scenario:
    """A scenario from the text of its file."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict) or data.pop("schema", None) != SCHEMA:
            raise UsageError(f"its schema is not {SCHEMA}")
        steps = tuple(Step(**{**step, "deviation": _deviation(step)}) for step in data.pop("steps"))
        scenario = Scenario(setup=Setup(**data.pop("setup")), steps=steps, **data)
        if file_name != f"{scenario.name}.json":
            raise UsageError(f"its name is '{scenario.name}'")
    except (json.JSONDecodeError, KeyError, TypeError, UsageError) as error:
        raise UsageError(f"{file_name} is not a scenario: {error}.") from error
    return scenario


def format_scenario(scenario: Scenario) -> str:
    """The text of a scenario's file, with one line per step."""
    setup = {key: value for key, value in dataclasses.asdict(scenario.setup).items() if value != {}}
    steps = ",\n".join(f"    {json.dumps(_step(step))}" for step in scenario.steps)
    head = [("schema", SCHEMA), ("name", scenario.name), ("why", scenario.why)]
    head += [("rare", scenario.rare)] if scenario.rare else []
    lines = [f"  {json.dumps(key)}: {json.dumps(value)},\n" for key, value in head]
    inner = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in setup.items())
    return "{\n" + "".join(lines) + '  "setup": {\n' + inner + '\n  },\n  "steps": [\n' + steps + "\n  ]\n}\n"


def save_scenario(scenario: Scenario, folder: str | Path) -> Path:
    """Write a scenario into a folder; returns its file."""
    path = Path(folder) / f"{scenario.name}.json"
    path.write_text(format_scenario(scenario), encoding="utf-8")
    return path


def _deviation(step: Mapping[str, Any]) -> Deviation | None:
    return Deviation(**step["deviation"]) if step.get("deviation") else None


def _step(step: Step) -> dict[str, Any]:
    kept = {key: value for key, value in dataclasses.asdict(step).items() if value not in ({}, None)}
    order = ("action", "draws", "expect", "deviation")
    return {key: kept[key] for key in order if key in kept}
