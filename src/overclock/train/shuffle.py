"""The order of minibatches: 0 ... n - 1 at random, cheaply however long."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from overclock.env.rng import Rng, mix

SORTED_UP_TO = 1 << 15  # sorting longer orders shows in the time of an update
ROUNDS = 6  # three can be told from chance by what becomes of neighbours, four cannot (tests/train/test_shuffle.py)


def shuffled(rng: Rng, n: int) -> Int[Array, " n"]:
    """0 ... n - 1 in random order: the order of n random words (jax.random sorts several times).

    Long orders whose length is a power of two are not sorted but computed, one number at a time: additions and odd
    multiplications modulo n and shifts to the right, in turns, each of which can be undone. That is one of at most
    2**384 orders instead of any, and as random as a minibatch can tell.
    """
    index = jnp.arange(n, dtype=jnp.uint32)
    if n <= SORTED_UP_TO or n & (n - 1):
        return jnp.argsort(mix(rng.k0, rng.k1, rng.counter, index))
    bits = n.bit_length() - 1
    for i in range(ROUNDS):
        add, factor = (mix(rng.k0, rng.k1, rng.counter, np.uint32(2 * i + j)) for j in range(2))
        index = ((index + add) * (factor | np.uint32(1))) & np.uint32(n - 1)
        index = index ^ (index >> np.uint32((bits + 1) // 2))
    return index.astype(jnp.int32)
