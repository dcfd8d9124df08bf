"""The processor that a result was computed on, and what the environment keeps the programs from using of it.

The last digits of a float depend on it: compilers choose instructions by what a processor has, and fuse a product and
a sum where it can.
"""

import contextlib
import dataclasses
import functools
import os
import platform
from pathlib import Path

from overclock.results import absent

FACTS = Path("/proc/cpuinfo")
# Those that decide how numbers are rounded and summed: the width of vectors, and whether products are fused.
INSTRUCTIONS = ("sse4_2", "avx", "fma", "avx2", "avx512f", "avx512_fp16", "asimd", "asimdhp", "sve", "sve2")
# What keeps XLA, NumPy or the C library from using instructions that the processor has.
RESTRICTIONS = ("XLA_FLAGS", "NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES", "GLIBC_TUNABLES")


@dataclasses.dataclass(frozen=True, kw_only=True)
class Processor:
    """A processor by name, its instruction sets that decide how numbers are rounded, and variables that restrict them.

    `instructions` is empty where the system does not tell. `restricted_by` is left out where no such variable is set.
    """

    model: str
    instructions: list[str]
    restricted_by: dict[str, str] | None = absent()

    def __str__(self) -> str:
        """As a report says it: 'AMD EPYC (sse4_2, avx, fma)'."""
        found = f"{self.model} ({', '.join(self.instructions)})" if self.instructions else self.model
        return ", ".join([found, *(f"{name}={value}" for name, value in (self.restricted_by or {}).items())])


def processor() -> Processor:
    """The processor of this machine, under the variables of this process."""
    model, instructions = _described()
    chosen = {name: value for name in RESTRICTIONS if (value := os.environ.get(name, "").strip())}
    return Processor(model=model, instructions=list(instructions), **({"restricted_by": chosen} if chosen else {}))


def described(facts: str) -> tuple[str | None, tuple[str, ...]]:
    """The name and the instruction sets of the first processor in a text like that of /proc/cpuinfo."""
    told: dict[str, str] = {}
    for line in facts.splitlines():
        key, _, value = line.partition(":")
        told.setdefault(key.strip().lower(), value.strip())
    flags = (told.get("flags") or told.get("features") or "").split()
    return told.get("model name"), tuple(name for name in INSTRUCTIONS if name in flags)


@functools.cache
def _described() -> tuple[str, tuple[str, ...]]:
    model, instructions = None, ()
    with contextlib.suppress(OSError):
        model, instructions = described(FACTS.read_text())
    return model or platform.processor() or platform.machine() or "unknown", instructions
