"""Options of XLA for programs that take longer to compile than to run: what they compute is the same, up to rounding.

On CPUs most of the time goes to the emitters of fused loops; the ones that XLA had before take a third of it.
"""

import contextlib
import functools
import os
from collections.abc import Iterator

import pytest

LEVEL = "xla_backend_optimization_level"
PLAIN = {LEVEL: 0, "xla_llvm_disable_expensive_passes": True}
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


@contextlib.contextmanager
def compiled_quickly() -> Iterator[None]:
    """All programs are compiled with these options, also in programs that are started; none from outside is kept.

    XLA reads its flags once in a process, so in this one they become options of every program.
    """
    import jax
    from jax._src import compiler

    plain, quickly = compiler.get_compile_options, quickest()
    flags = " ".join(f"--{name}={str(value).lower()}" for name, value in quickly.items())

    def options(*arguments, env_options_overrides=None, **named):
        return plain(*arguments, env_options_overrides={**quickly, **(env_options_overrides or {})}, **named)

    jax.clear_caches()  # of programs that were compiled as users have them
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("XLA_FLAGS", f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip())
            patch.setattr(compiler, "get_compile_options", options)
            yield
    finally:
        jax.clear_caches()  # what comes after is compiled as users have it


def in_force() -> bool:
    """Whether programs are compiled like this now, whoever asked for it: a fixture, XLA_FLAGS, or JAX's own flag."""
    from jax._src import compiler

    options = compiler.get_compile_options(1, 1)
    unless_overridden = getattr(options.executable_build_options.debug_options, LEVEL)
    return dict(options.env_option_overrides).get(LEVEL, unless_overridden) == 0
