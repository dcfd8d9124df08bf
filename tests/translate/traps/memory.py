"""Names of one thing: lists, arrays and objects that two names share, in a step and from one step to the next."""

import copy

import numpy as np
from translate.traps.base import Trap

START = [1, 2, 3]
ORIGIN = np.array([1.0, 2.0])


class Ball:
    def __init__(self, x):
        self.x = x


class TwoNamesOfAList(Trap):
    def begin(self):
        self.a = [1, 2, 3]

    def play(self, action):
        b = self.a
        b[1] = b[1] + action
        self.a[0] += 1
        return sum(b) + 10 * self.a[1]


class TwoNamesOfAnArray(Trap):
    def begin(self):
        self.a = np.zeros(3)

    def play(self, action):
        b = self.a
        b += action
        b[0] = 7.0
        return self.a.sum() + b[1]


class ReboundIsNoAlias(Trap):
    """`b = b + 1` makes a new array, `b += 1` does not."""

    def begin(self):
        self.a = np.zeros(3)

    def play(self, action):
        b = self.a
        b = b + 1
        self.a[1] += 1
        return b.sum() + 10 * self.a.sum()


class TwoAttributesOfOneList(Trap):
    """What reset gave two names keeps two names in every step."""

    refused = "two"

    def begin(self):
        self.a = self.b = [0, 0]

    def play(self, action):
        self.a[0] += 1
        return self.b[0] + 10 * self.a[0]


class TwoAttributesOfOneArray(Trap):
    refused = "two"

    def begin(self):
        self.a = np.zeros(2)
        self.b = self.a

    def play(self, action):
        self.a[0] += action
        return self.b[0]


class TwoAttributesNeverChanged(Trap):
    """Two names do no harm where both are only given new values."""

    def begin(self):
        self.a = self.b = np.array([1.0, 2.0])

    def play(self, action):
        self.b = self.a
        self.a = self.a + action
        return self.b[0] + 10 * self.a[1]


class AliasMadeInAStep(Trap):
    refused = "two"

    def begin(self):
        self.a, self.b = [0, 0], [5, 5]

    def play(self, action):
        self.a[1] += 1
        if self.t == 2:
            self.b = self.a
        return self.b[1]


class AliasFromTheConstructor(Trap):
    refused = "two"

    def __init__(self):
        self.a = [0, 0]
        self.b = self.a

    def begin(self):
        self.a[0] = 0

    def play(self, action):
        self.a[0] += 1
        return self.b[0]


class RowsAreOneRow(Trap):
    """[[0] * 3] * 3 is three names of one row."""

    refused = "two"

    def begin(self):
        self.rows = [[0, 0, 0]] * 3

    def play(self, action):
        self.rows[0][1] += 1
        return self.rows[2][1]


class StartsFromAConstant(Trap):
    """The list of the module itself is changed, not a copy."""

    refused = "chang"

    def begin(self):
        self.a = START

    def play(self, action):
        self.a[0] += 1
        return self.a[0]


class StartsFromAnOwnConstant(Trap):
    refused = "two"

    def __init__(self):
        self.origin = np.array([1.0, 2.0])

    def begin(self):
        self.place = self.origin

    def play(self, action):
        self.place += 1.0
        return self.place[0]


class StartsFromACopy(Trap):
    def begin(self):
        self.a = START.copy()
        self.b = ORIGIN.copy()
        self.c = list(START)
        self.d = START[:]

    def play(self, action):
        self.a[0] += 1
        self.b += 1
        self.c.append(action)
        self.d[1] = self.t
        return self.a[0] + self.b[1] + len(self.c) + sum(self.d)


class PartOfAConstant(Trap):
    refused = "chang"

    def begin(self):
        self.x = 0.0

    def play(self, action):
        part = ORIGIN[1:]
        part[0] += 1.0
        return ORIGIN[1]


class ItemHeldByALocal(Trap):
    """The item is changed in the list, too."""

    def begin(self):
        self.rows = [[0, 1], [2, 3]]

    def play(self, action):
        row = self.rows[1]
        row[0] = row[0] + 1
        self.rows[1][1] += 1
        return self.rows[1][0] + 10 * row[1]


class ItemHeldByALocalAtRunTime(Trap):
    def begin(self):
        self.rows = [[0, 1], [2, 3], [4, 5]]

    def play(self, action):
        row = self.rows[self.t % 3]
        row[0] = row[0] + 1
        self.rows[self.t % 3][1] += 1
        return self.rows[self.t % 3][0] + 10 * row[1] + 100 * self.rows[0][0]


class ItemReplaced(Trap):
    """A local keeps the old item when the list gets a new one in its place."""

    def begin(self):
        self.rows = [[0, 1], [2, 3], [4, 5]]

    def play(self, action):
        row = self.rows[self.t % 3]
        self.rows[self.t % 3] = [self.t, action]
        return row[0] + 10 * row[1] + 100 * self.rows[0][0]


class ItemsSwapped(Trap):
    def begin(self):
        self.rows = [[0, 1], [2, 3], [4, 5]]

    def play(self, action):
        i = self.t % 3
        j = (self.t + 1) % 3
        self.rows[i], self.rows[j] = self.rows[j], self.rows[i]
        return self.rows[0][0] + 10 * self.rows[1][0] + 100 * self.rows[2][0]


class NumbersSwapped(Trap):
    def begin(self):
        self.a = [1, 2, 3]
        self.b = np.array([1, 2, 3])

    def play(self, action):
        i = self.t % 3
        self.a[0], self.a[i] = self.a[i], self.a[0]
        self.b[i], self.b[1] = self.b[1], self.b[i]
        return self.a[0] + 10 * self.a[1] + 100 * self.b[0] + 1000 * self.b[1]


