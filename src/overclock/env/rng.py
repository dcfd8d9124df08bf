"""`Rng`: the small counter-based generator behind every random number of a running environment.

A `jax.random` key costs about a hundred integer operations per draw and its streams change between JAX
versions. An `Rng` is three 32-bit words; a draw is a keyed hash of (counter, section, site), so that

* any word of any lane can be recomputed on its own, in any language (docs/rng.md gives the formula and test vectors);
* nothing has to be threaded through the rules: one event (a reset or a step) has one counter value, and each
  scalar drawn in it has its own *site* number. Two draws of one event must not share a site.

Words and unit uniforms are bit-equal on every backend, normals within 2 ulp. The functions below use only
operators, so they run on NumPy arrays (the host mirror used by verification) exactly as on JAX ones.
"""

import enum
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32

from overclock.env.normal import inverse_normal_cdf
from overclock.env.struct import Struct, static

WEYL = np.uint32(0x9E3779B9)  # 2**32 / golden ratio: spreads consecutive counters
SITE_WEYL = np.uint32(0x85EBCA6B)  # odd: spreads consecutive sites
MULTIPLIER_A = np.uint32(0x21F0AAAD)  # two-round 32-bit mixer found by search (hash-prospector), bias 0.107
MULTIPLIER_B = np.uint32(0xD35A2D97)
SITES_PER_SECTION = 1 << 20


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
        x = counter * WEYL + k0
        x = x ^ (x >> np.uint32(16))
        x = x * MULTIPLIER_A
        x = x ^ (x >> np.uint32(15))
        x = x + (k1 + index * SITE_WEYL)
        x = x ^ (x >> np.uint32(16))
        x = x * MULTIPLIER_A
        x = x ^ (x >> np.uint32(15))
        x = x * MULTIPLIER_B
        return x ^ (x >> np.uint32(15))


def scale_word(word: UInt32[Array, "..."], n: Any) -> Int[Array, "..."]:
    """floor(word * n / 2**32) for 1 <= n <= 65,536 without 64-bit arithmetic; `n` may be traced."""
    if isinstance(n, int) and n > 1 and n & (n - 1) == 0:
        return (word >> np.uint32(32 - (n.bit_length() - 1))).astype(jnp.int32)
    n = jnp.asarray(n).astype(jnp.uint32)
    high = (word >> np.uint32(16)) * n
    low = (word & np.uint32(0xFFFF)) * n
    return ((high + (low >> np.uint32(16))) >> np.uint32(16)).astype(jnp.int32)


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
        if jnp.issubdtype(source.dtype, jax.dtypes.prng_key):
            source = jax.random.key_data(source)
        return cls._from_words([source[..., i] for i in range(source.shape[-1])])

    @classmethod
    def _from_words(cls, words: list[Any]) -> "Rng":
        k0, k1 = jnp.uint32(0), jnp.uint32(0)
        for position, word in enumerate(words):
            base = (int(Section.SEED) * SITES_PER_SECTION + 2 * position) & 0xFFFFFFFF
            word = word.astype(jnp.uint32)
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
        base = self.section * SITES_PER_SECTION + 2 * site + half
        if shape == ():
            return mix(self.k0, self.k1, self.counter, np.uint32(base))
        index = np.arange(int(np.prod(shape)), dtype=np.uint32).reshape(shape) * np.uint32(2) + np.uint32(base)
        return mix(self.k0, self.k1, self.counter, jnp.asarray(index))

    def unit(self, site: int, shape: tuple[int, ...] = (), dtype: Any = None) -> Float[Array, "..."]:
        """Uniform in [0, 1): 24 random bits in float32, 53 in float64; bit-equal on every backend."""
        dtype = jnp.result_type(float) if dtype is None else jnp.dtype(dtype)
        if dtype == jnp.float64:
            high = (self.words(site, shape) >> np.uint32(5)).astype(jnp.float64)
            low = (self.words(site, shape, half=1) >> np.uint32(6)).astype(jnp.float64)
            return (high * 2.0**26 + low) * 2.0**-53
        return (self.words(site, shape) >> np.uint32(8)).astype(jnp.float32) * np.float32(2.0**-24)

    def uniform(
        self, site: int, low: Any = 0.0, high: Any = 1.0, shape: tuple[int, ...] = (), dtype: Any = None
    ) -> Float[Array, "..."]:
        """Uniform in [low, high). Bit-equal on every backend when `low == -high`, else within 1 ulp (contraction)."""
        dtype = jnp.result_type(float) if dtype is None else jnp.dtype(dtype)
        low, high = jnp.asarray(low, dtype), jnp.asarray(high, dtype)
        # Written around the middle: with low == -high the sum adds an exact zero, so a fused multiply-add
        # rounds as the separate operations do.
        return (self.unit(site, shape, dtype) - dtype.type(0.5)) * (high - low) + (high + low) * dtype.type(0.5)

    def integers(self, site: int, n: int, shape: tuple[int, ...] = ()) -> Int[Array, "..."]:
        """Uniform in {0, ..., n - 1} for n <= 65,536, as floor(word * n / 2**32): bias below n / 2**32."""
        if not 0 < n <= 1 << 16:
            raise ValueError(f"Rng.integers needs 1 <= n <= 65536, got {n}.")
        return scale_word(self.words(site, shape), n)

    def bernoulli(self, site: int, p: Any, shape: tuple[int, ...] = ()) -> Bool[Array, "..."]:
        """True with probability p."""
        return self.unit(site, shape, jnp.float32) < p

    def normal(self, site: int, shape: tuple[int, ...] = (), dtype: Any = None) -> Float[Array, "..."]:
        """Standard normal by inversion: one site per value, no rejection, so every backend stays in step."""
        dtype = jnp.result_type(float) if dtype is None else jnp.dtype(dtype)
        bits = 53 if dtype == jnp.float64 else 24
        # The middle of each cell: never 0 or 1, so the result is finite; symmetric around one half.
        centred = (self.unit(site, shape, dtype) - dtype.type(0.5)) + dtype.type(2.0 ** -(bits + 1))
        return inverse_normal_cdf(centred)

    def masked_choice(self, site: int, mask: Bool[Array, " n"]) -> Int[Array, ""]:
        """Uniform among the True entries of `mask`; 0 if there is none."""
        rank = scale_word(self.words(site), jnp.sum(mask.astype(jnp.uint32)))
        # The chosen entry is the first whose running count passes the rank.
        passed = jnp.cumsum(mask.astype(jnp.int32)) > rank
        return jnp.argmax(passed & mask).astype(jnp.int32)
