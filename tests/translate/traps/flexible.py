"""Arrays whose length is not known: masks, places, slices with bounds of the run time. And draws in such company."""

import numpy as np
from translate.traps.base import Trap

SUITS = np.array(["clubs", "hearts", "spades", "hearts"])
TABLE = np.array([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]])


class SlicedAtRunTime(Trap):
    """Also from the end, outside, and empty."""

    def begin(self):
        self.a = np.arange(6) * 3

    def play(self, action):
        k = self.t * 5 % 19 - 9
        parts = [self.a[k : k + 2], self.a[k:], self.a[:k], self.a[action:k]]
        return sum((i + 1) * part.sum() + 100 * len(part) for i, part in enumerate(parts))


class SliceOfConstantLength(Trap):
    def begin(self):
        self.left = 6

    def play(self, action):
        self.left -= 1
        cards = np.arange(10, 16)[self.left : self.left + 1].tolist()
        if self.left == 0:
            self.left = 6
        return cards[-1] + 10 * len(cards)


class SliceIsAView(Trap):
    """A slice shares the memory of its array, whatever its bounds are."""

    refused = "two names"

    def begin(self):
        self.a = np.arange(5)

    def play(self, action):
        part = self.a[action:]
        self.a[3] = 7
        return part.sum()


class WindowIsAView(Trap):
    """What is written into the whole after a part was named is seen through that name."""

    def begin(self):
        self.a = np.zeros((4, 4), np.int64)

    def play(self, action):
        part = self.a[action : action + 2, 1 : self.t]
        self.a[action, 1] += self.t
        return part.sum() + 100 * np.any(part > 3) + 1000 * self.a.sum()


class WindowChangedThroughItsName(Trap):
    refused = "chang"

    def begin(self):
        self.a = np.zeros((4, 4), np.int64)

    def play(self, action):
        part = self.a[action : action + 2, 1 : self.t]
        part += 1
        return self.a.sum()


class WrittenBetween(Trap):
    def begin(self):
        self.a = np.zeros((4, 5), np.int64)

    def play(self, action):
        self.a[action : action + 2, self.t % 5 : -1] = self.t
        self.a[action, -2 : self.t - 9] += 1
        self.a[1:action] += 2
        return (self.a * np.arange(20).reshape(4, 5)).sum()


class WhereAMaskHolds(Trap):
    """How many there are is not known; what they are, in which order, is."""

    def begin(self):
        self.a = np.array([3, 1, 4, 1, 5, 9, 2, 6])

    def play(self, action):
        self.a[self.t % 8] = action
        found = self.a[self.a > 2]
        twice = found * 2 - 1
        grid = self.a.reshape(2, 4)
        flat = grid[grid < 5]
        if len(found) == 0:
            return -1
        ends = 1000 * found[-1] + 7 * flat[0] + found[0]
        return twice.sum() + 10 * found.size + 100 * twice.max() + ends


class MaskIsACopy(Trap):
    def begin(self):
        self.a = np.array([3, 1, 4, 1, 5])

    def play(self, action):
        found = self.a[self.a > action]
        found += 10
        self.a[self.t % 5] = action
        return found.sum() + 1000 * self.a.sum()


class TwoLengths(Trap):
    """Two arrays whose lengths are not known fit only by luck."""

    refused = "lengths are not known"

    def begin(self):
        self.a = np.array([3, 1, 4, 1, 5])

    def play(self, action):
        return (self.a[self.a > action] + self.a[self.a >= action + 1]).sum()


class SumOfPlaces(Trap):
    """np.where gives arrays: `+` adds, it does not join."""

    def begin(self):
        self.a = np.zeros((3, 4), np.int64)

    def play(self, action):
        self.a[self.t % 3, action] += 1
        rows, columns = np.where(self.a > 0)
        places = np.argwhere(self.a > 0)
        last = places[-1] * 2
        return (rows + columns).sum() + 100 * (rows * 2).sum() + 1000 * last[0] + last[1] + len(rows + columns)


class PlacesOfAList(Trap):
    """An array read and written at the places that a list of changing length names; the last one wins."""

    def begin(self):
        self.places = []

    def play(self, action):
        self.places.append(action)
        if len(self.places) > 5:
            self.places.clear()
        shown = np.zeros(4, np.int64)
        shown[self.places] = np.arange(20, 40)[np.array(self.places, dtype=np.int64) + self.t]
        shown[[one for one in self.places if one > 2]] = -1
        suits = SUITS[self.places]
        same = len(self.places) > 1 and suits[0] == suits[-1]
        return shown @ np.array([1, 10, 100, 1000]) + 0.5 * same


