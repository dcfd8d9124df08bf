"""A folder of test ROMs on PyBoy and on our emulator in both modes: which of them say that they passed.

The ROMs are the user's; none are here. They tell their verdict in one of the ways that public suites have:

- registers: B, C, D, E, H, L hold 3, 5, 8, 13, 21, 34, or six times 42 hex for a failure;
- cartridge RAM: A001 holds DE B0 61, and A000 a status, 80 hex while it runs and 0 for success;
- the screen or the serial port: the tile map, or what was sent, holds the letters "Passed" or "Failed" as ASCII. Both
  are read, as the screen can lose letters, on a console too: at a Game Boy Color's double speed blargg's ROMs wait for
  the vertical blank for half a frame only, and then write, whether video RAM is locked or not;
- a byte of memory that the user names (`Verdict.parse`).
"""

import dataclasses
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overclock.errors import MissingError, UsageError
from overclock.gameboy.native_console import NativeConsole, import_gameboy
from overclock.gameboy.pyboy.console import PyBoyConsole, import_pyboy

LIMIT = 4200  # frames; the longest of the well-known ROMs takes 55 emulated seconds
LOOK = 5  # frames between two looks
PASSED_REGISTERS = (3, 5, 8, 13, 0x1522)
FAILED_REGISTERS = (0x42, 0x42, 0x42, 0x42, 0x4242)
SIGNATURE = bytes([0xDE, 0xB0, 0x61])
RUNNING = 0x80
PYBOY = "PyBoy"
COLUMNS = (PYBOY, "pyboy", "hardware")  # PyBoy itself, then the two values of `compat`
PATIENCE = 120.0  # seconds for a ROM on PyBoy, which plays 4,200 frames in one or two
SHORTEST = 0x150


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Where a suite leaves its verdict in memory: an address, and the bytes for success and failure."""

    address: int
    passed: int
    failed: int

    @classmethod
    def parse(cls, text: str) -> "Verdict":
        """A verdict from text such as `FF82:01:FF`; raises UsageError for anything else."""
        try:
            address, passed, failed = (int(part, 16) for part in text.split(":"))
        except ValueError:
            raise UsageError(f"--verdict must look like FF82:01:FF (address:passed:failed), got {text!r}.") from None
        if not (0 <= address <= 0xFFFF and 0 <= passed <= 0xFF and 0 <= failed <= 0xFF and passed != failed):
            raise UsageError(f"--verdict needs an address up to FFFF and two different bytes, got {text!r}.")
        return cls(address, passed, failed)


@dataclasses.dataclass(frozen=True)
class Outcome:
    """A ROM's verdict on a console: True, False, or None if there was none in time, and the reason if it is known."""

    said: bool | None
    why: str = ""


@dataclasses.dataclass(frozen=True)
class Result:
    """A ROM's outcome on each console."""

    name: str
    outcomes: dict[str, Outcome]

    def said(self, column: str) -> bool | None:
        return self.outcomes[column].said

    def reasons(self) -> dict[str, str]:
        """The reasons for missing verdicts, with the consoles where they apply."""
        found: dict[str, list[str]] = {}
        for column, outcome in self.outcomes.items():
            if outcome.why:
                found.setdefault(outcome.why, []).append(column)
        return {", ".join(columns): why for why, columns in found.items()}


def rom_files(folder: Path) -> list[Path]:
    """The ROMs below a folder, in the order of their names."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder; give one with .gb or .gbc files in it.")
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".gb", ".gbc") and _is_meant(path))
    if not found:
        raise UsageError(f"There is no .gb or .gbc file below {folder}.")
    return found


def _is_meant(path: Path) -> bool:
    """Whether a path is a file, or a broken link, which is reported as unreadable."""
    return path.is_file() or (path.is_symlink() and not path.exists())


def run_suite(folder: Path, model: str, verdict: Verdict | None, limit: int = LIMIT) -> Iterator[Result]:
    """Each ROM on all three consoles."""
    if limit < 1:
        raise UsageError(f"--frames must be at least 1, got {limit}.")
    import_pyboy()
    import_gameboy()
    files = rom_files(folder)
    with Apart() as apart:
        for path in files:
            name = str(path.relative_to(folder))
            try:
                rom = path.read_bytes()
            except OSError as error:
                unread = Outcome(None, f"The file cannot be read: {error.strerror}.")
                yield Result(name, dict.fromkeys(COLUMNS, unread))
                continue
            cgb = model == "cgb" or (model == "auto" and len(rom) >= SHORTEST and rom[0x143] & 0x80 != 0)
            found = {PYBOY: apart.outcome(rom, PYBOY, cgb, verdict, limit)}
            found |= {column: outcome(rom, column, cgb, verdict, limit) for column in COLUMNS if column != PYBOY}
            yield Result(name, found)


class Apart:
    """PyBoy in a process of its own with a time limit: some ROMs make its `tick` last for ever."""

    def __init__(self, seconds: float = PATIENCE) -> None:
        self.seconds = seconds
        self._pool: Any = None

    def __enter__(self) -> "Apart":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def outcome(self, *about: Any) -> Outcome:
        """As `outcome`, also where PyBoy does not come back."""
        self._pool = self._pool or multiprocessing.get_context("spawn").Pool(1)
        try:
            return self._pool.apply_async(outcome, about).get(self.seconds)
        except multiprocessing.TimeoutError:
            self._end()
            return Outcome(None, f"It did not come back within {self.seconds:g} seconds.")

    def _end(self) -> None:
        if self._pool is not None:
            self._pool.terminate()
            self._pool.join()
            self._pool = None


def outcome(rom: bytes, column: str, cgb: bool, verdict: Verdict | None, limit: int = LIMIT) -> Outcome:
    """Run a ROM until it gives a verdict, or the limit of frames is reached."""
    try:
        console = start(rom, column, cgb)
    except MissingError:
        raise
    except Exception as error:  # PyBoy raises what it likes at a cartridge that it does not know; that is no success
        return Outcome(None, " ".join(str(error).split()) or type(error).__name__)
    try:
        sent = b""
        for _ in range(0, limit, LOOK):
            console.tick(LOOK, False)
            sent += console.sent()
            said = look(console, verdict, sent)
            if said is not None:
                return Outcome(said)
        return Outcome(None)
    finally:
        console.close()


def start(rom: bytes, column: str, cgb: bool) -> Any:
    """One of the three consoles. In hardware mode it starts without boot code, as a real one's leaves it."""
    if column == PYBOY:
        return PyBoyConsole(rom, cgb=cgb, sound=True)
    boot = b"" if column == "hardware" else None
    return NativeConsole(rom, cgb=cgb, sound=True, compat=column, boot=boot)


def look(console: Any, verdict: Verdict | None, sent: bytes) -> bool | None:
    """The verdict that a ROM shows now; `sent` are the bytes it sent over the cable."""
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
    text = console.bytes_at(0x9800, 0x400) + sent
    if b"Failed" in text or b"failed" in text:
        return False
    return True if b"Passed" in text or b"passed" in text else None


def told(said: bool | None) -> str:
    """A verdict as a word of the table."""
    return {True: "pass", False: "fail", None: "-"}[said]
