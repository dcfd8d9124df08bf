"""`Tolerance`: how far a value may be from the reference's, element by element; `compare_values` is the one comparison.

What an element may be off by depends on that element of the reference alone: a large number never excuses another one.
Equal are equal values: -0.0 is 0.0, NaN is NaN, an infinity is one of the same sign. Widths may differ, kinds may not.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from overclock.errors import UsageError

Absolute = float | tuple[float, ...]
Whole = bool | tuple[bool, ...]
WHOLE = 2.0**24  # up to here float32 holds every whole number


def require_tolerances(what: str, *values: Absolute) -> None:
    """Refuse what would let every difference pass: a NaN, an infinity, a negative number."""
    for value in values:
        for number in value if isinstance(value, tuple) else (value,):
            if not (math.isfinite(number) and number >= 0):
                raise UsageError(f"The tolerance of {what} must be a finite number and not negative, got {number}.")


@dataclasses.dataclass(frozen=True)
class Tolerance:
    """An element may be off by `absolute + relative * |the reference's element|`.

    `absolute` is one number, or one for every element in C order, and so is `whole`. Where that holds, an element that
    is a whole number below 2^24 on the reference's side must be equal: float32 holds it, so there is nothing to round.
    """

    absolute: Absolute = 0.0
    relative: float = 0.0
    whole: Whole = False

    def __bool__(self) -> bool:
        """Whether any element may differ at all."""
        return bool(self.largest_absolute or self.relative)

    def __add__(self, other: "Tolerance") -> "Tolerance":
        """What two sides may be apart that each may be so far from a third."""
        if isinstance(self.absolute, tuple) or isinstance(other.absolute, tuple):
            size = max(len(one.absolute) for one in (self, other) if isinstance(one.absolute, tuple))
            parts = np.broadcast_to(self.absolute, size) + np.broadcast_to(other.absolute, size)
            absolute: Absolute = tuple(parts.tolist())
        else:
            absolute = self.absolute + other.absolute
        either = np.logical_and(self.whole, other.whole)
        whole: Whole = tuple(either.tolist()) if either.ndim else bool(either)
        return Tolerance(absolute, self.relative + other.relative, whole)

    @property
    def largest_absolute(self) -> float:
        """The absolute part, of the element where it is largest."""
        return max(self.absolute, default=0.0) if isinstance(self.absolute, tuple) else self.absolute

    def allowed(self, reference: np.ndarray) -> np.ndarray:
        """How far every element of (lanes, elements) may be off; an infinite one not at all."""
        if not self:
            return np.zeros(reference.shape)
        values = np.asarray(reference, np.float64)
        absolute, whole = np.asarray(self.absolute, np.float64), np.asarray(self.whole)
        for listed in (absolute, whole):
            if listed.ndim and len(listed) != values.shape[1]:
                raise UsageError(f"A tolerance lists {len(listed)} values for a field of {values.shape[1]} elements.")
        with np.errstate(over="ignore", invalid="ignore"):
            allowed = np.minimum(absolute + self.relative * np.abs(values), np.finfo(np.float64).max)
            closed = ~np.isfinite(values) | (whole & (values == np.round(values)) & (np.abs(values) < WHOLE))
        return np.where(closed, 0.0, allowed)

    def as_json(self) -> dict[str, Any]:
        """Both parts, as a message to a side says them."""
        return {"absolute": np.asarray(self.absolute).tolist(), "relative": self.relative}


EXACT = Tolerance()


@dataclasses.dataclass(frozen=True)
class Compared:
    """Per lane and element: how far apart, how far they may be, and the error as a share of that (infinite: wrong)."""

    gaps: np.ndarray
    allowed: np.ndarray
    shares: np.ndarray

    @property
    def wrong(self) -> np.ndarray:
        """Per lane, whether any element is too far off."""
        return np.any(self.shares > 1.0, axis=1)

    @property
    def errors(self) -> np.ndarray:
        """Per lane, the largest error."""
        return self.gaps.max(axis=1, initial=0.0)

    def worst(self) -> tuple[np.ndarray, np.ndarray]:
        """Per lane, error and allowance of the element that uses up most of what it may."""
        if not self.gaps.shape[1]:
            return np.zeros(len(self.gaps)), np.zeros(len(self.gaps))
        largest = self.shares == self.shares.max(axis=1, keepdims=True)
        places = np.argmax(np.where(largest, self.gaps, -1.0), axis=1)[:, None]
        gap, allowed = (np.take_along_axis(values, places, axis=1)[:, 0] for values in (self.gaps, self.allowed))
        return gap, allowed


def compare_values(reference: np.ndarray, performance: np.ndarray, tolerance: Tolerance = EXACT) -> Compared:
    """Compare two batches of a field, the first axis being the lanes."""
    if not tolerance and _same_bits(reference, performance):  # nearly always, where sides must be equal
        nothing = np.zeros((len(reference), math.prod(reference.shape[1:])))
        return Compared(nothing, nothing, nothing)
    gap = gaps(reference, performance)
    if reference.shape != performance.shape:
        allowed = np.zeros(gap.shape)
    else:
        values = reference.reshape(len(reference), -1)
        allowed = tolerance.allowed(values if reference.dtype.kind == "f" else np.zeros(values.shape))
        allowed = allowed if allowed.shape == gap.shape else np.zeros(gap.shape)
        if tolerance and reference.dtype.kind == "f":
            gap = np.where(_beyond_range(values, performance.reshape(values.shape)), 0.0, gap)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shares = np.where(gap == 0.0, 0.0, np.where(np.isinf(gap), np.inf, gap / allowed))
    return Compared(gap, allowed, shares)


def gaps(reference: np.ndarray, performance: np.ndarray) -> np.ndarray:
    """Absolute differences, one row per lane, one column per element.

    Another shape, another kind (a flag, a whole number, a float), a NaN or an infinity on one side only: infinite.
    Whole numbers are one kind whatever their width, and so are floats.
    """
    kind = _kind(reference)
    if reference.shape != performance.shape or kind != _kind(performance) or kind not in "bifc":
        return np.full((len(reference), 1), np.inf)
    rows = (len(reference), math.prod(reference.shape[1:]))
    if kind in "bi" and np.array_equal(reference, performance):  # pictures and memory, in most steps
        return np.zeros(rows)
    wide = np.complex128 if kind == "c" else np.float64
    a, b = (np.asarray(side, wide).reshape(rows) for side in (reference, performance))
    with np.errstate(invalid="ignore", over="ignore"):
        gap = np.abs(a - b)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if kind in "bi":  # float64 has no room for all of int64
        same = (reference == performance).reshape(rows)
        gap = np.maximum(gap, 1.0)
    return np.where(same, 0.0, np.where(np.isnan(gap), np.inf, gap))


def difference(reference: np.ndarray, performance: np.ndarray) -> np.ndarray:
    """The largest of `gaps` per lane."""
    return gaps(reference, performance).max(axis=1, initial=0.0)


def tolerances_of(told: Mapping[str, Any]) -> dict[str, Tolerance]:
    """Tolerances by field, from what `as_json` made of them."""
    found = {}
    for name, parts in told.items():
        absolute = parts["absolute"]
        found[name] = Tolerance(tuple(absolute) if isinstance(absolute, list) else absolute, parts["relative"])
    return found


def _beyond_range(reference: np.ndarray, performance: np.ndarray) -> np.ndarray:
    """Where the reference's number is too large for the other side's type, which has the infinity it rounds to."""
    if performance.dtype.itemsize >= reference.dtype.itemsize:
        return np.zeros(reference.shape, np.bool_)
    with np.errstate(over="ignore"):
        return np.isfinite(reference) & np.isinf(performance) & (reference.astype(performance.dtype) == performance)


def _same_bits(reference: np.ndarray, performance: np.ndarray) -> bool:
    """Whether two arrays of numbers are the same bits, of one type and shape; a NaN equals itself then."""
    alike = reference.dtype == performance.dtype and reference.shape == performance.shape
    return alike and reference.dtype.kind in "biufc" and reference.tobytes() == performance.tobytes()


def _kind(values: np.ndarray) -> str:
    return "i" if values.dtype.kind == "u" else values.dtype.kind
