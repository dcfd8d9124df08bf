"""`comparisons`: what a reference's source compares, and with which constants."""

import math
from pathlib import Path

import numpy as np

from overclock.verify.reach import comparisons as module_of_comparisons
from overclock.verify.reach.comparisons import comparisons, constants_of

LIMIT = 7
TURN = 12 * 2 * math.pi / 360


class Base:
    def over(self) -> bool:
        return self.lives <= 0

    def __init__(self) -> None:
        self.lives, self.width, self.edges = 3, 10, np.array([0.5, 1.5])
        self.speed = 0.25

    @property
    def moving(self) -> bool:
        return self.speed > 0


class Game(Base):
    top = 2**0 + 20

    def step(self, x: float) -> float:
        self.lives -= 1
        kept = x if -LIMIT < x <= self.width else 0.0
        if self.lives in (1, 2) or x > TURN or kept == math.sqrt(4.0) or x is None:
            return np.clip(x, *self.edges) + min(x, self.top)
        fast = x
        return float(fast >= self.speed) + (self.lives % 5) + np.clip(x, -1, 1)


def texts(found: list) -> dict[str, tuple]:
    return {one.text: one.constants for one in found}


def test_constants_are_literals_names_of_the_module_and_what_only_a_constructor_assigns():
    found = texts(comparisons([Game], instance=Game()))
    assert found["-LIMIT < x"] == (-7,)
    assert found["x <= self.width"] == (10,)
    assert found["x > TURN"] == (TURN,)
    assert found["kept == math.sqrt(4.0)"] == (2.0,)
    assert found["self.lives in (1, 2)"] == ((1, 2),)
    assert found["min(x, self.top)"] == (21,)
    assert found["fast >= self.speed"] == (0.25,)
    assert found["self.lives % 5"] == (5,)
    assert found["clip(x, -1, 1)"] == (-1, 1)
    assert found["x is None"] == ()


class Ranged:
    def __init__(self) -> None:
        self.heights, self.left = (0.5, 2.0), 3

    def step(self, z: float, narrow: bool) -> bool:
        low, high = self.heights
        steep = -1.5
        edge = 1.0
        if narrow:
            edge = 2.0
        left = self.left
        self.left -= 1
        return low < z < high or z < steep or z < edge or z < left


def test_names_that_a_function_gives_one_constant_are_that_constant():
    found = texts(comparisons([Ranged], instance=Ranged()))
    assert (found["low < z"], found["z < high"], found["z < steep"]) == ((0.5,), (2.0,), (-1.5,))
    assert found["z < edge"] == found["z < left"] == ()  # given two, or what changes in play


def test_what_is_changed_in_play_is_no_constant():
    found = comparisons([Game], instance=Game())
    (lives,) = [one for one in found if one.text == "self.lives <= 0"]
    assert [operand.value for operand in lives.operands] == [None, 0]


def test_bases_and_properties_are_searched_and_the_place_is_that_of_the_file():
    (moving,) = [one for one in comparisons([Game]) if one.text == "self.speed > 0"]
    lines = Path(__file__).read_text().splitlines()
    assert (moving.file, moving.function) == (__file__, "Base.moving")
    assert "self.speed > 0" in lines[moving.line - 1]
    assert lines[moving.line - 1][moving.column :].startswith("self.speed")


def test_a_file_and_a_text_are_read_without_being_run():
    text = "SIDE = 8\nclass A:\n    wide = 4\n    def step(self, x):\n        return x < SIDE or x == boom()\n"
    assert texts(comparisons([text])) == {"x < SIDE": (8,), "x == boom()": ()}
    of_file = comparisons([Path(module_of_comparisons.__file__)])
    assert {one.file for one in of_file} == {module_of_comparisons.__file__}


def test_numbers_are_listed_once_and_in_order():
    found = comparisons([Game, Game.step], instance=Game())
    numbers = constants_of(found)
    assert list(numbers) == sorted(set(numbers))
    assert {-7.0, 0.0, 1.0, 2.0, 0.25, 10.0, 21.0, TURN} <= set(numbers)


def test_a_function_without_source_has_none():
    assert comparisons([len, dict, eval("lambda x: x < 1")]) == []
