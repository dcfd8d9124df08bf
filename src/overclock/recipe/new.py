"""A new project from a reference: what the survey found, written down so that a person can check and change it."""

import dataclasses
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from overclock.errors import UsageError
from overclock.files import check_folder, write_whole
from overclock.recipe.briefing import module_file
from overclock.recipe.contract_file import Closeness, ContractFile, DrawField, StateField, format_contract
from overclock.recipe.project import (
    FILE,
    AgentChoice,
    Judging,
    Limits,
    ModulePlan,
    Project,
    Reference,
    Target,
    format_project,
    load_project,
)
from overclock.recipe.project_twin import project_twin
from overclock.recipe.reference import make_env
from overclock.recipe.specification import KIND as SPECIFICATION
from overclock.recipe.specification import specification_project
from overclock.recipe.survey.advise import Advice, advise
from overclock.recipe.survey.decompose import Dropped, dropped, plan
from overclock.recipe.survey.draws import Draws
from overclock.recipe.survey.obstacles import Obstacle, obstacles
from overclock.recipe.survey.profile import Profile, profile
from overclock.recipe.survey.source import Source, resolve
from overclock.verify.playback import record_scenario
from overclock.verify.scenario import format_scenario

SCENARIO_STEPS = 24
ROUNDING = "library functions and fused multiply-adds round differently by a few ulp"
NESTED = ("tuple", "dict", "other")  # spaces whose values are no single array
PER_STEP, FREE_RUNNING, HORIZON = 1e-12, 1e-9, 100


@dataclasses.dataclass(frozen=True)
class Made:
    """A project that was written, and what its author should know."""

    project: Project
    source: Source
    profile: Profile | None  # None: there is nothing to watch yet, only a specification
    advice: Advice
    dropped: tuple[Dropped, ...]
    obstacles: tuple[Obstacle, ...]


