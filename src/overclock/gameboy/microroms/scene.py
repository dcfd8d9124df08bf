"""A picture for the tests of the PPU: tiles and maps full of differing bytes, sprites from a table."""

from collections.abc import Sequence

from overclock.gameboy.microroms.micro import FILL, code, store, wait_line

# Turns the LCD off at the end of a picture, fills tiles and maps; leaves the LCD off.
SCENE = code(
    "scene:", "ldh a, [LY]", "cp 145", "jr nz, scene", "xor a", "ldh [LCDC], a",
    "ld de, 0x8000", "ld bc, 0x1800", "call fill", "ld de, 0x9800", "ld bc, 0x0800", "call fill",
) + store("BGP", 0xE4) + store("OBP0", 0xD2) + store("OBP1", 0x1B) + code("ret") + FILL  # fmt: skip
COPY_OAM = code(
    "copy_oam:", "push hl", "ld de, sprites", "ld hl, OAM", "ld b, 160", ".next:", "ld a, [de]", "inc de",
    "ld [hl+], a", "dec b", "jr nz, .next", "pop hl", "ret",
)  # fmt: skip
Sprite = tuple[int, int, int, int]  # y + 16, x + 8, tile, attributes
ALL_OFF = (0, 0, 0, 0)


def sprite_table(sprites: Sequence[Sprite]) -> str:
    """All forty entries, with those that are not given out of sight, and the routine that puts them into OAM."""
    entries = [*sprites, *[ALL_OFF] * (40 - len(sprites))]
    return COPY_OAM + "sprites:\n" + "".join(f"    db {', '.join(map(str, entry))}\n" for entry in entries)


def raster(changes: Sequence[tuple[int, str, int]]) -> str:
    """A loop that sets a register at a line of every picture, by polling: (line, register, value) in order."""
    text = code("raster:")
    for number, (line, register, value) in enumerate(changes):
        text += wait_line(line, f"r{number}") + store(register, value)
    return text + wait_line(145, "rend") + code("jp raster")
