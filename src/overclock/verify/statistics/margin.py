"""How large a difference is harmless, decided before any comparison is run.

Too small a margin asks for what evaluation noise cannot show; too large a one calls anything equivalent. The default
takes a share of what there is to learn, and never less than the reference differs from itself.
"""

import dataclasses
import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from overclock.errors import UsageError

SPAN_SHARE = 0.05  # of the way from random play to the reference's return
NOISE_FACTOR = 2.0  # at margin = 2 sd five pairs already have power 0.9, so that the A/A control passes with ten


@dataclasses.dataclass(frozen=True)
class Margin:
    """A margin and the pieces it was made of."""

    value: float
    span: float
    """|mean return of the trained policies - mean return of random play|, both on the reference."""
    span_part: float
    aa_noise: float
    noise_part: float
    decided_by: Literal["span", "noise"]
    """`noise` says that evaluation noise, not the task, set the margin: more episodes per policy would tighten it."""


def aa_noise(first: ArrayLike, second: ArrayLike) -> float:
    """Sd of per-policy differences between two evaluations on the reference that differ only in their seeds."""
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    if a.ndim != 1 or a.shape != b.shape or len(a) < 2:
        raise UsageError(
            f"A/A noise needs two evaluations of the same 2 or more policies, got shapes {a.shape} and {b.shape}."
        )
    return float((a - b).std(ddof=1))


def default_margin(reference_returns: ArrayLike, random_returns: ArrayLike, aa_noise: float) -> Margin:
    """max(0.05 |R_reference - R_random|, 2 x A/A noise)."""
    reference, random = (np.asarray(returns, np.float64) for returns in (reference_returns, random_returns))
    if reference.size == 0 or random.size == 0:
        raise UsageError("The default margin needs returns of trained policies and of random play on the reference.")
    span = abs(float(reference.mean()) - float(random.mean()))
    if not (math.isfinite(span) and 0.0 <= aa_noise < math.inf):
        raise UsageError(
            f"The default margin needs finite returns and noise, got a span of {span} and noise {aa_noise}."
        )
    span_part, noise_part = SPAN_SHARE * span, NOISE_FACTOR * aa_noise
    value = max(span_part, noise_part)
    if value == 0.0:
        raise UsageError(
            "The default margin is 0: the policies score exactly like random play, without noise; state a margin."
        )
    return Margin(value, span, span_part, aa_noise, noise_part, "span" if span_part >= noise_part else "noise")
