"""`update`: the reference has moved on. Which modules changed since the last verified run, and a run for those alone.

A module has changed if its rules have: comments, docstrings and layout do not count. The run starts from the last
verified candidate; its guard is every earlier test, played by the reference as it is now. Scenarios that the reference
no longer plays are listed, and recorded anew only where the user accepts that.
"""

import dataclasses
import datetime
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.recipe.contract.file import FILE as CONTRACT
from overclock.recipe.contract.file import ContractFile, format_contract
from overclock.recipe.contract.toml_text import rewrite
from overclock.recipe.loop.briefing import MAIN, PART, module_file, source_text
from overclock.recipe.loop.context import RunOptions
from overclock.recipe.loop.translate import Finished, translate
from overclock.recipe.loop.update_loop import WORKFLOW, sources_folder
from overclock.recipe.project.project import FILE, Changes, Project, format_project, load_project
from overclock.recipe.project.update_scenarios import Guard, guard
from overclock.recipe.references.changes import contract_differences, merged, same_rules
from overclock.recipe.references.surveyor import Surveyed, reference_text, survey, survey_spec
from overclock.recipe.runs.candidates import files_of
from overclock.recipe.runs.report import final_candidate
from overclock.recipe.runs.run import Run, all_runs
from overclock.recipe.runs.status import ending, last


@dataclasses.dataclass(frozen=True)
class Verified:
    """The last run that held at all levels of the project, its candidate, and the source that was translated."""

    folder: Path
    candidate: str
    files: Mapping[str, bytes]
    texts: Mapping[str, str]
    contract: ContractFile
    max_steps: int | None


@dataclasses.dataclass(frozen=True)
class Update:
    """What there is to do. `modules` is the new plan; `again` are those of it that are translated again."""

    project: Project  # as it will be
    verified: Verified
    texts: Mapping[str, str]
    changed: tuple[str, ...]
    new: tuple[str, ...]
    gone: tuple[str, ...]
    contract: tuple[str, ...]  # sentences on how the contract differs, and the time limit
    guard: Guard

    @property
    def again(self) -> tuple[str, ...]:
        """The modules to translate: changed and new ones, and the environment's own where the contract differs."""
        main = self.project.modules[-1].name if self.contract else None
        return tuple(one.name for one in self.project.modules if one.name in (*self.changed, *self.new, main))

    @property
    def nothing(self) -> bool:
        """Whether the last verified candidate is still a translation of the reference, as far as reading tells."""
        return not (self.again or self.gone or self.guard.stale)

    @property
    def asks(self) -> bool:
        """Whether tests or the contract would change, which somebody has to accept."""
        return bool(self.contract or self.guard.stale)


def find_update(project: Project) -> Update:
    """Compare the reference as it is with what the last verified run translated; nothing is written."""
    verified = last_verified(project)
    reference = project.reference
    text, limit = reference_text(reference), _limit(project)
    found = survey(survey_spec(text, reference.arguments, limit, reference.sources))
    return compare(project, verified, found)


def compare(project: Project, verified: Verified, found: Surveyed) -> Update:
    """The same for a survey that was made already."""
    before, after = list(verified.texts), [module.name for module in found.modules]
    changed = tuple(
        name
        for name in after
        if name in before
        and not (
            _output(project, before, name) == _output(project, after, name)
            and same_rules(verified.texts[name], found.texts[name])
        )
    )
    different = contract_differences(verified.contract, found.contract)
    now = dataclasses.replace(
        project,
        modules=found.modules,
        contract=merged(verified.contract, found.contract) if different else project.contract,
        reference=dataclasses.replace(project.reference, max_steps=found.reference.max_steps),
    )
    return Update(
        project=now,
        verified=verified,
        texts=found.texts,
        changed=changed,
        new=tuple(name for name in after if name not in before),
        gone=tuple(name for name in before if name not in after),
        contract=(*different, *_limits_differ(verified.max_steps, found.reference.max_steps)),
        guard=guard(now, verified.folder / "scenarios", project.scenarios),
    )


def run_update(
    update: Update,
    accept: bool = False,
    run_id: str | None = None,
    options: RunOptions = RunOptions(),
    changes: Changes = Changes(),
) -> Finished:
    """Write the project as it is now and translate what changed, from the last verified candidate on."""
    if update.nothing:
        raise UsageError("Nothing changed in the rules since the last verified run; there is nothing to translate.")
    if update.asks and not accept:
        raise UsageError(
            "Tests or the contract would change with the reference; look at what is listed, then update with --accept."
        )
    project = _write(update)
    now = datetime.datetime.now(datetime.UTC)
    run_id = run_id or f"{project.name}-update-{now:%Y%m%d-%H%M%S}"
    for path, content in _kept_files(update).items():
        write_whole(project.run_folder(run_id) / "candidate" / path, content)
    about = {"workflow": WORKFLOW, "verified": update.verified.folder.name, "again": list(update.again)}
    return translate(project, run_id, options, changes, about)


