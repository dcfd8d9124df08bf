"""Observations and actions of several parts: one array, in an order that is said once."""

import collections

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="needs gymnasium")

from gymnasium import spaces

from overclock.errors import UsageError
from overclock.recording.observations import flat_space, flatten, parts, unflatten

NESTED = spaces.Dict(
    collections.OrderedDict(
        where=spaces.Box(-1.0, 1.0, (2, 2), np.float32),
        hand=spaces.Tuple((spaces.Discrete(4), spaces.MultiBinary(2))),
        many=spaces.MultiDiscrete([3, 5]),
    )
)
VALUE = {
    "many": np.array([2, 4]),
    "hand": (3, np.array([1, 0], np.int8)),
    "where": np.array([[0.5, -0.5], [1.0, 0.0]], np.float32),
}


def test_parts_follow_the_order_of_the_space_not_of_the_value():
    assert [path for path, _ in parts(NESTED)] == [("where",), ("hand", 0), ("hand", 1), ("many",)]
    assert flatten(NESTED, VALUE).tolist() == [0.5, -0.5, 1.0, 0.0, 3.0, 1.0, 0.0, 2.0, 4.0]


def test_a_plain_dict_is_sorted_as_gymnasium_sorts_it():
    space = spaces.Dict({"b": spaces.Discrete(2), "a": spaces.Discrete(3)})
    assert flatten(space, {"b": 1, "a": 2}).tolist() == [2, 1]


@pytest.mark.parametrize(
    ("space", "value", "dtype", "shape"),
    [
        (spaces.Discrete(3), 2, "int64", ()),
        (spaces.Discrete(3), np.int32(2), "int64", ()),
        (spaces.Tuple((spaces.Discrete(32), spaces.Discrete(11), spaces.Discrete(2))), (20, 10, True), "int64", (3,)),
        (spaces.MultiBinary(3), np.array([1, 0, 1], np.int8), "int8", (3,)),
        (spaces.MultiDiscrete([2, 3], np.int32), np.array([1, 2]), "int32", (2,)),
        (spaces.Box(0, 255, (2, 2), np.uint8), np.ones((2, 2), np.uint8), "uint8", (2, 2)),
        (spaces.Tuple((spaces.Box(0, 1, (2,)), spaces.Box(0, 1, (1,)))), (np.ones(2), np.zeros(1)), "float32", (3,)),
        (spaces.Tuple((spaces.Box(0, 1, (2,)), spaces.Discrete(2))), (np.ones(2, np.float32), 1), "float64", (3,)),
    ],
)  # fmt: skip
def test_shape_and_dtype_are_the_space_s(space, value, dtype, shape):
    flat, described = flatten(space, value), flat_space(space)
    assert (str(flat.dtype), flat.shape) == (dtype, shape)
    assert (str(described.dtype), described.shape) == (dtype, shape)


def test_bounds_lie_in_the_same_order():
    flat = flat_space(NESTED)
    assert flat.low.tolist() == [-1.0] * 4 + [0.0] * 5
    assert flat.high.tolist() == [1.0] * 4 + [3.0, 1.0, 1.0, 2.0, 4.0]
    assert flat_space(spaces.Discrete(7)).n == 7
    shifted = flat_space(spaces.Discrete(7, start=2))
    assert (shifted.n, int(shifted.low), int(shifted.high)) == (0, 2, 8)


@pytest.mark.parametrize("space", [NESTED, spaces.Discrete(5), spaces.MultiDiscrete([3, 4]), spaces.Box(0, 1, (2, 3))])
def test_a_flat_value_becomes_what_it_was(space):
    space.seed(0)
    value = space.sample()
    again = unflatten(space, flatten(space, value))
    assert space.contains(again)
    np.testing.assert_array_equal(flatten(space, again), flatten(space, value))


@pytest.mark.parametrize(
    ("space", "value", "says"),
    [
        (spaces.Discrete(3), 0.5, "0.5"),
        (spaces.Tuple((spaces.Discrete(3),)), (), "no part 0"),
        (spaces.MultiDiscrete([2, 2]), np.zeros(3, int), "does not hold"),
        (spaces.Text(4), "abc", "cannot be one array"),
    ],
)  # fmt: skip
def test_what_a_space_does_not_hold_is_refused(space, value, says):
    with pytest.raises(UsageError, match=says):
        flatten(space, value)


def test_a_flat_observation_is_a_copy():
    board = np.zeros(3, np.float32)
    flat = flatten(spaces.Box(0, 1, (3,)), board)
    board += 1
    assert flat.sum() == 0
