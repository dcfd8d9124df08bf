"""Lists of a fixed number of places, each of them empty or taken by a small list, on a small grid."""

import numpy as np
from translate.traps.base import Trap

SIDE = 6


class WalkersInSlots(Trap):
    """A reset runs through the empty places to show them: their list is an array there, and no longer than before."""

    def begin(self):
        self.x, self.y = 2, 2
        self.walkers = [None] * 8
        self.turn = 0
        self.shown = self.score(self.grid())

    def play(self, action):
        free = [i for i in range(len(self.walkers)) if self.walkers[i] is None]
        if free and self.turn % 2 == 0:
            place = free[self.np_random.integers(len(free))]
            left = self.np_random.random() < 0.5
            self.walkers[place] = [0 if left else SIDE - 1, place % SIDE, left, action == 3]
        self.x = min(SIDE - 1, self.x + 1) if action == 1 else max(0, self.x - (action == 2))
        gold = 0
        for i in range(len(self.walkers)):
            one = self.walkers[i]
            if one is not None:
                one[0] += 1 if one[2] else -1
                if one[0] < 0 or one[0] >= SIDE:
                    self.walkers[i] = None
                elif one[0:2] == [self.x, self.y]:
                    gold += 1 if one[3] else 0
                    self.walkers[i] = None
        self.turn += 1
        return self.score(self.grid()) + 1000.0 * gold

    def grid(self):
        shown = np.zeros((SIDE, SIDE, 3), dtype=bool)
        shown[self.y, self.x, 0] = 1
        for one in self.walkers:
            if one is not None:
                shown[one[1], one[0], 2 if one[3] else 1] = 1
        return shown

    def score(self, shown):
        return float((shown * np.arange(SIDE * SIDE * 3).reshape(SIDE, SIDE, 3)).sum())
