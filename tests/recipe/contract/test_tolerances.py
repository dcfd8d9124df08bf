"""How closely floats must agree: rules with reasons in both precisions, and thresholds where rounding decides."""

import dataclasses

import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.recipe.contract.file import Closeness, ContractFile, StateField, load_contract, write_contract
from overclock.recipe.contract.outputs import close_to
from overclock.recipe.contract.thresholds import Limits
from overclock.recipe.contract.tolerances import ACTIONS, MIXED, REWARDS, ROUNDING, SINGLE, Numbers, closeness
from overclock.verify.compare import judge
from overclock.verify.contract import Contract
from overclock.verify.sides.subject import Observed
from overclock.verify.tolerance import EXACT

CALM = Numbers(largest=4.0, largest_reward=1.0, rounded_rewards=False, observations="float32", largest_observation=4.0)
WHOLE = Numbers(None, 1.0, False, "int64", None)
FLOAT, COUNT = StateField("x", "x", "float64"), StateField("n", "n", "int64")


def contracts(numbers: Numbers, *state: StateField) -> dict[str, Contract]:
    return ContractFile(state, precisions=closeness(numbers)).contracts()


def test_whole_numbers_are_exact_in_every_precision():
    assert [one.exact for one in contracts(WHOLE, COUNT).values()] == [True, True]
    fields = {field.name: field for field in contracts(CALM, FLOAT, COUNT)["float32"].fields}
    assert fields["state.n"].per_step == fields["terminated"].per_step == 0.0
    assert fields["state.x"].per_step == pytest.approx(SINGLE * 4.0)


def test_float32_is_compared_over_a_few_steps_only():
    both = contracts(CALM, FLOAT)
    assert [both[one].free_running_steps for one in ("float64", "float32")] == [100, 16]
    assert contracts(WHOLE, COUNT)["float32"].free_running_steps is None


def test_a_reward_that_is_no_float32_may_be_rounded_to_one():
    spacing = float(np.spacing(np.float32(5.0)))
    rounded = dataclasses.replace(CALM, largest_reward=5.0, rounded_rewards=True)
    double = closeness(rounded)["float64"]
    assert double.per_step["reward"] == 2 * spacing
    assert double.reason == f"{ROUNDING}; {REWARDS}"
    assert abs(float(np.float32(-5.1)) - -5.1) < double.per_step["reward"]
    # Without floats in the state nothing else is loose.
    alone = closeness(dataclasses.replace(WHOLE, largest_reward=5.0, rounded_rewards=True))["float64"]
    assert (alone.per_step, alone.reason) == ({"reward": 2 * spacing}, REWARDS)
    assert closeness(CALM)["float64"].per_step["reward"] < 1e-11


def test_observations_that_are_no_whole_numbers_are_rounded_in_float32():
    shown = contracts(dataclasses.replace(WHOLE, observations="float32", largest_observation=0.5), COUNT)
    tolerances = {name: {f.name: f.per_step for f in one.fields}["obs"] for name, one in shown.items()}
    assert tolerances == {"float64": 0.0, "float32": SINGLE}


def test_a_reference_that_rounds_actions_is_as_far_from_itself():
    seen = {"state": 1.2e-8, "obs": 1.2e-7, "reward": 2.6e-10}
    double = closeness(dataclasses.replace(CALM, spread=seen))["float64"]
    assert double.per_step["state"] == 4 * 1.2e-8
    assert ACTIONS in double.reason
    assert double.free_running["reward"] >= double.free_running["state"] / 4.0  # what is paid strays with the state
    assert closeness(dataclasses.replace(CALM, mixed=True))["float64"].reason == MIXED


LIMITS = Limits({"x": (-2.4, 2.4), "pair[1]": (0.5,)}, 1e-5, "rounding")
PAIR = StateField("pair", "pair", "float64", (2,))


def limited(limits=LIMITS):
    close = Closeness({"state": 1e-5}, {"state": 1e-4}, "single", 16, limits)
    return ContractFile((FLOAT, PAIR, COUNT), precisions={"float64": Closeness(), "float32": close})


def test_thresholds_are_written_and_read_back(tmp_path):
    write_contract(limited(), tmp_path)
    assert load_contract(tmp_path / "contract.toml") == limited()


def test_a_flag_is_excused_next_to_a_threshold_and_nowhere_else():
    contract = limited().contracts()["float32"]
    x, pair = np.array([2.400001, 2.39, -2.4, 0.0]), np.array([[0, 0], [0, 0], [0, 0], [0, 0.500001]])
    state = {"x": x, "pair": pair, "steps": np.zeros(4)}
    ended, reward = np.array([True, True, True, True]), np.array([-5.0, -5.0, -5.0, -5.0])
    seen = Observed({"terminated": ended, "reward": reward}, state, {})
    other = Observed({"terminated": ~ended, "reward": reward + 5.0}, state, {})
    fields = {field.name: field for field in contract.fields}
    for name in ("terminated", "reward"):
        found = judge(contract, fields[name], EXACT, seen, other)
        assert found is not None
        assert (found.excused.tolist(), found.wrong.tolist()) == (
            [True, False, True, True],
            [False, True, False, False],
        )
    exact = limited().contracts()["float64"]
    found = judge(exact, fields["terminated"], EXACT, seen, other)
    assert found is not None
    assert found.wrong.all()


def test_level_1_excuses_the_same():
    outputs = {one.name: one for one in close_to(limited(), "reward", flags=("terminated",))["float32"]}
    after = {
        "x": np.array([2.400001, 2.39]),
        "pair": np.zeros((2, 2)),
        "terminated": np.zeros(2),
        "reward": np.zeros(2),
    }
    for name in ("terminated", "reward"):
        assert outputs[name].near_limit({}, after).tolist() == [True, False]
    assert outputs["x"].distance is None


@pytest.mark.parametrize(
    ("at", "says"),
    [({"y": (1.0,)}, "'y', which is no float"), ({"n": (1.0,)}, "'n', which is no float"), ({"x": ()}, "x = "),
     ({"x": (np.inf,)}, "x = "), ({"x y": (1.0,)}, "x y")],
)  # fmt: skip
def test_limits_that_say_nothing_are_refused(at, says):
    with pytest.raises(UsageError, match=says):
        limited(Limits(at, 1e-5, "rounding")).contracts()


def test_limits_need_a_reason():
    with pytest.raises(UsageError, match="reason"):
        Limits({"x": (1.0,)}, 1e-5, "")
