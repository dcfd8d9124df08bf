"""Contracts refuse what would let differences pass, and one field is judged the same way everywhere."""

import numpy as np
import pytest
from verify.ticker import contract, ticking

from overclock.errors import UsageError
from overclock.verify.compare import judge, steering, too_many_excused
from overclock.verify.contract import MASK, OUTPUTS, Contract, Field, Twin
from overclock.verify.sides.subject import Observed, SubjectSpec
from overclock.verify.tolerance import EXACT, Tolerance, difference


def fields(*names: str) -> tuple[Field, ...]:
    return tuple(map(Field, names))


def zero(state):
    return np.zeros(len(state["steps"]))


# ---- what a contract must say ----


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Contract(()), "does not compare obs, reward, terminated, truncated"),
        (lambda: Contract(fields("obs", "reward", "terminated")), "does not compare truncated"),
        (lambda: Contract(fields(*OUTPUTS, "observation")), "names 'observation', which nothing shows"),
        (lambda: Contract(fields(*OUTPUTS, "obs")), "names 'obs' twice"),
        (lambda: contract(limit_margin=1e-6), "no distance_to_limit"),
        (lambda: contract(distance_to_limit=zero), "needs a reason"),
        (lambda: contract(distance_to_limit=zero, limit_reason="it", limit_margin=np.inf), "must be a finite number"),
        (lambda: contract(limit_fields=("state.open",)), "excuses 'state.open'.* does not compare it"),
        (lambda: contract(free_running_steps=3), "needs a free_running_reason"),
        (lambda: contract(free_running_steps=0, free_running_reason="it"), "free_running_steps must be at least 1"),
        (lambda: contract(step_limit=0), "step_limit must be at least 1"),
        (lambda: Field("truncated", per_step=1.0, reason="it"), "is a flag and has no tolerance"),
    ],
)
def test_a_contract_that_overlooks_something_is_refused(make, sentence):
    with pytest.raises(UsageError, match=sentence):
        make()


@pytest.mark.parametrize("tolerance", [np.nan, np.inf, -1e-9])
@pytest.mark.parametrize("mode", ["per_step", "free_running"])
def test_a_tolerance_is_a_finite_number(tolerance, mode):
    with pytest.raises(UsageError, match="must be a finite number and not negative"):
        Field("obs", reason="it", **{mode: tolerance})


def test_a_field_has_one_tolerance_per_mode():
    field = Field("obs", per_step=1e-3, free_running=1e-1, reason="it")
    assert (field.tolerance("per_step"), field.tolerance("free_running")) == (Tolerance(1e-3), Tolerance(1e-1))


def test_the_strictest_precision_does_not_depend_on_the_order_of_the_contracts():
    side, both = SubjectSpec("a:b"), {"float32": contract(), "float64": contract()}
    assert Twin("t", side, side, both).strictest == "float64"  # pyright: ignore[reportArgumentType]
    assert Twin("t", side, side, {"float32": contract()}).strictest == "float32"
    with pytest.raises(UsageError, match="has no contract"):
        Twin("t", side, side, {})


@pytest.mark.parametrize(("precision", "x64"), [("float64", "1"), ("float32", "0")])
def test_the_performance_side_computes_in_the_precision_asked_for(precision, x64):
    environment = dict(ticking({}, {}).performance_in(precision).environment)
    assert environment == {"JAX_ENABLE_X64": x64, "JAX_PLATFORMS": "cpu"}


# ---- how far apart two arrays are ----


@pytest.mark.parametrize(
    ("reference", "performance"),
    [
        (np.array([1.0]), np.array([True])),
        (np.array([True]), np.array([1], np.int32)),
        (np.array([1.0], np.float32), np.array([1], np.uint8)),
        (np.array([1.0]), np.array([1.0 + 5.0j])),
        (np.array([1.0 + 1.0j]), np.array([1.0 + np.inf * 1j])),
        (np.array([1.0]), np.array([None])),
        (np.array([1.0]), np.array([[1.0]])),
    ],
)
def test_another_kind_or_shape_is_as_far_as_can_be(reference, performance):
    assert difference(reference, performance).tolist() == [np.inf]


