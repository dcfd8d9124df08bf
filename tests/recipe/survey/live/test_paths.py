"""Paths into an instance: read, written back in the form that was there, and never evaluated."""

import collections
import dataclasses
import enum
from typing import Any, NamedTuple

import numpy as np
import pytest

from overclock.errors import UsageError
from overclock.recipe.survey.live.paths import read, read_captured, write
from overclock.verify.property.captured import captured_attributes


class Point(NamedTuple):
    x: float
    y: int


class Mode(enum.Enum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass(frozen=True)
class Frozen:
    hp: int


class World:
    def __init__(self) -> None:
        self.state = (0.5, 1.5)
        self.grid = np.zeros((2, 3), np.int8)
        self.player = type("Player", (), {})()
        self.player.pos = [1, 2]
        self.point = Point(1.0, 2)
        self.hands = {"dealer": [3, 4], 7: 5}
        self.queue = collections.deque([1, 2, 3], maxlen=3)
        self.mode = Mode.LOW
        self.frozen = Frozen(9)
        self.count, self.flag, self.small = 3, False, np.float32(1)


def wrapped(world: World) -> Any:
    wrapper = type("Wrapper", (), {})()
    wrapper.unwrapped = world
    return wrapper


def test_reading_starts_at_the_innermost_instance() -> None:
    env = wrapped(World())
    assert read(env, "state[0]") == 0.5
    assert read(env, "player.pos[1]") == 2
    assert read(env, 'hands["dealer"][-1]') == 4
    assert read(env, "hands[7]") == 5
    assert read(env, "point.y") == 2
    assert read(env, "grid[1][2]") == 0


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("state", np.array([2.0, 3.0]), (2.0, 3.0)),
        ("state[1]", np.float64(9.0), (0.5, 9.0)),
        ("player.pos", np.array([8, 9]), [8, 9]),
        ("point.y", np.int64(6), Point(1.0, 6)),
        ("hands[7]", np.array(1), {"dealer": [3, 4], 7: 1}),
        ("queue", np.array([4, 5, 6]), collections.deque([4, 5, 6], maxlen=3)),
        ("mode", np.array(2), Mode.HIGH),
        ("frozen.hp", np.array(1), Frozen(1)),
        ("count", np.array(4), 4),
        ("flag", np.bool_(True), True),
        ("small", 0.25, np.float32(0.25)),
    ],
)
def test_what_is_written_keeps_the_form_of_what_was_there(path: str, value: Any, expected: Any) -> None:
    world = World()
    first = path.replace("[", ".").partition(".")[0]
    write(wrapped(world), {path: value})
    found = getattr(world, first) if first != "player" else world.player.pos
    assert found == expected
    assert type(found) is type(expected)
    assert type(read(world, path)) is type(read(World(), path))


def test_an_array_that_somebody_else_holds_is_not_changed() -> None:
    world = World()
    shown = world.grid
    write(world, {"grid[0][1]": 5})
    assert world.grid[0, 1] == 5
    assert world.grid.dtype == np.int8
    assert shown[0, 1] == 0


def test_a_captured_instance_is_read_by_the_same_paths() -> None:
    world = captured_attributes(World(), 1)
    assert read_captured(world, "player.pos[1]") == 2
    assert read_captured(world, "hands[7]") == 5
    assert read_captured(world, "state[0]") == 0.5


@pytest.mark.parametrize("path", ["", ".a", "[0]", "a..b", "a[", "a[x]", "__import__('os')", "a b", "a[0]b.c()"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(UsageError, match="path"):
        read(World(), path)


def test_a_path_that_leads_nowhere_says_so() -> None:
    with pytest.raises(UsageError, match=r"nothing at 'player\.health': Player has no 'health'"):
        read(World(), "player.health")
