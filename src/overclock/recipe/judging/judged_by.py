"""What verdicts are given by: contract, scenarios and settings, as one text that the journal keeps and verdicts name.

A verdict by another contract says nothing, so a run that goes on after something of this changed asks again.
"""

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import numpy as np

from overclock.recipe.contract.tolerance_value import parse_tolerance
from overclock.recipe.project.project import Project
from overclock.recipe.runs.journal import Journal
from overclock.recording.room import Room
from overclock.verify.contract import Precision

LIMITS = ("timeout", "memory_gib", "constant_kib")  # those that a verdict can depend on


def store_rules(journal: Journal, project: Project, scenarios: Path) -> str:
    """Keep what candidates are judged by now; returns its name, the SHA-256 of the text.

    Scenarios that failures of this run added are left out: they are the run's own doing, and no reason to ask again.
    """
    added = {event.facts["file"] for event in journal.events("test added")}
    tests = {path.stem: _sha(path) for path in sorted(scenarios.glob("*.json"))}
    codec = project.contract.codec
    reference = dataclasses.asdict(project.reference)
    reference.pop("path")  # where a folder lies is no rule
    judging = dataclasses.asdict(project.judging)
    judging.pop("levels")  # says which verdicts are asked for, and nothing about any
    rules = {
        "target": project.target,
        "reference": reference,
        "modules": {module.name: list(module.functions) for module in project.modules},
        "contract": tomllib.loads(project.contract_path.read_text(encoding="utf-8")),
        "codec": None if codec is None else _sha(project.contract_path.with_name(codec)),
        "scenarios": {name: sha for name, sha in tests.items() if sha not in added},
        "judging": judging,
        "limits": {name: getattr(project.limits, name) for name in LIMITS},
    }
    return journal.store(json.dumps(rules, sort_keys=True).encode())


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """How far a field or a group of fields may be apart in one precision, and why.

    Absolute parts are those of the element where they are largest; `whole` says that some whole numbers must be equal.
    """

    precision: str
    of: str
    per_step: float
    free_running: float
    reason: str
    per_step_relative: float = 0.0
    free_running_relative: float = 0.0
    whole: bool = False


@dataclasses.dataclass(frozen=True)
class JudgedBy:
    """What a report says about rules: tolerances and room of lists with their reasons, and how much was played."""

    sha256: str
    tolerances: list[Tolerance]
    scenarios: int
    episodes: int
    held_out: int
    also: str
    rooms: list[Room] = dataclasses.field(default_factory=list)
    x64: str = ""  # why float64 is required


def described(journal: Journal, name: str | None) -> JudgedBy | None:
    """What a report says about the rules of this name."""
    if name is None:
        return None
    rules = json.loads(journal.blob(name))
    contract = rules["contract"]
    close = {precision: contract[precision] for precision in get_args(Precision) if precision in contract}
    return JudgedBy(
        name,
        [row for precision, one in close.items() for row in _rows(precision, one)],
        len(rules["scenarios"]),
        **{key: rules["judging"][key] for key in ("episodes", "held_out", "also")},
        rooms=[Room(**one) for one in contract.get("rooms", [])],
        x64=contract.get("x64", ""),
    )


def _rows(precision: str, close: Mapping[str, Any]) -> list[Tolerance]:
    """A row per group or field that may differ; one that says nothing else is exact."""
    step, free = close.get("per_step", {}), close.get("free_running", {})
    reason = close.get("reason", "")
    rows = []
    for of in dict.fromkeys((*step, *free)):
        one, other = (parse_tolerance(of, table.get(of, 0.0)) for table in (step, free))
        rows.append(
            Tolerance(
                precision, of, one.largest_absolute, other.largest_absolute, reason,
                one.relative, other.relative, bool(np.any(one.whole)),
            )
        )  # fmt: skip
    if near := close.get("limits", {}):
        flags, margin = f"flags, beside a threshold of {', '.join(near.get('at', {}))}", near.get("margin")
        rows.append(Tolerance(precision, flags, margin, margin, near.get("reason")))
    return rows


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
