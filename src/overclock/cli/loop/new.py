"""`overclock new`: a project from a reference, after a sober look at it."""

import dataclasses
import json as json_format
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from overclock.cli import output
from overclock.errors import UsageError
from overclock.recording.room import Room


@dataclasses.dataclass
class New:
    """Write a project: a reference taken apart into modules, its contract, recorded scenarios, limits and an agent.

    REFERENCE is gymnasium:Id, package.module:Class, file.py:Class, or a specification (spec.md). Nothing is translated
    yet: look at overclock.toml and contract.toml, change what is wrong, then `overclock translate FOLDER`.

    Examples:
      overclock new my_cartpole --reference gymnasium:CartPole-v1
      overclock new pond --reference pond.py:PondEnv --to jax --agent claude --budget 5
    """

    folder: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER")]
    """The project's folder; it must not hold a project yet."""
    reference: str
    """What shall be translated."""
    to: Literal["jax", "rust"] | None = None
    """The target; by default what the reference's structure and this machine speak for."""
    agent: str = "manual"
    """Who translates: a profile (claude, codex, gemini, qwen, opencode), api:openai:MODEL, manual, ..."""
    model: str = ""
    """The agent's model; its profile's own by default."""
    candidates: int = 1
    """How many it makes side by side for every task; the best one is kept."""
    budget: float | None = 10.0
    """Dollars that a run may cost."""
    max_tokens: int | None = None
    """Tokens of prompts and answers that a run may use; with it a model needs no price."""
    max_requests: int | None = None
    """Calls of a model that a run may make."""
    max_seconds: float | None = None
    """Seconds that a run may work."""
    arguments: str = "{}"
    """Arguments of the reference's constructor, as JSON."""
    max_steps: int | None = None
    """Time limit; by default the reference's own."""
    source: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """Rules that the class only calls, in another language: NAME=FILE or NAME=FILE:FIRST-LAST; one option per part."""
    capacity: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """LIST=ITEMS: how many items a list of the state can have, for the built-in translator; one option per list."""
    timeout: float = 120.0
    """Seconds that one call of the reference may take, here and when sides are compared."""
    look: bool = False
    """Also train on the reference for a moment and predict the gain by Amdahl's law."""
    json: bool = False
    """Print one JSON object (schema overclock.new/1) instead of tables."""

    def run(self) -> int:
        """Survey the reference, write the project, print both."""
        from overclock.recipe.project.apart import look_apart, new_project_apart
        from overclock.recipe.project.project import AgentChoice, Limits

        with output.console().status("looking at the reference"):
            made = new_project_apart(
                self.folder, self.reference, self.to, AgentChoice(self.agent, self.model, self.candidates),
                Limits(
                    self.budget, self.max_tokens, self.max_requests, self.max_seconds, timeout=self.timeout
                ), arguments=_arguments(self.arguments),
                max_steps=self.max_steps, sources=self.source, capacities=_capacities(self.capacity),
                patience=self.timeout,
            )  # fmt: skip
            sober = look_apart(made.source, self.timeout) if self.look else None
        report = described(made, sober)
        if self.json:
            output.emit(report)
        else:
            show(report)
        return 0


def described(made: Any, sober: Any) -> dict[str, Any]:
    """What was found, as plain data."""
    project = made.project
    return {
        "schema": "overclock.new/1",
        "project": project.folder,
        "reference": project.reference.source,
        "target": project.target,
        "advice": dataclasses.asdict(made.advice),
        "modules": [dataclasses.asdict(module) for module in project.modules],
        "dropped": [dataclasses.asdict(one) for one in made.dropped],
        "state": [dataclasses.asdict(field) for field in project.contract.state],
        "draws": {
            "reset": [dataclasses.asdict(draw) for draw in project.contract.reset_draws],
            "step": [dataclasses.asdict(draw) for draw in project.contract.step_draws],
        },
        "x64": project.contract.x64,
        "rooms": [dataclasses.asdict(room) for room in project.contract.rooms],
        "not_represented": [dataclasses.asdict(one) for one in made.profile.unrepresented] if made.profile else [],
        "oddities": list(made.profile.oddities) if made.profile else [],
        "warnings": [dataclasses.asdict(one) for one in made.obstacles],
        "look": None if sober is None else dataclasses.asdict(sober),
    }


def show(report: dict[str, Any]) -> None:
    """Print what was found as tables and sentences."""
    rows = [[m["name"], str(m["lines"]), ", ".join(m["depends_on"]) or "-"] for m in report["modules"]]
    output.table(["module", "lines", "after"], rows, title=f"{report['reference']} to {report['target']}")
    rows = [[f["name"], f["read"], f["dtype"], str(list(f["shape"]))] for f in report["state"]]
    output.table(["state", "in the reference", "dtype", "shape"], rows)
    for sentence in (*report["advice"]["reasons"], *report["advice"]["against"]):
        print(f"- {sentence}")
    for one in report["dropped"]:
        print(f"- left out: {one['function']}, {one['reason']} ({Path(one['file']).name}:{one['line']})")
    if report["x64"]:
        print(f"- float64 is required (JAX_ENABLE_X64=1): {report['x64']}")
    for one in report["rooms"]:
        print(f"- {Room(**one).sentence}")
    for one in report["not_represented"]:
        print(f"- not part of the state: {one['path']} ({one['what']})")
    for sentence in report["oddities"]:
        print(f"- {sentence}")
    for one in report["warnings"]:
        print(f"- {one['sentence']} ({Path(one['file']).name}:{one['line']})")
    for sentence in () if report["look"] is None else report["look"]["sentences"]:
        print(f"- {sentence}")
    print(f"project: {report['project']}; look at overclock.toml and contract.toml, then `overclock translate` it")


def _capacities(given: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for text in given:
        name, _, items = text.rpartition("=")
        if not name or not items.isdecimal() or int(items) < 1:
            raise UsageError(f"--capacity takes LIST=ITEMS with at least one item, as in body=400, got '{text}'.")
        found[name] = int(items)
    return found


def _arguments(text: str) -> dict[str, Any]:
    try:
        found = json_format.loads(text)
    except ValueError as error:
        raise UsageError(f"--arguments is not JSON: {error}.") from error
    if not isinstance(found, dict):
        raise UsageError("--arguments must be a JSON object, for example '{\"size\": 4}'.")
    return found
