"""The interface through which PyBoy and our emulator are compared, and a snapshot of a console after a frame."""

import dataclasses
from collections.abc import Iterator
from typing import Protocol

import numpy as np

BUTTONS = ("right", "left", "up", "down", "a", "b", "select", "start")  # PyBoy's names
REGISTERS = ("A", "F", "B", "C", "D", "E", "HL", "SP", "PC")
NAMED = 6  # of the places where a field differs
# Areas of the address space, each with its first address and its length.
AREAS = {
    "vram": (0x8000, 0x2000), "cartridge_ram": (0xA000, 0x2000), "wram": (0xC000, 0x2000), "oam": (0xFE00, 0xA0),
    "io": (0xFF00, 0x80), "hram": (0xFF80, 0x7F), "ie": (0xFFFF, 1),
}  # fmt: skip
# Banks that only a Game Boy Color has, by name: bank, first address, length.
COLOR_AREAS = {
    "vram_bank_1": (1, 0x8000, 0x2000),
    **{f"wram_bank_{bank}": (bank, 0xD000, 0x1000) for bank in range(1, 8)},
}


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """A console between two frames. `pixels` is RGBA, or None where the frame was not drawn."""

    registers: dict[str, int]
    cycles: int
    memory: dict[str, np.ndarray]
    pixels: np.ndarray | None


@dataclasses.dataclass(frozen=True)
class Difference:
    """The first thing that two snapshots disagree about: `where` is an address, a register or a pixel (row, column)."""

    field: str
    where: str
    expected: str
    found: str
    count: int = 1  # how many places of the field differ
    others: tuple[str, ...] = ()  # the next few of them

    def __str__(self) -> str:
        more = f" ({self.count} places differ: also {', '.join(self.others)})" if self.count > 1 else ""
        return f"{self.field} {self.where}: PyBoy has {self.expected}, ours {self.found}{more}"


class Console(Protocol):
    """One console that can be compared: it runs frames, takes buttons and shows all its state."""

    def tick(self, count: int, render: bool) -> None:
        """Run `count` frames and draw the last of them if asked to."""
        ...

    def press(self, button: str) -> None:
        """Hold a button from the next frame on."""
        ...

    def release(self, button: str) -> None:
        """Let go of a button from the next frame on."""
        ...

    def snapshot(self, pixels: bool) -> Snapshot:
        """The registers, memory and cycles now; the picture is that of the last frame drawn."""
        ...

    def save(self) -> bytes: ...

    def load(self, state: bytes) -> None:
        """Go back to a saved state."""
        ...

    def write(self, address: int, value: int) -> None:
        """Write a byte as a program would."""
        ...

    def close(self) -> None: ...


def differences(expected: Snapshot, found: Snapshot) -> Iterator[Difference]:
    """One per field that differs, the field that explains most first."""
    for name, value in expected.registers.items():
        if found.registers[name] != value:
            yield Difference("register", name, f"{value:04X}", f"{found.registers[name]:04X}")
    if expected.cycles != found.cycles:
        yield Difference("cycles", "now", str(expected.cycles), str(found.cycles))
    for name, content in expected.memory.items():
        places = np.flatnonzero(content != found.memory[name])
        if len(places):
            start = AREAS[name][0] if name in AREAS else COLOR_AREAS[name][1]
            told = [(f"{start + i:04X}", f"{content[i]:02X}", f"{found.memory[name][i]:02X}") for i in places[:NAMED]]
            others = tuple(f"{where} {theirs}/{ours}" for where, theirs, ours in told[1:])
            yield Difference(name, *told[0], len(places), others)
    if expected.pixels is not None and found.pixels is not None:
        wrong = np.argwhere(np.any(expected.pixels != found.pixels, axis=-1))
        if len(wrong):
            row, column = (int(number) for number in wrong[0])
            theirs, ours = (bytes(pixels[row, column, :3]).hex() for pixels in (expected.pixels, found.pixels))
            lines = sorted({int(line) for line, _ in wrong} - {row})[:NAMED]
            others = tuple(f"line {line}" for line in lines) or ("others of that line",)
            yield Difference("pixel", f"line {row}, column {column}", theirs, ours, len(wrong), others)