def new_project(
    folder: Path,
    reference: str,
    target: Target | None = None,
    agent: AgentChoice = AgentChoice(),
    limits: Limits = Limits(),
    judging: Judging = Judging(),
    arguments: Mapping[str, Any] | None = None,
    max_steps: int | None = None,
) -> Made:
    """Look at a reference and write the folder of a project; refuses what could never be verified."""
    check_folder(folder)
    if (folder / FILE).exists():
        raise UsageError(f"There is a project in '{folder}' already; change its {FILE}, or choose another folder.")
    source = resolve(reference, arguments, max_steps)
    if source.kind == SPECIFICATION:
        project = specification_project(folder, source, target or "jax", agent, limits, judging)
        return Made(project, source, None, advise(source), (), ())
    if source.module is None:
        raise UsageError(
            f"'{reference}' is a {source.kind}; a project needs a Python reference that can be watched (a class or a "
            "Gymnasium id), so write a readable Python environment of it first."
        )
    found = tuple(obstacles(source))
    refused = [one for one in found if one.severity == "refuse"]
    if refused:
        raise UsageError(f"This reference cannot be verified: {refused[0].sentence} ({_place(refused[0])}).")
    seen = profile(source)
    advice = advise(source, seen)
    modules = plan(source)
    project = Project(
        folder=folder,
        name=folder.resolve().name,
        reference=_reference(source),
        target=target or advice.target,
        modules=tuple(ModulePlan(one.name, one.files, one.functions, one.lines, one.depends_on) for one in modules),
        contract=contract_of(source, seen),
        limits=limits,
        agent=agent,
        judging=judging,
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as unfinished:
        staged = dataclasses.replace(project, folder=Path(unfinished))
        for one in modules:
            write_whole(module_file(staged.folder, one.name), one.text.encode())
        write_whole(staged.contract_path, format_contract(project.contract).encode())
        write_scenarios(staged)
        _move(staged.folder, folder)
    write_whole(folder / FILE, format_project(project).encode())  # last: it makes the folder a project
    return Made(load_project(folder), source, seen, advice, tuple(dropped(source)), found)


def _move(unfinished: Path, folder: Path) -> None:
    """All of a folder's content into another one, nothing of it over what is there."""
    folder.mkdir(exist_ok=True)
    if taken := [path.name for path in unfinished.iterdir() if (folder / path.name).exists()]:
        raise UsageError(f"'{folder}' has a '{taken[0]}' already; choose another folder for the project.")
    for path in unfinished.iterdir():
        path.rename(folder / path.name)


def contract_of(source: Source, seen: Profile) -> ContractFile:
    """What the two sides must agree on, as far as watching the reference tells."""
    if seen.unrecorded:
        raise UsageError(
            f"The reference draws from {' and '.join(seen.unrecorded)}, which is not recorded; let it draw from "
            "self.np_random, so that its luck can be given to the other side."
        )
    if seen.observation_space["kind"] in NESTED:
        raise UsageError(
            f"The observations of the reference are a {seen.observation_space['kind']}, not one array; put them into "
            "one (gymnasium.wrappers.FlattenObservation shows how), and translate that."
        )
    if seen.truncates_itself:
        raise UsageError(
            "The reference truncates episodes by itself, for a reason that is not in its state; leave that to a time "
            "limit (--max-steps), or let it terminate."
        )
    draws = {}
    for when, drawn in (("reset", seen.reset_draws), ("step", seen.step_draws)):
        draws[when] = _draws(when, drawn)
    fields = tuple(
        StateField(_name(one.path), one.path, one.dtype, one.shape, one.low, one.high)
        for one in seen.fields
        if one.used
    )
    if not fields:
        raise UsageError(f"Nothing that changes was found in {source.class_name}, so there is no state to compare.")
    floats = [one for one in seen.fields if one.used and one.kind == "float"]
    return ContractFile(
        state=fields,
        reset_draws=draws["reset"],
        step_draws=draws["step"],
        set_state=bool(seen.restored.tried) and not seen.restored.wrong,
        precisions={"float64": _closeness(floats, seen) if floats else Closeness()},
    )


def _closeness(floats: list[Any], seen: Profile) -> Closeness:
    """For floats: one ulp of the observation's own type, and room for different libraries in the state."""
    largest = max(max(abs(one.low), abs(one.high)) for one in floats)
    dtype = str(seen.observation_space.get("dtype", "float64"))
    cast = float(2 * np.spacing(np.float32(largest))) if dtype == "float32" else PER_STEP
    scale = max(1.0, largest)
    per_step = {"state": PER_STEP * scale, "obs": max(cast, PER_STEP * scale), "reward": PER_STEP * scale}
    free = {"state": FREE_RUNNING * scale, "obs": max(cast, FREE_RUNNING * scale), "reward": FREE_RUNNING * scale}
    return Closeness(per_step, free, ROUNDING, HORIZON)


def _draws(when: str, drawn: Draws) -> tuple[DrawField, ...]:
    if not drawn.constant:
        raise UsageError(
            f"A {when} of the reference draws {drawn.fewest} to {drawn.most} random numbers; a contract needs the same "
            "draws every time. Let the reference draw what it may need, or write the contract for a tape by hand."
        )
    return tuple(
        DrawField(f"{call.method}_{number}", call.method, call.call.partition("(")[2].removesuffix(")"), call.shape)
        for number, call in enumerate(drawn.calls)
    )


def _reference(source: Source) -> Reference:
    packages = sorted({"gymnasium", (source.module or "gymnasium").partition(".")[0]})
    return Reference(
        source=source.text,
        kind="gymnasium" if source.env_id else "class",
        cls=f"{source.module}:{source.class_name}",
        arguments=source.arguments,
        max_steps=source.max_steps,
        packages=tuple(packages),
        path="" if source.folder is None else str(source.folder),
    )


# ---- level 2 ----


def write_scenarios(project: Project) -> list[Path]:
    """Record scenarios from the reference: steady, alternating and random play, up to the end where it comes."""
    written = []
    with tempfile.TemporaryDirectory() as nothing:
        twin = project_twin(project, Path(nothing))
        for name, why, seed, actions in _scripts(project):
            scenario = record_scenario(twin, name, why, {"seed": seed}, actions)
            path = project.scenarios / f"{name}.json"
            write_whole(path, format_scenario(scenario).encode())
            written.append(path)
    return written


def _scripts(project: Project) -> list[tuple[str, str, int, list[Any]]]:
    """(name, why, seed, actions) of each scenario; no actions beyond an end."""
    env = make_env(**project.reference.make())
    space = env.action_space
    low, high = _ends(space)
    space.seed(0)
    plans: list[tuple[str, str, int, Any]] = [
        ("steady-first", "the first action again and again", 1, lambda step: low),
        ("steady-last", "the last action again and again", 2, lambda step: high),
        ("alternating", "the first and the last action in turn", 3, lambda step: (low, high)[step % 2]),
        *((f"random-{seed}", "random actions", 10 + seed, lambda step: space.sample()) for seed in range(4)),
    ]
    found = []
    for name, why, seed, choose in plans:
        env.reset(seed=seed)
        actions, ended = [], False
        while len(actions) < SCENARIO_STEPS and not ended:
            action = choose(len(actions))
            _, _, terminated, truncated, _ = env.step(action)
            actions.append(np.asarray(action).tolist())
            ended = bool(terminated or truncated)
        found.append((name, f"{why}{', to the end of the episode' if ended else ''}", seed, actions))
    env.close()
    return found


def _ends(space: gymnasium.Space[Any]) -> tuple[Any, Any]:
    if isinstance(space, gymnasium.spaces.Discrete) and space.start == 0:
        return 0, int(space.n) - 1
    if isinstance(space, gymnasium.spaces.Box):
        return space.low, space.high
    raise UsageError(
        f"The action space {space} is neither a Box nor a Discrete that starts at 0; let the reference take such "
        "actions, and translate that."
    )


def _name(path: str) -> str:
    return re.sub(r"\W+", "_", path).strip("_").lstrip("_") or "state"


def _place(one: Obstacle) -> str:
    return f"{Path(one.file).name}:{one.line}"
