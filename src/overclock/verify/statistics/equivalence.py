"""Are two means the same up to a margin? Two one-sided t-tests (TOST), paired or Welch, from data or from summaries.

A test of "no difference" that fails to reject shows nothing; TOST rejects "the difference is at least the margin".
Everywhere the difference is a - b, and the interval has confidence 1 - 2 alpha, because its two ends are the two tests.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from overclock.errors import UsageError
from overclock.verify.statistics.distributions import check_levels, t_above, t_critical
from overclock.verify.statistics.power import group_size_needed, pairs_needed, welch_df
from overclock.verify.statistics.verdict import Equivalence, Verdict


def tost_paired(a: ArrayLike, b: ArrayLike, margin: float, alpha: float = 0.05) -> Equivalence:
    """TOST of the mean of a[i] - b[i]; each i is one policy evaluated on both sides."""
    a, b = _values(a, "a"), _values(b, "b")
    if len(a) != len(b):
        raise UsageError(
            f"Paired values must be equally many, got {len(a)} and {len(b)}; use tost_welch for unpaired ones."
        )
    mean, sd = _mean_and_sd(a - b, np.abs([a, b]).max())
    return tost_paired_summary(mean, sd, len(a), margin, alpha)


def tost_paired_summary(difference: float, sd: float, n: int, margin: float, alpha: float = 0.05) -> Equivalence:
    """Paired TOST from the mean and the sd (n - 1) of the n differences."""
    _check_summary(n, sd)
    return _tost("paired", (n,), difference, sd / math.sqrt(n), n - 1, margin, alpha, (sd,))


def tost_welch(a: ArrayLike, b: ArrayLike, margin: float, alpha: float = 0.05) -> Equivalence:
    """TOST of mean(a) - mean(b) for independent groups whose variances may differ."""
    a, b = _values(a, "a"), _values(b, "b")
    (mean_a, sd_a), (mean_b, sd_b) = _mean_and_sd(a, np.abs(a).max()), _mean_and_sd(b, np.abs(b).max())
    return tost_welch_summary(mean_a, sd_a, len(a), mean_b, sd_b, len(b), margin, alpha)


def tost_welch_summary(
    mean_a: float, sd_a: float, n_a: int, mean_b: float, sd_b: float, n_b: int, margin: float, alpha: float = 0.05
) -> Equivalence:
    """Welch TOST from the mean, the sd (n - 1) and the size of each group."""
    _check_summary(n_a, sd_a)
    _check_summary(n_b, sd_b)
    error = math.hypot(sd_a / math.sqrt(n_a), sd_b / math.sqrt(n_b))
    df = welch_df(sd_a, n_a, sd_b, n_b) if error > 0.0 else n_a + n_b - 2
    return _tost("welch", (n_a, n_b), mean_a - mean_b, error, df, margin, alpha, (sd_a, sd_b))


def verdict_of(interval: tuple[float, float], margin: float) -> Verdict:
    """`equivalent`: wholly inside +-margin. `different`: wholly outside. Anything else decides nothing."""
    low, high = interval
    if -margin < low and high < margin:
        return "equivalent"
    return "different" if low > margin or high < -margin else "inconclusive"


def _tost(
    design: Literal["paired", "welch"],
    n: tuple[int, ...],
    difference: float,
    error: float,
    df: float,
    margin: float,
    alpha: float,
    sds: tuple[float, ...],
) -> Equivalence:
    check_levels(margin, alpha)
    exact = error == 0.0
    if exact:
        p_lower = p_upper = math.nan
        interval = (difference, difference)
    else:
        p_lower = t_above((difference + margin) / error, df)
        p_upper = t_above((margin - difference) / error, df)
        reach = t_critical(alpha, df) * error
        interval = (difference - reach, difference + reach)
    verdict = verdict_of(interval, margin)
    n_needed = None
    if verdict == "inconclusive" and not exact:
        needed = pairs_needed if design == "paired" else group_size_needed
        n_needed = needed(margin, *sds, difference=difference, alpha=alpha)
    return Equivalence(
        design, n, difference, margin, alpha, interval, error, df,
        p_lower, p_upper, max(p_lower, p_upper), verdict, exact, n_needed,
    )  # fmt: skip


def _values(values: ArrayLike, name: str) -> np.ndarray:
    array = np.asarray(values, np.float64)
    if array.ndim != 1 or len(array) < 2:
        raise UsageError(f"{name} must be a list of at least 2 values, one per policy, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise UsageError(f"{name} holds a value that is not finite; evaluate that policy again or leave its pair out.")
    return array


def _mean_and_sd(values: np.ndarray, magnitude: float) -> tuple[float, float]:
    # (1.1 - 1.0) and (2.1 - 2.0) are the same shift: a spread of a few roundings of what went in is no variance.
    if np.ptp(values) <= 4 * np.finfo(np.float64).eps * magnitude:
        return float(values.mean()), 0.0
    return float(values.mean()), float(values.std(ddof=1))


def _check_summary(n: int, sd: float) -> None:
    if n < 2:
        raise UsageError(f"A test needs at least 2 observations, got {n}.")
    if not (0.0 <= sd < math.inf):
        raise UsageError(f"A standard deviation must be zero or positive, got {sd}.")
