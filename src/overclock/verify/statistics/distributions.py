"""The few distributions the tests need, from scipy.special: scipy.stats takes three times as long to import."""

import math
from collections.abc import Callable

import numpy as np

from overclock.errors import MissingError, UsageError

try:
    from scipy import special
except ImportError as error:
    raise MissingError("Statistics need SciPy; run: pip install 'overclock[report]'.") from error

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(128)
_TAIL = 1e-13  # of the variance's distribution left out of the integral on either side


def check_levels(margin: float, alpha: float) -> None:
    """Refuse a margin or a level no test can be made with."""
    if not (0.0 < margin < math.inf):
        raise UsageError(
            f"The margin must be a positive number, got {margin}; it says how large a difference is harmless."
        )
    if not 0.0 < alpha < 0.5:
        raise UsageError(f"alpha must lie between 0 and 0.5, got {alpha}; 0.05 is usual.")


def t_above(t: float, df: float) -> float:
    """Probability that Student's t exceeds `t`."""
    return float(special.stdtr(df, -t))


def t_critical(alpha: float, df: float) -> float:
    """The value Student's t exceeds with probability alpha."""
    return -float(special.stdtrit(df, alpha))


def normal_below(z: np.ndarray | float) -> np.ndarray:
    """The cumulative distribution function of the standard normal distribution."""
    return special.ndtr(z)


def normal_critical(alpha: float) -> float:
    """The value a standard normal exceeds with probability alpha."""
    return -float(special.ndtri(alpha))


def mean_over_sd(df: float, values: Callable[[np.ndarray], np.ndarray], limit: float = math.inf) -> float:
    """The mean of `values(w)` where w = (estimated sd) / (true sd) with `df` degrees of freedom; zero for w > limit.

    Gauss-Legendre on the density of w; stopping at `limit`, where the caller's integrand has its kink, keeps it smooth.
    """
    low, high = (math.sqrt(float(special.chdtri(df, share)) / df) for share in (1.0 - _TAIL, _TAIL))
    high = min(high, limit)
    if high <= low:
        return 0.0
    w = low + (high - low) * (_NODES + 1.0) / 2.0
    log_density = (
        math.log(2.0) + df / 2.0 * math.log(df / 2.0) - special.gammaln(df / 2.0)
        + (df - 1.0) * np.log(w) - df * w * w / 2.0
    )  # fmt: skip
    return float(np.sum(_WEIGHTS * np.exp(log_density) * values(w)) * (high - low) / 2.0)
