"""Draws and masks of bits: kernels give the numbers that JAX gives."""

import numpy as np
from vector.fused.programs import batched, through_kernel

from overclock.env.bits import count_bits, nth_set_bit
from overclock.env.lcg64 import Lcg64
from overclock.env.rng import Rng


def test_masks_orders_and_64_bit_generators_are_the_same_numbers_in_a_kernel(dialect):
    def one(seed, words):
        rng, generator = Rng.of(0).replace(k0=seed), Lcg64.of(7).replace(low=seed)
        word, after = generator.next_word()
        drawn = (rng.bit_choice(0, words), rng.permutation(3, 6), rng.choice(20, 9, 4), rng.shuffle(40, words))
        return (*drawn, nth_set_bit(words, 5), count_bits(words), word, after.jump(5).low, after.next_below(60)[0])

    generator = np.random.default_rng(0)
    seeds, words = (generator.integers(0, 1 << 32, shape, dtype=np.uint32) for shape in (100, (100, 3)))
    found, expected = through_kernel(one, seeds, words), batched(one, seeds, words)
    for kernel, jax_ in zip(found, expected, strict=True):
        np.testing.assert_array_equal(kernel, jax_)


def test_events_beyond_every_width_of_a_counter_are_the_same_in_a_kernel(dialect):
    def one(counter):
        rng = Rng.of(5).replace(counter=counter)
        return rng.words(3), rng.unit(4), rng.advance().words(0), rng.advance().counter

    near = {(2**width + by) % 2**32 for width in (8, 15, 16, 24, 31, 32) for by in (-2, -1, 0, 1)}
    counters = np.array(sorted(near), np.uint32)
    for kernel, jax_ in zip(through_kernel(one, counters), batched(one, counters), strict=True):
        np.testing.assert_array_equal(kernel, jax_)
