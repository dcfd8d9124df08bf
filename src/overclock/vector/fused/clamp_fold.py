"""A fault of NVIDIA's assembler, and how to see it in machine code.

ptxas (CUDA 13.0 on sm_90, and perhaps others) writes `max(min(x, c), 0)` as one instruction, VIMNMX.RELU, and takes a
later test `== c` from the predicate that the instruction sets on the way. The predicate says something else: the test
comes out true for other numbers as well. Found by comparing kernels with XLA on an H200; there is no switch against it
short of -O0.

So our own maximum of whole numbers is not written as one (scalar_words.py). Rules can spell out a clamp by comparisons,
too: those kernels are found here, and compiled without optimisation.
"""

import numpy as np

VIMNMX = (0x248, 0x848)  # of two registers, of a register and a constant
RELU = 0x1000
NO_PREDICATES = 0x3F << 17  # both are PT, which nobody reads


def folds_a_test_into_a_clamp(code: bytes) -> bool:
    """Whether machine code (a cubin) has the instruction with a predicate that is read."""
    words = np.frombuffer(code[: len(code) // 16 * 16], "<u8").reshape(-1, 2)
    low, high = words[:, 0], words[:, 1]
    found = np.isin(low & 0xFFF, VIMNMX) & (high & RELU != 0) & (high & NO_PREDICATES != NO_PREDICATES)
    return bool(found.any())
