"""`Pcg64` and `NumpyDraws` give the very numbers of NumPy's own generator."""

import jax
import numpy as np
import pytest

from overclock.env.pcg64 import NumpyDraws, Pcg64
from overclock.errors import UsageError

SEEDS = [*range(60), 12345, 2**31, 2**63 + 1]


def drawn(draw, seeds=SEEDS):
    """What a function of `NumpyDraws` gives for each seed."""

    def one(stream):
        return draw(NumpyDraws(stream))

    with jax.enable_x64(True):
        return jax.device_get(jax.jit(jax.vmap(one))(Pcg64.of_seeds(seeds)))


def expected(draw, seeds=SEEDS):
    return np.stack([draw(np.random.default_rng(seed)) for seed in seeds])


def test_numbers_between_zero_and_one():
    np.testing.assert_array_equal(drawn(lambda rng: rng.unit(0, (50,))), expected(lambda rng: rng.random(50)))


@pytest.mark.parametrize(("low", "high"), [(-0.05, 0.05), (0.0, 1.0), (-1.2, -0.4), (3.0, 1e9), (0.1, 0.1)])
def test_uniform_numbers_to_the_last_bit(low, high):
    found = drawn(lambda rng: rng.uniform(0, low, high, shape=(400,)))
    np.testing.assert_array_equal(found, expected(lambda rng: rng.uniform(low, high, 400)))


def test_uniform_numbers_with_bounds_for_each_place():
    low, high = np.array([-np.pi, -1.0]), np.array([np.pi, 8.0])
    found = drawn(lambda rng: rng.uniform(0, low, high, shape=(2,)))
    np.testing.assert_array_equal(found, expected(lambda rng: rng.uniform(low, high)))


@pytest.mark.parametrize("n", [1, 2, 3, 7, 1000, 2**16, 3 * 2**29, 2**31])
def test_whole_numbers(n):
    found = drawn(lambda rng: rng.integers(0, n, shape=(30,)))
    np.testing.assert_array_equal(found, expected(lambda rng: rng.integers(n, size=30)))


def test_the_stream_goes_on_from_method_to_method():
    """A 64-bit draw between two 32-bit ones leaves the half that is kept alone."""

    def ours(rng):
        first = rng.integers(0, 5) + rng.unit(1)
        return first, rng.integers(2, 9), rng.uniform(3, -1.0, 2.0), rng.integers(4, 5)

    def numpys(rng):
        return np.array([rng.integers(5) + rng.random(), rng.choice(9), rng.uniform(-1.0, 2.0), rng.integers(5)])

    np.testing.assert_array_equal(np.stack(drawn(ours), axis=-1), expected(numpys))


def test_a_weighted_choice():
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    edges = (np.cumsum(weights) / np.cumsum(weights)[-1])[:-1]
    found = drawn(lambda rng: jax.numpy.searchsorted(edges, rng.unit(0, (40,)), side="right"))
    np.testing.assert_array_equal(found, expected(lambda rng: rng.choice(4, size=40, p=weights)))


def test_32_bit_words_come_from_both_halves():
    def ours(rng):
        words = []
        for _ in range(5):
            word, rng.stream = rng.stream.next32()
            words.append(word)
        return jax.numpy.stack(words)

    np.testing.assert_array_equal(drawn(ours), expected(lambda rng: rng.integers(2**32, size=5, dtype=np.uint32)))


def test_what_is_not_reproduced_is_refused():
    with pytest.raises(UsageError, match="normal"):
        drawn(lambda rng: rng.normal(0))
    with pytest.raises(UsageError, match="2\\*\\*31"):
        drawn(lambda rng: rng.integers(0, 2**33))


def test_without_64_bit_integers_it_says_what_to_do():
    with jax.enable_x64(False), pytest.raises(UsageError, match="jax_enable_x64"):
        Pcg64.of_seeds([0])
