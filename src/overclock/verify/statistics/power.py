"""How likely a verdict is before the data exist, and how many policies make it likely enough.

Exact for normal data: the estimated variance is integrated over its distribution instead of being taken as known,
which matters at the ten or so policies one can afford to train.
"""

import math
from collections.abc import Callable

import numpy as np

from overclock.errors import UsageError
from overclock.verify.statistics.distributions import (
    check_levels,
    mean_over_sd,
    normal_below,
    normal_critical,
    t_critical,
)
from overclock.verify.statistics.verdict import Verdict

LARGEST_N = 10_000_000  # beyond it the answer is "not practical", not a number


def power_paired(
    n: int, margin: float, sd: float, difference: float = 0.0, alpha: float = 0.05, verdict: Verdict = "equivalent"
) -> float:
    """Probability that `tost_paired` of n pairs gives `verdict`; `sd` is that of the paired differences."""
    _check(margin, alpha, sd, n)
    return _probability(verdict, margin, difference, sd / math.sqrt(n), n - 1, alpha)


def power_welch(
    n: int,
    margin: float,
    sd_a: float,
    sd_b: float | None = None,
    difference: float = 0.0,
    alpha: float = 0.05,
    verdict: Verdict = "equivalent",
) -> float:
    """Probability that `tost_welch` of two groups of n gives `verdict` (sd_b defaults to sd_a).

    Exact for equal sds; for unequal ones the estimated variance gets Welch's own approximate degrees of freedom.
    """
    sd_b = sd_a if sd_b is None else sd_b
    sd = math.hypot(sd_a, sd_b)
    _check(margin, alpha, sd, n)
    return _probability(verdict, margin, difference, sd / math.sqrt(n), welch_df(sd_a, n, sd_b, n), alpha)


def pairs_needed(
    margin: float, sd: float, difference: float = 0.0, alpha: float = 0.05, power: float = 0.9
) -> int | None:
    """The fewest pairs for which the right verdict has this probability.

    Right is `equivalent` for a difference inside the margin and `different` beyond it. None: on the margin itself, or
    so close to it that more than ten million pairs would be needed.
    """
    _check(margin, alpha, sd, 2)
    verdict = _right_verdict(difference, margin)

    def reached(n: int) -> bool:
        return power_paired(n, margin, sd, difference, alpha, verdict) >= power

    return _smallest(reached, _guess(margin, sd, difference, alpha, power))


def group_size_needed(
    margin: float,
    sd_a: float,
    sd_b: float | None = None,
    difference: float = 0.0,
    alpha: float = 0.05,
    power: float = 0.9,
) -> int | None:
    """The size of each of two unpaired groups for which the right verdict has this probability; see `pairs_needed`."""
    sd_b = sd_a if sd_b is None else sd_b
    sd = math.hypot(sd_a, sd_b)
    _check(margin, alpha, sd, 2)
    verdict = _right_verdict(difference, margin)

    def reached(n: int) -> bool:
        return power_welch(n, margin, sd_a, sd_b, difference, alpha, verdict) >= power

    return _smallest(reached, _guess(margin, sd, difference, alpha, power))


def welch_df(sd_a: float, n_a: int, sd_b: float, n_b: int) -> float:
    """Welch and Satterthwaite's degrees of freedom; both sds zero is the caller's case to exclude."""
    a, b = sd_a**2 / n_a, sd_b**2 / n_b
    share = a / (a + b)
    return 1.0 / (share**2 / (n_a - 1) + (1.0 - share) ** 2 / (n_b - 1))


def _probability(
    verdict: Verdict, margin: float, difference: float, standard_error: float, df: float, alpha: float
) -> float:
    t = t_critical(alpha, df)
    edge, shift = margin / standard_error, abs(difference) / standard_error

    def equivalent(w: np.ndarray) -> np.ndarray:
        return normal_below(edge - shift - t * w) - normal_below(t * w - edge - shift)

    def different(w: np.ndarray) -> np.ndarray:
        return normal_below(shift - edge - t * w) + normal_below(-shift - edge - t * w)

    if verdict == "equivalent":
        return mean_over_sd(df, equivalent, limit=edge / t)
    if verdict == "different":
        return mean_over_sd(df, different)
    return 1.0 - mean_over_sd(df, equivalent, limit=edge / t) - mean_over_sd(df, different)


def _right_verdict(difference: float, margin: float) -> Verdict:
    return "equivalent" if abs(difference) < margin else "different"


def _guess(margin: float, sd: float, difference: float, alpha: float, power: float) -> float:
    """The n that would do if the variance were known; the exact search begins there."""
    if not alpha < power < 1.0:
        raise UsageError(f"The power must lie between alpha and 1, got {power}; 0.9 is usual.")
    distance = abs(margin - abs(difference))
    return (
        math.inf if distance == 0.0 else ((normal_critical(alpha) + normal_critical(1.0 - power)) * sd / distance) ** 2
    )


def _smallest(reached: Callable[[int], bool], guess: float) -> int | None:
    if guess > LARGEST_N:
        return None
    low, high = 1, max(2, math.ceil(guess))  # `low` never suffices: one observation has no variance
    while not reached(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high


def _check(margin: float, alpha: float, sd: float, n: int) -> None:
    check_levels(margin, alpha)
    if not (0.0 < sd < math.inf):
        raise UsageError(f"Power needs a positive standard deviation, got {sd}; without noise one look decides.")
    if n < 2:
        raise UsageError(f"A test needs at least 2 observations, got {n}.")
