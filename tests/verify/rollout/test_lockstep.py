"""Whole-episode comparison: equal twins pass, every planted mistake is found and placed."""

import dataclasses
import time
from pathlib import Path

import numpy as np
import pytest
from verify.ticker import Here, contract, ticking

from overclock.envs.cartpole.render import balance
from overclock.envs.cartpole.twin import twin
from overclock.errors import UsageError
from overclock.verify.contract import Contract, Field, Twin
from overclock.verify.rollout import lockstep as rollout
from overclock.verify.rollout.actions import controlled, random_legal, uniform
from overclock.verify.rollout.lockstep import compare_rollouts
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.sides.subject import Observed, SubjectSpec
from overclock.verify.tolerance import difference

SUBJECTS = str(Path(__file__).parents[1])

pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")


@pytest.mark.parametrize("mode", ["per_step", "free_running"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_cartpole_equals_gymnasium(mode, precision):
    result = compare_rollouts(twin(), 50, mode, precision, "uniform", uniform)
    assert result.passed, result.first_divergence
    assert result.episodes == 50
    assert result.terminated == 50
    assert result.fields["terminated"].compared == result.steps
    assert result.fields["obs"].compared == result.steps + 50  # resets are compared too


def test_controlled_play_reaches_the_time_limit_and_stays_equal():
    result = compare_rollouts(twin(), 8, "per_step", "float64", "controlled", controlled(balance), num_lanes=8)
    assert result.passed, result.first_divergence
    assert result.truncated > 0


@pytest.mark.parametrize(
    ("change", "mode", "field"),
    [
        ("angle-6-degrees", "per_step", "terminated"),
        ("gravity", "free_running", "state.x_dot"),
        ("polemass-plus", "per_step", "state.x_dot"),
        ("ignores-the-draw", "free_running", "state.x"),
    ],
)
def test_a_planted_mistake_is_found_in_its_field(change, mode, field):
    result = compare_rollouts(twin().planted(change), 100, mode, "float64", "uniform", uniform)
    assert not result.passed
    assert field in {name for name, found in result.fields.items() if found.first_divergence is not None}
    assert result.first_divergence is not None


def test_only_long_play_sees_a_wrong_time_limit():
    wrong = twin().planted("late-truncation")
    assert compare_rollouts(wrong, 20, "per_step", "float64", "uniform", uniform).passed
    result = compare_rollouts(wrong, 8, "per_step", "float64", "controlled", controlled(balance), num_lanes=8)
    assert result.first_divergence is not None
    assert (result.first_divergence.field, result.first_divergence.step) == ("truncated", 500)


COUNTING = Contract(fields=(Field("obs"), Field("reward"), Field("terminated"), Field("truncated")))


def counting(fault: str = "", **options: str) -> Twin:
    def side(**chosen: str) -> SubjectSpec:
        return SubjectSpec("subjects:CountingSubject", tuple(chosen.items()), (("PYTHONPATH", SUBJECTS),))

    return Twin("counting", side(fault=fault, **options), side(), {"float64": COUNTING})


def run_counting(fault: str = "", timeout: float = 60.0, **options: str):
    return compare_rollouts(
        counting(fault, **options), 4, "free_running", "float64", "uniform", uniform, num_lanes=2, timeout=timeout
    )


def test_a_subject_may_print_without_disturbing_the_comparison():
    assert run_counting("print").passed


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("crash", "could not verify: the reference: its process ended during `step`"),
        ("raise", "could not verify: the reference: `step` raised ArithmeticError: the reference lost its way"),
    ],
)
def test_a_broken_reference_gives_one_clear_sentence(fault, sentence):
    with pytest.raises(CouldNotVerifyError, match=sentence) as caught:
        run_counting(fault)
    assert caught.value.exit_code == 4


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("nonsense", "`step` gave an answer that cannot be read"),
        ("no answer", "`step` gave an answer that cannot be read"),
        ("huge", "`step` announced an answer of 2,147,483,648 bytes"),
        ("trickle", "`step` gave no answer within 8 s"),
        ("list", "`step` did not answer with named arrays"),
        ("parts", "`step` did not answer with named arrays"),
    ],
)
def test_a_side_that_breaks_the_protocol_is_named(fault, sentence):
    with pytest.raises(CouldNotVerifyError, match=f"could not verify: the reference: {sentence}") as caught:
        run_counting(fault, timeout=8.0)
    assert caught.value.side == "the reference"


