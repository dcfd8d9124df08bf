"""Our own boot code, assembled when it is asked for; PyBoy gets the same bytes as our emulator."""

import functools
from importlib import resources

from overclock.gameboy.assembly.assembler import assemble_flat

DMG_SIZE = 0x100
CGB_SIZE = 0x900  # 0100 to 01FF of it is hidden by the cartridge


@functools.cache
def dmg_boot() -> bytes:
    """256 bytes for a Game Boy."""
    return _image("dmg.asm", DMG_SIZE)


@functools.cache
def cgb_boot() -> bytes:
    """2304 bytes for a Game Boy Color."""
    return _image("cgb.asm", CGB_SIZE)


def boot_for(cgb: bool) -> bytes:
    """The code for one of the two consoles."""
    return cgb_boot() if cgb else dmg_boot()


def _image(name: str, size: int) -> bytes:
    text = resources.files("overclock.gameboy").joinpath("bootcode", name).read_text(encoding="utf-8")
    return assemble_flat(text, size, name=name).rom
