"""The generator on word pairs against Python's integers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.env.lcg64 import KNUTH, KNUTH_INCREMENT, Lcg64

CARTRIDGE = (0x5D588B656C078965, 0x269EC3)  # as in handheld games of 2010
STATES = [0, 1, 0xFFFFFFFF, 1 << 32, (1 << 64) - 1, 0x0123456789ABCDEF]


def state_of(generator: Lcg64) -> int:
    return int(generator.high) << 32 | int(generator.low)


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("constants", [(KNUTH, KNUTH_INCREMENT), CARTRIDGE, ((1 << 64) - 1, (1 << 64) - 1), (2, 0)])
def test_states_are_those_of_64_bit_integers(state, constants):
    generator = Lcg64.of(state, *constants)
    step = jax.jit(Lcg64.next_word)
    for _ in range(20):
        word, generator = step(generator)
        state = (state * constants[0] + constants[1]) % (1 << 64)
        assert (state_of(generator), int(word)) == (state, state >> 32)


def test_a_jump_is_as_many_steps():
    generator = Lcg64.of(42, *CARTRIDGE)
    later = generator
    for _ in range(77):
        _, later = later.next_word()
    assert state_of(generator.jump(77)) == state_of(later)
    assert state_of(later.jump(-77)) == 42
    assert state_of(generator.jump(0)) == 42
    assert state_of(generator.jump(1 << 64)) == 42  # its period


@pytest.mark.parametrize("n", [1, 2, 100, 1 << 16, 1 << 31])
def test_a_range_takes_the_upper_part_of_the_product(n):
    generators = [Lcg64.of(state) for state in STATES]
    for generator in generators:
        (word, _), (number, after) = generator.next_word(), jax.jit(Lcg64.next_below)(generator, jnp.uint32(n))
        assert int(number) == int(word) * n >> 32
        assert int(generator.next_below(n)[0]) == int(number)
        assert state_of(after) == state_of(generator.jump(1))


def test_lanes_have_states_of_their_own():
    lanes = jax.tree.map(lambda *leaves: jnp.stack(leaves), *map(Lcg64.of, STATES))
    words, after = lanes.next_word()
    assert words.tolist() == [int(Lcg64.of(state).next_word()[0]) for state in STATES]
    assert np.shape(after.low) == (len(STATES),)


@pytest.mark.parametrize(("arguments", "sentence"), [
    ((-1,), "state of an Lcg64 must be from 0 to 2"), ((0, 1 << 64), "multiplier of an Lcg64"),
    ((0, 1, -3), "increment of an Lcg64"),
])  # fmt: skip
def test_numbers_beyond_64_bits_are_refused(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        Lcg64.of(*arguments)


def test_an_even_multiplier_cannot_be_turned_back():
    with pytest.raises(ValueError, match="even multiplier 2 cannot be turned back"):
        Lcg64.of(3, 2, 1).jump(-1)
