"""The reference compared with itself: what is not reproducible or not sound is said in one sentence."""

from pathlib import Path

import pytest

from overclock.errors import UsageError
from overclock.verify.contract import OUTPUTS, Contract, Field, Twin
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.sides.selfcheck import check_reference
from overclock.verify.sides.subject import SubjectSpec


def twin(fault: str = "", **environment: str) -> Twin:
    variables = (("PYTHONPATH", str(Path(__file__).parents[2])), *environment.items())
    side = SubjectSpec("verify.subjects_selfcheck:Reference", (("fault", fault),), variables)
    return Twin("counter", side, side, {"float64": Contract(tuple(map(Field, OUTPUTS)))})


def refusal(fault: str, **environment: str) -> str:
    with pytest.raises(CouldNotVerifyError) as caught:
        check_reference(twin(fault, **environment), lanes=4, steps=16, timeout=60.0)
    assert caught.value.exit_code == 4
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_reproducible_reference_passes_and_says_what_was_compared():
    report = check_reference(twin(), lanes=4, steps=16)
    assert report.passed
    assert (report.runs, report.steps, report.episodes, report.set_state) == (3, 64, 8, "restores")
    assert report.fields == ["obs", "reward", "terminated", "truncated", "state.value", "state.steps"]


@pytest.mark.parametrize(
    ("fault", "how"),
    [
        ("clock", "in a second run of the same process"),
        ("unseeded", "in a second run of the same process"),
        ("global", "in a second run of the same process"),
        ("hash", "in another process with other string hashes"),
        ("shared", "in another process"),
    ],
)
def test_a_reference_that_depends_on_more_than_its_seed_is_refused(fault, how):
    sentence = refusal(fault)
    assert sentence.startswith("could not verify: reference diverges from itself at step 3, field obs (seed ")
    assert how in sentence


def test_string_hashes_may_be_pinned_by_the_reference():
    assert check_reference(twin("hash", PYTHONHASHSEED="3"), lanes=4, steps=8).passed


@pytest.mark.parametrize(
    ("fault", "what"),
    [
        ("nan", "obs is NaN at step 3."),
        ("shape", "obs changed from shape () to shape (2,) at step 3."),
        ("dtype", "obs changed from float64 to float32 at step 3."),
        ("forgets", "it does not show reward after a step."),
        ("extra", "bonus turned up at step 3."),
        ("rewardless", "it does not show reward after a step."),
        ("int flags", "terminated is int32, not bool."),
        ("batchless", "reward is not an array with one row per lane after a step."),
    ],
)
def test_a_reference_that_is_not_sound_is_refused(fault, what):
    assert refusal(fault) == f"could not verify: the reference is not sound: {what}"


@pytest.mark.parametrize(("fault", "field"), [("deaf", "obs"), ("hidden", "obs")])
def test_a_state_that_is_not_restored_is_reported(fault, field):
    sentence = refusal(fault)
    assert "set_state does not restore it: a step from the same state with the same action gives" in sentence
    assert f"{field} = " in sentence


def test_setting_a_state_is_optional():
    assert check_reference(twin("fixed"), lanes=4, steps=16).set_state == "not offered"


def test_random_steps_are_compared_with_the_same_draws():
    assert check_reference(twin("random"), lanes=4, steps=16).set_state == "restores"


def test_cartpoles_reference_is_reproducible():
    pytest.importorskip("gymnasium", reason="the reference of CartPole is Gymnasium's")
    from overclock.envs.cartpole.twin import twin as cartpole

    report = check_reference(cartpole())
    assert report.set_state == "restores"
    assert report.episodes > 50


@pytest.mark.parametrize("wrong", [{"lanes": 0}, {"steps": 0}])
def test_nothing_is_proven_by_no_steps(wrong):
    with pytest.raises(UsageError, match="at least 1"):
        check_reference(twin(), **wrong)
