"""The branch distance: how far a condition is from either outcome, measured without running the program."""

import ast

import numpy as np
import pytest

from overclock.verify.reach.distance import measure, measure_length


class Board:
    """Something with a method of one expression, one that does more, and a property."""

    def __init__(self):
        self.cells, self.lines, self.asked = np.array([1, 1, 0, 1]), 7, 0

    def full(self, least):
        """Whether enough cells are filled."""
        return self.cells.sum() >= least

    def count(self):
        self.asked += 1
        return self.asked

    @property
    def changed(self):
        self.asked += 1
        return self.asked


def distances(text, **names):
    found = measure(ast.parse(text, mode="eval").body, {"np": np, **names})
    return None if found is None else (found.to_true, found.to_false)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a < 10", (4.0, 0.0)),
        ("a <= 13", (0.0, 1.0)),
        ("a == 10", (3.0, 0.0)),
        ("a != 13", (1.0, 0.0)),
        ("0 <= a < 10", (4.0, 0.0)),
        ("not a > 20", (0.0, 8.0)),
        ("a > 20 and row", (8.0, 0.0)),
        ("a > 20 or len(row) == 3", (0.0, 1.0)),
        ("a in row", (10.0, 0.0)),
        ("(a, 2) == (10, 2)", (3.0, 0.0)),
        ("row == [1, 2, 4]", (1.0, 0.0)),
        ("all(one > 1 for one in row)", (1.0, 0.0)),
        ("any([one > 5 for one in row])", (3.0, 0.0)),
        ("row", (0.0, 3.0)),
        ("none is None", (0.0, 1.0)),
        ("board.cells.all()", (1.0, 0.0)),
        ("np.all(board.cells[:2])", (0.0, 1.0)),
        ("np.array_equal(board.cells, [1, 1, 1, 0])", (2.0, 0.0)),
        ("board.full(4)", (1.0, 0.0)),
        ("0 < 1 and 3 < nothing[2]", (1.0, 0.0)),
    ],
)
def test_a_condition_has_a_distance_from_both_outcomes(text, expected):
    names = {"a": 13, "row": [1, 2, 3], "none": None, "board": Board(), "nothing": []}
    found = distances(text, **names)
    assert found is not None
    assert found[0] == pytest.approx(expected[0])
    if expected[0] == 0.0 or expected[1]:
        assert found[1] == pytest.approx(expected[1])


@pytest.mark.parametrize("text", ["board.count() > 3", "board.changed > 3", "board > 3", "items.pop() > 1", "next(it)"])
def test_what_may_change_something_is_not_evaluated(text):
    board, items, it = Board(), [1, 2], iter([1])
    assert distances(text, board=board, items=items, it=it) is None
    assert (board.asked, items, list(it)) == (0, [1, 2], [1])


def test_numbers_that_were_compared_are_told():
    found = measure(ast.parse("(a, 2) == (b, 2) and a < 0", mode="eval").body, {"a": 13, "b": 10})
    assert found is not None
    assert found.pairs == [(13.0, 10.0), (13.0, 0.0)]


def test_a_loop_is_as_far_from_its_end_as_it_is_long():
    names = {"row": [1, 2, 3], "it": iter([1])}
    found = measure_length(ast.parse("row", mode="eval").body, names)
    assert found is not None
    assert (found.to_true, found.to_false) == (3.0, 0.0)
    assert measure_length(ast.parse("it", mode="eval").body, names) is None
    assert list(names["it"]) == [1], "an iterator of the program is not used up"
