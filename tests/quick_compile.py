"""Options of XLA for programs that take longer to compile than to run: what they compute is the same, up to rounding.

On CPUs most of the time goes to the emitters of fused loops; the ones that XLA had before take a third of it.
"""

import functools

PLAIN = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
OLDER_EMITTERS = {"xla_cpu_use_fusion_emitters": False, "xla_cpu_parallel_codegen_split_count": 1}


@functools.cache
def quickest() -> dict[str, bool | int]:
    """The options that this XLA knows: it ends every program that is started with a flag it does not know."""
    import jax

    try:
        jax.jit(lambda: 0, compiler_options=OLDER_EMITTERS).lower().compile()
    except jax.errors.JaxRuntimeError:
        return PLAIN
    return PLAIN | OLDER_EMITTERS


def flags() -> str:
    """The same for the environment of programs that are started."""
    return " ".join(f"--{name}={str(value).lower()}" for name, value in quickest().items())
