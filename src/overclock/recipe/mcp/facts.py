"""What a session is told about a failure: where, at which step, both values, the last state that still matched.

Only the fields in KEPT leave the judge. Scenario files, recorded cases, repro folders and seeds of held-out episodes do
not, so that a candidate is repaired by what is wrong with it and not by the tests.
"""

from typing import Any

from overclock.files import finite
from overclock.recipe.judging.verdict import FunctionsLevel, JudgedLevel, SurveyedReference, Verdict, first_failures
from overclock.verify.interaction.result import InteractionLevel, Mismatch
from overclock.verify.property.result import FirstFailure, PropertyLevel
from overclock.verify.rollout.result import Divergence, RolloutLevel

KEPT = ("field", "step", "reference", "performance", "error", "tolerance", "action", "inputs")
NOTHING = {"module": None, "scenario": None, "field": None, "step": None, "reference": None, "performance": None}


def failures(verdict: Verdict) -> list[dict[str, Any]]:
    """The failures of a candidate at one level, the most important first; empty if it passed."""
    if verdict.passed or verdict.failure is None:
        return []
    facts, sentences = _facts(verdict.report), verdict.failure.sentences
    return [
        {"level": verdict.level, **NOTHING, **(facts[number] if number < len(facts) else {}), "sentence": sentence}
        for number, sentence in enumerate(finite(sentences))
    ]


def _facts(report: JudgedLevel | SurveyedReference | None) -> list[dict[str, Any]]:
    """What a level's result says of each failure, in the order of the verdict's sentences."""
    match report:
        case PropertyLevel() | FunctionsLevel():
            return [{"module": name, **_kept(first)} for name, first in first_failures(report).items()]
        case InteractionLevel():
            found = [(scenario.name, scenario.first_mismatch) for scenario in report.scenarios]
            facts = [{"scenario": name, **_kept(first)} for name, first in found if first is not None]
            wrong = [check for check in report.metamorphic if not check.passed]
            return facts + [{"field": check.worst_field, "error": finite(check.largest_error)} for check in wrong]
        case RolloutLevel():
            found = [one.first_divergence for one in report.comparisons if one.first_divergence is not None]
            if not found and report.outcomes is not None and (first := report.outcomes.first) is not None:
                return [{name: finite(getattr(first, name)) for name in KEPT if hasattr(first, name)}]
            return [_kept(min(found, key=lambda one: one.step))] if found else []
        case _:
            return []


def _kept(first: FirstFailure | Mismatch | Divergence) -> dict[str, Any]:
    kept = {name: finite(getattr(first, name)) for name in KEPT if hasattr(first, name)}
    return kept | ({} if isinstance(first, FirstFailure) else {"last_matching_state": finite(first.state_before)})
