"""What is refused must be refused for what it is, at a line of the environment: never at a line of a library."""

import dataclasses
import math
from pathlib import Path

import numpy as np
from translate.traps.base import Trap


class Ball:
    def __init__(self, game):
        self.game, self.x = game, 0


class Bat:
    def __init__(self, game):
        self.game, self.y = game, 0


class Game:
    def __init__(self):
        self.ball = Ball(self)
        self.bats = [Bat(self), Bat(self)]


class Circle(Trap):
    """Objects that know each other, some of them in a list."""

    refused = "refer to one another in a circle"

    def begin(self):
        self.game = Game()
        self.parts = [self.game.ball, *self.game.bats]

    def play(self, action):
        self.game.ball.x += action
        return self.game.ball.x


class ReadThroughACircle(Trap):
    """The game that a ball knows is the one that changes."""

    refused = "in a circle: 'game' of a Ball"

    def begin(self):
        self.game = Game()

    def play(self, action):
        self.game.ball.x += 1 + action
        return self.game.ball.game.ball.x


class KnowsItsEnvironment(Trap):
    """A circle through the environment itself is followed."""

    def __init__(self):
        self.ball = Ball(self)

    def begin(self):
        self.n = 0
        self.ball = Ball(self)

    def play(self, action):
        self.n += 1
        self.ball.x += action + self.ball.game.n
        return self.ball.x


class Polynomial(Trap):
    """An object of NumPy that is called."""

    refused = "inside numpy.polynomial"

    def begin(self):
        self.n = 0
        self.curve = np.polynomial.Polynomial([0.0, 1.0, 2.0])

    def play(self, action):
        self.n += action
        return self.curve(self.n)


class Curve:
    def __init__(self, by):
        self.by = by

    def __call__(self, value):
        return self.by * value


class OwnCallable(Trap):
    curve = Curve(3)

    def begin(self):
        self.n = 0

    def play(self, action):
        self.n += action
        return self.curve(self.n)


class AnotherSquareRoot(Trap):
    """Not np.sqrt, though it has its name: complex numbers for what is negative."""

    refused = r"numpy\.lib\.scimath\.sqrt with values of the run time"

    def begin(self):
        self.x = 4.0

    def play(self, action):
        self.x += action
        return np.emath.sqrt(self.x)


class UnknownWithAKeyword(Trap):
    """It is the function that is not known; its keyword is not to blame."""

    refused = "np.histogram with values of the run time"

    def begin(self):
        self.x = 0.0

    def play(self, action):
        self.x += action
        return np.histogram([self.x], bins=3)[0][1]


@dataclasses.dataclass
class Point:
    x: int
    y: int


class Replaced(Trap):
    """What goes wrong inside a function of Python's library goes wrong where that is called."""

    refused = "inside dataclasses.replace"

    def begin(self):
        self.point = Point(0, 1)

    def play(self, action):
        self.point = dataclasses.replace(self.point, x=self.point.x + action)
        return self.point.x


class ChangedSet(Trap):
    refused = "a set is changed"

    def begin(self):
        self.coins = {Point, Bat, Ball}

    def play(self, action):
        self.coins.discard(Point)
        return len(self.coins)


class OpenedFile(Trap):
    refused = "a file is opened"

    def begin(self):
        self.x = 0

    def play(self, action):
        with open(__file__, encoding="utf-8") as stream:
            self.x = len(stream.read())
        return self.x


class OpenedPath(Trap):
    refused = "a file is opened"

    def begin(self):
        self.x = 0

    def play(self, action):
        with Path(__file__).open() as stream:
            self.x = len(stream.read())
        return self.x


class RunsOut(Trap):
    """A reference that raises is located where it does so, not where it is played."""

    refused = "the reference itself raises ValueError"

    def begin(self):
        self.x = 1

    def play(self, action):
        self.x -= 1
        return math.sqrt(self.x)


class NoSuchDraw(Trap):
    refused = "the reference itself raises ValueError"

    def begin(self):
        self.x = 1

    def play(self, action):
        self.x -= 1
        return self.np_random.integers(self.x + 1, 1)
