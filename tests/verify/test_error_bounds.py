"""Bounds hold for every order and for fused sums, and are not much larger than what can happen."""

import itertools
import math

import numpy as np
import pytest

from overclock.verify.error_bounds import gamma, sum_of_squares


def rounded_in_order(values, fused):
    """A float32 sum of squares in one order; fused: the product is not rounded before it is added."""
    total = np.float32(0)
    for value in values:
        product = np.float64(value) * np.float64(value)
        total = np.float32(np.float64(total) + (product if fused else np.float64(np.float32(product))))
    return np.float32(np.float32(0.1) * total)


def test_no_order_and_no_fusing_leaves_the_bound_and_some_come_near():
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(400):
        values = rng.uniform(-2, 2, 5).astype(np.float32)
        sums = [rounded_in_order(order, fused) for order in itertools.permutations(values) for fused in (False, True)]
        largest = max(largest, float(max(sums) - min(sums)) / float(min(sums)))
    assert largest <= sum_of_squares(5)
    assert largest >= sum_of_squares(5) / 10


def test_a_bound_grows_with_the_roundings_and_ends_where_there_is_none():
    assert math.isclose(gamma(3), 3 * 2.0**-24, rel_tol=1e-6)
    with pytest.raises(ValueError, match="no bound"):
        gamma(2**24)
