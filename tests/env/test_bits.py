"""Masks of 32-bit words against Python's integers, and uniform choices from them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from overclock.env.bits import count_bits, nth_set_bit
from overclock.env.rng import Rng

FALSE_ALARM = 1e-6  # per check; seeds are fixed


def places(words: np.ndarray) -> list[int]:
    """The places of the set bits, by Python's integers."""
    number = sum(int(word) << (32 * index) for index, word in enumerate(words))
    return [place for place in range(32 * len(words)) if number >> place & 1]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_every_set_bit_is_found(count):
    generator = np.random.default_rng(count)
    words = generator.integers(0, 1 << 32, (200, count), dtype=np.uint32)
    words[:50] &= generator.integers(0, 1 << 32, (50, count), dtype=np.uint32) & 0x80010001
    words[50:55] = 0
    words[55:60] = 0xFFFFFFFF
    numbers = jnp.arange(32 * count + 2)
    find = jax.jit(jax.vmap(jax.vmap(nth_set_bit, (None, 0)), (0, None)))
    found = np.asarray(find(jnp.asarray(words), numbers))
    for row, mask in zip(found, words, strict=True):
        expected = places(mask)
        assert row.tolist() == expected + [32 * count] * (len(numbers) - len(expected))
    assert jax.vmap(count_bits)(jnp.asarray(words)).tolist() == [len(places(mask)) for mask in words]


def test_a_choice_among_set_bits_is_uniform():
    mask = jnp.asarray([0x80000001, 0x00F00000, 0], jnp.uint32)
    lanes = Rng.of(5).lanes(60_000)
    chosen = np.asarray(jax.jit(jax.vmap(lambda rng: rng.bit_choice(3, mask)))(lanes))
    legal = places(np.asarray(mask))
    assert set(chosen) == set(legal)
    assert stats.chisquare([np.sum(chosen == place) for place in legal]).pvalue > FALSE_ALARM
    assert int(Rng.of(0).bit_choice(0, jnp.zeros(2, jnp.uint32))) == 64


@pytest.mark.parametrize(("n", "count"), [(4, 4), (5, 2), (33, 1), (34, 2)])
def test_every_order_is_as_likely_as_any_other(n, count):
    lanes = Rng.of(9).lanes(100_000)
    drawn = np.asarray(jax.jit(jax.vmap(lambda rng: rng.choice(2, n, count)))(lanes))
    codes = (drawn * n ** np.arange(count)).sum(axis=1)
    orders = np.unique(codes, return_counts=True)[1]
    assert len(orders) == int(np.prod(n - np.arange(count)))
    assert stats.chisquare(orders).pvalue > FALSE_ALARM


@pytest.mark.parametrize("n", [1, 32, 33, 60])
def test_a_shuffle_keeps_every_entry(n):
    values = jnp.arange(2 * n).reshape(n, 2)
    shuffled = jax.jit(lambda rng: rng.shuffle(0, values))(Rng.of(1))
    order = np.asarray(Rng.of(1).permutation(0, n))
    assert sorted(order) == list(range(n))
    np.testing.assert_array_equal(shuffled, np.asarray(values)[order])


def test_equal_words_are_kept_in_order():
    class SameWords(Rng):
        def words(self, site, shape=(), half=0):
            return jnp.zeros(shape, jnp.uint32)

    zero = jnp.uint32(0)
    for n in (5, 40):
        assert SameWords(k0=zero, k1=zero, counter=zero).permutation(0, n).tolist() == list(range(n))


@pytest.mark.parametrize(("n", "count"), [(3, 4), (3, -1)])
def test_more_numbers_than_there_are_cannot_be_chosen(n, count):
    with pytest.raises(ValueError, match=f"from 0 to n = 3 numbers, got {count}"):
        Rng.of(0).choice(0, n, count)
