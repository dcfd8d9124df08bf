"""Memory or translation? The same agent translates the same rules with other numbers, and its candidate must follow.

Models have read the source of well-known environments. One that recites the original passes every test against the
original, so the numbers are changed (perturb.py) in a private copy of the reference, and a project is made from that.
A candidate that fails there and passes against the original was recited; one that has some of the original's numbers in
the place of those it was given was recited in part, even if repairs corrected it later or no test noticed.
"""

import ast
import dataclasses
import json
import os
import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from overclock.errors import UsageError
from overclock.files import write_whole
from overclock.recipe.contract.file import format_contract
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.judge import Judge
from overclock.recipe.loop.briefing import MAIN, module_file
from overclock.recipe.loop.context import OptionalSteps, RunOptions
from overclock.recipe.loop.translate import resume, translate
from overclock.recipe.project.project import FILE, Changes, Project, format_project, load_project
from overclock.recipe.project.update_scenarios import guard
from overclock.recipe.references.changes import merged
from overclock.recipe.references.surveyor import reference_text, survey, survey_spec
from overclock.recipe.runs.candidates import files_of
from overclock.recipe.runs.report import final_candidate
from overclock.recipe.runs.run import Run, latest
from overclock.recipe.runs.status import ending
from overclock.recipe.studies.perturb import Constant, copied, perturb
from overclock.recipe.survey.static.decompose import rules
from overclock.recipe.survey.static.source import Source, resolve
from overclock.verify.sides.process import CouldNotVerifyError

Conclusion = Literal["followed", "partly recited", "recited", "neither", "unfinished"]
CHANGES = "changes.json"
RUST_NUMBER = re.compile(r"(?<![\w.])\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?")
SEED = 0  # of the episodes that are played against the original
GOING_ON = ("waiting", "out of budget", "stopped")


@dataclasses.dataclass(frozen=True)
class Control:
    """What came of it; `recited` is the candidate that has the original's numbers."""

    constants: tuple[Constant, ...]
    outcome: str  # of the run
    run: Path
    verdict: Conclusion
    sentence: str
    recited: str | None = None


def control(
    project: Project, seed: int = 0, options: RunOptions = RunOptions(), changes: Changes = Changes()
) -> Control:
    """Translate the changed reference and say whether the translation followed; asked again, it goes on."""
    folder = project.folder / "control" / str(seed)  # agents see this path: it must not say what it is for
    if not (folder / FILE).is_file():
        make_control(project, folder, seed)
    other = load_project(folder)
    options = dataclasses.replace(options, steps=OptionalSteps(options.steps.repair, optimise=False))
    newest = latest(folder / "runs")
    if newest is None:
        newest = translate(other, None, options, changes).run
    elif _outcome(newest) in (None, *GOING_ON):
        newest = resume(
            other, newest, options, changes=changes, steps=None if options.steps.repair else options.steps
        ).run
    return conclude(project, other, newest, options.sandbox)


def make_control(project: Project, folder: Path, seed: int) -> list[Constant]:
    """Write a project like the given one whose reference has other numbers; returns what was changed."""
    reference = project.reference
    if reference.kind == "specification" or not reference.cls:
        raise UsageError(f"'{project.name}' has no Python reference yet, so it has no numbers that could be changed.")
    if reference.sources:
        raise UsageError(
            f"The rules of '{project.name}' are not Python, so their numbers cannot be changed; this control needs a "
            "reference in Python."
        )
    source = resolve(reference_text(reference), reference.arguments, reference.max_steps)
    place = folder / "reference"
    entry, changes = _copy(source, place, seed)
    original = "" if source.folder is None else str(source.folder)
    spec = survey_spec(entry, source.arguments, source.max_steps)
    found = survey(spec.with_environment(PYTHONPATH=os.pathsep.join(filter(None, (original, _known_path())))))
    other = dataclasses.replace(
        project,
        folder=folder,
        reference=dataclasses.replace(
            found.reference,
            packages=tuple(sorted({*reference.packages, *found.reference.packages})),
            path=os.pathsep.join(filter(None, (str(place.resolve()), original))),
        ),
        modules=found.modules,
        contract=merged(project.contract, found.contract),
        # Transfer tells no more about this, and an existing fast implementation has the original's numbers.
        judging=dataclasses.replace(project.judging, levels=_levels(project), also=""),
    )
    if not guard(other, project.scenarios).stale:
        raise UsageError(f"The numbers changed by seed {seed} show in no scenario; try another --seed.")
    for name, text in found.texts.items():
        write_whole(module_file(folder, name), text.encode())
    for name, text in found.scenarios.items():
        write_whole(other.scenarios / f"{name}.json", text.encode())
    if (project.folder / "prompts").is_dir():
        shutil.copytree(project.folder / "prompts", folder / "prompts", dirs_exist_ok=True)
    write_whole(other.contract_path, format_contract(other.contract).encode())
    write_whole(project.folder / "control" / f"{seed}-{CHANGES}", _to_json(changes))
    write_whole(folder / FILE, format_project(other).encode())  # last: it makes the folder a project
    return changes


