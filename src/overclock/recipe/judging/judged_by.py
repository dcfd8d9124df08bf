"""What verdicts are given by: contract, scenarios and settings, as one text that the journal keeps and verdicts name.

A verdict by another contract says nothing, so a run that goes on after something of this changed asks again.
"""

import dataclasses
import hashlib
import json
import tomllib
from pathlib import Path
from typing import Any, get_args

from overclock.recipe.project.project import Project
from overclock.recipe.runs.journal import Journal
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


def described(journal: Journal, name: str | None) -> dict[str, Any] | None:
    """What a report says about the rules of this name: every tolerance with its reason, and how much was played."""
    if name is None:
        return None
    rules = json.loads(journal.blob(name))
    contract = rules["contract"]
    close = {precision: contract[precision] for precision in get_args(Precision) if precision in contract}
    return {
        "sha256": name,
        "tolerances": [row for precision, one in close.items() for row in _rows(precision, one)],
        "scenarios": len(rules["scenarios"]),
        **{key: rules["judging"][key] for key in ("episodes", "held_out", "also")},
    }


def _rows(precision: str, close: dict[str, Any]) -> list[dict[str, Any]]:
    """A row per group or field that may differ; one that says nothing else is exact."""
    step, free = close.get("per_step", {}), close.get("free_running", {})
    near = close.get("limits", {})
    flags = {"precision": precision, "of": f"flags, beside a threshold of {', '.join(near.get('at', {}))}"}
    margin = {"per_step": near.get("margin"), "free_running": near.get("margin"), "reason": near.get("reason")}
    return [
        {
            "precision": precision,
            "of": of,
            "per_step": step.get(of, 0.0),
            "free_running": free.get(of, 0.0),
            "reason": close.get("reason", ""),
        }
        for of in dict.fromkeys((*step, *free))
    ] + ([{**flags, **margin}] if near else [])


def _sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
