"""NumPy's own random numbers in JAX: the generator behind `np.random.default_rng` and Gymnasium's `np_random`.

`Pcg64` is the state of that generator as data. `NumpyDraws` stands where an environment expects an `Rng`, and gives
the numbers that NumPy's `random`, `uniform`, `integers` and `choice` give, one call after the other: what a site is
called does not matter here, only the order. Everything is exact, on any device, and needs 64-bit integers (JAX's x64).
"""

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32, UInt64

from overclock.env.struct import Struct
from overclock.errors import UsageError

MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645  # of PCG's 128-bit linear congruential step
LOW32, LOW64 = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF
MANTISSA = 53  # bits of a float64


class Pcg64(Struct):
    """One generator, or a batch of them; a 64-bit word gives two 32-bit ones, and the second waits in `spare`."""

    high: UInt64[Array, "*lanes"]
    low: UInt64[Array, "*lanes"]
    step_high: UInt64[Array, "*lanes"]
    step_low: UInt64[Array, "*lanes"]
    spare: UInt32[Array, "*lanes"]
    has_spare: Bool[Array, "*lanes"]

    @classmethod
    def of_seeds(cls, seeds: Sequence[int]) -> "Pcg64":
        """What `np.random.default_rng(seed)` starts from, one lane per seed."""
        require_x64()
        words = []
        for seed in seeds:
            state: Any = np.random.PCG64(seed).state
            inner, step = state["state"]["state"], state["state"]["inc"]
            words.append([inner >> 64, inner & LOW64, step >> 64, step & LOW64])
        high, low, step_high, step_low = (jnp.asarray(column) for column in np.array(words, np.uint64).T)
        return cls(
            high=high,
            low=low,
            step_high=step_high,
            step_low=step_low,
            spare=jnp.zeros(len(seeds), jnp.uint32),
            has_spare=jnp.zeros(len(seeds), jnp.bool_),
        )

    def next64(self) -> "tuple[UInt64[Array, ''], Pcg64]":
        """Advance the generator: (the next 64 bits, the stream behind them)."""
        multiplier = jnp.uint64(MULTIPLIER >> 64), jnp.uint64(MULTIPLIER & LOW64)
        carry, low = multiply(self.low, multiplier[1])
        high = carry + self.high * multiplier[1] + self.low * multiplier[0]
        total = low + self.step_low
        high = high + self.step_high + (total < low).astype(jnp.uint64)
        mixed, turn = high ^ total, high >> jnp.uint64(58)
        back = (jnp.uint64(64) - turn) & jnp.uint64(63)
        return (mixed >> turn) | (mixed << back), self.replace(high=high, low=total)

    def next32(self) -> "tuple[UInt32[Array, ''], Pcg64]":
        """The next 32 bits: half of a word, and the other half the next time."""
        word, after = self.next64()
        after = after.replace(spare=(word >> jnp.uint64(32)).astype(jnp.uint32), has_spare=jnp.bool_(True))
        kept = self.replace(has_spare=jnp.bool_(False))
        found = jnp.where(self.has_spare, self.spare, (word & jnp.uint64(LOW32)).astype(jnp.uint32))
        return found, jax.tree.map(lambda a, b: jnp.where(self.has_spare, a, b), kept, after)


