"""A folder of test ROMs on PyBoy and on our emulator in both modes: which of them say that they passed.

The ROMs are the user's; none are here. They tell their verdict in one of the ways that public suites have:

- registers: B, C, D, E, H, L hold 3, 5, 8, 13, 21, 34, or six times 42 hex for a failure;
- cartridge RAM: A001 holds DE B0 61, and A000 a status, 80 hex while it runs and 0 for success;
- the screen: the tile map holds the letters "Passed" or "Failed" as ASCII;
- a byte of memory that the user names (`Verdict.parse`).
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overclock.errors import UsageError
from overclock.gameboy.native_console import NativeConsole
from overclock.gameboy.oracle import PyBoyConsole

LIMIT = 4200  # frames; the longest of the well-known ROMs takes 55 emulated seconds
LOOK = 5  # frames between two looks
PASSED_REGISTERS = (3, 5, 8, 13, 0x1522)
FAILED_REGISTERS = (0x42, 0x42, 0x42, 0x42, 0x4242)
SIGNATURE = bytes([0xDE, 0xB0, 0x61])
RUNNING = 0x80
COLUMNS = ("PyBoy", "pyboy", "hardware")  # PyBoy itself, then the two values of `compat`
SHORTEST = 0x150


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Where a suite leaves its verdict in memory: an address, and the bytes for success and failure."""

    address: int
    passed: int
    failed: int

    @classmethod
    def parse(cls, text: str) -> "Verdict":
        """From `FF82:01:FF`."""
        try:
            address, passed, failed = (int(part, 16) for part in text.split(":"))
        except ValueError:
            raise UsageError(f"--verdict must look like FF82:01:FF (address:passed:failed), got {text!r}.") from None
        return cls(address, passed, failed)


@dataclasses.dataclass(frozen=True)
class Result:
    """What a ROM said on each console: True, False, or None where it said nothing in time."""

    name: str
    said: dict[str, bool | None]


def rom_files(folder: Path) -> list[Path]:
    """The ROMs below a folder, in the order of their names."""
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".gb", ".gbc"))
    if not found:
        raise UsageError(f"There is no .gb or .gbc file below {folder}.")
    return found


def run_suite(folder: Path, model: str, verdict: Verdict | None, limit: int = LIMIT) -> Iterator[Result]:
    """Each ROM on all three consoles."""
    for path in rom_files(folder):
        rom = path.read_bytes()
        cgb = model == "cgb" or (model == "auto" and len(rom) >= SHORTEST and rom[0x143] & 0x80 != 0)
        said = {column: outcome(rom, column, cgb, verdict, limit) for column in COLUMNS}
        yield Result(str(path.relative_to(folder)), said)


def outcome(rom: bytes, column: str, cgb: bool, verdict: Verdict | None, limit: int = LIMIT) -> bool | None:
    """Run a ROM until it says how it went."""
    try:
        console = start(rom, column, cgb)
    except Exception:  # PyBoy raises what it likes at a cartridge that it does not know; that is no success
        return None
    try:
        for _ in range(0, limit, LOOK):
            console.tick(LOOK, False)
            said = look(console, verdict)
            if said is not None:
                return said
        return None
    finally:
        console.close()


def start(rom: bytes, column: str, cgb: bool) -> Any:
    """One of the three consoles. In hardware mode it starts without boot code, as a real one's leaves it."""
    if column == "PyBoy":
        return PyBoyConsole(rom, cgb=cgb, sound=True)
    boot = b"" if column == "hardware" else None
    return NativeConsole(rom, cgb=cgb, sound=True, compat=column, boot=boot)


def look(console: Any, verdict: Verdict | None) -> bool | None:
    """What a ROM says now."""
    if verdict is not None:
        found = console.bytes_at(verdict.address, 1)[0]
        return {verdict.passed: True, verdict.failed: False}.get(found)
    registers = console.register_values()
    values = tuple(registers[name] for name in ("B", "C", "D", "E", "HL"))
    if values in (PASSED_REGISTERS, FAILED_REGISTERS):
        return values == PASSED_REGISTERS
    if console.bytes_at(0xA001, 3) == SIGNATURE:
        status = console.bytes_at(0xA000, 1)[0]
        return None if status == RUNNING else status == 0
    text = console.bytes_at(0x9800, 0x400)
    if b"Failed" in text or b"failed" in text:
        return False
    return True if b"Passed" in text or b"passed" in text else None


def told(said: bool | None) -> str:
    """A verdict as a word of the table."""
    return {True: "pass", False: "fail", None: "-"}[said]
