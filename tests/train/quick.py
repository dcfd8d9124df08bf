"""`jit` for tests: compiling is most of what they cost, and their arithmetic is small."""

import jax


def quick(function):
    """The function, compiled with few optimisations."""
    few = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
    return jax.jit(function, compiler_options=few)
