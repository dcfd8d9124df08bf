"""`python -m overclock.gameboy.microroms FOLDER` writes every micro-ROM, its symbols and the boot code as files."""

import sys
from pathlib import Path

from overclock.gameboy.assembly.symbols import format_symbols
from overclock.gameboy.boot import cgb_boot, dmg_boot
from overclock.gameboy.microroms import micro_roms


def main(folder: str) -> None:
    """Write every file into a folder, which is made if it is missing."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for name, rom in micro_roms().items():
        (out / f"{name}.{'gbc' if rom.cgb else 'gb'}").write_bytes(rom.program.rom)
        (out / f"{name}.sym").write_text(format_symbols(rom.program.symbols), encoding="utf-8")
    (out / "dmg_boot.bin").write_bytes(dmg_boot())
    (out / "cgb_boot.bin").write_bytes(cgb_boot())


if __name__ == "__main__":
    main(sys.argv[1])
