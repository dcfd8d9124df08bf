"""`match`: which case it is, in which order, and what its names are afterwards."""

import enum

from translate.traps.base import Trap

other = 1000


class Way(enum.IntEnum):
    UP = 0
    DOWN = 1
    LEFT = 2


class Constants(Trap):
    """Numbers, several at once, a name of a class, and whatever is left; the first one that fits counts."""

    def begin(self):
        self.x = 0

    def play(self, action):
        match action:
            case Way.UP:
                self.x += 1
            case 1 | 2:
                self.x += 10
            case 2:
                self.x += 100
            case _:
                self.x += 1000
        return self.x


class NothingFits(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        match self.x + action:
            case 1:
                self.x = 7
            case -1 | 2.0:
                return self.x
        self.x += 1
        return self.x


class Guards(Trap):
    """A guard is asked only where its pattern fits, and its draw is made only then."""

    def begin(self):
        self.x = 0
        self.asked = 0

    def _often(self):
        self.asked += 1
        return self.np_random.random() < 0.5

    def play(self, action):
        match action:
            case 0 | 1 if self._often():
                self.x += 1
            case other if other > 2 and self._often():
                self.x += other
            case 1:
                return 500 + self.asked
        return self.x + 100 * self.asked


class Bools(Trap):
    """1 is not True here."""

    def begin(self):
        self.x = 0

    def play(self, action):
        match action > 1:
            case True:
                self.x += 1
            case False:
                self.x += 10
        match action:
            case True:
                self.x += 100
        return self.x


class NotBound(Trap):
    """A name that a case may give belongs to the function, though a global has it, too."""

    refused = "'other' has no value here|'other' cannot be read"

    def begin(self):
        self.x = 0

    def play(self, action):
        match self.x:
            case 0:
                self.x = 0
            case other:
                self.x = other
        return self.x + (other if self.x else 0) + (other if self.t > 10**6 else 1)


class Texts(Trap):
    def begin(self):
        self.mode = "red"

    def play(self, action):
        match self.mode:
            case "red" if action:
                self.mode = "green"
            case "green":
                self.mode = "yellow"
            case "yellow" | "blue":
                self.mode = "red"
        return len(self.mode)


class MaybeNone(Trap):
    def begin(self):
        self.target = None

    def play(self, action):
        match self.target:
            case None:
                self.target = action
            case 3:
                self.target = None
            case found:
                self.target = found + 1
        return -1 if self.target is None else self.target


class TakenApart(Trap):
    refused = "a sequence pattern"

    def begin(self):
        self.x = 0

    def play(self, action):
        match (action, self.x):
            case (0, by):
                self.x += by
            case _:
                self.x += 1
        return self.x
