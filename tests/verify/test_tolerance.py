"""What an element may be off by depends on that element alone, and every kind of number is compared as what it is."""

import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.verify.compare import judge
from overclock.verify.contract import Contract, Field
from overclock.verify.property.compare import errors_of
from overclock.verify.sides.subject import Observed
from overclock.verify.tolerance import Tolerance, compare_values

RELATIVE = Tolerance(relative=1e-6)
INF, NAN = np.inf, np.nan


def wrong(tolerance, reference, performance):
    return bool(compare_values(np.array([reference]), np.array([performance]), tolerance).wrong[0])


def test_a_large_element_does_not_excuse_a_small_one():
    assert wrong(RELATIVE, [1.7e7, 1.0], [1.7e7, 0.0])
    assert wrong(RELATIVE, [1.7e7, 1.0], [1.7e7, 1.00001])
    assert not wrong(RELATIVE, [1.7e7, 1.0], [1.7e7 + 10, 1.0000005])


def test_an_absolute_part_is_one_number_per_element():
    each = Tolerance((1.0, 1e-6), 0.0)
    assert not wrong(each, [5.0, 5.0], [5.9, 5.0])
    assert wrong(each, [5.0, 5.0], [5.0, 5.9])
    assert wrong(each, [[5.0], [5.0]], [[5.0], [5.9]])
    with pytest.raises(UsageError, match="2 values for a field of 3 elements"):
        wrong(each, [1.0, 2.0, 3.0], [1.0, 2.0, 3.0])


def test_whole_numbers_are_equal_and_others_are_rounded():
    whole = Tolerance(1e-3, 1e-3, whole=True)
    assert wrong(whole, 3.0, 3.0001)
    assert not wrong(whole, 3.5, 3.5001)
    assert wrong(whole, 2.0**24 - 1, 2.0**24)
    assert not wrong(whole, 2.0**24, 2.0**24 + 2)  # here float32 begins to leave numbers out
    first = Tolerance(1e-3, 1e-3, whole=(True, False))
    assert wrong(first, [3.0, 3.0], [3.0001, 3.0])
    assert not wrong(first, [3.0, 3.0], [3.0, 3.0001])


@pytest.mark.parametrize("value", [INF, -INF, NAN])
def test_what_is_not_finite_is_equal_to_itself_in_the_same_place_only(value):
    loose = Tolerance(1e300, 1e300)
    assert not wrong(loose, [value, 1.0], [value, 1.0])
    assert wrong(loose, [value, 1.0], [1.0, value])
    assert wrong(loose, [1.0], [value])
    assert wrong(loose, INF, -INF)


def test_a_number_beyond_the_range_of_float32_may_be_infinite_there():
    single = np.array([INF, -INF], np.float32)
    reference = np.array([1e300, 1e300])
    assert compare_values(reference, single, RELATIVE).wrong.tolist() == [False, True]
    assert compare_values(reference, single).wrong.tolist() == [True, True]  # equal means equal
    assert compare_values(np.array([1e30]), single[:1], RELATIVE).wrong.tolist() == [True]
    assert compare_values(reference, single.astype(np.float64), RELATIVE).wrong.tolist() == [True, True]


@pytest.mark.parametrize(
    ("reference", "performance"),
    [
        (np.array([0], np.uint8), np.array([255], np.uint8)),
        (np.array([2**63], np.uint64), np.array([-(2**63)], np.int64)),
        (np.array([2**53 + 1]), np.array([2**53])),
        (np.array([True]), np.array([1])),
        (np.array([1]), np.array([1.0])),
    ],
)
def test_whole_numbers_and_flags_have_no_relative_part(reference, performance):
    assert compare_values(reference, performance, Tolerance(0.0, 1.0)).wrong.tolist() == [True]


def test_zeros_of_either_sign_are_equal_and_denormals_are_numbers():
    assert not wrong(Tolerance(), 0.0, -0.0)
    assert wrong(Tolerance(), 5e-324, 0.0)
    assert wrong(RELATIVE, 1e-310, 0.0)


def test_the_error_shown_is_that_of_the_element_furthest_beyond_what_is_allowed():
    field = Field("state.x", per_step=1e-6, per_step_relative=1e-3, free_running=1.0, reason="rounding")
    outputs = (Field("obs"), Field("reward"), Field("terminated"), Field("truncated"))
    contract = Contract((*outputs, field))
    sides = [Observed({}, {"x": np.array([[1e6, 1.0]]) + by, "steps": np.zeros(1)}, {}) for by in (0.0, [500.0, 0.1])]
    found = judge(contract, field, field.tolerance("per_step"), *sides)
    assert found is not None
    assert found.errors.tolist() == [500.0]
    assert found.worst(0) == (pytest.approx(0.1), pytest.approx(1.001e-3))
    assert found.shares[0].tolist() == pytest.approx([0.5, 0.1 / 1.001e-3])


def test_functions_that_are_checked_alone_are_compared_element_by_element():
    expected, got = np.array([[1e7, 1.0], [1e7, 1.0]]), np.array([[1e7 + 1, 1.0], [1e7, 0.9]])
    _, found = errors_of(expected, got, (1e-6, 1e-6), 1e-6)
    assert found.tolist() == [False, True]


@pytest.mark.parametrize("value", [(1.0, INF), (NAN,), (-1.0, 0.0)])
def test_every_number_of_a_tolerance_is_finite_and_not_negative(value):
    with pytest.raises(UsageError, match="finite number"):
        Field("obs", per_step=value, reason="a test")
    with pytest.raises(UsageError, match="needs a reason"):
        Field("obs", per_step_relative=1e-6)
