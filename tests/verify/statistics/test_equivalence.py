"""The statistics of level 4: agree with statsmodels, with published numbers, and with simulation.

Simulations have fixed seeds. Their thresholds are binomial quantiles: a correct implementation would cross one with
probability FALSE_ALARM under a freshly drawn seed.
"""

import dataclasses
import json
import math
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the statistics need SciPy, from the extra `report`")

from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from overclock.errors import UsageError
from overclock.verify.statistics import (
    aa_noise,
    bound_clean_episodes,
    default_margin,
    episodes_needed,
    group_size_needed,
    look_sizes,
    looks_alpha,
    pairs_needed,
    power_paired,
    power_welch,
    tost_paired,
    tost_paired_summary,
    tost_welch,
    tost_welch_summary,
)

FALSE_ALARM = 1e-6


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def within(hits: int, runs: int, probability: float) -> bool:
    """Whether this many hits are what the probability allows, in both directions."""
    allowed = stats.binom(runs, probability)
    return allowed.ppf(FALSE_ALARM / 2) <= hits <= allowed.isf(FALSE_ALARM / 2)


def at_most(hits: int, runs: int, probability: float) -> bool:
    return hits <= stats.binom(runs, probability).isf(FALSE_ALARM)


class TestTost:
    @pytest.mark.parametrize("seed", range(8))
    def test_agrees_with_statsmodels(self, seed):
        weightstats = pytest.importorskip("statsmodels.stats.weightstats", reason="statsmodels only cross-checks ours")
        a = rng(seed).normal(0.3, 1.0, 12)
        b = 0.6 * a + rng(seed + 100).normal(0.0, 0.8, 12)
        c = rng(seed + 200).normal(0.0, 2.0, 7)
        for ours, theirs in (
            (tost_paired(a, b, 0.7), weightstats.ttost_paired(a, b, -0.7, 0.7)),
            (tost_welch(a, c, 0.7), weightstats.ttost_ind(a, c, -0.7, 0.7, usevar="unequal")),
        ):
            p, (_, p_lower, df), (_, p_upper, _) = theirs
            # Both are a handful of float64 operations and Student's t of the same library.
            assert (ours.p, ours.p_lower, ours.p_upper, ours.df) == pytest.approx((p, p_lower, p_upper, df), rel=1e-9)
        welch = weightstats.CompareMeans(weightstats.DescrStatsW(a), weightstats.DescrStatsW(c))
        assert tost_welch(a, c, 0.7).interval == pytest.approx(welch.tconfint_diff(0.1, usevar="unequal"))

    def test_data_and_their_summary_give_the_same(self):
        a, b = rng().normal(size=10), rng(1).normal(size=12)
        d = a - b[:10]
        assert tost_paired(a, b[:10], 0.5) == tost_paired_summary(d.mean(), d.std(ddof=1), 10, 0.5)
        assert tost_welch(a, b, 0.5) == tost_welch_summary(
            a.mean(), a.std(ddof=1), 10, b.mean(), b.std(ddof=1), 12, 0.5
        )

    @pytest.mark.parametrize(
        ("difference", "verdict"),
        [
            (0.0, "equivalent"),
            (0.7, "inconclusive"),
            (1.3, "inconclusive"),
            (-1.3, "inconclusive"),
            (1.7, "different"),
            (-1.7, "different"),
        ],
    )
    def test_the_place_of_the_interval_is_the_verdict(self, difference, verdict):
        result = tost_paired_summary(difference, sd=1.0, n=10, margin=1.0)  # the interval is +- 0.58
        assert result.verdict == verdict
        assert (result.p < 0.05) == (verdict == "equivalent")
        assert (result.n_needed is None) == (verdict != "inconclusive")
        assert verdict in str(result)

    @given(
        difference=st.floats(-3, 3), sd=st.floats(1e-3, 10), n=st.integers(2, 60), margin=st.floats(0.01, 3),
        alpha=st.sampled_from([0.01, 0.0221, 0.05]),
    )  # fmt: skip
    @settings(max_examples=60, deadline=None, derandomize=True)
    def test_interval_and_p_values_agree_and_more_data_are_asked_for_only_when_open(
        self, difference, sd, n, margin, alpha
    ):
        result = tost_paired_summary(difference, sd, n, margin, alpha)
        low, high = result.interval
        if min(abs(low + margin), abs(high - margin)) > 1e-9:  # at an edge either side of rounding is right
            assert (result.p < alpha) == (-margin < low and high < margin)
        mirrored = tost_paired_summary(-difference, sd, n, margin, alpha)
        assert (mirrored.verdict, mirrored.p, mirrored.n_needed) == (result.verdict, result.p, result.n_needed)
        assert result.n_needed is None or (result.verdict == "inconclusive" and result.n_needed > n)

    @pytest.mark.parametrize(("shift", "verdict"), [(0.0, "equivalent"), (0.1, "equivalent"), (0.3, "different")])
    def test_without_variance_the_verdict_is_exact_and_has_no_p(self, shift, verdict):
        b = np.array([1.0, 2.0, 3.0])
        for result in (tost_paired(b + shift, b, 0.2), tost_welch([5.0 + shift] * 3, [5.0] * 4, 0.2)):
            assert (result.exact, result.verdict, result.n_needed) == (True, verdict, None)
            assert math.isnan(result.p)
            assert result.interval == pytest.approx((shift, shift))

    def test_on_the_margin_nothing_is_decided_however_many_there_are(self):
        exact, noisy = tost_paired_summary(0.5, 0.0, 10, 0.5), tost_paired_summary(0.5, 1.0, 10, 0.5)
        assert (exact.verdict, exact.exact, exact.n_needed) == ("inconclusive", True, None)
        assert (noisy.verdict, noisy.n_needed) == ("inconclusive", None)
        assert "no practical number" in str(noisy)

    def test_wrong_arguments_are_refused_with_a_remedy(self):
        for call, words in (
            (lambda: tost_paired([1, 2], [1, 2, 3], 1), "tost_welch"),
            (lambda: tost_paired([1], [1], 1), "at least 2"),
            (lambda: tost_paired([1, math.nan], [1, 2], 1), "not finite"),
            (lambda: tost_paired([1, 2], [1, 2], 0), "margin"),
            (lambda: tost_paired([1, 2], [1, 2], 1, alpha=0.6), "alpha"),
            (lambda: tost_paired_summary(0, -1, 10, 1), "standard deviation"),
        ):
            with pytest.raises(UsageError, match=words):
                call()

    @pytest.mark.parametrize("test", [tost_paired, tost_welch])
    def test_a_difference_at_the_margin_is_called_equivalent_or_different_five_times_in_a_hundred_each(self, test):
        runs, g = 1500, rng(1)
        verdicts = [test(g.normal(2.0, 1, 10), g.normal(0.0, 1, 10), margin=2.0).verdict for _ in range(runs)]
        assert within(verdicts.count("equivalent"), runs, 0.05)
        assert within(verdicts.count("different"), runs, 0.05)

    def test_the_interval_covers_the_truth_nine_times_in_ten(self):
        runs, g = 1500, rng(2)
        intervals = [tost_welch(g.normal(0.4, 1, 8), g.normal(0, 3, 15), margin=100.0).interval for _ in range(runs)]
        assert within(sum(low < 0.4 < high for low, high in intervals), runs, 0.9)


