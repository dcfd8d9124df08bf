"""Kernels for the processor: C, a vector of lanes per block where the program has no arrays, threads over blocks."""

import os
from pathlib import Path

import jax
from jax.extend.core import ClosedJaxpr

from overclock.cores import cores
from overclock.errors import UsageError
from overclock.vector.fused.compiled_files import HERE, compiled
from overclock.vector.fused.kernel_text import Signature, body_of, source

VECTOR_LANES = 16  # numbers of 32 bits in a vector of 512; narrower machines do it in two or four steps
LANE_STEPS_PER_THREAD = 16_384  # of small rules (CartPole: 249 statements): some hundred microseconds of work
STATEMENTS_PER_THREAD = LANE_STEPS_PER_THREAD * 512  # what is worth starting a thread for, where the rules are longer


def threads() -> int:
    """How many threads a call uses: OVERCLOCK_THREADS, or the cores that this process may use."""
    wished = os.environ.get("OVERCLOCK_THREADS", "").strip()
    if not wished:
        return cores()
    if not (wished.isascii() and wished.isdigit() and int(wished) > 0):
        raise UsageError(f"OVERCLOCK_THREADS must be a whole number of threads, at least 1, got '{wished}'.")
    return int(wished)


def c_source(program: ClosedJaxpr, signature: Signature, lanes: int | None = None) -> str:
    """The whole C file. `lanes` per vector: unless told, 16, or 1 where arrays would not stay in registers."""
    text, array_bytes = source(program, signature, "c", lanes or VECTOR_LANES)
    if lanes is None and array_bytes:
        lanes, (text, array_bytes) = 1, source(program, signature, "c", 1)
    width = lanes or VECTOR_LANES
    worth = min(LANE_STEPS_PER_THREAD, STATEMENTS_PER_THREAD // max(body_of(text).count(";"), 1))
    settings = {
        "WIDTH": width, "ARRAY_BYTES": width * array_bytes, "INPUTS": signature.inputs, "OUTPUTS": signature.outputs,
        "HANDLER_TRAITS": 0, "LANE_STEPS_PER_THREAD": max(worth, 1),
    }  # fmt: skip
    defines = [f"#define {name} {value}" for name, value in settings.items()]
    parts = ['#include "xla/ffi/api/c_api.h"', *defines, text, (HERE / "threads.c").read_text()]
    return "\n".join([*parts, (HERE / "handler.c").read_text()])


def c_library(program: ClosedJaxpr, signature: Signature, lanes: int | None = None) -> Path:
    """Compile a program to C, or find it among the kernels that are kept: the path of the library."""
    return compiled(c_source(program, signature, lanes), jax.ffi.include_dir())
