"""Two samples of random draws: could they come from one distribution, and do their parts hang together alike?

The two sides draw from different generators, so single values cannot be compared. Fixed seeds make the outcome
reproducible; the limits are set so that equal distributions would fail one comparison in about a million.
"""

import itertools
import math

import numpy as np

FALSE_ALARM = 1e-6
SIGMAS = 5.0  # two-sided, about FALSE_ALARM
REASON = f"two samples of one distribution stay closer than this except once in {1 / FALSE_ALARM:.0e} times"


def distance(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """The Kolmogorov-Smirnov distance of two samples and the largest one that chance explains."""
    a, b = np.sort(np.asarray(a, np.float64).ravel()), np.sort(np.asarray(b, np.float64).ravel())
    if not (len(a) and len(b) and np.isfinite(a).all() and np.isfinite(b).all()):
        return math.inf, 0.0
    points = np.concatenate([a, b])
    below_a, below_b = (np.searchsorted(side, points, side="right") / len(side) for side in (a, b))
    limit = math.sqrt(-math.log(FALSE_ALARM / 2) / 2 * (len(a) + len(b)) / (len(a) * len(b)))
    return float(np.abs(below_a - below_b).max()), limit


def dependence(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> tuple[float, float]:
    """How differently the parts of a draw correlate, with each other and with the next draw; and chance's limit."""
    count = min(len(next(iter(a.values()))), len(next(iter(b.values()))))
    limit = SIGMAS * math.sqrt(2 / max(count - 1, 1))
    return float(np.abs(_correlations(a) - _correlations(b)).max(initial=0.0)), limit


def _correlations(sample: dict[str, np.ndarray]) -> np.ndarray:
    columns = [
        column for name in sorted(sample) for column in np.asarray(sample[name]).reshape(len(sample[name]), -1).T
    ]
    pairs = [*itertools.combinations(columns, 2), *((column[:-1], column[1:]) for column in columns)]
    return np.array([_correlation(first, second) for first, second in pairs])


def _correlation(first: np.ndarray, second: np.ndarray) -> float:
    a, b = (np.asarray(side, np.float64) - np.mean(side, dtype=np.float64) for side in (first, second))
    scale = math.sqrt(float(a @ a) * float(b @ b))
    return float(a @ b) / scale if scale > 0 else 1.0  # a constant says nothing of its own
