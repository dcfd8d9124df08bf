"""Rounding error bounds for tolerances: what two correct programs can differ by, whatever order and fusing they use.

Compilers and processors differ in the order of a sum and in whether a product and a sum are fused. A tolerance read off
one machine fails on another; a bound does not. The theory is chapter 3 of Higham, Accuracy and Stability of Numerical
Algorithms (2002): a result of n roundings in a row is off by a factor within 1 +- gamma(n), gamma(n) = n u / (1 - n u).
"""

SINGLE_UNIT = 2.0**-24  # unit roundoff of float32: half an ulp, relative
DOUBLE_UNIT = 2.0**-53


def gamma(roundings: int, unit: float = SINGLE_UNIT) -> float:
    """How far `roundings` successive roundings move a result, relative to it."""
    if not 0 <= roundings * unit < 1:
        raise ValueError(f"{roundings} roundings of {unit:g} have no bound")
    return roundings * unit / (1 - roundings * unit)


def sum_of_squares(terms: int, factors: int = 1, unit: float = SINGLE_UNIT) -> float:
    """How far two programs' sums of `terms` squares differ at most, relative to either, after `factors` more products.

    All terms have one sign, so nothing cancels: each goes through one product, at most terms - 1 sums and the factors.
    """
    bound = gamma(terms + factors, unit)
    return 2 * bound / (1 - bound)
