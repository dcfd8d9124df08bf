"""`Rng`: the small counter-based generator behind every random number of a running environment.

A `jax.random` key costs about a hundred integer operations per draw and its streams change between JAX
versions. An `Rng` is three 32-bit words; a draw is a keyed hash of (counter, section, site), so that

* any word of any lane can be recomputed on its own, in any language (docs/rng.md gives the formula and test vectors);
* nothing has to be threaded through the rules: one event (a reset or a step) has one counter value, and each
  scalar drawn in it has its own *site* number. Two draws of one event must not share a site.

Words and unit uniforms are bit-equal on every backend, normals within a few ulp (docs/rng.md). The functions below
use only operators, so they run on NumPy arrays (the host mirror used by verification) exactly as on JAX ones.
"""

import enum
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from overclock.env.bits import count_bits, nth_set_bit
from overclock.env.normal import inverse_normal_cdf
from overclock.env.struct import Struct, static
from overclock.errors import UsageError

WEYL = np.uint32(0x9E3779B9)  # 2**32 / golden ratio: spreads consecutive counters
SITE_WEYL = np.uint32(0x85EBCA6B)  # odd: spreads consecutive sites
MULTIPLIER_A = np.uint32(0x21F0AAAD)  # of a 32-bit mixer found by search (hash-prospector)
MULTIPLIER_B = np.uint32(0xD35A2D97)
MOST_RANKED = 32  # numbers whose order is found by comparing each with each
SITES_PER_SECTION = 1 << 20  # word indices; a site has two of them


class Section(enum.IntEnum):
    """What an event's draws are for; sections of one event never share a word."""

    STEP = 0
    RESET = 1
    ACTION = 2
    LANES = 3
    SEED = 4
    POOL = 5


def mix(k0: Any, k1: Any, counter: Any, index: Any) -> Any:
    """The generator itself: one uint32 word from a 64-bit key, an event counter and a word index."""
    with np.errstate(over="ignore"):  # NumPy warns when a scalar wraps; wrapping is the point here
        event = counter * WEYL + k0
        x = event ^ (event >> np.uint32(16))
        x = x * MULTIPLIER_A
        x = x ^ (x >> np.uint32(15))
        x = x + index * SITE_WEYL
        x = x ^ (x >> np.uint32(16))
        x = x * MULTIPLIER_A
        x = x ^ (x >> np.uint32(15))
        # The event enters a second time, with the other half of the key: its words depend on all 64 bits, not on 32.
        x = (x + (event + k1)) * MULTIPLIER_B
        return x ^ (x >> np.uint32(15))


def scale_word(word: UInt32[Array, "..."], n: Any) -> Int[Array, "..."]:
    """floor(word * n / 2**32) for 1 <= n <= 2**31 without 64-bit arithmetic; `n` may be traced."""
    if isinstance(n, int) and n > 1 and n & (n - 1) == 0:
        return (word >> np.uint32(32 - (n.bit_length() - 1))).astype(np.int32)
    return multiply_high(word, np.uint32(n) if isinstance(n, int) else n.astype(np.uint32)).astype(np.int32)


def multiply_high(a: Any, b: Any) -> Any:
    """The upper 32 bits of the product of two uint32, from 16-bit halves; no sum below can pass 2**32."""
    half, low = np.uint32(16), np.uint32(0xFFFF)
    middle = (a >> half) * (b & low) + ((a & low) * (b & low) >> half)
    carry = (a & low) * (b >> half) + (middle & low)
    return (a >> half) * (b >> half) + (middle >> half) + (carry >> half)


def _float_dtype(dtype: Any) -> Any:
    """The dtype of a draw: as asked for, by default JAX's float; float64 means float32 where x64 is off."""
    dtype = jnp.result_type(float if dtype is None else dtype)
    if dtype not in (np.float32, np.float64):
        raise UsageError(f"Random numbers are drawn as float32 or float64, not {dtype}; draw float32 and cast it.")
    return dtype


