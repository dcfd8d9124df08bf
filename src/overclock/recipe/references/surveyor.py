"""A reference looked at in a process of its own: the project that `overclock new` would make of it now.

A process of its own sees the files as they are now, whatever this one has imported before, and it can be a sandboxed
one for code that nobody has read yet. What comes back is text, checked here like any file of a project.
"""

import dataclasses
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overclock.errors import OverclockError, UsageError
from overclock.files import write_whole
from overclock.recipe.contract.file import FILE as CONTRACT
from overclock.recipe.contract.file import ContractFile, format_contract, load_contract
from overclock.recipe.project.project import ModulePlan, Reference
from overclock.verify.interaction.scenario import parse_scenario
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import SubjectSpec

SECONDS = 600.0  # a survey plays some hundred steps, and slow references are why we are here


@dataclasses.dataclass(frozen=True)
class Surveyed:
    """The parts of a project that follow from its reference."""

    reference: Reference
    contract: ContractFile
    modules: tuple[ModulePlan, ...]
    texts: Mapping[str, str]  # the source of each module
    scenarios: Mapping[str, str]  # the text of each scenario


def survey_spec(
    reference: str,
    arguments: Mapping[str, Any] | None = None,
    max_steps: int | None = None,
    sources: Sequence[str] = (),
) -> SubjectSpec:
    """The worker that surveys a reference, named as `overclock new` takes it."""
    spec = SubjectSpec.of(
        Surveyor, reference=reference, arguments=dict(arguments or {}), max_steps=max_steps, sources=list(sources)
    )
    return spec.with_environment(JAX_PLATFORMS="cpu")


def survey(spec: SubjectSpec, timeout: float = SECONDS) -> Surveyed:
    """Start the worker of `survey_spec`; a reference that it refuses is a UsageError."""
    with ProcessSubject(spec, 1, "the reference", timeout) as worker:
        return read_survey(worker.ask("survey"))


def read_survey(answer: Any) -> Surveyed:
    """A worker's answer as the parts of a project; UsageError where it is malformed."""
    try:
        if answer["refused"] is not None:
            raise UsageError(str(answer["refused"]))
        texts, scenarios = dict(answer["texts"]), dict(answer["scenarios"])
        modules = tuple(ModulePlan(**_tuples(row)) for row in answer["modules"])
        if [module.name for module in modules] != list(texts) or not all(name.isidentifier() for name in texts):
            raise ValueError("its modules have other names than their texts")
        for name, text in scenarios.items():
            if parse_scenario(text, f"{name}.json").name != Path(name).name:
                raise ValueError(f"the scenario '{name}' lies in another folder")
        return Surveyed(
            Reference(**_tuples(answer["reference"])), _contract(answer["contract"]), modules, texts, scenarios
        )
    except UsageError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"The survey of the reference gave no usable answer ({error}); try it again.") from error


def reference_text(reference: Reference) -> str:
    """A project's reference as `overclock new` takes it, from any folder: files by their absolute path."""
    if reference.kind == "gymnasium":
        return reference.source
    if not reference.path:
        return reference.cls
    module, _, name = reference.cls.partition(":")
    place = Path(reference.path.split(os.pathsep)[0], *module.split("."))
    package = place / "__init__.py"  # a folder without it may be a project that lies beside its file
    file = package if package.is_file() else place.with_suffix(".py")
    return f"{file}:{name}"


class Surveyor:
    """The worker's side of `survey`; the reference is imported in the call, so that its errors are answers."""

    def __init__(
        self, num_envs: int, reference: str, arguments: dict[str, Any], max_steps: int | None, sources: list[str]
    ) -> None:
        self._asked = reference, arguments, max_steps, sources

    def describe(self) -> dict[str, Any]:
        return {"calls": ["survey"]}

    def survey(self) -> dict[str, Any]:
        return answer(*self._asked)


def answer(
    reference: str,
    arguments: Mapping[str, Any] | None = None,
    max_steps: int | None = None,
    sources: Sequence[str] = (),
) -> dict[str, Any]:
    """What `overclock new` makes of a reference in this process, as plain data; no project is left behind."""
    from overclock.recipe.loop.briefing import source_text
    from overclock.recipe.project.new import new_project

    with tempfile.TemporaryDirectory() as place:
        try:
            folder = Path(place) / "project"
            made = new_project(
                folder, reference, arguments=arguments, max_steps=max_steps, sources=sources
            ).project  # fmt: skip
        except OverclockError as error:
            return {"refused": str(error)}
        return {
            "refused": None,
            "reference": dataclasses.asdict(made.reference),
            "contract": format_contract(made.contract),
            "modules": [dataclasses.asdict(module) for module in made.modules],
            "texts": {module.name: source_text(made, module) for module in made.modules},
            "scenarios": {path.stem: path.read_text() for path in sorted(made.scenarios.glob("*.json"))},
        }


def _contract(text: str) -> ContractFile:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / CONTRACT
        write_whole(path, text.encode())
        return load_contract(path)


def _tuples(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in row.items()}
