"""What clean episodes prove: with no divergence in n of them, how common can divergence still be?"""

import math

from overclock.errors import UsageError


def bound_clean_episodes(n: int, confidence: float = 0.95) -> float:
    """The largest share of diverging episodes that n clean ones leave possible (exact, one-sided Clopper-Pearson).

    A share p passes n independent episodes unseen with probability (1 - p)^n; the bound is the p where that has
    fallen to 1 - confidence. No episodes bound nothing: 1.
    """
    _check_confidence(confidence)
    if n < 0:
        raise UsageError(f"The number of clean episodes cannot be negative, got {n}.")
    return -math.expm1(math.log1p(-confidence) / n) if n else 1.0


def episodes_needed(rate: float, confidence: float = 0.95) -> int:
    """The fewest clean episodes that bound the share of diverging ones by `rate`."""
    _check_confidence(confidence)
    if not 0.0 < rate < 1.0:
        raise UsageError(f"The rate must lie between 0 and 1, got {rate}; no number of episodes proves 0.")
    n = max(1, math.ceil(math.log1p(-confidence) / math.log1p(-rate)))
    # Rounding in the two logarithms can put the quotient on the wrong side of a whole number.
    if n > 1 and bound_clean_episodes(n - 1, confidence) <= rate:
        return n - 1
    return n if bound_clean_episodes(n, confidence) <= rate else n + 1


def _check_confidence(confidence: float) -> None:
    if not 0.0 < confidence < 1.0:
        raise UsageError(f"The confidence must lie between 0 and 1, got {confidence}; 0.95 is usual.")
