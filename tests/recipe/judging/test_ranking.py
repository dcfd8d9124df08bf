"""Which of several candidates is kept, and what is said about it."""

import pytest

from overclock.recipe.judging.ranking import Placing, best, undecided


def placing(name, passed, tests=10, speed=0.0):
    return Placing(name, passed, 4, tests, {"32": speed, "128": 2 * speed} if speed else {})


@pytest.mark.parametrize(
    ("placings", "index", "why"),
    [
        ([placing("a", 2, 99), placing("b", 3, 1), placing("c", 2, 99)], 1, "passes 3 of 4 levels, and no other"),
        ([placing("a", 3, 7), placing("b", 3, 8), placing("c", 2, 99)], 1, "pass 3 of 4 levels it passes the most"),
        ([placing("a", 4, 9, 50), placing("b", 4, 8, 99), placing("c", 4, 9, 51)], 2, "it is the fastest"),
        ([placing("a", 4, 9), placing("b", 4, 9, 5)], 1, "it is the fastest"),  # the other could not be timed
        ([placing("a", 1, 9), placing("b", 1, 9)], 0, "It is the first of those that pass 1 of 4 levels"),
        ([placing("a", 2), placing("a", 2)], 0, "All are the same, and pass 2 of 4"),
        ([placing("a", 1), placing("b", 2), placing("b", 2)], 1, "no other as many"),
    ],
)
def test_the_furthest_is_kept_then_the_one_with_more_tests_then_the_faster(placings, index, why):
    found, said = best(placings)
    assert found == index
    assert why in said


def test_only_speed_decides_between_equals_that_hold():
    assert undecided([placing("a", 4), placing("b", 4), placing("c", 4, 9)]) == {"a", "b"}
    assert undecided([placing("a", 3), placing("b", 3)]) == set()  # nobody asks how fast a wrong one is
    assert undecided([placing("a", 4), placing("a", 4), placing("b", 3)]) == set()
