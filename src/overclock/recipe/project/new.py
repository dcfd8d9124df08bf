"""A new project from a reference: what the survey found, written down so that a person can check and change it."""

import dataclasses
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from overclock.errors import UsageError
from overclock.files import check_folder, require_empty, write_whole
from overclock.recipe.agents import by_name
from overclock.recipe.contract.file import ContractFile, write_contract
from overclock.recipe.loop.briefing import module_file
from overclock.recipe.loop.specification import KIND as SPECIFICATION
from overclock.recipe.loop.specification import specification_project
from overclock.recipe.project.new_contract import contract_of
from overclock.recipe.project.new_scenarios import write_scenarios
from overclock.recipe.project.project import (
    FILE,
    UNFINISHED,
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
from overclock.recipe.project.values import safe_name
from overclock.recipe.survey.live.profile import Profile, profile
from overclock.recipe.survey.static.decompose import Dropped, dropped, plan
from overclock.recipe.survey.static.obstacles import Obstacle, obstacles
from overclock.recipe.survey.static.source import Source, resolve
from overclock.recipe.survey.static.target_advice import Advice, advise

if TYPE_CHECKING:
    from overclock.translate.program import Program

BUILT_IN = "builtin"  # the agent that also writes its contract


@dataclasses.dataclass(frozen=True)
class NewProject:
    """A project that was written, and what its author should know."""

    project: Project
    source: Source
    profile: Profile | None  # None: there is nothing to watch yet, only a specification
    advice: Advice
    dropped: tuple[Dropped, ...]
    obstacles: tuple[Obstacle, ...]
    program: "Program | None" = None  # what the built-in translator made of the reference when it wrote the contract


def new_project(
    folder: Path,
    reference: str,
    target: Target | None = None,
    agent: AgentChoice = AgentChoice(),
    limits: Limits = Limits(),
    judging: Judging = Judging(),
    arguments: Mapping[str, Any] | None = None,
    max_steps: int | None = None,
    sources: Sequence[str] = (),
    capacities: Mapping[str, int] = MappingProxyType({}),
) -> NewProject:
    """Look at a reference and write the folder of a project; refuses what could never be verified."""
    check_folder(folder)
    if (folder / FILE).exists():
        raise UsageError(f"There is a project in '{folder}' already; change its {FILE}, or choose another folder.")
    require_empty(folder, "project")
    if agent.name == BUILT_IN:
        limits = dataclasses.replace(limits, optimisations=0)  # it writes what it can, once
    else:
        by_name(agent.name, run="", logs=folder, home=folder, model=agent.model or None)  # refuses a name nobody has
    # A reference may change the working folder of the process that it runs in.
    given, folder = folder, folder.absolute()
    source = resolve(reference, arguments, max_steps, sources)
    if source.kind == SPECIFICATION:
        project = specification_project(given, source, target or "jax", agent, limits, judging)
        return NewProject(project, source, None, advise(source), (), ())
    if source.module is None:
        raise UsageError(
            f"'{reference}' is a {source.kind}; a project needs a Python reference that can be watched (a class or a "
            "Gymnasium id), so write a readable Python environment of it first."
        )
    found = tuple(obstacles(source))
    refused = [one for one in found if one.severity == "refuse"]
    if refused:
        raise UsageError(f"This reference cannot be verified: {refused[0].sentence} ({_place(refused[0])}).")
    seen = None if agent.name == BUILT_IN else profile(source)
    advice = advise(source, seen)
    modules = plan(source)
    described = dataclasses.replace(_reference(source), capacities=dict(capacities))
    if capacities and agent.name != BUILT_IN:
        raise UsageError("Capacities are for the built-in translator: add --agent builtin, or leave them out.")
    if seen is None:
        contract, program = _translated(folder, described)
        if program.max_steps != described.max_steps:  # the rules count steps themselves: with a limit they are others
            described, program = dataclasses.replace(described, max_steps=program.max_steps), None
    else:
        contract, program = contract_of(source, seen), None
    project = Project(
        folder=folder,
        name=safe_name(folder.resolve().name),
        reference=described,
        target=target or advice.target,
        modules=tuple(ModulePlan(one.name, one.files, one.functions, one.lines, one.depends_on) for one in modules),
        contract=contract,
        limits=limits,
        agent=agent,
        judging=judging,
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{UNFINISHED}{os.getpid()}-", dir=folder.parent) as unfinished:
        staged = dataclasses.replace(project, folder=Path(unfinished))
        for one in modules:
            write_whole(module_file(staged.folder, one.name), one.text.encode())
        write_contract(project.contract, staged.folder)
        write_scenarios(staged)
        _move(staged.folder, folder)
    write_whole(folder / FILE, format_project(project).encode())  # last: it makes the folder a project
    written = dataclasses.replace(load_project(folder), folder=given)
    return NewProject(written, source, seen, advice, tuple(dropped(source)), found, program)


def _translated(folder: Path, reference: Reference) -> "tuple[ContractFile, Program]":
    """What the built-in translator makes of a reference, and the contract that it writes."""
    from overclock.recipe.agents.builtin_agent import contract_of_program, program_of

    name = safe_name(folder.resolve().name)
    program = program_of(name, reference.make(), reference.path, reference.capacities)
    return contract_of_program(program), program


def _move(unfinished: Path, folder: Path) -> None:
    """All of a folder's content into another one, nothing of it over what is there."""
    folder.mkdir(exist_ok=True)
    if taken := [path.name for path in unfinished.iterdir() if (folder / path.name).exists()]:
        raise UsageError(f"'{folder}' has a '{taken[0]}' already; choose another folder for the project.")
    for path in unfinished.iterdir():
        path.rename(folder / path.name)


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
        sources=source.sources,
    )


def _place(one: Obstacle) -> str:
    return f"{Path(one.file).name}:{one.line}"
