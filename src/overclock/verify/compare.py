"""One field of two sides under a contract: how far apart, and is that too far? Shared by every lock-step comparison.

A comparison looks at `contract.compared`, which is every field, the action mask and overflow.
"""

import dataclasses
import math
from typing import Any

import numpy as np

from overclock.results import absent
from overclock.verify.contract import FLAGS, MASK, OVERFLOWED, Contract, Field, Mode
from overclock.verify.sides.subject import Observed
from overclock.verify.tolerance import Compared, Tolerance, compare_values

# Of the flags that may be excused: rounding moves a state across a threshold in very few steps (CartPole in float32:
# none in 10,000). A side that needs more has another rule.
EXCUSED_SHARE = 0.01
CONFIDENCE = 0.999  # with which more rare events than chance explains are some
MOST_MARGINS = 64  # elements of a field whose margins are kept one by one


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparedField:
    """One value over a whole comparison: how often it was looked at, its largest error, what is allowed and why.

    Allowed is `tolerance`, of the element where that is largest, and `relative_tolerance` times an element's own size.
    `margin` is how many times as much is allowed as was seen, of the element that came closest; it is left out where
    there was no error, or nothing is allowed. `margins` has it for every element of a small array, null for no error.
    """

    name: str
    compared: int
    largest_error: float
    tolerance: float
    reason: str
    passed: bool
    relative_tolerance: float | None = absent()
    margin: float | None = absent()
    margins: list[float | None] | None = absent()


@dataclasses.dataclass(frozen=True)
class Judged:
    """Per lane: the field's largest error, whether it is wrong, and whether it was excused close to a threshold.

    Of those that are wrong the `rare` ones are within the field's allowance for rare events: whoever counts them may
    let a few pass, see `RareEvents`.
    `shares` are errors as shares of what is allowed, per lane and element.
    """

    reference: np.ndarray
    performance: np.ndarray
    errors: np.ndarray
    wrong: np.ndarray
    excused: np.ndarray
    shares: np.ndarray
    found: Compared
    rare: np.ndarray

    def worst(self, lane: int | np.integer) -> tuple[float, float]:
        """Error and allowance of a lane's element that uses up most of what it may; others may have a larger error."""
        errors, allowed = self.found.worst()
        return float(errors[lane]), float(allowed[lane])


def judge(contract: Contract, field: Field, tolerance: Tolerance, ref: Observed, perf: Observed) -> Judged | None:
    """Compare one field in every lane; None where the reference has no such value (no reward after a reset).

    A mask that the reference does not have is a difference, unless the contract says why it may be there. So is room
    that ran out.
    """
    reference, performance = field.of(ref), field.of(perf)
    if field.name == OVERFLOWED.name:
        if performance is None:
            return None
        reference = np.zeros(len(ref.state["steps"]), np.bool_) if reference is None else reference
    if reference is None:
        if field.name != MASK.name or performance is None or contract.performance_masks:
            return None
        reference = np.empty((len(ref.state["steps"]), 0))
    lanes = len(reference)
    if performance is None or performance.shape[:1] != (lanes,):
        performance = np.empty((lanes, 0))
    found = compare_values(reference, performance, tolerance)
    errors, wrong, shares = found.errors, found.wrong, found.shares
    excused = np.zeros(lanes, np.bool_)
    may_turn = field.name in contract.limit_fields and (field.name not in FLAGS or reference.dtype == np.bool_)
    if may_turn and contract.distance_to_limit is not None:
        other_way = wrong & np.isfinite(errors)  # a flag of another shape or kind is no flag that fell the other way
        excused = other_way & (contract.distance_to_limit(ref.state) <= contract.limit_margin)
        errors, wrong = np.where(excused, 0.0, errors), wrong & ~excused
        shares = np.where(excused[:, None], 0.0, shares)
    rare = np.zeros(lanes, np.bool_)
    if field.rare and wrong.any():
        rare = wrong & ~compare_values(reference, performance, Tolerance(field.rare)).wrong
    return Judged(reference, performance, errors, wrong, excused, shares, found, rare)


def margins_of(shares: np.ndarray | None) -> dict[str, Any]:
    """The margins of a `ComparedField`, from the largest share that every element had of what it may be off by."""
    if shares is None or not shares.size:
        return {}
    margins = [float(1.0 / share) if share > 0 else None for share in shares.tolist()]
    seen = [margin for margin in margins if margin is not None]
    every = {"margins": margins} if 1 < len(margins) <= MOST_MARGINS else {}
    return {**({"margin": min(seen)} if seen else {}), **every}


def too_many_excused(excused: int, compared: int) -> bool:
    """Whether so many flags were excused that it cannot be rounding; a single one may always be."""
    return excused > max(1, EXCUSED_SHARE * compared)


class RareEvents:
    """Counts the rare events of a comparison: steps, or in free running the episodes in which there was one.

    There an error stays, so what follows in the same episode is the same event.
    """

    def __init__(self, mode: Mode, lanes: int) -> None:
        self._free = mode == "free_running"
        self._known = np.zeros(lanes, np.bool_)
        self.counts = np.zeros(lanes, np.int64)

    @property
    def count(self) -> int:
        """The rare events of all lanes together."""
        return int(self.counts.sum())

    def begin(self, lanes: np.ndarray) -> None:
        """New episodes in these lanes."""
        self._known &= ~lanes

    def add(self, rare: np.ndarray) -> None:
        """One moment: the lanes in which some field is as far off as in a rare event, and no field further."""
        new = rare & ~self._known
        self.counts += new
        if self._free:
            self._known |= new


def too_many_rare(rare: int, compared: int, share: float) -> bool:
    """Whether events are more than chance explains if this share of the steps has one (Poisson, at 99.9 %).

    A single one may always be.
    """
    mean = share * compared
    if rare <= 1 or mean <= 0:
        return rare > 1
    at_most = sum(math.exp(count * math.log(mean) - mean - math.lgamma(count + 1)) for count in range(rare))
    return at_most > CONFIDENCE


def steering(contract: Contract, ref: Observed, perf: Observed) -> Observed:
    """What a source of actions may see: the reference, and the other side's action mask only if the contract says so.

    Who is judged does not choose the questions: a mask of its own could hide every action it gets wrong.
    """
    if MASK.name in ref.outputs or MASK.name not in perf.outputs or not contract.performance_masks:
        return ref
    return dataclasses.replace(ref, outputs={**ref.outputs, MASK.name: perf.outputs[MASK.name]})
