"""How closely floats must agree: rules with reasons in both precisions, and thresholds where rounding decides."""

import dataclasses

import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.recipe.contract.file import Closeness, ContractFile, StateField, load_contract, write_contract
from overclock.recipe.contract.outputs import close_to
from overclock.recipe.contract.thresholds import Limits
from overclock.recipe.contract.tolerances import ACTIONS, MIXED, REWARDS, SIZES, Numbers, closeness
from overclock.recording.floats import Floats
from overclock.verify.compare import judge
from overclock.verify.contract import Contract
from overclock.verify.sides.subject import Observed
from overclock.verify.tolerance import EXACT, Tolerance, compare_values

CALM = Floats(typical=(1.0,), largest=(4.0,), whole=(False,), strays=(1e-7,))
PAID = Floats(typical=(1.0,), largest=(1.0,), whole=(True,), strays=(0.0,))
KNOWN = Numbers({"state.x": CALM, "obs": CALM, "reward": PAID})
FLOAT, COUNT = StateField("x", "x", "float64"), StateField("n", "n", "int64")


def contracts(numbers: Numbers, *state: StateField) -> dict[str, Contract]:
    return ContractFile(state, precisions=closeness(numbers)).contracts()


def allowed(numbers: Numbers, name: str, precision: str = "float32") -> Tolerance:
    close = closeness(numbers)[precision]
    return close.of(name, name)[0]


def test_whole_numbers_are_exact_in_every_precision():
    assert [one.exact for one in contracts(Numbers({}), COUNT).values()] == [True, True]
    fields = {field.name: field for field in contracts(KNOWN, FLOAT, COUNT)["float32"].fields}
    assert not fields["state.n"].tolerance("per_step")
    assert not fields["terminated"].tolerance("per_step")
    assert fields["state.x"].tolerance("per_step")


def test_floats_that_were_whole_each_time_are_exact_in_both_precisions():
    whole = dataclasses.replace(PAID, largest=(1.6e7,))
    assert [one.exact for one in contracts(Numbers({"state.x": whole, "reward": PAID}), FLOAT).values()] == [True, True]
    for precision in ("float64", "float32"):
        among_others = allowed(Numbers({"state.x": whole, "obs": CALM, "reward": PAID}), "state.x", precision)
        assert compare_values(np.array([1.6e7]), np.array([1.6e7 + 1]), among_others).wrong.all()
        assert not compare_values(
            np.array([0.5]), np.array([0.5 + 1e-8 * (precision == "float32")]), among_others
        ).wrong


def test_a_large_field_does_not_loosen_any_other():
    large = Floats(typical=(1.7e7,), largest=(1.7e7,), whole=(False,), strays=(1.0,))
    for precision in ("float64", "float32"):
        beside = Numbers({"state.x": large, "obs": CALM, "reward": CALM})
        assert allowed(beside, "obs", precision) == allowed(KNOWN, "obs", precision)
        assert allowed(beside, "reward", precision).largest_absolute < 1e-5
        assert compare_values(np.array([1.0]), np.array([0.0]), allowed(beside, "obs", precision)).wrong.all()


def test_the_elements_of_an_array_have_a_number_each():
    mixed = Floats(typical=(1e7, 1.0), largest=(1e7, 1.0), whole=(False, True), strays=(1.0, 0.0))
    found = allowed(Numbers({"obs": mixed}, frozenset(["obs"])), "obs")
    assert isinstance(found.absolute, tuple)
    assert found.absolute[0] > 1.0 > 1e-5 > found.absolute[1]
    assert found.whole == (False, True)
    together = allowed(Numbers({"obs": mixed}), "obs")  # of a list whose length may change
    assert isinstance(together.absolute, float)


def test_an_element_may_be_off_by_what_rounding_moves_it_in_the_reference():
    cancels = dataclasses.replace(CALM, strays=(1e-3,))
    assert allowed(Numbers({"obs": cancels}), "obs").largest_absolute == pytest.approx(8e-3, rel=0.1)
    assert allowed(Numbers({"obs": cancels}), "obs", "float64").largest_absolute < 2e-11
    unknown = dataclasses.replace(CALM, strays=None)
    close = closeness(Numbers({"obs": unknown}))["float32"]
    assert close.per_step["obs"].largest_absolute == pytest.approx(256 * 2**-23 * 4.0, rel=0.1)
    assert SIZES in close.reason


def test_float32_is_compared_over_a_few_steps_only():
    both = contracts(KNOWN, FLOAT)
    assert [both[one].free_running_steps for one in ("float64", "float32")] == [100, 16]
    assert contracts(Numbers({"obs": CALM}), COUNT)["float32"].free_running_steps is None


def test_a_reward_that_is_no_float32_may_be_rounded_to_one():
    rounded = Numbers({"reward": CALM}, rounded_rewards=True)
    double = closeness(rounded)["float64"]
    assert REWARDS in double.reason
    paid = np.array([-5.1])
    assert not compare_values(paid, paid.astype(np.float32).astype(np.float64), double.per_step["reward"]).wrong
    assert compare_values(paid, paid * (1 + 3e-7), double.per_step["reward"]).wrong
    assert closeness(Numbers({"reward": CALM}))["float64"].per_step["reward"].relative < 1e-13


def test_an_observation_that_is_cast_may_be_the_neighbour_in_float64():
    cast = closeness(Numbers({"obs": CALM}, single_observations=True))["float64"].per_step["obs"]
    one = np.array([4.0], np.float32)
    assert not compare_values(one, np.nextafter(one, np.float32(5)), cast).wrong
    assert compare_values(one, one + np.float32(2e-6), cast).wrong


def test_a_reference_that_rounds_actions_is_as_far_from_itself():
    acted = dataclasses.replace(CALM, actions=(1.2e-8,))
    double = closeness(Numbers({"state.x": acted}))["float64"]
    assert double.per_step["x"].largest_absolute == pytest.approx(8 * 1.2e-8, rel=0.1)
    assert ACTIONS in double.reason
    assert MIXED in closeness(dataclasses.replace(KNOWN, mixed=True))["float64"].reason


def test_next_to_a_threshold_is_as_near_as_one_step_moves_the_state():
    close = closeness(dataclasses.replace(KNOWN, limits={"x": (-2.4, 2.4)}))["float32"]
    assert close.limits is not None
    one = close.per_step["x"]
    assert close.limits.margin == pytest.approx(one.largest_absolute + 2.4 * one.relative, rel=0.1)


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
