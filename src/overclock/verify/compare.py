"""One field of two sides under a contract: how far apart, and is that too far? Shared by every lock-step comparison."""

import dataclasses

import numpy as np

from overclock.verify.contract import Contract, Field, difference
from overclock.verify.subject import Observed


@dataclasses.dataclass(frozen=True)
class Judged:
    """Per lane: the field's error, whether it is wrong, and whether it was excused close to a threshold."""

    reference: np.ndarray
    performance: np.ndarray
    errors: np.ndarray
    wrong: np.ndarray
    excused: np.ndarray


def judge(contract: Contract, field: Field, tolerance: float, ref: Observed, perf: Observed) -> Judged | None:
    """Compare one field in every lane; None where the reference has no such value (no reward after a reset)."""
    reference, performance = field.of(ref), field.of(perf)
    if reference is None:
        return None
    if performance is None:
        performance = np.empty((len(reference), 0))
    errors = difference(reference, performance)
    wrong, excused = errors > tolerance, np.zeros(len(errors), np.bool_)
    if reference.dtype == np.bool_ and contract.distance_to_limit is not None:
        excused = wrong & (contract.distance_to_limit(ref.state) <= contract.limit_margin)
        errors, wrong = np.where(excused, 0.0, errors), wrong & ~excused
    return Judged(reference, performance, errors, wrong, excused)