# ---- what was verified ----


def last_verified(project: Project) -> Verified:
    """The newest run that is done at every level that the project asks for."""
    found: list[tuple[float, Path, str]] = []
    for folder in all_runs(project.folder / "runs"):
        with Run.open(folder) as run:
            events = run.journal.events()
            started, ended = last(events, "run started"), ending(events)
            candidate = final_candidate(events)
            if started is None or ended is None or candidate is None or ended.facts["outcome"] != "done":
                continue
            if set(project.judging.levels) <= set(started.facts["levels"]):
                found.append((ended.time, folder, candidate))
    if not found:
        levels = ", ".join(map(str, project.judging.levels))
        raise UsageError(f"No run of '{project.name}' is done at levels {levels} yet; `overclock translate` it first.")
    _, folder, candidate = max(found)
    with Run.open(folder) as run:
        files = files_of(run.journal, candidate)
    kept = sources_folder(folder)
    made = load_project(kept if (kept / FILE).is_file() else project.folder)  # not kept: not updated since that run
    texts = {module.name: source_text(made, module) for module in made.modules}
    return Verified(folder, candidate, files, texts, made.contract, made.reference.max_steps)


def _limits_differ(before: int | None, after: int | None) -> list[str]:
    """Nothing in a module's text says it: a Gymnasium id brings its time limit along."""
    was, now = ("none" if limit is None else f"{limit} steps" for limit in (before, after))
    return [] if was == now else [f"The time limit was {was} and is {now}."]


def _limit(project: Project) -> int | None:
    """A Gymnasium id brings its own time limit, which may have changed as well; others have the one they were given."""
    return None if project.reference.kind == "gymnasium" else project.reference.max_steps


def _output(project: Project, names: list[str], name: str) -> str:
    return MAIN[project.target] if name == names[-1] else PART[project.target].format(name)


def _kept_files(update: Update) -> dict[str, bytes]:
    """The verified candidate without the files of modules that are gone."""
    project, before = update.project, list(update.verified.texts)
    gone = {_output(project, before, name) for name in update.gone} - {MAIN[project.target]}
    return {path: content for path, content in update.verified.files.items() if path not in gone}


def _write(update: Update) -> Project:
    """The project as it is now; what the verified run was made from is kept beside that run first."""
    project, verified = update.project, update.verified
    kept = sources_folder(verified.folder)
    if not (kept / FILE).is_file():
        for name, text in verified.texts.items():
            write_whole(module_file(kept, name), text.encode())
        write_whole(kept / CONTRACT, format_contract(verified.contract).encode())
        write_whole(kept / FILE, (project.folder / FILE).read_bytes())  # last: it makes the folder a project
    for name, text in update.texts.items():
        write_whole(module_file(project.folder, name), text.encode())
    for name in update.gone:
        module_file(project.folder, name).unlink(missing_ok=True)
    if update.contract:
        rewrite(project.contract_path, format_contract(project.contract))
    update.guard.write(project.scenarios)
    rewrite(project.folder / FILE, format_project(project))
    return load_project(project.folder)


@dataclasses.dataclass(frozen=True)
class ModuleChange:
    """A module of the new plan, and what happens to it: "kept", "translated again" or "new"."""

    name: str
    lines: int
    what: str


@dataclasses.dataclass(frozen=True)
class UpdateReport:
    """What there is to do (overclock.update/1); a run that does it adds how it ended."""

    schema: Literal["overclock.update/1"]
    project: Path
    verified: str
    candidate: str
    modules: list[ModuleChange]
    gone: list[str]
    contract: list[str]
    scenarios: int
    stale: dict[str, str]
    dropped: list[str]
    nothing: bool
    outcome: str | None = None


def update_report(update: Update) -> UpdateReport:
    """What there is to do, in short."""
    changes = {**dict.fromkeys(update.again, "translated again"), **dict.fromkeys(update.new, "new")}
    return UpdateReport(
        "overclock.update/1",
        project=update.project.folder,
        verified=update.verified.folder.name,
        candidate=update.verified.candidate,
        modules=[ModuleChange(one.name, one.lines, changes.get(one.name, "kept")) for one in update.project.modules],
        gone=list(update.gone),
        contract=list(update.contract),
        scenarios=len(update.guard.scenarios),
        stale=dict(update.guard.stale),
        dropped=list(update.guard.dropped),
        nothing=update.nothing,
    )
