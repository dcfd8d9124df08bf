"""One field of two sides under a contract: how far apart, and is that too far? Shared by every lock-step comparison.

A comparison looks at `contract.compared`, which is every field and the action mask.
"""

import dataclasses

import numpy as np

from overclock.verify.contract import FLAGS, MASK, Contract, Field, difference
from overclock.verify.sides.subject import Observed

# Of the flags that may be excused: rounding moves a state across a threshold in very few steps (CartPole in float32:
# none in 10,000). A side that needs more has another rule.
EXCUSED_SHARE = 0.01


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparedField:
    """One value over a whole comparison: how often it was looked at, its largest error, what is allowed and why."""

    name: str
    compared: int
    largest_error: float
    tolerance: float
    reason: str
    passed: bool


@dataclasses.dataclass(frozen=True)
class Judged:
    """Per lane: the field's error, whether it is wrong, and whether it was excused close to a threshold."""

    reference: np.ndarray
    performance: np.ndarray
    errors: np.ndarray
    wrong: np.ndarray
    excused: np.ndarray


def judge(contract: Contract, field: Field, tolerance: float, ref: Observed, perf: Observed) -> Judged | None:
    """Compare one field in every lane; None where the reference has no such value (no reward after a reset).

    A mask that the reference does not have is a difference, unless the contract says why it may be there.
    """
    reference, performance = field.of(ref), field.of(perf)
    if reference is None:
        if field.name != MASK.name or performance is None or contract.performance_masks:
            return None
        reference = np.empty((len(ref.state["steps"]), 0))
    lanes = len(reference)
    if performance is None or performance.shape[:1] != (lanes,):
        performance = np.empty((lanes, 0))
    errors = difference(reference, performance)
    wrong, excused = errors > tolerance, np.zeros(lanes, np.bool_)
    may_turn = field.name in contract.limit_fields and (field.name not in FLAGS or reference.dtype == np.bool_)
    if may_turn and contract.distance_to_limit is not None:
        other_way = wrong & np.isfinite(errors)  # a flag of another shape or kind is no flag that fell the other way
        excused = other_way & (contract.distance_to_limit(ref.state) <= contract.limit_margin)
        errors, wrong = np.where(excused, 0.0, errors), wrong & ~excused
    return Judged(reference, performance, errors, wrong, excused)


def too_many_excused(excused: int, compared: int) -> bool:
    """Whether so many flags were excused that it cannot be rounding; a single one may always be."""
    return excused > max(1, EXCUSED_SHARE * compared)


def steering(contract: Contract, ref: Observed, perf: Observed) -> Observed:
    """What a source of actions may see: the reference, and the other side's action mask only if the contract says so.

    Who is judged does not choose the questions: a mask of its own could hide every action it gets wrong.
    """
    if MASK.name in ref.outputs or MASK.name not in perf.outputs or not contract.performance_masks:
        return ref
    return dataclasses.replace(ref, outputs={**ref.outputs, MASK.name: perf.outputs[MASK.name]})
