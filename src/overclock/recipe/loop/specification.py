"""The third workflow: written rules become a readable Python reference, and that is translated like any other.

Phase 0 of a run: an agent writes `reference/reference_env.py`; it is read, and played apart from us, until it can be a
reference. Then a person has to approve it, because nobody else can say whether the rules were read rightly. Only after
that it becomes the project's reference, with the contract, modules and scenarios that `overclock new` makes of a file.
"""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overclock.files import write_whole
from overclock.recipe.contract.file import Closeness, ContractFile, format_contract
from overclock.recipe.judging.verdict import Failure
from overclock.recipe.loop.briefing import Briefing, module_file
from overclock.recipe.project.project import (
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
from overclock.recipe.project.values import safe_name
from overclock.recipe.references.static_check import ENTRY
from overclock.recipe.references.surveyor import Surveyed
from overclock.recipe.survey.static.decompose import plan
from overclock.recipe.survey.static.source import Source

KIND = "specification"
FOLDER = "reference"
OUTPUT = f"{FOLDER}/{ENTRY}"


def specification_project(
    folder: Path, source: Source, target: Target, agent: AgentChoice, limits: Limits, judging: Judging
) -> Project:
    """Write a project whose reference has yet to be written; its contract is empty until then."""
    modules = plan(source)
    project = Project(
        folder=folder,
        name=safe_name(folder.resolve().name),
        reference=Reference(source.text, KIND),
        target=target,
        modules=tuple(ModulePlan(one.name, one.files, one.functions, one.lines, one.depends_on) for one in modules),
        contract=ContractFile(state=(), precisions={"float64": Closeness()}),
        limits=limits,
        agent=agent,
        judging=judging,
    )
    write_whole(module_file(folder, KIND), modules[0].text.encode())
    project.scenarios.mkdir(parents=True, exist_ok=True)
    write_whole(project.contract_path, format_contract(project.contract).encode())
    write_whole(folder / FILE, format_project(project).encode())  # last: it makes the folder a project
    return load_project(folder)


@dataclasses.dataclass(frozen=True)
class SpecificationBriefing(Briefing):
    """The prompts of phase 0."""

    def specification(self, task: str) -> str:
        """The rules, and what a reference has to be."""
        return self._render("specification", task, **self._facts())

    def repair(self, task: str, failure: Failure, level: int, tries: tuple[int, int], tried: Any = ()) -> str:
        """The prompt for a reference that failed its check."""
        return self._render(
            "specification_repair", task, failures=failure.sentences, iteration=tries[0], iterations=tries[1],
            **self._facts(),
        )  # fmt: skip

    def _facts(self) -> dict[str, str]:
        return {"rules": module_file(self.project.folder, KIND).read_text(encoding="utf-8"), "output": OUTPUT}


def adopt(project: Project, found: Surveyed, files: Mapping[str, bytes]) -> Project:
    """Write the project that `overclock new` would make of the reference among these files."""
    place = project.folder.resolve() / FOLDER
    for path, content in files.items():
        if path.startswith(f"{FOLDER}/"):
            write_whole(project.folder / path, content)
    now = dataclasses.replace(
        project,
        reference=dataclasses.replace(
            found.reference, source=f"{OUTPUT}:{found.reference.cls.partition(':')[2]}", path=str(place)
        ),
        modules=tuple(
            dataclasses.replace(one, files=tuple(str(place / _inside(file, found)) for file in one.files))
            for one in found.modules
        ),
        contract=found.contract,
    )
    for name, text in found.texts.items():
        write_whole(module_file(project.folder, name), text.encode())
    for name, text in found.scenarios.items():
        write_whole(project.scenarios / f"{name}.json", text.encode())
    write_whole(project.contract_path, format_contract(found.contract).encode())
    write_whole(project.folder / FILE, format_project(now).encode())
    return load_project(project.folder)


def _inside(file: str, found: Surveyed) -> Path:
    """A file's place in the folder of the reference, which lay elsewhere when it was surveyed."""
    return Path(*Path(file).parts[len(Path(found.reference.path).parts) :])
