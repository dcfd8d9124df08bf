"""`Lcg64`: a 64-bit linear congruential generator on pairs of 32-bit words, as games of the 1990s and 2000s carry one.

JAX has no 64-bit integers unless x64 is on, and GPUs are slower with them; two uint32 give the same numbers. A
reference's own generator can so be part of an environment's state, and every draw be equal to the reference's.
"""

import jax.numpy as jnp
from jaxtyping import Array, Int, UInt32

from overclock.env.rng import multiply_high, scale_word
from overclock.env.struct import Struct, static
from overclock.errors import UsageError

KNUTH = 6364136223846793005  # multiplier and increment of MMIX
KNUTH_INCREMENT = 1442695040888963407
LOW, LIMIT = 0xFFFFFFFF, 1 << 64


class Lcg64(Struct):
    """state <- state * multiplier + increment modulo 2**64; a draw is the upper half of the new state."""

    high: UInt32[Array, "*lanes"]
    low: UInt32[Array, "*lanes"]
    multiplier: int = static(default=KNUTH)
    increment: int = static(default=KNUTH_INCREMENT)

    @classmethod
    def of(cls, state: int, multiplier: int = KNUTH, increment: int = KNUTH_INCREMENT) -> "Lcg64":
        """The generator in this state."""
        for name, number in (("state", state), ("multiplier", multiplier), ("increment", increment)):
            if not 0 <= number < LIMIT:
                raise UsageError(f"The {name} of an Lcg64 must be from 0 to 2**64 - 1, got {number}.")
        high, low = _halves(state)
        return cls(high=high, low=low, multiplier=multiplier, increment=increment)

    def next_word(self) -> "tuple[UInt32[Array, '*lanes'], Lcg64]":
        """The next 32 bits and the generator after them."""
        after = self.jump(1)
        return after.high, after

    def next_below(self, n: "int | Int[Array, ''] | UInt32[Array, '']") -> "tuple[Int[Array, '*lanes'], Lcg64]":
        """An integer in {0, ..., n - 1} as floor(word * n / 2**32), for n <= 2**31; `n` may be traced."""
        word, after = self.next_word()
        return scale_word(word, n), after

    def jump(self, steps: int) -> "Lcg64":
        """The generator `steps` draws later (or earlier, if negative), at the cost of one draw."""
        multiplier, increment = _of_steps(self.multiplier, self.increment, steps)
        high, low = _multiply((self.high, self.low), multiplier)
        added_high, added_low = _halves(increment)
        total = low + added_low
        carry = (total < added_low).astype(total.dtype)
        return self.replace(high=high + added_high + carry, low=total)


def _halves(number: int) -> "tuple[UInt32[Array, ''], UInt32[Array, '']]":
    return jnp.uint32(number >> 32), jnp.uint32(number & LOW)


def _multiply(value: "tuple[Array, Array]", factor: int) -> "tuple[Array, Array]":
    """The lower 64 bits of a product with a constant."""
    high, low = value
    factor_high, factor_low = _halves(factor)
    return multiply_high(low, factor_low) + low * factor_high + high * factor_low, low * factor_low


def _of_steps(multiplier: int, increment: int, steps: int) -> tuple[int, int]:
    """The multiplier and increment of many steps at once: squaring, as powers are computed."""
    if steps < 0:
        if multiplier % 2 == 0:
            raise UsageError(f"An Lcg64 with the even multiplier {multiplier} cannot be turned back.")
        multiplier = pow(multiplier, -1, LIMIT)
        increment, steps = -multiplier * increment % LIMIT, -steps
    many, added = 1, 0
    while steps:
        if steps & 1:
            many, added = many * multiplier % LIMIT, (added * multiplier + increment) % LIMIT
        multiplier, increment = multiplier * multiplier % LIMIT, increment * (multiplier + 1) % LIMIT
        steps >>= 1
    return many, added