class Stacked(Trap):
    def begin(self):
        self.hand = []

    def play(self, action):
        self.hand.append(int(action))
        if len(self.hand) > 4:
            self.hand.pop(0)
        index = np.array(self.hand)
        both = np.stack([TABLE[0][index], TABLE[2][index]])
        first, second = both
        return both[0, -1] + 100 * both[1, 0] + 1000 * (first - second).sum()


class Distinct(Trap):
    def begin(self):
        self.a = np.array([3, 1, 3, 1, 5])

    def play(self, action):
        self.a[self.t % 5] = action
        every = np.unique(self.a)
        large = np.unique(self.a[self.a > 1])
        total = 0
        for one in large:
            total = 10 * total + one
        return total + 100000 * len(every)


class TruthOfAPart(Trap):
    refused = "several numbers"

    def begin(self):
        self.a = np.array([3, 1, 3, 2])

    def play(self, action):
        return 1 if self.a[action : action + 1] == 3 else 0


class SmallestOfNothingElse(Trap):
    """The room of a list is no part of it, also where it holds infinities."""

    def begin(self):
        self.a = [float("inf")]

    def play(self, action):
        low, high = min(self.a), max([-x for x in self.a])
        if len(self.a) < 5:
            self.a.append(float("inf"))
        return 1.0 * (low == float("inf")) + 2.0 * (high == float("-inf"))


class Padded(Trap):
    def begin(self):
        self.a = np.array([[1, 2], [3, 4]])

    def play(self, action):
        self.a[0, 1] = action
        wide, walls = np.pad(self.a, 1), np.pad(self.a, [(0, 1), (2, 0)], constant_values=9)
        return (wide * np.arange(16).reshape(4, 4)).sum() + 100 * (walls * np.arange(12).reshape(3, 4)).sum()


class PythonNumbers(Trap):
    """`item` and `tolist` give Python's numbers, which do not wrap around."""

    def begin(self):
        self.a = np.array([200, 100], np.uint8)

    def play(self, action):
        self.a[1] = action
        return self.a[0].item() * 2 + sum(self.a.tolist()) + 2 ** (self.a[1].item() + 1)


class DrawnInTwoWays(Trap):
    """One call of a generator, with different arguments by different callers."""

    def _one(self, n, width):
        return self.np_random.integers(n) + self.np_random.choice(n) + self.np_random.uniform(0, width)

    def begin(self):
        self.x = self._one(3, 1.0)

    def play(self, action):
        return self._one(3, 1.0) + self._one(action + 2, 2.0) + self.x


class DrawnManyTimes(Trap):
    """In loops whose length is known there is room for all, in others the room grows with every loop."""

    def begin(self):
        self.a = np.array([self.np_random.normal(mean, 0.5) for mean in range(40)])

    def play(self, action):
        total = 0
        for i in range(3):
            n = 0
            while self.np_random.random() < 0.6:
                n += 1
            total += (i + 1) * n
        return total + self.a[action]


class OnlyEverOneValue(Trap):
    """What is only given the value that it has decides sizes like a constant."""

    size = 4

    def begin(self):
        self.size = 4

    def play(self, action):
        room = np.ones(self.size)
        return room.sum() * action


class NeverReached(Trap):
    """A statement that can only raise is behind a condition that never holds."""

    def begin(self):
        self.a = np.zeros(3)

    def play(self, action):
        if action > 5:
            self.a[3] = 1.0
        self.a[2] += action
        return self.a.sum()


class ReachedInATry(Trap):
    refused = "IndexError"

    def begin(self):
        self.a = np.zeros(3)

    def play(self, action):
        try:
            if action > 1:
                self.a[3] = 1.0
            self.a[2] += action
        except IndexError:
            self.a[2] -= 1
        return self.a.sum()


class TextsForPeople(Trap):
    """Texts made at run time do no harm as long as nobody looks at them."""

    def begin(self):
        self.x = 0

    def play(self, action):
        shown = np.stack([SUITS[action], SUITS[self.t % 4]])
        told = {"cards": shown, "text": f"{action} and {self.t}"}
        return action + len(told)


class NoneAmongObjects(Trap):
    def begin(self):
        self.names = [None, "b", None, "dd"]

    def play(self, action):
        one = self.names[action]
        return 7 if one is None else len(one) + (one.upper() == "B")


class CountedComprehension(Trap):
    """Every turn adds one: the length is known, however the loop is written."""

    def begin(self):
        self.pair, self.rest = (1, 2), tuple(range(9))

    def play(self, action):
        self.pair = (self.pair[1], action)
        flat = np.array([one for part in (self.pair, self.rest) for one in part])
        return (flat * np.arange(11)).sum() + flat.size
