"""`Finding`: one thing that is wrong with a candidate, in a sentence to act on. `Limits`: how much is allowed."""

import dataclasses

KIB = 1 << 10
# What the base class derives from the rules: resets, step counting, truncation. No environment replaces it.
DERIVED = frozenset({"reset", "step", "step_env", "reset_state", "begin", "advance"})


@dataclasses.dataclass(frozen=True, order=True)
class Finding:
    """Where, which rule, and what to do about it. Line 0: the whole file; file "": the candidate as a whole."""

    file: str
    line: int
    rule: str
    sentence: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place or 'the candidate'}: {self.sentence} [{self.rule}]"


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a project allows; games with large tables raise `constant_bytes`."""

    constant_bytes: int = 64 * KIB  # of all literals in the source; of all arrays in any one traced function as well
    file_bytes: int = 256 * KIB
    total_bytes: int = 1024 * KIB
    files: int = 64
    imports: tuple[str, ...] = ()  # further modules that may be imported, for a project that needs them
    clock_share: float = 0.25  # by how much a worker's clock may run otherwise than ours
    clock_seconds: float = 1.0  # and how much longer a message may take, on a busy machine
    eager_ulps: float = 8.0  # XLA fuses compiled code, so single operations may round otherwise (as in metamorphic.py)