def conclude(project: Project, other: Project, folder: Path, sandbox: str = "best") -> Control:
    """What a run on changed numbers says about its agent."""
    changes = _from_json((other.folder.parent / f"{other.folder.name}-{CHANGES}").read_bytes())
    outcome = _outcome(folder)
    with Run.open(folder) as run:
        ended = ending(run.journal.events())
        suspects = {name: files_of(run.journal, name) for name in _suspects(run, MAIN[project.target])}
        left = final_candidate(run.journal.events())
        read = suspects if left is None else {**suspects, left: files_of(run.journal, left)}
    if outcome in (None, *GOING_ON):
        why = f"{outcome}. {ended.facts['sentence']}" if ended is not None else "under way."
        said = f"Not finished: the run is {why} Do the same again when it can go on."
        return Control(tuple(changes), outcome or "", folder, "unfinished", said)
    for name, files in suspects.items():
        if _holds(project, Frozen(name, files), sandbox):
            said = recited_sentence(changes, files, repaired=outcome == "done")
            return Control(tuple(changes), outcome, folder, "recited", said, name)
    for name, files in read.items():
        if recited(changes, files):
            corrected = outcome == "done" and name != left
            said = recited_sentence(changes, files, repaired=corrected).replace("Recited", "Partly recited", 1)
            unseen = " No test noticed." if outcome == "done" and name == left else ""
            return Control(tuple(changes), outcome, folder, "partly recited", f"{said}{unseen}", name)
    numbers = ", ".join(f"{one.name} {one.after!r} for {one.before!r}" for one in changes)
    if outcome == "done":
        said = f"Followed: the translation holds against the changed reference ({numbers})."
        return Control(tuple(changes), outcome, folder, "followed", said)
    said = (
        f"No verdict: the candidate holds neither against the changed reference ({numbers}) nor against the original."
    )
    return Control(tuple(changes), outcome, folder, "neither", said)


def recited_sentence(changes: Sequence[Constant], files: dict[str, bytes], repaired: bool = False) -> str:
    """Which of the original's numbers a candidate has in the place of those it was given."""
    kept = recited(changes, files)
    shown = " and ".join(f"the original's {one.before!r} where the source says {one.after!r}" for one in kept)
    has = f"has {shown}" if kept else "passes every test against the original, and not against the source it was given"
    return f"Recited: the candidate {has}.{' Repairs corrected it later.' if repaired else ''}"


def recited(changes: Sequence[Constant], files: dict[str, bytes]) -> list[Constant]:
    """The changed constants whose old number is written in a candidate, and whose new one is not."""
    numbers = _numbers(files)
    return [one for one in changes if abs(one.before) in numbers and abs(one.after) not in numbers]


def _suspects(run: Run, main: str) -> list[str]:
    """Whole candidates that failed: the first, before any failure told it the numbers, and the one that was left."""
    events = run.journal.events()
    whole = {e.facts["candidate"] for e in events if e.kind == "candidate frozen" and main in e.facts["files"]}
    failed = [e.facts for e in events if e.kind == "judged" and e.facts["verdict"] == "fail" and e.facts["level"] != 0]
    names = [facts["candidate"] for facts in failed if facts["candidate"] in whole]
    left = final_candidate(events)
    return list(dict.fromkeys([*names[:1], *(name for name in names if name == left)]))


def _holds(project: Project, frozen: Frozen, sandbox: str) -> bool:
    """Whether a candidate passes against the original reference."""
    with tempfile.TemporaryDirectory() as place:
        judge = Judge(project, project.scenarios, Path(place) / "repro", sandbox)
        try:
            return all(judge.judge(frozen, level, SEED).passed for level in _levels(project))
        except CouldNotVerifyError as error:
            raise UsageError(f"The original reference cannot be used: {error}") from error


def _levels(project: Project) -> tuple[int, ...]:
    return tuple(level for level in project.judging.levels if level <= 3) or (3,)


def _copy(source: Source, place: Path, seed: int) -> tuple[str, list[Constant]]:
    """Copy the rules with changed constants; returns the copy as a reference is named, and the changes."""
    files = [file for file in rules(source).files if source.folder is not None or file.module == source.module]
    changes = perturb(source, [file.path for file in files], seed)
    entry = place
    for file in files:
        # An installed file becomes a file of its own: its package's other files stay where they are.
        parts = file.path.relative_to(source.folder).parts if source.folder is not None else (file.path.name,)
        if len(parts) > 1:
            assert source.folder is not None
            package = source.folder / parts[0]
            if not (place / parts[0]).exists():
                shutil.copytree(package, place / parts[0], ignore=shutil.ignore_patterns("__pycache__"))
        mine = [one for one in changes if one.file == str(file.path)]
        write_whole(place.joinpath(*parts), copied(file, mine).encode())
        if file.module == source.module:
            entry = place.joinpath(*parts)
    return f"{entry.resolve()}:{source.class_name}", changes


def _numbers(files: dict[str, bytes]) -> set[float]:
    trees = [ast.parse(content) for path, content in files.items() if path.endswith(".py")]
    nodes = [node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    found = {float(value) for value in nodes if isinstance(value, int | float) and not isinstance(value, bool)}
    rust = [content.decode(errors="replace") for path, content in files.items() if path.endswith(".rs")]
    return found | {float(number.replace("_", "")) for text in rust for number in RUST_NUMBER.findall(text)}


def _outcome(folder: Path) -> str | None:
    with Run.open(folder) as run:
        ended = ending(run.journal.events())
    return None if ended is None else ended.facts["outcome"]


def _known_path() -> str:
    return os.environ.get("PYTHONPATH", "")


def _to_json(changes: Sequence[Constant]) -> bytes:
    return json.dumps([dataclasses.asdict(one) for one in changes], indent=1).encode() + b"\n"


def _from_json(content: bytes) -> list[Constant]:
    rows: list[dict[str, Any]] = json.loads(content)
    return [Constant(**row) for row in rows]
