"""Are two win rates the same up to a margin, when both sides played the same games?

One policy: Newcombe's interval for paired proportions, games being the unit. Several policies: games of one policy
are alike, so the policy is the unit and a bootstrap resamples policies.
"""

import dataclasses
import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from overclock.errors import UsageError
from overclock.verify.statistics.distributions import check_levels, normal_below, normal_critical, t_critical
from overclock.verify.statistics.equivalence import verdict_of
from overclock.verify.statistics.power import pairs_needed
from overclock.verify.statistics.verdict import Verdict

FEWEST_POLICIES = 5  # fewer have too few distinct resamples for a percentile


@dataclasses.dataclass(frozen=True)
class WinRates:
    """A paired difference of win rates, a - b, with its interval of confidence 1 - 2 alpha."""

    method: Literal["newcombe", "bootstrap"]
    n: int
    """Units: games for newcombe, policies for bootstrap."""
    rate_a: float
    rate_b: float
    only_a: int
    """Games that only a won; with `only_b` the discordant ones, which carry all the evidence."""
    only_b: int
    difference: float
    margin: float
    alpha: float
    interval: tuple[float, float]
    verdict: Verdict
    exact: bool
    """Every policy has the same difference, so that a bootstrap has nothing to resample; never set by newcombe."""
    n_needed: int | None
    """If inconclusive: the units that would decide with power 0.9 if the observed spread were the true one."""


def compare_win_rates(a: ArrayLike, b: ArrayLike, margin: float, alpha: float = 0.05) -> WinRates:
    """Newcombe's interval (1998, method 10) for matched games of one policy; a[i] and b[i] are 0 or 1."""
    check_levels(margin, alpha)
    a, b = _outcomes(a, "a", 1), _outcomes(b, "b", 1)
    _check_same(a, b)
    n = len(a)
    both, only_a, only_b, neither = (int(cell.sum()) for cell in (a & b, a & ~b, ~a & b, ~a & ~b))
    interval = newcombe_interval(both, only_a, only_b, neither, alpha)
    difference = (only_a - only_b) / n
    verdict = verdict_of(interval, margin)
    n_needed = None
    if verdict == "inconclusive":
        # Half a game in each cell (Agresti and Min 2005): no discordant game yet does not mean there are none.
        sd = math.sqrt((only_a + only_b + 1) / (n + 2) - ((only_a - only_b) / (n + 2)) ** 2)
        needed = pairs_needed(margin, sd, difference, alpha)
        n_needed = None if needed is None else max(needed, n + 1)
    return WinRates(
        "newcombe", n, float(a.mean()), float(b.mean()), only_a, only_b,
        difference, margin, alpha, interval, verdict, False, n_needed,
    )  # fmt: skip


def compare_win_rates_of_policies(
    a: ArrayLike, b: ArrayLike, margin: float, alpha: float = 0.05, resamples: int = 9999, seed: int = 0
) -> WinRates:
    """Bootstrap over policies; a[policy, game] and b[policy, game] are 0 or 1.

    Percentiles are expanded (Hesterberg 2015), as Student's t is wider than the normal: plain ones are too narrow for
    ten policies.
    """
    check_levels(margin, alpha)
    a, b = _outcomes(a, "a", 2), _outcomes(b, "b", 2)
    _check_same(a, b)
    n = len(a)
    if n < FEWEST_POLICIES:
        raise UsageError(f"A bootstrap needs at least {FEWEST_POLICIES} policies, got {n}; train more seeds.")
    differences = a.mean(axis=1) - b.mean(axis=1)
    difference, exact = float(differences.mean()), bool(np.ptp(differences) == 0.0)
    picks = np.random.default_rng(seed).integers(0, n, (resamples, n))
    tail = float(normal_below(-math.sqrt(n / (n - 1)) * t_critical(alpha, n - 1)))
    low, high = np.quantile(differences[picks].mean(axis=1), [tail, 1.0 - tail])
    interval = (difference, difference) if exact else (float(low), float(high))
    verdict = verdict_of(interval, margin)
    n_needed = None
    if verdict == "inconclusive" and not exact:
        needed = pairs_needed(margin, float(differences.std(ddof=1)), difference, alpha)
        n_needed = None if needed is None else max(needed, n + 1)
    return WinRates(
        "bootstrap", n, float(a.mean()), float(b.mean()), int((a & ~b).sum()), int((~a & b).sum()),
        difference, margin, alpha, interval, verdict, exact, n_needed,
    )  # fmt: skip


def newcombe_interval(both: int, only_a: int, only_b: int, neither: int, alpha: float) -> tuple[float, float]:
    """Interval of confidence 1 - 2 alpha for the difference of paired proportions, from Wilson's interval of each."""
    n = both + only_a + only_b + neither
    rate_a, rate_b = (both + only_a) / n, (both + only_b) / n
    (low_a, high_a), (low_b, high_b) = _wilson(rate_a, n, alpha), _wilson(rate_b, n, alpha)
    margins = (both + only_a) * (only_b + neither) * (both + only_b) * (only_a + neither)
    excess = both * neither - only_a * only_b
    if excess > 0:  # the method's continuity correction, for positive correlation only
        excess = max(excess - n / 2, 0.0)
    phi = excess / math.sqrt(margins) if margins else 0.0
    difference = (only_a - only_b) / n
    return (
        difference - _square_and_add(rate_a - low_a, high_b - rate_b, phi),
        difference + _square_and_add(high_a - rate_a, rate_b - low_b, phi),
    )


def _square_and_add(x: float, y: float, phi: float) -> float:
    return math.sqrt(max(x * x - 2.0 * phi * x * y + y * y, 0.0))


def _wilson(rate: float, n: int, alpha: float) -> tuple[float, float]:
    z = normal_critical(alpha)
    middle = (rate + z * z / (2 * n)) / (1 + z * z / n)
    reach = z / (1 + z * z / n) * math.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    return middle - reach, middle + reach


def _outcomes(values: ArrayLike, name: str, axes: int) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim != axes or array.size == 0:
        shape = "(games,)" if axes == 1 else "(policies, games)"
        raise UsageError(f"{name} must have the shape {shape}, got {array.shape}.")
    if not np.isin(array, (0, 1)).all():
        raise UsageError(f"{name} must hold 0 (not won) or 1 (won) only; compare scores with ties by tost_paired.")
    return array.astype(np.bool_)


def _check_same(a: np.ndarray, b: np.ndarray) -> None:
    if a.shape != b.shape:
        raise UsageError(f"Both sides must play the same games, got shapes {a.shape} and {b.shape}.")