class TestPower:
    RATIOS = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0)

    def test_sample_sizes_of_the_table(self):
        assert [pairs_needed(r, 1.0) for r in self.RATIOS] == [45, 21, 13, 9, 7, 5]
        assert [pairs_needed(r, 1.0, 0.25 * r) for r in self.RATIOS] == [63, 29, 17, 12, 9, 6]
        assert [group_size_needed(r, 1.0) for r in self.RATIOS] == [88, 40, 23, 15, 11, 7]

    def test_power_of_ten_pairs(self):
        assert [round(power_paired(10, r, 1.0), 2) for r in (1.0, 0.75, 0.5)] == [0.80, 0.43, 0.07]

    @pytest.mark.parametrize(("margin", "difference"), [(0.8, 0.0), (0.8, 0.3), (0.8, -1.7)])
    def test_needed_is_the_first_n_that_suffices(self, margin, difference):
        verdict = "equivalent" if abs(difference) < margin else "different"
        needed = pairs_needed(margin, 1.0, difference)
        enough = [power_paired(n, margin, 1.0, difference, verdict=verdict) >= 0.9 for n in range(2, needed + 20)]
        assert enough.index(True) + 2 == needed
        assert all(enough[needed - 2 :])

    def test_different_has_the_power_of_the_noncentral_t(self):
        n, margin, difference = 9, 1.0, 2.1
        t, shift = stats.t.isf(0.05, n - 1), np.sqrt(n)
        exact = stats.nct.sf(t, n - 1, (difference - margin) * shift) + stats.nct.cdf(
            -t, n - 1, (difference + margin) * shift
        )
        # The integral leaves out 1e-13 of the variance's distribution on either side.
        assert power_paired(n, margin, 1.0, difference, verdict="different") == pytest.approx(exact, abs=1e-9)

    def test_the_three_verdicts_exhaust_the_possibilities(self):
        parts = [power_welch(8, 1.0, 1.0, 2.0, 0.5, verdict=v) for v in ("equivalent", "different", "inconclusive")]
        assert sum(parts) == pytest.approx(1.0)
        assert min(parts) > 0.0

    def test_more_than_ten_million_is_no_number(self):
        assert pairs_needed(1.0, 1.0, 1.0) is None
        assert pairs_needed(1.0, 1.0, 0.9999) is None

    @pytest.mark.parametrize("case", ["paired", "welch"])
    def test_simulation_agrees(self, case):
        runs, g = 1000, rng(3)
        if case == "paired":
            chance = power_paired(10, 1.0, 1.0, 0.2)
            verdicts = [tost_paired(g.normal(0.2, 1, 10), np.zeros(10), 1.0).verdict for _ in range(runs)]
        else:
            chance = power_welch(12, 1.2, 1.0, difference=0.3)
            verdicts = [tost_welch(g.normal(0.3, 1, 12), g.normal(0, 1, 12), 1.2).verdict for _ in range(runs)]
        assert within(verdicts.count("equivalent"), runs, chance)


