"""Numbers: signs of modulo and floor division, overflow, promotion, bools that are ints, rounding."""

import math

import numpy as np
from translate.traps.base import Trap


class NegativeModulo(Trap):
    """Python's remainder has the sign of the divisor."""

    def begin(self):
        self.x = -7

    def play(self, action):
        self.x = (self.x * 3 - 5) % 17 - 9
        return self.x % 5 + 10 * (self.x % -5) + 100 * (self.x // 3) + 1000 * (self.x // -4)


class FloatModulo(Trap):
    """The same for floats; 1.0 // 0.1 is 9.0."""

    def begin(self):
        self.x = -1.3

    def play(self, action):
        self.x = (self.x + 0.7 * (action - 2)) % 3.1 - 1.5
        return self.x % 0.1 + 10 * (self.x % -0.4) + 100 * (self.x // 0.1) + 1000 * ((self.t * 0.1) // -0.1)


class NumpyModulo(Trap):
    """NumPy's integers and arrays do as Python's."""

    def begin(self):
        self.x = np.array([-7, 5, -1], np.int32)

    def play(self, action):
        self.x = (self.x * 3 - action) % 11 - 5
        return (self.x % -3).sum() + 10 * (self.x // 2).sum() + 100 * np.mod(self.x, 4).sum() + np.fmod(self.x, 3).sum()


class Divmod(Trap):
    def begin(self):
        self.x = -11

    def play(self, action):
        whole, rest = divmod(self.x, 4)
        self.x = self.x + action - 1
        return 10 * whole + rest


class SmallIntegersWrap(Trap):
    """NumPy's integers have a width."""

    def begin(self):
        self.a = np.int8(100)
        self.b = np.array([250, 3], np.uint8)
        self.c = np.int32(2**31 - 5)

    def play(self, action):
        self.a = self.a + np.int8(20)
        self.b = self.b + np.uint8(7)
        self.c = self.c + np.int32(3)
        return int(self.a) + 1000 * int(self.b[0]) + int(self.c)


class UnsignedDifference(Trap):
    def begin(self):
        self.a = np.uint8(3)

    def play(self, action):
        self.a = self.a - np.uint8(5)
        return self.a


class ComparedOutOfRange(Trap):
    """A small integer compared with a number that its type cannot hold."""

    def begin(self):
        self.a = np.uint8(44)

    def play(self, action):
        self.a = self.a + np.uint8(90)
        return (self.a < 300) + 2 * (self.a == -1) + 4 * (self.a > -5) + 8 * (self.a != 300)


class ComparedOutOfRangeAtRunTime(Trap):
    """The same with numbers that are not known, and in an array."""

    def begin(self):
        self.a = np.arange(3).astype(np.uint8)

    def play(self, action):
        below, above = action - 2, 100 * self.t
        inside = (self.a < below).sum() + 10 * (self.a != above).sum() + 100 * (self.a[1] > below)
        return inside + 1000 * (self.a <= above).sum() + 10000 * (self.a[2] == action)


class GrowsBeyond64Bits(Trap):
    """Python's integers have no end."""

    refused = "64 bits"

    def begin(self):
        self.x = 3

    def play(self, action):
        self.x = self.x * self.x + 1
        return self.x % 1000


class ProductBeyond64Bits(Trap):
    """Only on the way to a small result."""

    refused = "64 bits"

    def begin(self):
        self.x = 12345

    def play(self, action):
        self.x = (self.x * 6364136223846793005 + 1442695040888963407) % 1000003
        return self.x


class MaskOf64Bits(Trap):
    refused = "64 bits"

    def begin(self):
        self.x = 12345

    def play(self, action):
        self.x = (self.x * 31 + 7) & (2**64 - 1)
        return self.x % 1000


class LargeGenerator(Trap):
    """A product that does fit."""

    def begin(self):
        self.x = 12345

    def play(self, action):
        self.x = (self.x * 1103515245 + 12345) % 2147483648
        return self.x % 1000


class Promotion(Trap):
    """A Python float bends to float32; NumPy's float64 does not."""

    def begin(self):
        self.a = np.array([0.1, 0.2], np.float32)
        self.b = np.float32(0.3)

    def play(self, action):
        bent = self.a * 0.7
        wide = self.a * np.float64(0.7)
        self.a = self.a * 1.1
        self.b = self.b + 0.1
        return wide[0] - bent[0] + bent[1] * (0.1 * action + 1) + 1000 * (self.b - np.float64(0.1))


class IntegerTimesFloat32(Trap):
    def begin(self):
        self.a = np.float32(0.1)

    def play(self, action):
        wide = np.int64(3) * self.a
        bent = 3 * self.a
        self.a = self.a + np.float32(0.1)
        return 1000 * (wide - bent) + action * self.a


class UnsignedArithmetic(Trap):
    def begin(self):
        self.a = np.array([200, 100], np.uint8)

    def play(self, action):
        total = self.a.sum() + self.a.mean()
        self.a = self.a + 50
        return total + (self.a // 2 * 3).astype(np.float64).sum() + (self.a / 3).sum()


class BoolsAreIntegers(Trap):
    def begin(self):
        self.x = 0

    def play(self, action):
        big, even = action > 1, self.t % 2 == 0
        self.x = self.x + big + even
        return (True + True) * (big + even) - (-even) + sum([even, even, big]) + abs(even) + even * 2.5 + (~even)


class NumpyBoolsAreNot(Trap):
    """np.True_ + np.True_ is True."""

    def begin(self):
        self.a = np.array([True, False])

    def play(self, action):
        flag = np.bool_(action > 1)
        self.a = self.a ^ flag
        return (flag + flag) + 10 * (self.a + self.a).sum() + 100 * (flag * 2)


class IsTrue(Trap):
    """A Python bool is True; NumPy's bool and the integer 1 are not."""

    def begin(self):
        self.x = 0

    def play(self, action):
        ours = self.t > 2
        theirs = np.int64(action) > 1
        return (ours is True) + 10 * ((action > 1) is True) + 100 * (theirs == True) + 1000 * (int(ours) is True)  # noqa: E712


class IsTrueOfBoth(Trap):
    """One name, at times Python's bool and at times NumPy's."""

    refused = "is"

    def begin(self):
        self.x = 0

    def play(self, action):
        flag = (self.t > 2) if self.t % 2 else (np.int64(action) > 1)
        return flag is True


class WholePart(Trap):
    """int() cuts, floor goes down, round goes to the even neighbour."""

    def begin(self):
        self.x = -3.5

    def play(self, action):
        self.x = self.x + 0.5
        parts = int(self.x) + 10 * math.floor(self.x) + 100 * math.ceil(self.x) + 1000 * round(self.x)
        return parts + 10000 * int(np.round(self.x)) + int(np.float32(self.x) * 3) + math.trunc(self.x)


class MixedExtremes(Trap):
    """min and max give what they were given: the first of equals, an int or a float."""

    def begin(self):
        self.x = 0

    def play(self, action):
        self.x = max(self.x, action - 1.5)
        low = min(self.t, 3, 2.5)
        return low + max(self.t % 3, 1) + min([self.x, 1]) + max(0, -1 * self.t)


class Powers(Trap):
    def begin(self):
        self.x = 2

    def play(self, action):
        self.x = self.x % 5 + 1
        return self.x**2 + self.x**3 + self.x**-1 + (self.x / 2) ** 0.5 + (-1.5) ** 3 + 2.0**self.t


class PowerOfIntegers(Trap):
    """2**n is a whole number or a float, and soon too large."""

    refused = "exponent"

    def begin(self):
        self.x = 0

    def play(self, action):
        return 2**self.t


class TrueDivision(Trap):
    def begin(self):
        self.x = 7

    def play(self, action):
        self.x = self.x - 1
        return self.x / 2 + (self.x // 2) / 4 + np.int32(self.x) / np.int32(3)


class Bits(Trap):
    def begin(self):
        self.x = 13

    def play(self, action):
        self.x = (self.x ^ (self.t * 5)) & 63 | 1
        return (self.x >> 1) + (~self.x) + ((self.x >> action) & 1) + (-self.x >> 1)


class Truth(Trap):
    """`and` and `or` give one of their operands."""

    def begin(self):
        self.x = 0

    def play(self, action):
        self.x = (self.x or 3) - 1
        return (self.x and 7.5) + (action or -1) + (not self.x) * 100


class KnownInTheEnd(Trap):
    """A number that turns out to be known only when the program is tidied."""

    def begin(self):
        self.n, self.a, self.b = 1, 0, 0

    def play(self, action):
        self.n = self.b = 6
        if (self.t != self.n <= 2) & (action < 9):
            self.b = action % 5
        self.a = int(self.b > 0) % 5 - 4
        return self.a + 10 * self.b + action


class Digitized(Trap):
    """Which of some limits a number lies between: at a limit, beyond all of them, from both sides, of both kinds."""

    limits = np.array([-1.0, 0.0, 0.5, 0.5, 3.0])
    falling = (4, 2, 2, 0)

    def play(self, action):
        x = 0.5 * action - 1.0 + 0.5 * (self.t % 5)
        found = [
            np.digitize(x, self.limits),
            np.digitize(x, bins=self.limits, right=True),
            np.digitize(action, self.falling),
            np.digitize(np.float32(x), self.falling, right=True),
            np.digitize(np.array([x, -x]), self.falling)[1],
            np.digitize(np.nan if action > 5 else x, (1, 1, 1)),
        ]
        return sum(10**at * one for at, one in enumerate(found))
