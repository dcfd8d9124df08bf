"""What can be said about a translation besides that it holds: sizes, times, coverage, errors, mutants, speed."""

import ast
import dataclasses
import hashlib
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from overclock.progress import Progress, silent
from overclock.recipe.agents.builtin_agent import program_of
from overclock.recipe.judging.original_speed import BATCH, beside_original
from overclock.recipe.judging.verdict import kept_level
from overclock.recipe.loop.translate import Finished
from overclock.recipe.project.project import Project
from overclock.recipe.project.twin import project_twin
from overclock.recipe.references.branch_coverage import reference_branches
from overclock.recipe.studies.candidate_mutants import mutation_score
from overclock.recipe.studies.known_compile import compile_seconds
from overclock.results import encode
from overclock.verify.contract import Twin
from overclock.verify.property.result import PropertyLevel
from overclock.verify.rollout.result import RolloutLevel

RULES = ("reset", "transition", "observe")  # modules of level 1 that compare numbers, not distributions


def facts(
    project: Project,
    ended: Finished,
    measure: bool,
    mutants: int = 0,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Everything about one environment; with `mutants`, so many mistakes are planted in it."""
    assert ended.result is not None
    text = ended.result.read_text(encoding="utf-8")
    report = json.loads((ended.run / "report.json").read_text(encoding="utf-8"))
    levels = {one["level"]: kept_level(one["report"]) for one in report["volatile"]["verification"]}
    properties, rollouts = levels[1], levels[3]
    assert isinstance(properties, PropertyLevel)
    assert isinstance(rollouts, RolloutLevel)
    twin, candidate = _twin(project, ended), ended.run / "candidate"
    found = {
        "levels": [level for level in (1, 2, 3) if level in levels],
        "lines_out": code_lines(text),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "largest_error": largest_error(properties, rollouts),
        "exhaustive": encode(rollouts.exhaustive),
        "reached": encode(rollouts.reached),
        **_generated(project, rollouts),
    }
    asked: dict[str, Callable[[], dict[str, Any]]] = {"compile": lambda: {"compile_s": compile_seconds(twin, BATCH)}}
    if mutants:
        asked["mutation"] = lambda: {"mutation": mutation_score(twin, candidate, mutants, progress=progress)}
    if measure:
        asked["speed"] = lambda: encode(speeds(project, ended))
    for name, ask in asked.items():
        try:
            found |= ask()
        except Exception as error:  # of this one; the rest is asked all the same, and so are the others
            found[f"{name}_error"] = str(error)
    return found


def _generated(project: Project, rollouts: RolloutLevel) -> dict[str, Any]:
    began = time.perf_counter()
    program = program_of(project.name, project.reference.make(), project.reference.path, project.reference.capacities)
    generated = time.perf_counter() - began
    return {
        "lines_in": source_lines(program.covered.lines),
        "generation_s": round(generated, 2),
        "branches": reference_branches(project, program.covered, rollouts),
    }


@dataclasses.dataclass(frozen=True)
class Speeds:
    """Steps per second of the original in one process and of the translation, by turns."""

    original_sps: float
    sps: float
    batch: int
    speed_up: float


def speeds(project: Project, ended: Finished, batch: int = BATCH) -> Speeds:
    """Time a translation beside its original."""
    found = beside_original(_twin(project, ended), batch, project.limits.timeout)
    return Speeds(found.original, found.candidate, batch, round(found.gain, 1))


def _twin(project: Project, ended: Finished) -> Twin:
    return project_twin(project, ended.run / "candidate", ended.run / "scenarios")


def largest_error(properties: PropertyLevel, rollouts: RolloutLevel) -> float:
    """Of single steps in float64: every output and state field at levels 1 and 3."""
    rules = [one for module in properties.modules if module.name in RULES for one in module.comparisons]
    steps = [one for one in rollouts.comparisons if one.mode == "per_step"]
    errors = [field.largest_error for one in (*rules, *steps) if one.precision == "float64" for field in one.fields]
    return max(filter(math.isfinite, errors), default=0.0)


def source_lines(covered: frozenset[tuple[str, int]]) -> int:
    """Lines of code of every function that was translated, and of the constructors beside them, whose work is in it."""
    found: set[tuple[str, int]] = set()
    for file in {file for file, _ in covered}:
        text = Path(file).read_text(encoding="utf-8")
        code, mine = _code(text), {line for one, line in covered if one == file}
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.Lambda) and mine & _span(node):
                found |= {(file, line) for line in _span(node) & code}
            if isinstance(node, ast.ClassDef) and mine & _span(node):
                made = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
                found |= {(file, line) for one in made for line in _span(one) & code}
    return len(found)


def code_lines(text: str) -> int:
    """Lines that are neither blank nor comments nor docstrings."""
    return len(_code(text))


def _span(node: Any) -> set[int]:
    return set(range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _code(text: str) -> set[int]:
    lines = {number for number, line in enumerate(text.splitlines(), 1) if line.strip() and line.strip()[0] != "#"}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node, clean=False):
            lines -= _span(node.body[0])
    return lines
