"""The Game Boy: our own assembler, boot code, games and test ROMs, and what compares our emulator with PyBoy.

    GameBoyVector(64, rom="red.gb", description="red.toml")  # a batch of environments
    GameBoy("red.gb")                                        # one console with PyBoy's interface

    program = assemble(text)
    program.rom, program.symbols["score"]

Everything here is plain Python; PyBoy and our Rust extension are imported only where they are used.
"""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.gameboy.assembly.assembler import Program, assemble, assemble_flat
    from overclock.gameboy.assembly.symbols import Symbol, read_symbols
    from overclock.gameboy.cartridge import Cartridge
    from overclock.gameboy.single import GameBoy
    from overclock.gameboy.vector import GameBoyMaze, GameBoyPaddle, GameBoyVector

__all__ = [
    "Cartridge", "GameBoy", "GameBoyMaze", "GameBoyPaddle", "GameBoyVector", "Program", "Symbol", "assemble",
    "assemble_flat", "read_symbols",
]  # fmt: skip

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Cartridge": "overclock.gameboy.cartridge",
        "GameBoy": "overclock.gameboy.single",
        **dict.fromkeys(["GameBoyMaze", "GameBoyPaddle", "GameBoyVector"], "overclock.gameboy.vector"),
        "Program": "overclock.gameboy.assembly.assembler",
        "Symbol": "overclock.gameboy.assembly.symbols",
        "assemble": "overclock.gameboy.assembly.assembler",
        "assemble_flat": "overclock.gameboy.assembly.assembler",
        "read_symbols": "overclock.gameboy.assembly.symbols",
    },
)