def test_a_hanging_reference_is_stopped_with_everything_it_started(tmp_path):
    pid_file = tmp_path / "pid"
    with pytest.raises(CouldNotVerifyError, match="gave no answer within"):
        run_counting("hang", timeout=8.0, pid_file=str(pid_file))
    child = int(pid_file.read_text())
    status = Path(f"/proc/{child}/status")
    for _ in range(100):  # a killed process is listed until the kernel got round to it
        # The child is gone, or a zombie that nobody has reaped yet; it does not run.
        if not status.exists() or "State:\tZ" in status.read_text():
            return
        time.sleep(0.05)
    pytest.fail("the child of the stopped reference still runs")


@pytest.mark.parametrize("fault", ["nan", "shape"])
def test_nan_and_wrong_shapes_are_differences_not_wildcards(fault):
    twin = counting()
    wrong = dataclasses.replace(twin, performance=counting(fault).reference)
    result = compare_rollouts(wrong, 4, "free_running", "float64", "uniform", uniform, num_lanes=2)
    assert result.fields["obs"].first_divergence is not None
    assert result.fields["obs"].largest_error == np.inf


@pytest.mark.parametrize(
    ("fault", "what"), [("nan", "obs is NaN at step 3"), ("shape", r"obs changed from shape \(\) to shape \(2,\)")]
)
def test_a_reference_that_turns_unsound_later_is_no_difference(fault, what):
    with pytest.raises(CouldNotVerifyError, match=f"could not verify: the reference is not sound: {what}") as caught:
        run_counting(fault)
    assert caught.value.side == "the reference"


def test_difference_is_strict():
    nan, inf = np.nan, np.inf
    a = np.array([[0.0], [nan], [inf], [1.0], [nan]])
    b = np.array([[0.0], [nan], [inf], [1.5], [0.0]])
    assert difference(a, b).tolist() == [0.0, 0.0, 0.0, 0.5, inf]


def test_whole_numbers_that_float64_cannot_hold_are_told_apart():
    large = np.array([2**60, 2**60], np.int64)
    assert difference(large, large + np.array([0, 1])).tolist() == [0.0, 1.0]


def test_a_state_field_that_a_side_does_not_show_is_named():
    with pytest.raises(CouldNotVerifyError, match=r"a side does not show 'state\.speed'; its state has steps"):
        Field("state.speed").of(Observed({}, {"steps": np.zeros(1)}, {}))


def test_a_second_bug_does_not_replace_the_first():
    both = twin().planted("late-truncation").planted("ignores-the-draw")
    result = compare_rollouts(both, 4, "per_step", "float64", "controlled", controlled(balance), num_lanes=4)
    assert {name for name, field in result.fields.items() if field.first_divergence} >= {"state.x", "truncated"}


def test_a_tolerance_needs_a_reason():
    with pytest.raises(UsageError, match="needs a reason"):
        Field("obs", per_step=1e-3)


# ---- what must not be overlooked ----


@pytest.fixture
def here(monkeypatch):
    """Compares tickers in this process."""
    monkeypatch.setattr(rollout, "ProcessSubject", Here)
    monkeypatch.setattr(Here, "made", [])

    def run(reference, performance, agreed=None, mode="free_running", seed=0, episodes=4):
        twin = ticking(reference, performance, agreed)
        return compare_rollouts(twin, episodes, mode, "float64", "random", random_legal, seed, num_lanes=2)

    return run


def test_equal_tickers_pass(here):
    result = here({}, {})
    assert result.passed
    assert (result.episodes, result.cut, result.steps) == (4, 0, 20)
    assert "action_mask" not in result.fields


