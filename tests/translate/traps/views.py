"""Parts of arrays share the array's memory, or do not."""

import numpy as np
from translate.traps.base import Trap


class SliceInPlace(Trap):
    def begin(self):
        self.a = np.zeros(5)

    def play(self, action):
        self.a[1:] += 1
        self.a[::2] *= 2.0
        self.a[-2:] = action
        return self.a.sum() + 10 * self.a[1]


class RowOfAnArray(Trap):
    def begin(self):
        self.a = np.zeros((3, 2))

    def play(self, action):
        row = self.a[0]
        row[:] = 5
        row += action
        column = self.a[:, 1]
        column[2] = 7.0
        return self.a.sum() + row[1] + column.sum()


class RowAtRunTime(Trap):
    def begin(self):
        self.a = np.zeros((4, 2))

    def play(self, action):
        row = self.a[action]
        row[1] += 1
        self.a[action, 0] += 2
        self.a[-1] += row
        return self.a.sum() + 10 * row[0]


class Ravelled(Trap):
    """A flat view of an array that lies in one piece."""

    def begin(self):
        self.a = np.zeros((2, 3))

    def play(self, action):
        flat = self.a.ravel()
        flat[0] = 1.0 + action
        self.a[1, 2] += 1.0
        return flat.sum() + 10 * self.a[0, 0]


class Reshaped(Trap):
    def begin(self):
        self.a = np.zeros(6)

    def play(self, action):
        table = self.a.reshape(2, 3)
        table[1] += action
        self.a[0] += 1
        return table[0, 0] + 10 * self.a[4]


class Flattened(Trap):
    """`flatten` is a copy."""

    def begin(self):
        self.a = np.zeros((2, 3))

    def play(self, action):
        flat = self.a.flatten()
        flat[0] = 9.0
        self.a[1, 1] += 1.0
        return flat.sum() + 10 * self.a.sum()


class Transposed(Trap):
    def begin(self):
        self.a = np.zeros((2, 3))

    def play(self, action):
        turned = self.a.T
        turned[2, 1] += 1.0 + action
        self.a[0, 1] += 1.0
        return turned[1, 0] + 10 * self.a[1, 2]


class RavelOfATransposed(Trap):
    """No piece of memory has this order, so it is a copy; but what was computed from a transposed array may have it."""

    refused = "two names"

    def begin(self):
        self.a = np.zeros((2, 3))

    def play(self, action):
        flat = self.a.T.ravel()
        flat[0] = 5.0
        self.a[0, 1] += 1.0
        return flat.sum() + 10 * self.a.sum()


class Fancy(Trap):
    """An index by a list or a mask gives a copy; an assignment through it writes."""

    def begin(self):
        self.a = np.arange(5.0)

    def play(self, action):
        part = self.a[[0, 2]]
        part[0] = 100.0
        self.a[[1, 3]] += 1.0
        self.a[self.a > 4] -= action
        return part.sum() + 10 * self.a.sum()


class DiagonalAndFlip(Trap):
    def begin(self):
        self.a = np.arange(4.0)

    def play(self, action):
        backwards = self.a[::-1]
        backwards[0] += action
        self.a[0] += 1
        return backwards[3] + 10 * self.a[3]


class ViewKept(Trap):
    """An attribute that is a view of another one."""

    refused = "two"

    def begin(self):
        self.a = np.zeros(4)
        self.part = self.a[1:3]

    def play(self, action):
        self.a[2] += 1.0
        return self.part[1]


class ViewFromTheConstructor(Trap):
    refused = "two"

    def __init__(self):
        self.a = np.zeros(4)
        self.part = self.a[1:3]

    def begin(self):
        self.a[:] = 0.0

    def play(self, action):
        self.part += 1.0
        return self.a.sum()


class ArrayOfAList(Trap):
    """An array inside a list."""

    def begin(self):
        self.boxes = [np.zeros(2), np.ones(2)]

    def play(self, action):
        box = self.boxes[1]
        box[0] += action
        self.boxes[0] += 1.0
        return self.boxes[1][0] + 10 * self.boxes[0][1] + box[1]


class ArrayOfAListAtRunTime(Trap):
    refused = "chang"

    def begin(self):
        self.boxes = [np.zeros(2), np.ones(2), np.ones(2)]

    def play(self, action):
        part = self.boxes[self.t % 3][1:]
        part[0] += 1.0
        return self.boxes[0][1] + 10 * self.boxes[1][1]


class AsArray(Trap):
    """np.asarray gives the array itself, np.array a copy."""

    def begin(self):
        self.a = np.zeros(3)

    def play(self, action):
        same = np.asarray(self.a)
        other = np.array(self.a)
        same[0] += 1.0
        other[1] += 1.0
        wide = np.asarray(self.a, dtype=np.float32)
        wide[2] = 9.0
        return self.a.sum() + 10 * other.sum()


class OutArgument(Trap):
    def begin(self):
        self.a = np.zeros(3)

    def play(self, action):
        np.add(self.a, action, out=self.a)
        np.clip(self.a, 0, 4, out=self.a)
        return self.a.sum()


class MaskedStores(Trap):
    def begin(self):
        self.a = np.arange(6).reshape(2, 3)

    def play(self, action):
        self.a[self.a % 2 == 0] += 1
        self.a[self.a > 5] = action
        rolled = np.roll(self.a, 1, axis=1)
        clipped = np.clip(rolled, 1, 4)
        return np.where(clipped > 2, clipped, -clipped).sum() + 10 * rolled[0, 0]


class RollByAnAmount(Trap):
    def begin(self):
        self.a = np.arange(5)

    def play(self, action):
        self.a = np.roll(self.a, action - 1)
        flat = np.roll(self.a.reshape(1, 5), -1)
        return self.a[0] + 10 * flat[0, 1]


class RowsInALoop(Trap):
    """The rows that a loop runs through are views."""

    def begin(self):
        self.a = np.zeros((6, 2))

    def play(self, action):
        for i, row in enumerate(self.a):
            row[0] += i
            row += action
        for row in self.a:
            row[1] -= 1.0
        return self.a.sum() + self.a[5, 0]


class PickedByAConstant(Trap):
    """np.where spreads what it picks, also where the condition is known."""

    wide = True

    def begin(self):
        self.a = np.zeros(3)

    def play(self, action):
        self.a[action % 3] += 1.0
        spread = np.where(self.wide, self.t, self.a)
        return spread.sum() + np.where(self.wide, self.a, -1.0).sum()
