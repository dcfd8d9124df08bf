"""Whole-episode comparison: equal twins pass, every planted mistake is found and placed."""

import time
from pathlib import Path

import numpy as np
import pytest

from overclock.envs.cartpole.render import balance
from overclock.envs.cartpole.twin import twin
from overclock.errors import UsageError
from overclock.verify.actions import controlled, uniform
from overclock.verify.contract import Contract, Field, Twin, difference
from overclock.verify.process import CouldNotVerifyError
from overclock.verify.rollout import compare_rollouts
from overclock.verify.subject import Observed, SubjectSpec

SUBJECTS = str(Path(__file__).parent)

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
    result = run_counting(fault)
    assert result.fields["obs"].first_divergence is not None
    assert result.fields["obs"].largest_error == np.inf


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
