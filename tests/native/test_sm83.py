"""The CPU against 50,000 single instructions: registers, memory, and the bus in every M-cycle.

The vectors are SingleStepTests/sm83 (MIT), kept beside the checkout because they are data, not code of ours.
"""

import json
from pathlib import Path

import numpy as np
import pytest

VECTORS = Path(__file__).parents[3] / "shared" / "data" / "sm83" / "sm83_singlestep_100.npz"
HALT, STOP = 0x76, 0x10  # the vectors go on for two idle M-cycles; ours ends with the instruction
INTERRUPTS = (0xFB, 0xF3, 0xD9)  # EI, DI, RETI: elsewhere upstream says to ignore IME

native = pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")


@pytest.fixture(scope="module")
def vectors() -> dict[str, np.ndarray]:
    if not VECTORS.exists():
        pytest.skip(f"the vectors are not here: {VECTORS}")
    with np.load(VECTORS) as file:
        return {name: file[name] for name in file.files}


def bytes_in_memory(vectors: dict[str, np.ndarray], row: int, after: int) -> dict[int, int]:
    """What a vector says about memory, before or after the instruction."""
    count = int(vectors["ram_n"][row, after])
    addresses, values = (vectors[f"ram_{'if'[after]}_{part}"][row, :count].tolist() for part in ("addr", "val"))
    return dict(zip(addresses, values, strict=True))


@pytest.mark.parametrize("first", range(0, 512, 32))
def test_every_vector_gives_the_same_registers_memory_and_bus(vectors: dict[str, np.ndarray], first: int) -> None:
    kinds = json.loads(str(vectors["meta"]))["bus_kinds"]
    rows = np.flatnonzero((vectors["opcode"] >= first) & (vectors["opcode"] < first + 32))
    for row in rows:
        opcode = int(vectors["opcode"][row])
        where = f"opcode {opcode:03X}, vector {row}"
        before, after = vectors["initial"][row].tolist(), vectors["final"][row].tolist()
        memory, expected = bytes_in_memory(vectors, row, 0), bytes_in_memory(vectors, row, 1)
        memory = {address: memory.get(address, 0) for address in expected}
        registers = [*before[:11], 0]
        found, content, accesses, cycles = native.sm83_step(registers, list(memory.items()))
        checked = 12 if opcode in INTERRUPTS else 10
        assert found[:checked] == after[:checked], where
        assert content == bytes(expected.values()), where
        bus = [
            (m, {"r-m": "r", "-wm": "w"}[kinds[kind]], int(address), int(data))
            for m, (kind, address, data) in enumerate(
                zip(vectors["bus_kind"][row], vectors["bus_addr"][row], vectors["bus_data"][row], strict=True)
            )
            if m < vectors["mcycles"][row] and kinds[kind] != "---"
        ]
        assert accesses == bus, where
        if opcode not in (HALT, STOP):
            assert cycles == vectors["mcycles"][row], where


def test_all_vectors_are_there(vectors: dict[str, np.ndarray]) -> None:
    assert len(vectors["opcode"]) == 50_000
