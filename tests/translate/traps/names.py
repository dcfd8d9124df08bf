"""Functions, closures, classes and attributes: what a name means, and when it got its value."""

import functools

import numpy as np
from translate.traps.base import Trap

GRAVITY = 9.8
LIMITS = (1, 5)


class Closures(Trap):
    """A nested function sees the latest value, and nonlocal changes it."""

    def begin(self):
        self.x = 0

    def play(self, action):
        count = 0
        by = action

        def add(times=2):
            nonlocal count
            count += by * times
            return count

        first = add()
        by = 10
        add(3)
        pick = lambda value: value + by  # noqa: E731
        return first + count + pick(1)


class ClosuresOfALoop(Trap):
    """Late binding: all of them see the last turn."""

    def begin(self):
        self.x = 0

    def play(self, action):
        late, early = [], []
        for i in range(3):
            late.append(lambda: i + action)  # noqa: B023
            early.append(lambda i=i: i + action)
        return late[0]() + 10 * early[0]() + 100 * early[2]()


class ReturnedClosure(Trap):
    """A function that outlives the call it was made in."""

    refused = "function"

    def begin(self):
        self.x = 0

    def _adder(self, by):
        def add(value):
            return value + by

        return add

    def play(self, action):
        by = 1000
        add = self._adder(action)
        return add(by)


class Recursion(Trap):
    def begin(self):
        self.x = 0

    def _fall(self, depth, value):
        return value if depth == 0 else self._fall(depth - 1, value + depth)

    def play(self, action):
        return self._fall(4, action)


class Properties(Trap):
    def begin(self):
        self._x = 0

    @property
    def x(self):
        return self._x * 2

    @x.setter
    def x(self, value):
        self._x = value + 1

    def play(self, action):
        self.x += action
        return self.x + 10 * self._x


class CachedProperty(Trap):
    """Computed once, kept as an attribute."""

    refused = "once"

    def begin(self):
        self.x = 1

    @functools.cached_property
    def first(self):
        return self.x * 2

    def play(self, action):
        self.x += 1
        return self.first


class Parent(Trap):
    scale = 2

    def begin(self):
        self.x = 1

    def play(self, action):
        self.x += action
        return self.x * self.scale + self.bonus()

    def bonus(self):
        return 100


class Child(Parent):
    """super(), overridden methods and class attributes."""

    scale = 3

    def begin(self):
        super().begin()
        self.y = self.scale

    def play(self, action):
        before = super().play(action)
        self.y += 1
        return before + self.y

    def bonus(self):
        return super().bonus() + self.y


class ClassAttributes(Trap):
    """Read from the class until the instance has its own."""

    lives = 3
    seen = 0

    def begin(self):
        self.seen = 0

    def play(self, action):
        self.seen += 1
        return self.lives + 10 * self.seen + 100 * type(self).lives + GRAVITY * LIMITS[1]


class ChangedClassAttribute(Trap):
    """What all instances share is changed."""

    refused = "does not belong"
    total = 0

    def begin(self):
        self.x = 0

    def play(self, action):
        type(self).total += 1
        return self.total


class NoneOrValue(Trap):
    def begin(self):
        self.last = None
        self.best = None

    def play(self, action):
        before = -1 if self.last is None else self.last
        if self.best is None or action > self.best:
            self.best = action
        self.last = action if action != 2 else None
        return before + 10 * self.best + 100 * (self.last == 2) + (5 if self.last else 0)


class Modes(Trap):
    """A text that says what goes on."""

    def begin(self):
        self.mode = "idle"

    def play(self, action):
        if self.mode == "idle" and action > 1:
            self.mode = "run"
        elif self.mode in ("run", "jump"):
            self.mode = "jump" if self.mode == "run" else "idle"
        return {"idle": 0, "run": 1, "jump": 2}[self.mode] + 10 * self.mode.startswith("j") + len(self.mode)


class NotSetByReset(Trap):
    """An attribute that only exists after the first step."""

    refused = "last"

    def begin(self):
        self.x = 0
        if hasattr(self, "last"):
            del self.last

    def play(self, action):
        before = self.last if hasattr(self, "last") else -5
        self.last = action
        return before


class SurvivesReset(Trap):
    """The second episode is not like the first."""

    def __init__(self):
        self.episodes = 0

    def begin(self):
        self.episodes += 1

    def play(self, action):
        return self.episodes


class NeverReset(Trap):
    def __init__(self):
        self.total = 0

    def play(self, action):
        self.total += 1
        return self.total


class RestoredByReset(Trap):
    """Read by reset, but only what every reset finds."""

    def __init__(self):
        self.size = 4
        self.grid = None

    def begin(self):
        if self.grid is None:
            self.grid = np.zeros(self.size)
        self.grid[:] = 0.0

    def play(self, action):
        self.grid[action] += 1.0
        return self.grid.sum() + 10 * self.grid[0]


class TupleThenArray(Trap):
    """The state is a tuple after reset and an array after a step."""

    def begin(self):
        self.state = (0.0, 1.0)

    def play(self, action):
        x, v = self.state
        self.state = np.array([x + v, v + action])
        return self.state[0] + 10 * self.state[1] + len(self.state)


class TupleThenArrayAdded(Trap):
    """`+` joins tuples and adds arrays."""

    refused = "tuple"

    def begin(self):
        self.state = (0.0, 1.0)

    def play(self, action):
        both = self.state + self.state
        self.state = np.array([1.0, action])
        return both[0] + len(both)


class IntThenFloat(Trap):
    def begin(self):
        self.x = 0
        self.limit = 3

    def play(self, action):
        self.x = self.x / 2 + action
        if self.t == 3:
            self.limit = 2.5
        return min(self.x, self.limit) + self.x // 1


class Starred(Trap):
    def begin(self):
        self.a = [1, 2, 3]

    def _total(self, first, *rest, scale=1, **named):
        return scale * (first + sum(rest)) + sum(named.values()) + len(rest)

    def play(self, action):
        head, *tail = self.a
        self.a = [*tail, action]
        return self._total(*self.a, scale=2) + self._total(head, extra=action, **{"scale": 3})


class Shadowed(Trap):
    """Locals with the names of globals and built-ins."""

    def begin(self):
        self.x = 0

    def play(self, action):
        max = GRAVITY_OF = action
        sum = max + 1
        return sum * 2 + GRAVITY_OF


class NoneThenArray(Trap):
    """Where there is no value, its memory still has the array's shape."""

    def begin(self):
        self.goal = None

    def play(self, action):
        if self.goal is None or action == 3:
            self.goal = np.array([self.t, action])
        elif action == 0:
            self.goal = None
        return -1 if self.goal is None else self.goal[0] + 10 * self.goal[1]


class AttributesCalledAsTheStepCounterAndTheFlagOfLists(Trap):
    """They are another thing than what stands beside the state of the rules."""

    def begin(self):
        self.steps = 0
        self.overflow = 0
        self.action = 0

    def play(self, action):
        self.steps += 2
        self.overflow += self.action
        self.action = action
        return self.steps + 100 * self.overflow + 1000 * self.action
