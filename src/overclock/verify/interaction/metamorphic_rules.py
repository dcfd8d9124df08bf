"""What the checks of an environment against itself must show: the half of `metamorphic.py` that the verifier keeps.

The checks run in the performance side's process and only report numbers. Floats may differ by a few units in the last
place (ulp) where two *different programs* compute them, because XLA fuses and vectorises each program in its own way;
where one program runs twice they must be equal.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from overclock.verify.interaction.result import SelfCheck

STEPS = 24
EAGER_STEPS = 4  # eager code runs operation by operation, which is slow
SCAN_STEPS = 4  # short, because an unstable system multiplies the last bit at every step
SHORT_LIMIT = 7  # a time limit that certainly ends episodes inside STEPS

EXACT = "one program on the same numbers"
ULPS = 8.0  # per step: a handful of roundings along one formula (CartPole shows 0.1)
STRAYED_UNITS = 64  # at least so many units are what a contract lets a field stray in one step
PROGRAMS = "two programs of one formula: they are fused and vectorised differently, integers and flags are exact"


class Rule(NamedTuple):
    """What a check must show to hold: its largest error (in ulp), why not less, and how often it looks."""

    tolerance: float
    reason: str
    compared: int


VECTOR_STEPS = 10  # of every mode: all lanes end, restart and end again
LOOKED_AT = VECTOR_STEPS + 1  # and the reset
WORDS = "whole numbers by their definition"

ENVIRONMENT_RULES: Mapping[str, Rule] = {
    "same seed twice": Rule(0.0, EXACT, 1),
    "save and restore": Rule(0.0, EXACT, 2),
    "permuted batch": Rule(ULPS, PROGRAMS, STEPS),
    "batch sizes": Rule(ULPS, PROGRAMS, STEPS),
    "batch and single": Rule(ULPS, PROGRAMS, STEPS),
    "jit and eager": Rule(ULPS, PROGRAMS, EAGER_STEPS),
    "scan and steps": Rule(ULPS * SCAN_STEPS, PROGRAMS, STEPS // SCAN_STEPS),
    "automatic and manual reset": Rule(ULPS, PROGRAMS, SHORT_LIMIT + 1),
    "batch and single across a reset": Rule(ULPS, PROGRAMS, SHORT_LIMIT + 1),
    "draws from words alone": Rule(0.0, "the parts of a draw that are made of something else are counted", 1),
}
VECTOR_RULES: Mapping[str, Rule] = {
    "same_step and a plain loop": Rule(ULPS, PROGRAMS, LOOKED_AT),
    "next_step and a plain loop": Rule(ULPS, PROGRAMS, LOOKED_AT),
    "off and a plain loop": Rule(ULPS, PROGRAMS, LOOKED_AT + 1),  # and a restart by hand
    "Optimistic and a plain loop": Rule(ULPS, PROGRAMS, LOOKED_AT),
    "Pool and a plain loop": Rule(ULPS, PROGRAMS, LOOKED_AT),
    "random numbers": Rule(0.0, WORDS, 47),
}
RULES: Mapping[str, Rule] = {**ENVIRONMENT_RULES, **VECTOR_RULES}


def verdict(
    name: str, compared: int, largest_error: float, worst_field: str, rules: Mapping[str, Rule] = RULES
) -> SelfCheck:
    """A check's numbers with what is required of them; it holds only if it was looked at often enough."""
    rule = rules[name]
    return SelfCheck(
        name=name,
        tolerance=rule.tolerance,
        reason=rule.reason,
        compared=compared,
        largest_error=largest_error,
        worst_field=worst_field,
        unit="ulp",
        passed=compared >= rule.compared and 0.0 <= largest_error <= rule.tolerance,
    )


def judge_checks(reported: Any, rules: Mapping[str, Rule] = RULES) -> list[SelfCheck]:
    """The verdict on every check, from the numbers that a performance side reports of itself.

    Which checks there are, how often each looks and its tolerance are decided here. One that is missing or without
    numbers has failed; whatever else the side says is left out.
    """
    rows = reported if isinstance(reported, list) else []
    by_name = {row["name"]: row for row in rows if isinstance(row, dict) and isinstance(row.get("name"), str)}
    judged = []
    for name in rules:
        row = by_name.get(name, {})
        try:
            found = (int(row["compared"]), float(row["largest_error"]), str(row["worst_field"]))
        except (KeyError, TypeError, ValueError, OverflowError):
            found = (0, math.inf, "not reported")
        judged.append(verdict(name, *found, rules=rules))
    return judged
