"""Finds what may be exported: the result of a run that is done, byte for byte as the judge has accepted it.

The contract, the scenarios and the reference are exported too, so they must be the ones it was judged by.
"""

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.recipe.judging.hygiene.frozen import Frozen
from overclock.recipe.judging.required_levels import levels_up_to
from overclock.recipe.project.project import FILE, Project, load_project
from overclock.recipe.runs.report import RunReport, final_candidate, run_report
from overclock.recipe.runs.run import RUNS, Run, all_runs, find
from overclock.recipe.runs.status import ending, last
from overclock.recipe.runs.vocabulary import Event
from overclock.recipe.runs.words import level_words
from overclock.recipe.runs.work_tree import frozen_tree

DONE = "done"
AGAIN = "translate the project again with `overclock translate`"


@dataclasses.dataclass(frozen=True)
class Accepted:
    """An accepted program and what it was judged by; the project has the levels of its run."""

    project: Project
    run: Path
    frozen: Frozen
    scenarios: Path
    report: RunReport


def accepted(project: Path | None = None, run: str | None = None) -> Accepted:
    """The result of a run, by default of the newest that is done; UsageError if there is none."""
    with Run.open(_run_folder(project, run)) as found:
        events = found.journal.events()
        ended, started = ending(events), last(events, "run started")
        if ended is None or started is None or ended.facts["outcome"] != DONE:
            how = "has not ended" if ended is None else f"ended {ended.facts['outcome']}: {ended.facts['sentence']}"
            raise UsageError(f"The run '{found.id}' {how.rstrip('.')}; only a run that is done can be exported.")
        known = _project_of(found)
        levels = tuple(started.facts["levels"])
        known = dataclasses.replace(known, judging=dataclasses.replace(known.judging, levels=levels))
        if known.target != "jax":
            raise UsageError(
                f"'{known.name}' is translated to {known.target}; only JAX results can be exported so far."
            )
        chosen = final_candidate(events)
        rules = json.loads(found.journal.blob(_judged_by(known, found.id, events, chosen)))
        scenarios = found.folder / "scenarios"
        _require_unchanged(known, scenarios, rules)
        frozen = frozen_tree(found.candidate)
        if frozen.hash != chosen:
            raise UsageError(
                f"'{found.candidate}' is not what the judge has accepted: its files changed after the run; undo that, "
                f"or {AGAIN}."
            )
        return Accepted(known, found.folder, frozen, scenarios, run_report(found))


def _run_folder(project: Path | None, run: str | None) -> Path:
    if project is not None:
        load_project(project)  # one sentence if it is none
        if run is None:
            return _newest_done([project / RUNS], f"'{project}'")
        for known in all_runs(project / RUNS):
            if known.name == run or known.resolve() == Path(run).resolve():
                return known
        names = ", ".join(known.name for known in all_runs(project / RUNS))
        raise UsageError(f"'{project}' has no run '{run}'; there are: {names or 'none'}.")
    if run is not None:
        return find(run)
    return _newest_done([RUNS, *sorted(Path().glob(f"*/{RUNS}"))], f"'{Path.cwd()}'")


def _newest_done(places: Sequence[Path], where: str) -> Path:
    found: list[tuple[float, Path]] = []
    others = ""
    for folder in (folder for place in places for folder in all_runs(place)):
        with Run.open(folder) as run:
            ended = ending(run.journal.events())
        if ended is not None and ended.facts["outcome"] == DONE:
            found.append((ended.time, folder))
        else:
            others = f" (not '{folder.name}': `overclock status {folder}` says why)"
    if not found:
        raise UsageError(
            f"No run in {where} is done{others}; `overclock translate` makes one, --project names another project."
        )
    return max(found)[1]


def _project_of(run: Run) -> Project:
    """The project that a run lies in; it may have been moved since."""
    around = run.folder.absolute().parent.parent
    return load_project(around if (around / FILE).is_file() else Path(str(run.about.get("folder"))))


def _judged_by(project: Project, run_id: str, events: Sequence[Event], chosen: str | None) -> str:
    """The name of the stored rules by which every level accepted the result; UsageError if a level did not."""
    whole = [
        e.facts for e in events if e.kind == "judged" and e.facts["candidate"] == chosen and not e.facts.get("module")
    ]
    newest = {facts["level"]: facts for facts in whole}
    rules = whole[-1].get("rules") if whole else None
    for level in levels_up_to(project, max(project.judging.levels)):
        verdict = newest.get(level)
        if verdict is None or verdict["verdict"] != "pass" or verdict.get("rules") != rules or rules is None:
            raise UsageError(
                f"The run '{run_id}' has no verdict of {level_words(level)} that accepts its result by the rules it "
                f"ended with; {AGAIN}."
            )
    assert rules is not None
    return rules


def _require_unchanged(project: Project, scenarios: Path, rules: dict[str, Any]) -> None:
    """UsageError if the contract, the scenarios or the reference changed since the program was judged."""
    reference = dataclasses.asdict(project.reference)
    reference.pop("path")
    codec = project.contract.codec
    tests = {name: scenarios / f"{name}.json" for name in rules["scenarios"]}
    parts = {
        "target": project.target,
        "reference": json.loads(json.dumps(reference)),
        "contract": tomllib.loads(project.contract_path.read_text(encoding="utf-8")),
        "codec": None if codec is None else _sha(project.contract_path.with_name(codec)),
        "scenarios": {name: _sha(path) if path.is_file() else None for name, path in tests.items()},
    }
    if changed := [name for name, value in parts.items() if rules[name] != value]:
        raise UsageError(
            f"The {changed[0]} of '{project.name}' changed after its result was judged; undo that, or {AGAIN}."
        )


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
