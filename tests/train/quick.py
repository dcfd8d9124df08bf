"""`jit` for tests: compiling is most of what they cost, and their arithmetic is small."""

import jax
from quick_compile import quickest


def quick(function):
    """The function, compiled with few optimisations."""
    return jax.jit(function, compiler_options=quickest())