class RowsSwapped(Trap):
    """Rows of an array are views: after a swap by tuple both are the same row."""

    def begin(self):
        self.a = np.array([[1.0, 2.0], [3.0, 4.0]])

    def play(self, action):
        self.a[0] += action
        self.a[0], self.a[1] = self.a[1], self.a[0]
        return self.a[0, 0] + 10 * self.a[1, 1]


class AppendedThenChanged(Trap):
    """The list holds the thing itself: changed before or after, under either name."""

    refused = "two names"

    def begin(self):
        self.rows = [[0, 0]]

    def play(self, action):
        row = [action, 1]
        if len(self.rows) < 6:
            self.rows.append(row)
        row[1] = 5
        return sum(r[1] for r in self.rows)


class AppendedThenChangedInTheList(Trap):
    refused = "two names"

    def begin(self):
        self.rows = [[0, 0]]

    def play(self, action):
        row = [action, 1]
        if len(self.rows) < 20:
            self.rows.append(row)
        self.rows[-1][1] += 5
        return row[1]


class OneRowAppendedOften(Trap):
    refused = "two names"

    def begin(self):
        self.x = 0

    def play(self, action):
        rows = []
        row = [0]
        for i in range(action + 1):
            row[0] += 1
            rows.append(row)
        return sum(r[0] for r in rows)


class ShallowCopy(Trap):
    """A copy of a list holds the same items."""

    refused = "two names"

    def begin(self):
        self.rows = [[0, 1]]

    def play(self, action):
        if len(self.rows) < 4:
            self.rows.append([action, 1])
        for row in self.rows[:]:
            row[1] += 1
        return sum(r[1] for r in self.rows)


class FilteredItemsAreTheSameItems(Trap):
    refused = "two names"

    def begin(self):
        self.rows = [[0, 1]]

    def play(self, action):
        if len(self.rows) < 4:
            self.rows.append([action, 1])
        low = [row for row in self.rows if row[0] < 2]
        for row in low:
            row[1] += 1
        return sum(r[1] for r in self.rows)


class FilteredInPlace(Trap):
    """Nobody holds the old list any more: its items are free to change."""

    def begin(self):
        self.rows = [[0, 1]]

    def play(self, action):
        if len(self.rows) < 6:
            self.rows.append([action, self.t])
        self.rows = [row for row in self.rows if row[0] < 3]
        for row in self.rows:
            row[1] += 1
        return sum(r[1] for r in self.rows)


class DeepCopy(Trap):
    def begin(self):
        self.rows = [[0, 1], [2, 3]]

    def play(self, action):
        rows = copy.deepcopy(self.rows)
        rows[0][0] = 100
        self.rows[1][0] += 1
        return self.rows[0][0] + rows[1][0] + rows[0][0]


class ChosenList(Trap):
    """One of two lists, by a condition: changed under its new name."""

    refused = "two names"

    def begin(self):
        self.a, self.b = [0, 0], [5, 5]

    def play(self, action):
        chosen = self.a if action > 1 else self.b
        chosen[0] += 1
        return self.a[0] + 10 * self.b[0]


class ChosenArray(Trap):
    refused = "two names"

    def begin(self):
        self.a, self.b = np.zeros(2), np.ones(2)

    def play(self, action):
        chosen = self.a
        if action > 1:
            chosen = self.b
        self.a[0] += 1.0
        return chosen[0] + 10 * self.b[0]


class ChosenByKey(Trap):
    refused = "two names"

    def begin(self):
        self.boxes = {0: [0], 1: [0], 2: [0], 3: [0]}

    def play(self, action):
        self.boxes[int(action)][0] += 1
        return self.boxes[0][0] + 10 * self.boxes[1][0]


class ChosenInALoop(Trap):
    refused = "two names"

    def begin(self):
        self.a, self.b = [0, 0], [5, 5]

    def play(self, action):
        now, other = self.a, self.b
        for _ in range(action + 5):
            now[0] += 1
            now, other = other, now
        return self.a[0] + 10 * self.b[0]


class ReplacedByACondition(Trap):
    """A new list in one branch only; afterwards it is changed."""

    def begin(self):
        self.a = [0, 0]

    def play(self, action):
        if action > 1:
            self.a = [self.t, 1]
        self.a[1] += 2
        return self.a[0] + 10 * self.a[1]


class GivenToAFunction(Trap):
    def begin(self):
        self.a = [1, 2]

    def _change(self, box, by):
        box[0] += by
        box = [100, 100]
        box[1] += 1
        return box[1]

    def play(self, action):
        return self._change(self.a, action) + self.a[0]


class MutableDefault(Trap):
    """One list for all calls, for ever."""

    refused = "does not belong"

    def begin(self):
        self.x = 0

    def _seen(self, item, box=[]):  # noqa: B006
        if len(box) < 10**6:
            box.append(item)
        return len(box)

    def play(self, action):
        return self._seen(action)


class ItemKeptAsAttribute(Trap):
    """An attribute and the list hold one thing from one step to the next."""

    refused = "two"

    def begin(self):
        self.rows = [[0, 1], [2, 3], [4, 5]]
        self.current = self.rows[0]

    def play(self, action):
        self.current[0] += 1
        self.current = self.rows[self.t % 3]
        return self.rows[0][0] + 10 * self.rows[1][0]


class SlotsOfObjects(Trap):
    """Objects have identity, too."""

    refused = "two"

    def begin(self):
        self.ball = Ball(0)
        self.balls = [self.ball, Ball(5)]

    def play(self, action):
        self.ball.x += 1
        return self.balls[0].x
