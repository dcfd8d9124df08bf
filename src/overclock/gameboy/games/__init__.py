"""Our own games as assembly text with their descriptions, and the ROMs of benchmarks; assembled when asked for."""

import functools
from importlib import resources
from importlib.resources.abc import Traversable

from overclock.errors import UsageError
from overclock.gameboy.assembly.assembler import Program, assemble
from overclock.gameboy.cartridge import Cartridge

GAMES = ("maze", "paddle")
BENCHMARKS = ("busy_wait", "sieve", "sprites_and_window", "interrupts")


def folder() -> Traversable:
    """The folder with the assembly text and the descriptions."""
    return resources.files(__name__)


@functools.cache
def game_program(name: str) -> Program:
    """The assembled game, or benchmark, of that name."""
    if name not in (*GAMES, *BENCHMARKS):
        raise UsageError(f"There is no game {name!r}; there are {', '.join((*GAMES, *BENCHMARKS))}.")
    text = folder().joinpath(f"{name}.asm").read_text(encoding="utf-8")
    return assemble(text, name=f"{name}.asm", cartridge=Cartridge(name.upper()[:15]), folder=folder())
