"""Sprites: both sizes, mirrored, in front and behind, ten to a line, at the edges, with both palettes."""

from overclock.gameboy.microroms.micro import MicroRom, Topic, code, micro, store
from overclock.gameboy.microroms.scene import SCENE, Sprite, raster, sprite_table

SMALL, TALL = 0x93, 0x97
ARRANGEMENTS: dict[str, list[Sprite]] = {
    # a sprite is drawn at its place minus 8, 16
    "in_rows": [(20 + 12 * (i // 8), 10 + 20 * (i % 8), i, 0) for i in range(40)],
    # bits 5 and 6 mirror a sprite
    "mirrored": [(30, 20 + 14 * i, 5, (i % 4) << 5) for i in range(8)],
    # the one further left is in front
    "overlapping": [(40 + i, 80 - 3 * i, i, (i % 2) << 4) for i in range(10)],
    # of sprites at one column the first in OAM is in front
    "at_one_column": [(40 + i, 80, i, 0) for i in range(10)],
    # bit 7 hides a sprite behind colors 1 to 3
    "behind_the_background": [(50, 8 + 15 * i, i, 0x80) for i in range(10)],
    # bit 4 chooses the palette
    "with_both_palettes": [(50, 8 + 15 * i, 3, 0x10 * (i % 2)) for i in range(10)],
    # a line shows the first ten of OAM
    "more_than_ten_on_a_line": [(60, 8 + 9 * i, i, 0) for i in range(17)],
    # sprites left and right of the picture count among the ten
    "out_of_sight_on_a_line": [
        *((60, 0, i, 0) for i in range(5)), *((60, 168, i, 0) for i in range(4)),
        *((60, 20 + 10 * i, i, 0) for i in range(4)),
    ],
    # sprites are cut at the edges
    "at_the_edges": [(y, x, y, 0) for y in (1, 9, 15, 16, 17, 152, 159, 160) for x in (1, 7, 8, 160, 167)],
}  # fmt: skip


MID_FRAME = {
    "sprites_change_size_in_mid_frame": [
        (line, "LCDC", size) for line, size in ((0, SMALL), (40, TALL), (77, SMALL), (100, TALL))
    ],
    "sprites_palettes_in_mid_frame": [
        (line, register, line * 37 % 256) for line in range(4, 140, 10) for register in ("OBP0", "OBP1")
    ],
    "sprites_switched_off_in_mid_frame": [(0, "LCDC", SMALL), (50, "LCDC", SMALL & ~2), (90, "LCDC", SMALL)],
}
CROWD: list[Sprite] = [(16 + 5 * i, 8 + 11 * i % 160, 3 * i, 32 * i % 256) for i in range(30)]
ROMS = Topic()


@ROMS.each({f"sprites_small_{name}": (SMALL, sprites) for name, sprites in ARRANGEMENTS.items()})
@ROMS.each({f"sprites_tall_{name}": (TALL, sprites) for name, sprites in ARRANGEMENTS.items()})
@ROMS.each({"sprites_without_background": (0x92, CROWD)})
def _still(lcdc: int, sprites: list[Sprite]) -> MicroRom:
    """An arrangement of sprites in a picture that does not change."""
    body = code("call scene", "call copy_oam") + store("LCDC", lcdc)
    return micro(body, after=SCENE + sprite_table(sprites), frames=12)


@ROMS.each({name: (changes,) for name, changes in MID_FRAME.items()})
def _mid_frame(changes: list[tuple[int, str, int]]) -> MicroRom:
    """A register that is changed between lines counts from the next line on."""
    body = code("call scene", "call copy_oam") + store("LCDC", SMALL) + code("jp raster")
    return micro(body, after=SCENE + sprite_table(CROWD) + raster(changes), frames=12)


@ROMS.rom
def sprites_move_every_frame() -> MicroRom:
    """What is in OAM when a line begins is drawn.

    All forty move at once, changed in OAM during the vertical blank.
    """
    body = code("call scene", "call copy_oam") + store("LCDC", TALL) + store("IE", 1) + store("IF", 0)
    body += code("ei", ".again:", "halt", "nop", "ld hl, OAM", "ld b, 40", ".one:", "inc [hl]", "inc hl", "dec [hl]")
    body += code("inc hl", "inc hl", "ld a, [hl]", "add 0x10", "ld [hl+], a", "dec b", "jr nz, .one", "jr .again")
    return micro(body, after=SCENE + sprite_table(CROWD), frames=80)


@ROMS.rom
def sprites_over_the_window() -> MicroRom:
    """Sprites lie over the window as over the background."""
    body = code("call scene", "call copy_oam") + store("WX", 60) + store("WY", 30) + store("LCDC", 0xF3)
    return micro(body, after=SCENE + sprite_table(CROWD), frames=14)
