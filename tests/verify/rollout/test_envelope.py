"""Free running of a chaotic system: an equal side is never refused, a small mistake always, wherever it is made."""

import numpy as np
import pytest
from verify.chaos import ENVELOPE, LENGTH, chaotic
from verify.documented import undocumented
from verify.ticker import Here

from overclock.errors import UsageError
from overclock.recipe.judging.verdict import failure_of
from overclock.results import encode
from overclock.verify.contract import Contract, Envelope, Field
from overclock.verify.rollout.envelope import judge_errors, nudged, quantile
from overclock.verify.rollout.level import check_rollouts
from overclock.verify.sides import pair as sides
from overclock.verify.text import level_text, where_text
from overclock.verify.tolerance import Tolerance


@pytest.fixture(autouse=True)
def here(monkeypatch):
    """Maps in this process."""
    monkeypatch.setattr(sides, "ProcessSubject", Here)
    monkeypatch.setattr(Here, "made", [])


def checked(reference=None, performance=None, episodes=40, seed=0, **more):
    twin = chaotic(reference or {}, {"other": True, **(performance or {})}, **more)
    return check_rollouts(twin, None, episodes, seed, 60.0, lambda *_: None)[0]


@pytest.mark.parametrize("seed", range(5))
def test_a_side_that_only_rounds_otherwise_stays_inside_to_the_end(seed):
    level = checked(seed=seed)
    found = level.envelope
    assert (level.verdict, found.verdict, found.first_outside) == ("pass", "pass", None)
    assert (found.episodes, found.steps) == (40, 40 * LENGTH)
    assert found.curves[0].performance[-1] > 1e-3  # far beyond what any tolerance for an episode would allow
    assert 0 < found.largest_per_step < 1e-14
    assert found.sentence in level_text(level)
    assert "stays in the envelope of 8 copies of the reference that begin an ulp away" in found.sentence


@pytest.mark.parametrize("kick_at", [1, 3, 10])
def test_an_error_of_a_billionth_in_one_step_is_found(kick_at):
    """Tolerances of single steps let it pass here."""
    level = checked(performance={"kick": 1e-9, "kick_at": kick_at}, per_step=1e-6)
    assert all(one.passed for one in level.comparisons)
    assert level.verdict == level.envelope.verdict == "fail"
    assert level.envelope.first_outside.step == kick_at
    assert where_text(level) == level.envelope.sentence
    assert f"leaves what an ulp explains at step {kick_at}: 1.0e-09" in level_text(level)
    (told,) = failure_of(level).sentences  # what an agent hears of its candidate
    assert told == f"Whole episodes agree, but {where_text(level)}."


def test_a_late_error_that_an_ulp_would_have_caused_by_then_is_found_by_single_steps():
    level = checked(performance={"kick": 1e-9, "kick_at": 50})
    found = level.envelope
    assert (found.verdict, found.first_outside) == ("fail", None)
    assert found.sentence == "a single step is off by 1.0e-09, and 1.0e-14 is allowed"


def test_episodes_may_end_at_any_time():
    found = checked({"short": True}, {"short": True}).envelope
    assert found.verdict == "pass"
    assert 40 * 10 < found.steps < 40 * LENGTH
    running = found.curves[0].judged_steps
    assert 10 < running < len(found.curve_steps)  # the last few episodes decide nothing
    assert np.isfinite(found.curves[0].performance).all()


def test_few_episodes_are_made_enough_to_judge_and_lanes_have_even_shares():
    assert checked(episodes=2).envelope.episodes == 20
    assert Here.made[-1].num_envs == 20
    assert checked(episodes=40).envelope.episodes == 40
    assert Here.made[-1].num_envs == 20


def test_a_copy_differs_by_its_nudge_alone():
    checked()
    reference = Here.made[-2]
    assert len(reference.put_back) == 2 * ENVELOPE.copies  # rounds and copies
    for state in reference.put_back:
        assert state["steps"].tolist() == [0] * 20
        assert state["guess"].tolist() == [1.0] * 20  # as the reference had it


def test_a_nudge_is_one_ulp_up_or_down():
    state = {"x": np.full((2, 50), 0.3), "y": np.zeros(2)}
    moved = nudged(state, ENVELOPE, np.random.default_rng(0))
    assert np.unique(moved["x"] - 0.3).tolist() == [-np.spacing(0.3), np.spacing(0.3)]
    assert moved["y"] is state["y"]
    with pytest.raises(UsageError, match="nudges 'x'; the reference's state has y"):
        nudged({"y": np.zeros(2)}, ENVELOPE, np.random.default_rng(0))


# ---- errors alone ----


