"""What a session is told about a failure: where, at which step, both values, the last state that still matched.

Only the fields in KEPT leave the judge. Scenario files, recorded cases, repro folders and seeds of held-out episodes do
not, so that a candidate is repaired by what is wrong with it and not by the tests.
"""

from typing import Any

from overclock.files import finite
from overclock.recipe.judging.verdict import HELD_OUT, Verdict

KEPT = ("field", "step", "reference", "performance", "error", "tolerance", "action", "inputs")
NOTHING = {"module": None, "scenario": None, "field": None, "step": None, "reference": None, "performance": None}


def failures(verdict: Verdict) -> list[dict[str, Any]]:
    """The failures of a candidate at one level, the most important first; empty if it passed."""
    if verdict.passed or verdict.failure is None:
        return []
    found = {1: _modules, 2: _scenarios, 3: _divergence}.get(verdict.level if verdict.level != HELD_OUT else 0)
    facts = found(verdict.report) if found is not None and verdict.report is not None else []
    sentences = verdict.failure["sentences"]
    return [
        {"level": verdict.level, **NOTHING, **(facts[number] if number < len(facts) else {}), "sentence": sentence}
        for number, sentence in enumerate(finite(sentences))
    ]


def _modules(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Level 1: an entry per failing module, in the order of the verdict's sentences."""
    firsts = []
    for module in report["modules"]:
        first = next((c["first_failure"] for c in module["comparisons"] if c["first_failure"]), None)
        if first is not None:
            firsts.append({"module": module["name"], **_kept(first)})
    return firsts


def _scenarios(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Level 2: an entry per failing scenario, then those of the environment against itself."""
    found = [(scenario["name"], scenario["first_mismatch"]) for scenario in report["scenarios"]]
    facts = [{"scenario": name, **_kept(first)} for name, first in found if first is not None]
    wrong = [check for check in report["metamorphic"] if not check["passed"]]
    return facts + [{"field": check["worst_field"], "error": finite(check["largest_error"])} for check in wrong]


def _divergence(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Level 3: the earliest step at which an episode left the contract."""
    found = [c["first_divergence"] for c in report["comparisons"] if c["first_divergence"] is not None]
    return [_kept(min(found, key=lambda one: one["step"]))] if found else []


def _kept(first: dict[str, Any]) -> dict[str, Any]:
    kept = {name: finite(first[name]) for name in KEPT if name in first}
    return kept | ({"last_matching_state": finite(first["state_before"])} if "state_before" in first else {})
