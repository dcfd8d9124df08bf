"""Visited states: divergence in bits against a null of whole episodes; the changed dimension is named."""

import dataclasses
import json
import math

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the divergence is checked against SciPy, from the extra `report`")

from scipy import stats
from scipy.spatial.distance import jensenshannon

from overclock.errors import UsageError
from overclock.verify.statistics import compare_visitation
from overclock.verify.statistics.visitation import divergence_bits


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def walks(g, episodes=20, steps=40, dimensions=6):
    return list(g.normal(size=(episodes, steps, dimensions)).cumsum(axis=1))


def test_divergence_is_scipys_distance_squared():
    a, b = rng().integers(0, 9, (2, 30))
    assert divergence_bits(a, b) == pytest.approx(jensenshannon(a, b, base=2) ** 2)
    assert divergence_bits(np.array([1, 0]), np.array([0, 5])) == 1.0


def expected_divergence(bins: int, n_a: int, n_b: int) -> float:
    """Of two samples of independent states: (k - 1) / (4 n ln 2) bits for k bins and n states on each side."""
    return (bins - 1) * (1.0 / n_a + 1.0 / n_b) / (8.0 * math.log(2.0))


@pytest.mark.parametrize(("n", "expected"), [(1_000, 0.018), (10_000, 0.0018)])
def test_equal_distributions_do_not_diverge_by_zero(n, expected):
    assert expected_divergence(50, n, n) == pytest.approx(expected, rel=0.02)  # the literature's rounding
    states = rng(5).normal(size=(2, n, 1, 1))  # episodes of one state: independent, as the formula assumes
    result = compare_visitation(states[0], states[1], permutations=199)
    # A divergence scatters by sqrt(2 / 49) = 20 % of its mean, the mean of 200 by 1.4 %: five times that.
    assert result.null_mean == pytest.approx(expected_divergence(50, n, n), rel=0.07)
    assert result.verdict == "consistent"


def test_correlated_states_raise_the_null_and_whole_episodes_account_for_it():
    runs, different = 200, 0
    for seed in range(runs):
        g = rng(seed)
        result = compare_visitation(walks(g), walks(g), permutations=99, bins=20)
        different += result.verdict == "different"
        assert result.null_mean > 3 * expected_divergence(20, *result.states)
    # The test is exact, and six dimensions do not cost six times the error:
    # the bounds that 5 % of 200 leaves with probability 1e-6.
    assert stats.binom(runs, 0.05).ppf(5e-7) <= different <= stats.binom(runs, 0.05).isf(5e-7)


def test_the_changed_dimension_is_named():
    g = rng(6)
    same, changed = g.normal(size=(30, 20, 4)), g.normal(size=(30, 20, 4)) * [1.0, 1.0, 1.5, 1.0]
    result = compare_visitation(same, changed, names=["x", "v", "angle", "w"])
    assert (result.verdict, result.worst) == ("different", "angle")
    assert result.value > result.null_limit > result.null_mean > 0.0
    assert [d.name for d in result.dimensions if d.p <= 0.05] == ["angle"]
    assert (result.episodes, result.states) == ((30, 30), (600, 600))
    assert json.loads(json.dumps(dataclasses.asdict(result)))["worst"] == "angle"


def test_a_rare_flag_that_never_comes_is_seen_beside_continuous_dimensions():
    g = rng(7)
    sides = [g.normal(size=(60, 20, 3)) for _ in range(2)]
    for side, rate in zip(sides, (0.02, 0.0), strict=True):
        side[..., 1] = 1 - (g.random((60, 20)) < rate)
    result = compare_visitation(*sides)
    assert (result.verdict, result.worst, result.dimensions[1].bins) == ("different", "dimension 1", 2)


def test_partners_show_a_shift_that_strangers_hide():
    starts = rng(8).normal(size=(30, 1, 1))
    reference = starts + 0.5 * rng(9).normal(size=(30, 50, 1))
    performance = reference + 0.2
    assert compare_visitation(reference, performance, bins=10).verdict == "consistent"
    assert compare_visitation(reference, performance, bins=10, paired=True).verdict == "different"
    assert compare_visitation(reference, reference, paired=True).p == 1.0


def test_rounding_differences_are_not_visits_elsewhere():
    reference = rng(10).integers(0, 5, (20, 30, 2)) / 7
    result = compare_visitation(reference, reference.astype(np.float32), paired=True)
    assert (result.value, result.p, result.dimensions[0].bins) == (0.0, 1.0, 5)


def test_wrong_arguments_are_refused_with_a_remedy():
    few, enough = np.zeros((2, 5, 1)), np.zeros((10, 5, 1))
    for call, words in (
        (lambda: compare_visitation(few, few), "more episodes"),
        (lambda: compare_visitation(enough, enough, permutations=9), "999 permutations"),
        (lambda: compare_visitation(enough, enough + math.inf, names=["x"]), "state x holds"),
        (lambda: compare_visitation(enough, np.zeros((10, 5, 2))), "same number"),
        (lambda: compare_visitation(enough, np.zeros((9, 5, 1)), paired=True), "equally many"),
    ):
        with pytest.raises(UsageError, match=words):
            call()