def grown(generator, first, rates, steps=150):
    """Errors that grow at every episode's own pace, waver, and now and then jump: a foot that touches the floor."""
    shape = (steps, len(rates))
    wavering = generator.normal(0.0, 0.1, shape).cumsum(axis=0)
    jumps = np.where(generator.random(shape) < 0.002, generator.uniform(0.0, 5.0, shape), 0.0).cumsum(axis=0)
    digits = np.log10(first) + generator.normal(0.0, 0.3, len(rates)) + rates * np.arange(steps)[:, None]
    return 10.0 ** np.minimum(digits + wavering + jumps, 0.0)


def errors(number, episodes):
    generator = np.random.default_rng(number)
    rates = generator.normal(0.12, 0.03, episodes)
    free, *apart = (grown(generator, first, rates) for first in (1e-15, *[1e-16] * 8))
    return free, np.stack(apart)


@pytest.mark.parametrize("episodes", [20, 100])
def test_chance_refuses_no_equal_side_and_hides_no_error(episodes):
    slack = Envelope("state.x", ("x",), 1e3, "rounding")
    for number in range(100):
        free, apart = errors(number, episodes)
        forced = np.full_like(free, 1e-14)
        assert judge_errors(slack, Tolerance(1e-12), forced, free, apart).verdict == "pass", number
        off = np.where(np.arange(len(free))[:, None] >= 8, np.maximum(free, 1e-9), free)
        assert judge_errors(slack, Tolerance(1e-12), forced, off, apart).first_outside is not None, number


def test_one_wild_episode_in_a_copy_excuses_nothing_and_in_ours_accuses_nothing():
    free, apart = errors(0, 40)
    forced = np.full_like(free, 1e-14)
    wild = free.copy()
    wild[:, 0] = 1.0
    assert judge_errors(ENVELOPE, Tolerance(1e-12), forced, wild, apart).verdict == "pass"
    apart[:, :, 0] = 1.0
    off = np.maximum(free, 1e-9)
    assert judge_errors(ENVELOPE, Tolerance(1e-12), forced, off, apart).verdict == "fail"


def test_infinite_errors_are_no_numbers_to_average():
    """What has another shape or is not a number on one side is infinitely far away."""
    free, apart = errors(0, 40)
    found = judge_errors(ENVELOPE, Tolerance(1e-12), np.full_like(free, np.inf), np.full_like(free, np.inf), apart)
    assert found.verdict == "fail"


def test_a_quantile_is_one_of_the_errors_and_leaves_out_what_is_over():
    rows = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, np.nan, 1e-9, np.nan], [5.0, np.nan, np.nan, np.nan]])
    assert quantile(rows, 0.5).tolist() == [2.0, 1e-9, 5.0]
    assert quantile(rows, 0.9).tolist() == [4.0, 1.0, 5.0]
    assert quantile(rows, 1.0).tolist() == [4.0, 1.0, 5.0]


def test_the_steps_at_which_errors_reach_a_size_are_told():
    free = np.tile(10.0 ** np.arange(-16.0, 0.0)[:, None], (1, 20))
    found = judge_errors(ENVELOPE, Tolerance(1.0), free, free, np.stack([free / 10] * 2))
    assert [(one.error, one.performance, one.reference) for one in found.reached] == [
        (1e-10, 8, 9), (1e-6, 12, 13), (1e-3, 15, 16), (1e-1, None, None),
    ]  # fmt: skip
    assert found.largest_ratio == pytest.approx(10.0)


def test_no_single_step_hides_between_those_that_are_shown():
    free, apart = (np.repeat(one, 10, axis=-2) for one in errors(0, 20))
    forced = np.full_like(free, 1e-15)
    forced[1233, 7] = 1e-13
    found = judge_errors(ENVELOPE, Tolerance(1e-12), forced, free, apart)
    assert 1234 not in found.curve_steps
    assert max(found.per_step_curves[-1].performance) == found.largest_per_step == 1e-13


def test_every_field_of_an_envelope_is_documented():
    free, apart = errors(0, 40)
    found = judge_errors(ENVELOPE, Tolerance(1e-12), free, free, apart)
    assert undocumented("verify", encode(found)) == []


# ---- contracts ----


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"slack": 0.5}, "a finite slack of at least 1"),
        ({"slack": np.inf}, "a finite slack of at least 1"),
        ({"nudged": ()}, "a field to nudge"),
        ({"copies": 0}, "at least one copy"),
        ({"reason": ""}, "needs a reason"),
    ],
)
def test_an_envelope_that_would_let_everything_pass_is_refused(change, said):
    with pytest.raises(UsageError, match=said):
        Envelope(**{"field": "state.x", "nudged": ("x",), "slack": 2.0, "reason": "rounding", **change})


@pytest.mark.parametrize("field", ["state.y", "obs"])
def test_an_envelope_is_of_a_state_field_that_is_compared(field):
    fields = tuple(Field(name) for name in ("obs", "reward", "terminated", "truncated", "state.x"))
    with pytest.raises(UsageError, match=f"envelope is of '{field}'"):
        Contract(fields, envelope=Envelope(field, ("x",), 2.0, "rounding"))