@pytest.mark.parametrize(
    ("reference", "performance"),
    [
        (np.array([0.5]), np.array([0.5], np.float32)),
        (np.array([200]), np.array([200], np.uint8)),
        (np.array([7], np.int64), np.array([7], np.int32)),
        (np.array([True]), np.array([np.bool_(True)])),
        (np.array([1.0 + 2.0j]), np.array([1.0 + 2.0j], np.complex64)),
    ],
)
def test_the_width_of_a_number_is_not_its_kind(reference, performance):
    assert difference(reference, performance).tolist() == [0.0]


def test_the_imaginary_part_counts():
    assert difference(np.array([1.0 + 2.0j]), np.array([1.0 + 5.0j])).tolist() == [3.0]


# ---- flags next to a threshold ----

NEAR = contract(fields("state.open"), distance_to_limit=zero, limit_reason="rounding")


def seen(lanes=2, **outputs):
    return Observed(outputs, {"steps": np.zeros(lanes, np.int32), "open": np.ones(lanes, np.bool_)}, {})


def judged(agreed, name, ref, perf):
    field = next(field for field in agreed.compared if field.name == name)
    return judge(agreed, field, EXACT, ref, perf)


def test_only_the_named_flags_are_excused():
    up, down = np.ones(2, np.bool_), np.zeros(2, np.bool_)
    ref, perf = (seen(terminated=flag, truncated=flag, reward=flag * 1.0) for flag in (up, down))
    perf.state["open"] = down
    found = {name: judged(NEAR, name, ref, perf) for name in ("terminated", "truncated", "reward", "state.open")}
    assert {name: one.wrong.all() for name, one in found.items() if one} == {
        "terminated": False, "truncated": True, "reward": True, "state.open": True,
    }  # fmt: skip
    assert found["terminated"] is not None
    assert found["terminated"].excused.all()


@pytest.mark.parametrize("flag", [np.ones(2), np.ones((2, 1), np.bool_), np.bool_(True), np.ones(3, np.bool_), None])
def test_what_is_no_flag_is_not_excused(flag):
    ref = seen(terminated=np.zeros(2, np.bool_))
    found = judged(NEAR, "terminated", ref, seen() if flag is None else seen(terminated=np.asarray(flag)))
    assert found is not None
    assert found.wrong.all()
    assert len(found.performance) == 2


def test_rounding_explains_few_excuses_only():
    assert not too_many_excused(0, 0)
    assert not too_many_excused(1, 10)  # a short comparison may meet a threshold by chance
    assert too_many_excused(2, 10)
    assert not too_many_excused(10, 1000)
    assert too_many_excused(11, 1000)


# ---- action masks ----

SOME, OTHERS = (np.array([[True, False]] * 2), np.array([[True, True]] * 2))
DECLARED = contract(performance_masks="the reference has no masks")


@pytest.mark.parametrize(
    ("agreed", "reference", "performance", "wrong"),
    [
        (contract(), SOME, SOME, False),
        (contract(), SOME, OTHERS, True),
        (contract(), SOME, None, True),
        (contract(), None, SOME, True),
        (contract(), None, None, None),
        (DECLARED, None, SOME, None),
        (DECLARED, SOME, OTHERS, True),
    ],
)
def test_masks_are_compared_without_being_named(agreed, reference, performance, wrong):
    ref, perf = (seen() if mask is None else seen(action_mask=mask) for mask in (reference, performance))
    found = judged(agreed, "action_mask", ref, perf)
    assert (None if found is None else found.wrong.all()) == wrong


@pytest.mark.parametrize(
    ("agreed", "reference", "performance", "steers"),
    [
        (contract(), SOME, OTHERS, SOME),
        (contract(), None, OTHERS, None),
        (DECLARED, None, OTHERS, OTHERS),
        (DECLARED, SOME, OTHERS, SOME),
    ],
)
def test_who_is_judged_does_not_choose_the_actions(agreed, reference, performance, steers):
    ref = seen() if reference is None else seen(action_mask=reference)
    shown = steering(agreed, ref, seen(action_mask=performance)).outputs.get(MASK.name)
    assert shown is steers


def test_numbers_of_info_may_stray_as_the_field_that_they_come_from():
    close = Field("state.x", (1e-6, 2e-6), 1.0, "it rounds", per_step_relative=1e-7)
    assert contract((close,), in_info={"far": "state.x"}).strays["info.far"] == {"absolute": 2e-6, "relative": 1e-7}
    with pytest.raises(UsageError, match="which it does not compare"):
        contract((close,), in_info={"far": "state.y"})
