"""The order in which things happen: short circuits, early exits, loops, exceptions."""

import numpy as np
from translate.traps.base import Trap


class ChainedComparison(Trap):
    """What stands in the middle happens once, what comes behind a failure not at all."""

    def begin(self):
        self.calls = 0

    def _next(self):
        self.calls += 1
        return self.calls % 4

    def play(self, action):
        inside = 0 < action < self._next() < 3
        return inside + 10 * self.calls


class ShortCircuit(Trap):
    def begin(self):
        self.calls = 0

    def _next(self, value):
        self.calls += 1
        return value

    def play(self, action):
        both = action > 1 and self._next(self.t % 2 == 0) and self._next(True)
        one = action == 0 or self._next(self.t > 3) or self._next(False)
        return both + 10 * one + 100 * self.calls


class ConditionalExpression(Trap):
    def begin(self):
        self.calls = 0

    def _next(self):
        self.calls += 1
        return self.calls

    def play(self, action):
        value = self._next() if action > 1 else -1
        return value + 10 * self.calls


class EvaluationOrder(Trap):
    """Left to right, the right side of an assignment before its target."""

    def begin(self):
        self.x = 1

    def _twice(self):
        self.x = self.x * 2 % 7 + 1
        return self.x

    def play(self, action):
        total = self.x + self._twice() * 10 + self.x
        box = [0] * 9
        box[self._twice()] = self._twice()
        return total + 100 * box[self.x] + box.index(max(box))


class EarlyReturn(Trap):
    def begin(self):
        self.a = [3, 1, 4, 1, 5, 9]

    def _first(self, least):
        for i, one in enumerate(self.a):
            if one > least:
                return i
            self.a[i] += 1
        return -1

    def play(self, action):
        return self._first(3 + action) + 10 * sum(self.a)


class ElseOfALoop(Trap):
    def begin(self):
        self.found = 0

    def _search(self, wanted):
        for i in range(3):
            if i == wanted:
                break
        else:
            self.found += 10
        for i in range(6):
            if i == wanted + 3:
                break
        else:
            self.found += 100
        return self.found

    def play(self, action):
        return self._search(action)


class ElseAfterReturn(Trap):
    """A loop that returns does not reach its else."""

    def begin(self):
        self.missed = 0

    def _short(self, wanted):
        for i in range(3):
            if i == wanted:
                return i
        else:
            self.missed += 1
        return -1

    def _long(self, wanted):
        for i in range(7):
            if i == wanted:
                return i
        else:
            self.missed += 1
        return -1

    def play(self, action):
        return self._short(action) + 10 * self._long(action * 3) + 100 * self.missed


class BreakAndContinue(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        total = 0
        for i in range(8):
            if i % 2 == 1:
                continue
            if i > action * 2:
                break
            total += i
        else:
            total += 1000
        for i in range(3):
            if i == action:
                continue
            for j in range(6):
                if j == i + 1:
                    break
                total += 10 * j
                if j == action:
                    continue
                total += 1
        return total


class WhileWithACounter(Trap):
    def begin(self):
        self.x = 27

    def play(self, action):
        steps = 0
        while self.x != 1 and steps < 5:
            self.x = self.x // 2 if self.x % 2 == 0 else 3 * self.x + 1
            steps += 1
        else:
            steps += 100
        return self.x + 1000 * steps


class EffectsInATest(Trap):
    """The test that fails has happened, too."""

    def begin(self):
        self.calls = 0

    def _next(self):
        self.calls += 1
        return self.calls % 7

    def play(self, action):
        turns = 0
        while (last := self._next()) > action:
            turns += 1
        else:
            turns += 100
        while self._next() < 3:
            turns += 1
        return turns + 1000 * self.calls + 10000 * last


class CarriedFromTurnToTurn(Trap):
    """A name that only the loop reads, one turn later."""

    def begin(self):
        self.a = [1, 2, 3, 4, 5, 6]

    def play(self, action):
        total = 0
        before = action
        for one in self.a:
            total = total * 2 + before
            before = one
        self.a[self.t % 6] += 1
        return total


class SetInTheFirstTurn(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        total = 0
        for i in range(6):
            if i > 0:
                total += last * (i + action)
            last = i * 2
        return total


class LoopNameAfterwards(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        i = -1
        for i in range(action * 3):
            i += 10
        j = 5
        for j in range(action):
            pass
        return i + 100 * j


class BoundsReadOnce(Trap):
    """A range does not follow the names it was made from."""

    def begin(self):
        self.x = 0

    def play(self, action):
        n = action + 3
        total = 0
        for i in range(n):
            n = 2
            total += i * n
        return total


class NestedWhile(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        i = total = 0
        while True:
            j = 0
            while j < i:
                j += 1
                if j == 3:
                    break
                total += j
            i += 1
            if i > action + 2:
                break
        return total + 100 * i


class CaughtRaise(Trap):
    """An exception that is caught is a way to go on."""

    refused = "exception"

    def begin(self):
        self.x = 0

    def play(self, action):
        try:
            if action > 1:
                raise ValueError
            self.x += 1
        except ValueError:
            self.x += 100
        return self.x


class CaughtInACall(Trap):
    refused = "exception"

    def begin(self):
        self.x = 0

    def _careful(self, action):
        if action > 1:
            raise ValueError
        return 1

    def play(self, action):
        try:
            self.x += self._careful(action)
        except ValueError:
            self.x += 100
        return self.x


class CaughtDivision(Trap):
    refused = "exception"

    def begin(self):
        self.x = 3

    def play(self, action):
        self.x = (self.x + 1) % 3
        try:
            return 6 / self.x
        except ZeroDivisionError:
            return -1


class CaughtMiss(Trap):
    refused = "exception"

    def begin(self):
        self.a = [1, 2, 3]

    def play(self, action):
        try:
            return self.a.index(self.t % 5)
        except ValueError:
            return -1


class Finally(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        try:
            self.x += action
        finally:
            self.x += 1
        return self.x


class LazyAny(Trap):
    """`any` stops at the first that holds: what the others would have done does not happen."""

    def begin(self):
        self.calls = 0

    def _seen(self, i, action):
        self.calls += 1
        return i == action

    def play(self, action):
        found = any(self._seen(i, action) for i in range(3))
        return found + 10 * self.calls


class EagerAny(Trap):
    """In a list all of it happens."""

    def begin(self):
        self.calls = 0

    def _seen(self, i, action):
        self.calls += 1
        return i == action

    def play(self, action):
        found = any([self._seen(i, action) for i in range(3)])
        return found + 10 * self.calls + all(i < action for i in range(2))


class PrintedValue(Trap):
    """What is printed is left out; what its computation changes is not."""

    def begin(self):
        self.x = 0

    def _next(self):
        self.x += 1
        return self.x

    def play(self, action):
        if self.t > 10**6:
            print("never", self._next())  # noqa: T201
        np.testing.assert_(True)
        return self.x


class AssertedAndRaised(Trap):
    """Checks of the action are no part of a step."""

    def begin(self):
        self.x = 0

    def play(self, action):
        assert 0 <= action < 4
        if action > 17:
            raise ValueError(f"no such action: {action}")
        self.x += action
        return self.x