class TestCleanEpisodes:
    def test_published_numbers(self):
        assert round(bound_clean_episodes(100), 4) == 0.0295
        assert [episodes_needed(rate) for rate in (1e-3, 1e-4)] == [2995, 29956]
        assert bound_clean_episodes(0) == 1.0

    def test_is_clopper_and_pearsons_bound(self):
        proportion = pytest.importorskip("statsmodels.stats.proportion", reason="statsmodels only cross-checks ours")
        for n in (1, 10, 1000):
            _, upper = proportion.proportion_confint(0, n, alpha=0.1, method="beta")  # 5 % on the upper side
            assert bound_clean_episodes(n) == pytest.approx(upper)

    @given(st.integers(1, 10**7), st.floats(0.5, 0.999))
    @settings(derandomize=True)
    def test_needed_inverts_the_bound(self, n, confidence):
        bound = bound_clean_episodes(n, confidence)
        assert episodes_needed(bound, confidence) == n
        assert episodes_needed(math.nextafter(bound, 0.0), confidence) == n + 1


class TestMargin:
    def test_a_share_of_the_span_or_twice_the_noise_whichever_is_larger(self):
        by_span = default_margin([480.0, 500.0], [20.0, 24.0], aa_noise=3.0)
        assert (by_span.span, by_span.value, by_span.decided_by) == (468.0, pytest.approx(23.4), "span")
        by_noise = default_margin([480.0, 500.0], [20.0, 24.0], aa_noise=15.0)
        assert (by_noise.span_part, by_noise.noise_part, by_noise.value) == (pytest.approx(23.4), 30.0, 30.0)
        assert by_noise.decided_by == "noise"
        assert default_margin([-5.0], [-105.0], 0.0) == default_margin([-105.0], [-5.0], 0.0)

    def test_the_reference_against_itself_passes_with_ten_policies(self):
        runs, g, passed = 200, rng(4), 0
        for _ in range(runs):
            first, again, third = (g.normal(100, 5, 10) for _ in range(3))
            margin = default_margin(first, [100.0], aa_noise(first, again))
            passed += tost_paired(first, third, margin.value).verdict == "equivalent"
        assert passed > 0.9 * runs  # measured 0.99; margins estimated from ten policies are sometimes small

    def test_nothing_to_measure_with_is_refused(self):
        with pytest.raises(UsageError, match="state a margin"):
            default_margin([1.0, 1.0], [1.0], 0.0)


class TestLooks:
    def test_levels_and_sizes(self):
        assert [looks_alpha(k) for k in (1, 2, 3)] == [0.05, 0.0294, 0.0221]
        assert look_sizes(30, 3) == (10, 20, 30)
        assert look_sizes(25, 2) == (13, 25)
        with pytest.raises(UsageError, match="1, 2 or 3 looks"):
            looks_alpha(4)
        with pytest.raises(UsageError, match="at least 6 pairs"):
            look_sizes(5, 3)

    @pytest.mark.parametrize(("k", "overall"), [(2, 0.0485), (3, 0.0478)])
    def test_all_looks_together_cost_a_little_less_than_five_percent(self, k, overall):
        looks = np.arange(1, k + 1)
        correlation = np.sqrt(np.minimum.outer(looks, looks) / np.maximum.outer(looks, looks))
        none = stats.multivariate_normal(cov=correlation).cdf(np.full(k, stats.norm.isf(looks_alpha(k))))
        assert 1 - none == pytest.approx(overall, abs=1e-4)  # the last digit printed

    def test_stopping_early_keeps_the_error(self):
        runs, g, wrong = 800, rng(14), 0
        for _ in range(runs):
            differences = g.normal(1.0, 1.0, 30)  # exactly at the margin
            seen = [tost_paired(differences[:n], np.zeros(n), 1.0, looks_alpha(3)).verdict for n in look_sizes(30, 3)]
            decided = [verdict for verdict in seen if verdict != "inconclusive"]
            wrong += decided[:1] == ["equivalent"]
        assert at_most(wrong, runs, 0.05)
        assert wrong > 0.02 * runs  # and it is not an accident of never deciding


def test_results_are_plain_numbers_that_json_can_write():
    for result in (
        tost_paired([1.0, 2.0], [1.0, 2.5], 1),
        tost_welch([1.0, 2.0], [1.0, 2.5], 1),
        default_margin([1], [0], 0.1),
    ):
        assert json.loads(json.dumps(dataclasses.asdict(result)))


def test_without_scipy_clean_episodes_still_have_a_bound_and_the_rest_says_what_to_install():
    program = (
        "import sys; sys.modules['scipy'] = None\n"
        "import overclock.verify.statistics as s\n"
        "assert s.bound_clean_episodes(100) < 0.03\n"
        "from overclock.errors import MissingError\n"
        "try: s.tost_paired\n"
        "except MissingError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install 'overclock[report]'" in done.stdout
