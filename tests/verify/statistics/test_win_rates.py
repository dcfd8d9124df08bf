"""Win rates of matched games: published intervals, coverage by simulation, policies as the unit."""

import dataclasses
import json

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the statistics need SciPy, from the extra `report`")

from scipy import stats

from overclock.errors import UsageError
from overclock.verify.statistics import compare_win_rates, compare_win_rates_of_policies
from overclock.verify.statistics.win_rates import newcombe_interval

FALSE_ALARM = 1e-6  # probability that a correct implementation crosses a threshold under a freshly drawn seed


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_interval_equals_published_ones():
    # Fagerland, Lydersen and Laake's R package `contingencytables`, data of Cavo et al. (2012).
    assert newcombe_interval(59, 6, 16, 80, alpha=0.025) == pytest.approx((-0.1186, -0.0046), abs=5e-5)


@pytest.mark.parametrize(
    ("both", "only_a", "only_b", "neither", "verdict"),
    [
        (200, 4, 4, 192, "equivalent"),
        (40, 0, 0, 0, "inconclusive"),
        (100, 60, 10, 30, "different"),
        (25, 9, 6, 10, "inconclusive"),
    ],
)
def test_the_place_of_the_interval_is_the_verdict(both, only_a, only_b, neither, verdict):
    cells = (both, only_a, only_b, neither)
    result = compare_win_rates(np.repeat([1, 1, 0, 0], cells), np.repeat([1, 0, 1, 0], cells), margin=0.05)
    assert (result.verdict, result.only_a, result.only_b) == (verdict, only_a, only_b)
    assert result.difference == pytest.approx(result.rate_a - result.rate_b)
    assert (result.n_needed is None) == (verdict != "inconclusive")
    assert result.n_needed is None or result.n_needed > sum(cells)
    mirrored = newcombe_interval(both, only_b, only_a, neither, 0.05)
    assert result.interval == pytest.approx((-mirrored[1], -mirrored[0]))


def test_newcombes_interval_covers_the_truth():
    runs, g = 2000, rng(11)
    tables = g.multinomial(80, (0.5, 0.08, 0.04, 0.38), runs)
    covered = sum(low <= 0.04 <= high for low, high in (newcombe_interval(*table, 0.05) for table in tables))
    # An approximation: its coverage here is 0.908 (measured with 200,000 tables).
    assert stats.binom(runs, 0.9).ppf(FALSE_ALARM) <= covered <= stats.binom(runs, 0.94).isf(FALSE_ALARM)


def test_policies_are_the_unit_of_the_bootstrap():
    """Policies whose differences truly scatter: pooling their games would cover far too seldom."""
    runs, covered, pooled, g = 300, 0, 0, rng(12)
    for _ in range(runs):
        shift = g.normal(0.0, 0.1, (10, 1))
        a, b = (g.random((10, 200)) < 0.5 + sign * shift / 2 for sign in (1, -1))
        low, high = compare_win_rates_of_policies(a, b, 0.05, resamples=999).interval
        covered += low <= 0.0 <= high
        low, high = compare_win_rates(a.ravel(), b.ravel(), 0.05).interval
        pooled += low <= 0.0 <= high
    # Measured with 3000 runs: 0.89 for policies as the unit, 0.54 for games.
    assert stats.binom(runs, 0.87).ppf(FALSE_ALARM) <= covered <= stats.binom(runs, 0.92).isf(FALSE_ALARM)
    assert pooled < 0.7 * runs


def test_policies_that_all_differ_alike_are_exact():
    games = rng(13).random((6, 50)) < 0.4
    result = compare_win_rates_of_policies(games, games, margin=0.02)
    assert (result.verdict, result.exact, result.interval) == ("equivalent", True, (0.0, 0.0))
    assert json.loads(json.dumps(dataclasses.asdict(result)))["method"] == "bootstrap"


def test_wrong_arguments_are_refused_with_a_remedy():
    with pytest.raises(UsageError, match="ties by tost_paired"):
        compare_win_rates([0.5, 1], [0, 1], 0.1)
    with pytest.raises(UsageError, match="same games"):
        compare_win_rates([0, 1], [0, 1, 1], 0.1)
    with pytest.raises(UsageError, match="more seeds"):
        compare_win_rates_of_policies(np.ones((3, 5)), np.ones((3, 5)), 0.1)