@pytest.mark.parametrize(
    ("reference", "performance"), [({"mask": [1, 0]}, {"mask": [1, 1]}), ({"mask": [1, 1]}, {}), ({}, {"mask": [1, 1]})]
)
def test_action_masks_that_differ_are_a_difference(here, reference, performance):
    result = here(reference, performance)
    assert not result.passed
    assert (result.first_divergence.field, result.first_divergence.step) == ("action_mask", 0)
    assert here(reference, reference).fields.get("action_mask", result.fields["action_mask"]).compared == 24


def test_the_performance_side_cannot_hide_an_action_behind_a_mask(here):
    result = here({}, {"off": 1.0, "mask": [1, 0]})
    assert result.fields["obs"].first_divergence is not None
    declared = contract(performance_masks="the reference has no masks")
    assert here({}, {"mask": [1, 0]}, declared).passed
    assert set(Here.made[-1].actions) == {0}


def test_a_field_that_was_never_compared_gives_no_verdict(here):
    late = contract(free_running_steps=100, free_running_reason="unstable")
    assert here({}, {}, late).passed
    with pytest.raises(CouldNotVerifyError, match="'reward' was never compared in 20 steps"):
        here({"first": 1000}, {"first": 1000}, late)


def test_two_sides_that_are_both_nan_are_not_equal(here):
    with pytest.raises(CouldNotVerifyError, match="the reference is not sound: obs is NaN at step 3"):
        here({"nan_at": 3}, {"nan_at": 3})


@pytest.mark.parametrize("mode", ["per_step", "free_running"])
def test_episodes_without_an_end_are_cut_on_both_sides_and_counted(here, mode):
    endless = {"length": 10**9}
    result = here(endless, endless, contract(step_limit=7), mode)
    assert result.passed
    assert (result.episodes, result.cut, result.steps, result.terminated) == (4, 4, 28, 0)
    assert [made.count.max() for made in Here.made] == [0, 0]  # reset after the cut
    assert here({}, {}, contract(step_limit=7)).cut == 0
    assert not here(endless, {}, contract(step_limit=7)).passed


def test_many_flags_next_to_a_threshold_are_a_difference(here):
    near = contract(distance_to_limit=lambda state: np.zeros(len(state["steps"])), limit_reason="rounding")
    result = here({}, {"early": 1}, near)
    assert (result.excused_flags, result.excusable_flags) == (4, 20)
    assert result.first_divergence is None
    assert result.too_many_excused
    assert not result.passed
    assert here({}, {"early": 1}, near, episodes=1).passed  # a single one, in five steps


def test_other_seeds_play_other_episodes(here):
    def played(seed):
        here({}, {}, seed=seed, episodes=40)
        reference = Here.made[-2].subject
        return set(reference.seeds), tuple(reference.actions)

    runs = [played(seed) for seed in (0, 1, (0, 1), (0, 2), (1, 1))]
    for number, (seeds, actions) in enumerate(runs):
        assert len(seeds) >= 40
        for others, other_actions in runs[:number]:
            assert not seeds & others
            assert actions != other_actions
    assert played((0, 2)) == runs[3]


def test_a_draw_that_feeds_a_field_must_be_drawn(here):
    fed = contract((Field("state.steps", draws=("slip",)),))
    assert here({"drawn": ["slip"]}, {}, fed).passed
    with pytest.raises(
        CouldNotVerifyError, match=r"the draw 'slip' feeds 'state\.steps', but the reference reports wind"
    ):
        here({"drawn": ["wind"]}, {}, fed)


def test_cartpoles_state_comes_from_its_draws():
    for agreed in twin().contracts.values():
        fed = {field.name: field.draws for field in agreed.fields if field.draws}
        assert fed == {f"state.{name}": (name,) for name in ("x", "x_dot", "theta", "theta_dot")}


def test_draws_that_the_rules_do_not_take_are_not_lost_unnoticed():
    worlds = pytest.importorskip("verify.worlds", reason="its references are Gymnasium's")
    with pytest.raises(
        CouldNotVerifyError, match="the performance side: `step` raised ValueError: the reference draws slip"
    ):
        compare_rollouts(worlds.lake(slippery=True), 2, "per_step", "float32", "uniform", uniform, num_lanes=2)
