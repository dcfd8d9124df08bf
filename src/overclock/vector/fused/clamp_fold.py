"""A fault of NVIDIA's assembler, and how to see it in machine code.

ptxas (CUDA 13.0 on sm_90, and perhaps others) writes `max(min(x, c), 0)` as one instruction, VIMNMX.RELU, and takes a
later test `== c` from the predicate that the instruction sets on the way. The predicate says something else: the test
comes out true for other numbers as well. Found by comparing kernels with XLA on an H200; there is no switch against it
short of -O0.

Only code is looked at: a table of numbers may hold the same bits.

So our own maximum of whole numbers is not written as one (scalar_words.py). Rules can spell out a clamp by comparisons,
too: those kernels are found here, and compiled without optimisation.
"""

import struct

import numpy as np

VIMNMX = (0x248, 0x848)  # of two registers, of a register and a constant
RELU = 0x1000
NO_PREDICATES = 0x3F << 17  # both are PT, which nobody reads
# Of 64-bit ELF: where the header says at which place the section headers are, and how large and how many they are.
ELF_SECTIONS, ELF_SECTION_SIZE = 0x28, 0x3A
SECTION_HEADER = "<IIQQQQ"  # name, kind, flags, address, place in the file, size
HAS_CONTENT, EXECUTED = 1, 4


def folds_a_test_into_a_clamp(cubin: bytes) -> bool:
    """Whether a file of machine code has the instruction with a predicate that is read."""
    return any(_is_faulty(section) for section in _code_sections(cubin))


def _code_sections(cubin: bytes) -> list[bytes]:
    """The parts of an ELF file that are executed; everything where it is no such file."""
    if cubin[:4] != b"\x7fELF":
        return [cubin]
    (table,) = struct.unpack_from("<Q", cubin, ELF_SECTIONS)
    size, count = struct.unpack_from("<HH", cubin, ELF_SECTION_SIZE)
    headers = [struct.unpack_from(SECTION_HEADER, cubin, table + number * size) for number in range(count)]
    return [cubin[start : start + length] for _, kind, flags, _, start, length in headers
            if kind == HAS_CONTENT and flags & EXECUTED]  # fmt: skip


def _is_faulty(code: bytes) -> bool:
    words = np.frombuffer(code[: len(code) // 16 * 16], "<u8").reshape(-1, 2)
    low, high = words[:, 0], words[:, 1]
    found = np.isin(low & 0xFFF, VIMNMX) & (high & RELU != 0) & (high & NO_PREDICATES != NO_PREDICATES)
    return bool(found.any())
