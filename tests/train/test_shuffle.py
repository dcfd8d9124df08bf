"""Minibatches are random shares of the experience, sorted or computed."""

import numpy as np
import pytest

from overclock.env import Rng
from overclock.train.shuffle import SORTED_UP_TO, shuffled

LENGTHS = [1000, SORTED_UP_TO, 2 * SORTED_UP_TO, 2 * SORTED_UP_TO + 2, 1 << 19]


@pytest.mark.parametrize("n", LENGTHS)
def test_an_order_is_a_permutation_and_changes_with_every_epoch(n):
    rng = Rng.of(3)
    first, second = np.asarray(shuffled(rng, n)), np.asarray(shuffled(rng.advance(), n))
    np.testing.assert_array_equal(np.sort(first), np.arange(n))
    assert np.mean(first == second) < 0.01
    assert np.mean(first == np.arange(n)) < 0.01


@pytest.mark.parametrize("n", [2 * SORTED_UP_TO, 1 << 19])
def test_a_computed_order_is_as_random_as_a_sorted_one(n):
    """Shares of minibatches, places of neighbours and pairs of them: chi-square over 16 x 16 cells, 20 orders."""
    cells = 16
    for seed in range(20):
        order = np.asarray(shuffled(Rng.of(seed), n)).astype(np.int64)
        place = order * cells // n
        tables = {
            "block of the order against block of the batch": (np.arange(n) * cells // n, place),
            "one entry against the next": (place[:-1], place[1:]),
            "one entry against its neighbour at a lane's distance": (place[:-1024], place[1024:]),
            "lowest bits against the place": (order % cells, np.arange(n) * cells // n),
        }
        for name, (rows, columns) in tables.items():
            counts = np.zeros((cells, cells))
            np.add.at(counts, (rows, columns), 1)
            expected = len(rows) / cells**2
            chi_square = np.sum((counts - expected) ** 2) / expected
            # Mean 255 and deviation 22.6 for independent cells, 225 where margins are fixed: six deviations above.
            assert chi_square < 255 + 6 * 22.6, f"{name}, seed {seed}"
