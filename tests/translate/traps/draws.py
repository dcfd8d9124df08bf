"""Draws: in branches, in loops of unknown length, from lists that change."""

import numpy as np
from translate.traps.base import Trap


class DrawInABranch(Trap):
    def begin(self):
        self.x = self.np_random.integers(5) if self.np_random.random() < 0.5 else 0

    def play(self, action):
        if action > 1:
            self.x += self.np_random.integers(1, 4)
        self.x += self.np_random.random() < 0.5
        return self.x


class DrawBehindAComparison(Trap):
    def begin(self):
        self.x = 0

    def _draw(self):
        return self.np_random.random()

    def play(self, action):
        hit = 0 < action < 4 * self._draw()
        other = action == 1 or self._draw() < 0.5
        return hit + 10 * other + 100 * self._draw()


class DrawsOfALoop(Trap):
    """As many as it takes."""

    def begin(self):
        self.x = 0

    def play(self, action):
        tries = 0
        while self.np_random.random() < 0.5:
            tries += 1
        for _ in range(action):
            tries += 10 * self.np_random.integers(3)
        return tries


class DrawsOfTwoLoops(Trap):
    """The draw that ended the first loop is spent."""

    def begin(self):
        self.x = 0

    def _tries(self):
        tries = 0
        while self.np_random.random() < 0.5:
            tries += 1
        return tries

    def play(self, action):
        return self._tries() + 10 * self._tries()


class Rejection(Trap):
    def begin(self):
        self.taken = [0, 3]

    def play(self, action):
        while True:
            place = self.np_random.integers(8)
            if place not in self.taken:
                break
        self.taken[self.t % 2] = place
        return place


class DrawsInAny(Trap):
    """Draws that a lazy `any` does not make."""

    def begin(self):
        self.x = 0

    def play(self, action):
        found = any(self.np_random.random() < 0.3 for _ in range(3))
        return found + 10 * action


class ChoiceFromAList(Trap):
    def begin(self):
        self.a = [1, 2]

    def play(self, action):
        if len(self.a) < 6:
            self.a.append(action)
        one = self.np_random.choice(self.a)
        self.a.remove(one)
        if not self.a:
            self.a.append(7)
        return one + 10 * self.np_random.choice([2, 4, 8])


class Shuffled(Trap):
    def begin(self):
        self.a = [1, 2, 3, 4]
        self.np_random.shuffle(self.a)

    def play(self, action):
        if action == 0:
            self.np_random.shuffle(self.a)
        order = self.np_random.permutation(3)
        return self.a[0] + 10 * self.a[order[0]] + 100 * order[2]


class Distributions(Trap):
    def begin(self):
        self.x = self.np_random.normal(0.0, 2.0)

    def play(self, action):
        spread = self.np_random.uniform(-1, 1, size=2)
        spread *= action
        noise = self.np_random.normal(self.x, 1.0 + action)
        low = self.np_random.integers(-action, self.t)
        self.x = self.np_random.uniform(self.x - 1, self.x + 1)
        return spread.sum() + noise + low


class ListOfDraws(Trap):
    def begin(self):
        self.a = [self.np_random.integers(6) for _ in range(5)]

    def play(self, action):
        rolls = [self.np_random.integers(1, 7) for _ in range(2 + action)]
        self.a[self.t % 5] = max(rolls)
        return sum(rolls) + 100 * sum(self.a)


class ShuffledConstant(Trap):
    """An array that only a shuffle changes is state."""

    def __init__(self):
        self.a = np.arange(4)

    def begin(self):
        self.a[:] = np.arange(4)

    def play(self, action):
        self.np_random.shuffle(self.a)
        return self.a[0] + 10 * self.a[3]
