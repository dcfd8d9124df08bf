"""Private names: `__x` is `_Class__x`, of the class whose body it is written in."""

from translate.traps.base import Trap

_Named__bonus = 7  # what a method of Named means by `__bonus`


class Simple(Trap):
    """An attribute, a method, a property and a class attribute."""

    __speed = 3

    def begin(self):
        self.__n = 0
        self.__seen = [0, 0, 0]

    def __move(self, action):
        self.__n += self.__speed + action
        self.__seen[action % 3] = self.__n

    @property
    def __double(self):
        return 2 * self.__n

    def play(self, action):
        self.__move(action)
        if self.__n > 10:
            self.__n -= 9
        return self.__double + 100 * sum(self.__seen)


class _Base(Trap):
    def begin(self):
        self.__n = 100

    def _grow(self, by):
        self.__n += by
        return self.__n

    def __own(self):
        return 1

    def play(self, action):
        return self._grow(action) + self.__own()


class Twice(_Base):
    """Base and subclass have an attribute and a method of one name each: these are two."""

    def begin(self):
        super().begin()
        self.__n = 0

    def __own(self):
        return 2

    def play(self, action):
        self.__n += 1
        return 1000 * super().play(action) + 10 * self.__n + self.__own()


class Inherited(_Base):
    """All of it comes from a base, whose name begins with an underscore."""


class Named(Trap):
    """A global, a local, an argument, a function in a function, and names that are not private."""

    def begin(self):
        self.__dunder__ = 5
        self.___three = 1

    def __scaled(self, value, __by=2):
        def __more(one):
            nonlocal value
            value += one
            return value * __by

        return __more(1)

    def play(self, action):
        __local = action
        self.___three += 1
        return self.__scaled(__local) + __bonus + self.__dunder__ + self.___three


class AnotherClass:
    """An object with a private attribute of its own."""

    def __init__(self):
        self.__n = 4

    def add(self, by):
        self.__n += by
        return self.__n


class OfAnObject(Trap):
    def begin(self):
        self.box = AnotherClass()
        self.__n = 1

    def play(self, action):
        self.__n *= 2
        return self.box.add(action) * 1000 + self.__n


class ByText(Trap):
    """A name in a text is the name itself."""

    def begin(self):
        self.__n = 1

    def play(self, action):
        self.__n += action
        return getattr(self, "_ByText__n") + getattr(self, "__n", 50)  # noqa: B009


class Decorated(Trap):
    """A private static method, and a private method under another name."""

    def begin(self):
        self.__n = 1

    @staticmethod
    def __twice(value):
        return 2 * value

    def __added(self, by):
        self.__n += by
        return self.__n

    def play(self, action):
        add = self.__added
        return add(self.__twice(action))