class NumpyDraws:
    """An `Rng` for one event of one lane that takes its numbers from NumPy's stream; `stream` is where it has come to.

    It changes while a draw function is traced, so one serves one call of one function.
    """

    def __init__(self, stream: Pcg64) -> None:
        self.stream = stream

    def unit(self, site: int, shape: tuple[int, ...] = (), dtype: Any = None) -> Float[Array, "..."]:
        """What NumPy's `random(shape)` returns at this point of the stream."""
        return self._bits(shape).astype(jnp.float64) * 2.0**-MANTISSA

    def uniform(
        self, site: int, low: Any = 0.0, high: Any = 1.0, shape: tuple[int, ...] = (), dtype: Any = None
    ) -> Float[Array, "..."]:
        """What NumPy's `uniform(low, high, shape)` returns at this point of the stream."""
        low, high = jnp.asarray(low, jnp.float64), jnp.asarray(high, jnp.float64)
        return low + rounded_product(self._bits(shape), high - low)

    def integers(self, site: int, n: int, shape: tuple[int, ...] = ()) -> Int[Array, "..."]:
        """`integers(n, size=shape)`, and `choice(n)`; a range of one number takes nothing from the stream."""
        if not 0 < n <= 1 << 31:
            raise UsageError(f"Whole numbers are drawn from 1 to 2**31 of them, got {n}.")
        if n == 1:
            return jnp.zeros(shape, jnp.int64)
        return self._several(lambda stream: _below(stream, n), shape).astype(jnp.int64)

    def normal(self, site: int, shape: tuple[int, ...] = (), dtype: Any = None) -> Float[Array, "..."]:
        """Always refused: NumPy's normal numbers are not reproduced."""
        raise UsageError("NumPy's normal numbers are not reproduced; use rng='overclock'.")

    def _bits(self, shape: tuple[int, ...]) -> UInt64[Array, "..."]:
        return self._several(Pcg64.next64, shape) >> jnp.uint64(64 - MANTISSA)

    def _several(self, draw: Any, shape: tuple[int, ...]) -> Any:
        """As many draws as `shape` has places, in the order of memory."""
        if shape == ():
            found, self.stream = draw(self.stream)
            return found

        def one(stream: Pcg64, _: None) -> tuple[Pcg64, Any]:
            found, stream = draw(stream)
            return stream, found

        self.stream, found = jax.lax.scan(one, self.stream, None, length=math.prod(shape))
        return found.reshape(shape)


def _below(stream: Pcg64, n: int) -> tuple[UInt64[Array, ""], Pcg64]:
    """A number below n, by Lemire's method: one word nearly always, another where the first would be unfair."""
    unfair = jnp.uint64(((1 << 32) - n) % n)

    def scaled(stream: Pcg64) -> tuple[UInt64[Array, ""], Pcg64]:
        word, stream = stream.next32()
        return word.astype(jnp.uint64) * jnp.uint64(n), stream

    product, stream = jax.lax.while_loop(
        lambda carried: (carried[0] & jnp.uint64(LOW32)) < unfair, lambda carried: scaled(carried[1]), scaled(stream)
    )
    return product >> jnp.uint64(32), stream


def multiply(a: UInt64[Array, "..."], b: UInt64[Array, "..."]) -> tuple[UInt64[Array, "..."], UInt64[Array, "..."]]:
    """The 128 bits of a product, as (upper, lower) halves."""
    half, mask = jnp.uint64(32), jnp.uint64(LOW32)
    middle = (a >> half) * (b & mask) + (((a & mask) * (b & mask)) >> half)
    carry = (a & mask) * (b >> half) + (middle & mask)
    return (a >> half) * (b >> half) + (middle >> half) + (carry >> half), a * b


def rounded_product(bits: UInt64[Array, "..."], width: Float[Array, "..."]) -> Float[Array, "..."]:
    """(bits * 2**-53) * width for width >= 0, rounded once.

    Written with whole numbers: compilers fuse a product of floats with the sum behind it, and then it is not rounded.
    """
    fraction, exponent = jnp.frexp(width)
    high, low = multiply(bits, (fraction * 2.0**MANTISSA).astype(jnp.uint64))
    length = jnp.where(high > 0, 128 - jax.lax.clz(high).astype(jnp.int64), 64 - jax.lax.clz(low).astype(jnp.int64))
    drop = jnp.maximum(length - MANTISSA, 0)  # at most 53 of 106 bits
    by, one = drop.astype(jnp.uint64), jnp.uint64(1)
    kept = (low >> by) | jnp.where(drop > 0, high << ((jnp.uint64(64) - by) & jnp.uint64(63)), jnp.uint64(0))
    rest, half = low & ((one << by) - one), (one << by) >> one
    up = (drop > 0) & ((rest > half) | ((rest == half) & (kept & one == one)))
    size = (kept + up.astype(jnp.uint64)).astype(jnp.float64)
    scale = jnp.ldexp(jnp.ones_like(width), (exponent.astype(jnp.int64) + drop - 2 * MANTISSA).astype(jnp.int32))
    return size * scale


def require_x64() -> None:
    """One sentence where 64-bit integers are off."""
    if not jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
        raise UsageError(
            "rng='numpy' needs 64-bit integers; call jax.config.update('jax_enable_x64', True) before anything else."
        )
