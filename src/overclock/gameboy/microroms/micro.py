"""What a micro-ROM is: a small program named after the fact it tests, which writes what it sees to RAM.

Each file of this folder has a `Topic`, in which functions become micro-ROMs. The docstring of a function states the
fact.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from overclock.gameboy.assembly.assembler import Program, assemble
from overclock.gameboy.cartridge import Cartridge

VECTORS = {"vblank": 0x40, "stat": 0x48, "timer": 0x50, "serial": 0x58, "joypad": 0x60}
LOG = 0xC000  # where most of them write, with hl as the pointer


@dataclasses.dataclass(frozen=True)
class MicroRom:
    """A program as assembly text, and for how many frames it is compared, on which console, with sound or without."""

    name: str
    text: str
    frames: int = 6
    cgb: bool = False
    sound: bool = False
    cartridge: Cartridge = Cartridge()

    @functools.cached_property
    def program(self) -> Program:
        """The assembled program; made on first use."""
        return assemble(self.text, name=self.name, cartridge=self.cartridge)


Build = Callable[..., MicroRom]
NamedRom = tuple[str, MicroRom]


class Topic:
    """The micro-ROMs of one file, in the order of their definition; they are built when `roms` is called."""

    def __init__(self) -> None:
        self._parts: list[Callable[[], Iterable[NamedRom]]] = []

    def rom(self, build: Build) -> Build:
        """Decorator: the function builds the micro-ROM of its own name."""
        return self.each({build.__name__: ()})(build)

    def each(self, cases: Mapping[str, tuple[Any, ...]]) -> Callable[[Build], Build]:
        """Decorator: the function builds several micro-ROMs; `cases` has its arguments by their names."""

        def add(build: Build) -> Build:
            self._parts.append(lambda: ((name, build(*arguments)) for name, arguments in cases.items()))
            return build

        return add

    def several(self, build: Callable[[], Iterable[NamedRom]]) -> Callable[[], Iterable[NamedRom]]:
        """Decorator: the function builds several micro-ROMs and returns them with their names."""
        self._parts.append(build)
        return build

    def roms(self) -> list[MicroRom]:
        """All of them, with their names."""
        return [dataclasses.replace(rom, name=name) for part in self._parts for name, rom in part()]


def micro(
    body: str,
    *,
    handlers: Mapping[str, str] | None = None,
    frames: int = 6,
    cgb: bool = False,
    sound: bool = False,
    kind: str = "rom",
    ram_kib: int = 0,
    after: str = "",
) -> MicroRom:
    """A micro-ROM, still without a name, whose `body` runs once with hl at the log and then loops forever.

    `handlers` are bodies of interrupts (with their own return); an interrupt without one returns at once. `after` is
    text behind the program: data, further banks.
    """
    handlers = handlers or {}
    vectors = [f"    org {address:#x}\n    {'jp on_' + vector if vector in handlers else 'reti'}\n"
               for vector, address in VECTORS.items()]  # fmt: skip
    routines = [f"on_{vector}:\n{text}\n" for vector, text in handlers.items()]
    text = "".join([
        *vectors, "    org 0x150\n", "start:\n    di\n    ld sp, 0xDFF0\n", f"    ld hl, {LOG:#x}\n",
        body, "\nfinish:\n    jr finish\n", *routines, after,
    ])  # fmt: skip
    cartridge = Cartridge("MICRO", kind, ram_kib, "yes" if cgb else "no")
    return MicroRom("", text, frames, cgb, sound, cartridge)


def code(*lines: str) -> str:
    """Lines of a program; those that end in a colon are labels."""
    return "".join(f"{line}\n" if line.endswith(":") else f"    {line}\n" for line in lines)


def store(register: str, value: int | str) -> str:
    """Lines that put a number into a register of the last page."""
    return f"    ld a, {value}\n    ldh [{register}], a\n"


def note(register: str) -> str:
    """Lines that write a register of the last page to the log."""
    return f"    ldh a, [{register}]\n    ld [hl+], a\n"


def nops(count: int) -> str:
    """Lines that do nothing for so many machine cycles."""
    return "    nop\n" * count


LINE_WAIT = ".wait_{label}:\n    ldh a, [LY]\n    cp {line}\n    jr nz, .wait_{label}\n"


def wait_line(line: int, label: str) -> str:
    """Lines that poll LY until it has a value; `label` must be new."""
    return LINE_WAIT.format(line=line, label=label)


# Fills memory from de with bytes that differ: bc of them; `fill_c100` calls it and keeps the pointer of the log.
FILL = """fill:
    ld a, c
    xor b
    rlca
    xor e
    ld [de], a
    inc de
    dec bc
    ld a, b
    or c
    jr nz, fill
    ret
"""


def fill_c100(count: int) -> str:
    """Lines that fill work RAM from C100 with so many bytes that differ; the program needs `FILL` behind it."""
    return code("push hl", "ld de, 0xC100", f"ld bc, 0x{count:04X}", "call fill", "pop hl")
