"""Bit masks of 32-bit words: sets that fit into registers, for legal moves, decks and boards."""

from typing import Any

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Int, UInt32

WIDTH = 32


def count_bits(words: UInt32[Array, " words"]) -> Int[Array, ""]:
    """How many bits are set in all words together."""
    return jnp.sum(lax.population_count(words).astype(jnp.int32))


def nth_set_bit(words: UInt32[Array, " words"], n: Any) -> Int[Array, ""]:
    """The place of the set bit with `n` set bits before it, or 32 * words if there are no more than `n`.

    Bit b of word w has the place 32 * w + b. There is no loop over the bits: words are passed by their counts, and the
    last one is halved five times.
    """
    place, left, word = jnp.int32(0), jnp.asarray(n, jnp.int32), jnp.uint32(0)
    searching = jnp.bool_(True)
    for index in range(words.shape[0]):
        here = lax.population_count(words[index]).astype(jnp.int32)
        found = searching & (left < here)
        word = jnp.where(found, words[index], word)
        place = jnp.where(found, WIDTH * index, place)
        left = jnp.where(searching & ~found, left - here, left)
        searching = searching & ~found
    return jnp.where(searching, WIDTH * words.shape[0], place + _in_word(word, left)).astype(jnp.int32)


def _in_word(word: UInt32[Array, ""], n: Int[Array, ""]) -> Int[Array, ""]:
    """The place of the n-th set bit of one word, by halves."""
    place = jnp.int32(0)
    for half in (16, 8, 4, 2, 1):
        low = lax.population_count(word & jnp.uint32((1 << half) - 1)).astype(jnp.int32)
        above = n >= low
        n = jnp.where(above, n - low, n)
        word = jnp.where(above, word >> jnp.uint32(half), word)
        place = place + jnp.where(above, half, 0).astype(jnp.int32)
    return place
