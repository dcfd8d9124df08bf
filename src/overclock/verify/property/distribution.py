"""Samples of random draws: could they come from one distribution, and do their parts hang together alike?

The two sides draw from different generators, so single values cannot be compared. Two samples are compared with each
other, which is as fine as the smaller one, the reference's, is large. Where the reference's call names its distribution
(`uniform(low, high)`), a sample of the performance side, which can be as large as one likes, is compared with that.
Fixed seeds make the outcome reproducible; the limits are set so that equal distributions would fail one comparison in
about a million.
"""

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

FALSE_ALARM = 1e-6
SIGMAS = 5.0  # two-sided, about FALSE_ALARM
REASON = f"two samples of one distribution stay closer than this except once in {1 / FALSE_ALARM:.0e} times"

KNOWN_SAMPLE = 100_000  # of a distribution that is known
POINTS = 255  # at which it is looked at
EVEN_SHARES = np.arange(1, POINTS + 1) / (POINTS + 1)  # of a uniform sample, below each of them
KNOWN_LIMIT = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * KNOWN_SAMPLE))  # Dvoretzky, Kiefer, Wolfowitz and Massart
KNOWN_DEPENDENCE_LIMIT = SIGMAS / math.sqrt(KNOWN_SAMPLE)
KNOWN_REASON = (
    f"a sample of {KNOWN_SAMPLE:,} stays this close to its distribution but once in {1 / FALSE_ALARM:.0e} times"
)


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


def uniform_facts(sample: Mapping[str, Any], low: Any, high: Any) -> dict[str, Any]:
    """Facts of a large sample, in JAX, for a module of the performance side.

    By name, the share of the values below each of POINTS points between `low` and `high` (EVEN_SHARES, up to
    KNOWN_LIMIT, if they are uniform); and as `dependence` every correlation of two parts of a draw, or of a part with
    the next draw's (0, up to KNOWN_DEPENDENCE_LIMIT, if they are independent).
    """
    import jax.numpy as jnp

    points = low + (high - low) * EVEN_SHARES
    shares = {name: jnp.searchsorted(jnp.sort(v), points.astype(v.dtype)) / len(v) for name, v in sample.items()}
    columns = [(values - jnp.mean(values)) / jnp.std(values) for values in sample.values()]
    pairs = [*itertools.combinations(columns, 2), *((column[:-1], column[1:]) for column in columns)]
    return {**shares, "dependence": jnp.stack([jnp.mean(first * second) for first, second in pairs])}


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
