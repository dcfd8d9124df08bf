"""Quick compilation reaches every program that is made meanwhile, and no other."""

import jax
import jax.numpy as jnp
from quick_compile import compiled_quickly, in_force, quickest


@jax.jit
def wave(x):
    return jnp.sin(x) * jnp.exp(-x)


def options_in_the_program():
    """Those of the quick options that XLA wrote into what it made."""
    made = wave.lower(jnp.ones(64)).compile().runtime_executable().serialize()
    return {name for name in quickest() if name.encode() in made}


def test_programs_are_compiled_quickly_within_and_plainly_outside():
    assert (options_in_the_program(), in_force()) == (set(), False)
    with compiled_quickly():
        assert (options_in_the_program(), in_force()) == (set(quickest()), True)
    assert (options_in_the_program(), in_force()) == (set(), False)


def test_programs_from_before_are_compiled_anew_on_either_side():
    wave(jnp.ones(64))
    with compiled_quickly():
        assert wave._cache_size() == 0
        wave(jnp.ones(64))
    assert wave._cache_size() == 0
