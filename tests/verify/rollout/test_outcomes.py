"""Whole episodes in float32 come out as in the unrounded reference, to their end, or the level fails and says why."""

import numpy as np
import pytest
from verify.clocks import clocks
from verify.ticker import Here, ticking

from overclock.recipe.judging.verdict import failure_of
from overclock.verify.rollout.level import check_rollouts
from overclock.verify.rollout.outcomes import rounded_copies
from overclock.verify.sides import pair as sides
from overclock.verify.statistics.sign import one_sided_too_often, sign_test
from overclock.verify.text import level_text, where_text


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Clocks in this process."""
    monkeypatch.setattr(sides, "ProcessSubject", Here)
    monkeypatch.setattr(Here, "made", [])


def checked(twin, episodes=100, seed=0):
    return check_rollouts(twin, None, episodes, seed, 60.0, lambda *_: None)[0]


@pytest.mark.parametrize(
    "clock",
    [
        {"step": 0.1, "limit": 3.0},
        {"step": 0.02, "limit": 0.9},
        {"step": 0.3, "limit": 6.0},
        {"step": 1 / 30, "limit": 1.5},
        {"step": 0.1, "limit": 2.2, "equal": True},
        {"step": 0.1, "limit": 4.4, "equal": True},
        {"step": 0.1, "limit": 2.5, "down": True},
        {"step": 0.1, "limit": 5.0, "rate": 2.0},
        {"step": 0.1, "limit": 1e9, "pays": 2.4},
        {"step": 0.05, "limit": 1e9, "pays": 1.3},
        {"step": 0.1, "limit": 1e9, "lamp": 2.4},
    ],
    ids=lambda clock: "-".join(map(str, clock.values())),
)
def test_a_sum_that_float32_rounds_across_a_limit_is_found(clock):
    level = checked(clocks(**clock))
    found = level.outcomes
    assert (level.verdict, found.verdict) == ("fail", "fail")
    assert found.differing > 10


def test_the_sentence_says_what_to_do():
    level = checked(clocks(step=0.1, limit=3.0))
    found = level.outcomes
    assert all(one.passed for one in level.comparisons), "nothing else sees it"
    assert where_text(level) == found.sentence
    failed = failure_of(level)
    assert failed.sentence == f"Every step is right on its own, but {found.sentence}."
    assert (failed.field, failed.step) == (found.first.field, found.first.step)
    assert "terminated is False after step 30 of the episode with seed" in found.sentence
    assert "the reference says True" in found.sentence
    assert "keep a clock that adds a constant as a whole number of steps" in found.sentence
    assert found.first.explained
    assert (found.earlier, found.later) == (0, found.differing)


@pytest.mark.parametrize(
    "clock", [{"step": 0.25, "limit": 3.0}, {"step": 0.1, "limit": 2.95}, {"step": 1.0, "limit": 7}]
)
def test_what_float32_holds_or_decides_clearly_passes(clock):
    level = checked(clocks(**clock))
    assert (level.verdict, level.outcomes.differing) == ("pass", 0)
    assert level.outcomes.episodes == 300
    assert "300 episodes to their end in float32: flags, lengths and rewards are those" in level_text(level)


def test_a_rare_crossing_that_rounding_explains_is_excused_and_counted():
    """Starts that are drawn: a few of a million lie where float32 decides, none of these hundreds."""
    level = checked(clocks(step=0.1, limit=3.0, noise=True))
    assert (level.verdict, level.outcomes.unexplained) == ("pass", 0)


def test_few_episodes_that_no_rounding_explains_are_found():
    """One in fifty ends a step late, far from any threshold, after the last step that tolerances compare."""
    level = checked(clocks({"flips": 50, "at": 30}, step=0.1, limit=2.95, noise=True))
    assert level.outcomes.verdict == "fail"
    assert level.outcomes.unexplained
    assert "is False after step 30" in level.outcomes.sentence
    assert "rounded after every step" in level.outcomes.sentence


def test_an_exact_contract_is_compared_to_the_end_already():
    assert checked(ticking({}, {})).outcomes is None


def test_copies_keep_what_float32_holds_and_round_the_rest_both_ways():
    state = {"a": np.full(1000, 0.1), "b": np.full(1000, 0.75), "n": np.arange(1000)}
    copies = rounded_copies(state, "float32", np.random.default_rng(0))
    assert (copies["b"] == 0.75).all()
    assert (copies["n"] == state["n"]).all()
    assert copies["a"][0] == 0.1
    assert (copies["a"][1:] < 0.1).any()
    assert (copies["a"][1:] > 0.1).any()
    assert np.abs(copies["a"] - 0.1).max() < 0.1 * 2.0**-20
    assert set(copies["a"][1::2].tolist()) <= {
        float(np.nextafter(np.float32(0.1), np.float32(0))),
        float(np.float32(0.1)),
    }


def test_signs_of_one_kind_are_no_accident_from_eight_on():
    assert sign_test(0, 8) == pytest.approx(2 / 256)
    assert not one_sided_too_often([1] * 7, 0.01)
    assert one_sided_too_often([1] * 8, 0.01)
    assert not one_sided_too_often([1] * 8 + [-1] * 2, 0.01)
    assert not one_sided_too_often([], 0.01)


@pytest.mark.parametrize("skews", [1e-7, 4e-7])
def test_rewards_that_are_rounded_in_one_direction_within_their_tolerance_pass(skews):
    """Each is off by less than its tolerance; their sum is off by more than that, always with one sign."""
    level = checked(clocks({"skews": skews}, step=0.1, limit=5.95, skews=0.0, noise=True))
    assert level.verdict == "pass"