class Rng(Struct):
    """A stream of random words: `k0`, `k1` name the stream, `counter` the event, `section` what is drawn."""

    k0: UInt32[Array, "*lanes"]
    k1: UInt32[Array, "*lanes"]
    counter: UInt32[Array, "*lanes"]
    section: int = static(default=int(Section.STEP))

    @classmethod
    def of(cls, source: "Rng | jax.Array | int") -> "Rng":
        """An `Rng` from a jax key (typed or raw), an integer seed, or an `Rng` (returned as it is)."""
        if isinstance(source, Rng):
            return source
        if isinstance(source, int | np.integer):
            # The C cast wraps negative and 64-bit seeds instead of refusing them.
            low, high = int(source) & 0xFFFFFFFF, (int(source) >> 32) & 0xFFFFFFFF
            return cls._from_words([jnp.uint32(low), jnp.uint32(high)])
        dtype = getattr(source, "dtype", np.dtype(object))
        if jnp.issubdtype(dtype, jax.dtypes.prng_key):
            source = jax.random.key_data(source)
        elif dtype != np.uint32 or source.ndim == 0:
            raise UsageError("Randomness starts from jax.random.key(seed), overclock.Rng.of(seed) or another Rng.")
        return cls._from_words([source[..., i] for i in range(source.shape[-1])])

    @classmethod
    def _from_words(cls, words: list[Any]) -> "Rng":
        k0, k1 = jnp.uint32(0), jnp.uint32(0)
        for position, word in enumerate(words):
            base = int(Section.SEED) * SITES_PER_SECTION + 2 * position
            k0, k1 = mix(k0, k1, word, np.uint32(base)), mix(k0, k1, word, np.uint32(base + 1))
        return cls(k0=k0, k1=k1, counter=jnp.zeros_like(k0))

    def lanes(self, num_lanes: int) -> "Rng":
        """`num_lanes` independent streams, one per member of a batch."""
        lane = jnp.arange(num_lanes, dtype=jnp.uint32)
        base = int(Section.LANES) * SITES_PER_SECTION
        k0 = mix(self.k0, self.k1, lane, np.uint32(base))
        k1 = mix(self.k0, self.k1, lane, np.uint32(base + 1))
        return Rng(k0=k0, k1=k1, counter=jnp.zeros_like(k0))

    def advance(self) -> "Rng":
        """The same stream at its next event."""
        return self.replace(counter=self.counter + np.uint32(1))

    def of_section(self, section: Section) -> "Rng":
        """The same event, drawing for another purpose."""
        return self.replace(section=int(section))

    def words(self, site: int, shape: tuple[int, ...] = (), half: int = 0) -> UInt32[Array, "..."]:
        """One uint32 per scalar; the scalars of `shape` take the sites `site`, `site + 1`, ...

        Each site holds two words; `half` picks one (float64 draws use both, everything else the first).
        """
        count = math.prod(shape)
        if site < 0 or 2 * (site + count) > SITES_PER_SECTION:
            raise UsageError(
                f"An event has the draw sites 0 to {SITES_PER_SECTION // 2 - 1}, got {site} to {site + count - 1}."
            )
        base = self.section * SITES_PER_SECTION + 2 * site + half
        if shape == ():
            return mix(self.k0, self.k1, self.counter, np.uint32(base))
        index = np.arange(count, dtype=np.uint32).reshape(shape) * np.uint32(2) + np.uint32(base)
        return mix(self.k0, self.k1, self.counter, jnp.asarray(index))

    def unit(self, site: int, shape: tuple[int, ...] = (), dtype: Any = None) -> Float[Array, "..."]:
        """Uniform in [0, 1): 24 random bits in float32, 53 in float64; bit-equal on every backend."""
        dtype = _float_dtype(dtype)
        if dtype == jnp.float64:
            high = (self.words(site, shape) >> np.uint32(5)).astype(jnp.float64)
            low = (self.words(site, shape, half=1) >> np.uint32(6)).astype(jnp.float64)
            return (high * 2.0**26 + low) * 2.0**-53
        return (self.words(site, shape) >> np.uint32(8)).astype(jnp.float32) * np.float32(2.0**-24)

    def uniform(
        self, site: int, low: Any = 0.0, high: Any = 1.0, shape: tuple[int, ...] = (), dtype: Any = None
    ) -> Float[Array, "..."]:
        """Uniform in [low, high) up to rounding. Bit-equal on every backend when `low == -high`; else a compiler may
        fuse the last multiply and add, which moves a value by at most 1 ulp of the larger bound.
        """
        dtype = _float_dtype(dtype)
        low, high = jnp.asarray(low, dtype), jnp.asarray(high, dtype)
        # Written around the middle: with low == -high the sum adds an exact zero, so a fused multiply-add
        # rounds as the separate operations do.
        return (self.unit(site, shape, dtype) - dtype.type(0.5)) * (high - low) + (high + low) * dtype.type(0.5)

    def integers(self, site: int, n: int, shape: tuple[int, ...] = ()) -> Int[Array, "..."]:
        """Uniform in {0, ..., n - 1} for n <= 2**31, as floor(word * n / 2**32): bias below n / 2**32."""
        if not 0 < n <= 1 << 31:
            raise UsageError(f"Rng.integers needs 1 <= n <= 2**31, got {n}.")
        return scale_word(self.words(site, shape), int(n))

    def bernoulli(self, site: int, p: Any, shape: tuple[int, ...] = ()) -> Bool[Array, "..."]:
        """A bool that is True with probability p."""
        return self.unit(site, shape, jnp.float32) < p

    def normal(self, site: int, shape: tuple[int, ...] = (), dtype: Any = None) -> Float[Array, "..."]:
        """Standard normal by inversion: one site per value, no rejection, so every backend stays in step."""
        dtype = _float_dtype(dtype)
        bits = 53 if dtype == jnp.float64 else 24
        # The middle of each cell: never 0 or 1, so the result is finite; symmetric around one half.
        centred = (self.unit(site, shape, dtype) - dtype.type(0.5)) + dtype.type(2.0 ** -(bits + 1))
        return inverse_normal_cdf(centred)

    def masked_choice(self, site: int, mask: Bool[Array, " n"]) -> Int[Array, ""]:
        """Uniform among the True entries of `mask`; 0 if there is none."""
        rank = scale_word(self.words(site), jnp.sum(mask.astype(jnp.uint32)))
        # The chosen entry is the first whose running count of legal entries passes the rank.
        return jnp.argmax(jnp.cumsum(mask, dtype=jnp.int32) > rank).astype(jnp.int32)

    def bit_choice(self, site: int, words: UInt32[Array, " words"]) -> Int[Array, ""]:
        """Uniform among the set bits of a mask of 32-bit words (bits.py); 32 * words if there is none."""
        return nth_set_bit(words, scale_word(self.words(site), count_bits(words).astype(jnp.uint32)))

    def choice(self, site: int, n: int, count: int) -> Int[Array, " count"]:
        """`count` different numbers from {0, ..., n - 1} in random order, each order as likely as any other.

        Takes n sites. Number i is the rank of word i among n words, so equal words (chance below n**2 / 2**33) are the
        only bias.
        """
        if not 0 <= count <= n:
            raise UsageError(f"Rng.choice takes from 0 to n = {n} numbers, got {count}.")
        words = self.words(site, (n,))
        if n <= MOST_RANKED:  # comparisons alone, which stay in registers
            mine, others = words[:count, None], words[None, :]
            before = np.arange(n)[None, :] < np.arange(count)[:, None]
            return jnp.sum((others < mine) | ((others == mine) & before), axis=1, dtype=jnp.int32)
        order = jnp.argsort(words, stable=True)
        return jnp.zeros(n, jnp.int32).at[order].set(jnp.arange(n, dtype=jnp.int32))[:count]

    def permutation(self, site: int, n: int) -> Int[Array, " n"]:
        """The numbers 0 to n - 1 in random order; takes n sites."""
        return self.choice(site, n, n)

    def shuffle(self, site: int, values: Array) -> Array:
        """The entries of `values` along its first axis in random order; takes as many sites as there are entries."""
        return values[self.permutation(site, values.shape[0])]
