"""Sprites: both sizes, mirrored, in front and behind, ten to a line, at the edges, with both palettes."""

from overclock.gameboy.microroms.micro import MicroRom, code, micro, store
from overclock.gameboy.microroms.scene import SCENE, Sprite, raster, sprite_table

SMALL, TALL = 0x93, 0x97
ARRANGEMENTS: dict[str, tuple[str, list[Sprite]]] = {
    "in_rows": ("a sprite is drawn at its place minus 8, 16",
                [(20 + 12 * (i // 8), 10 + 20 * (i % 8), i, 0) for i in range(40)]),
    "mirrored": ("bits 5 and 6 mirror a sprite", [(30, 20 + 14 * i, 5, (i % 4) << 5) for i in range(8)]),
    "overlapping": ("the one further left is in front", [(40 + i, 80 - 3 * i, i, (i % 2) << 4) for i in range(10)]),
    "at_one_column": ("of sprites at one column the first in OAM is in front", [(40 + i, 80, i, 0) for i in range(10)]),
    "behind_the_background": ("bit 7 hides a sprite behind colors 1 to 3",
                              [(50, 8 + 15 * i, i, 0x80) for i in range(10)]),
    "with_both_palettes": ("bit 4 chooses the palette", [(50, 8 + 15 * i, 3, 0x10 * (i % 2)) for i in range(10)]),
    "more_than_ten_on_a_line": ("a line shows the first ten of OAM", [(60, 8 + 9 * i, i, 0) for i in range(17)]),
    "out_of_sight_on_a_line": ("sprites left and right of the picture count among the ten",
                               [(60, 0, i, 0) for i in range(5)] + [(60, 168, i, 0) for i in range(4)]
                               + [(60, 20 + 10 * i, i, 0) for i in range(4)]),
    "at_the_edges": ("sprites are cut at the edges", [(y, x, y, 0) for y in (1, 9, 15, 16, 17, 152, 159, 160)
                                                      for x in (1, 7, 8, 160, 167)]),
}  # fmt: skip


def roms() -> list[MicroRom]:
    """All of them."""
    found = [_still(name, fact, sprites, lcdc, size) for name, (fact, sprites) in ARRANGEMENTS.items()
             for lcdc, size in ((SMALL, "small"), (TALL, "tall"))]  # fmt: skip
    return [*found, _size_in_mid_frame(), _palettes_in_mid_frame(), _moving(), _off(), _over_window(), _no_background()]


def _still(name: str, fact: str, sprites: list[Sprite], lcdc: int, size: str) -> MicroRom:
    body = code("call scene", "call copy_oam") + store("LCDC", lcdc)
    return micro(f"sprites_{size}_{name}", fact, body, after=SCENE + sprite_table(sprites), frames=12)


def _crowd() -> list[Sprite]:
    return [(16 + 5 * i, 8 + 11 * i % 160, 3 * i, 32 * i % 256) for i in range(30)]


def _size_in_mid_frame() -> MicroRom:
    changes = [(0, "LCDC", SMALL), (40, "LCDC", TALL), (77, "LCDC", SMALL), (100, "LCDC", TALL)]
    body = code("call scene", "call copy_oam") + store("LCDC", SMALL) + code("jp raster")
    return micro(
        "sprites_change_size_in_mid_frame",
        "the size of sprites may change between lines",
        body,
        after=SCENE + sprite_table(_crowd()) + raster(changes),
        frames=12,
    )


def _palettes_in_mid_frame() -> MicroRom:
    changes = [(line, register, line * 37 % 256) for line in range(4, 140, 10) for register in ("OBP0", "OBP1")]
    body = code("call scene", "call copy_oam") + store("LCDC", SMALL) + code("jp raster")
    return micro(
        "sprites_palettes_in_mid_frame",
        "a palette counts from the next line on",
        body,
        after=SCENE + sprite_table(_crowd()) + raster(changes),
        frames=12,
    )


def _moving() -> MicroRom:
    """All forty move at once, changed in OAM during the vertical blank."""
    body = code("call scene", "call copy_oam") + store("LCDC", TALL) + store("IE", 1) + store("IF", 0)
    body += code("ei", ".again:", "halt", "nop", "ld hl, OAM", "ld b, 40", ".one:", "inc [hl]", "inc hl", "dec [hl]")
    body += code("inc hl", "inc hl", "ld a, [hl]", "add 0x10", "ld [hl+], a", "dec b", "jr nz, .one", "jr .again")
    return micro(
        "sprites_move_every_frame",
        "what is in OAM when a line begins is drawn",
        body,
        after=SCENE + sprite_table(_crowd()),
        frames=80,
    )


def _off() -> MicroRom:
    changes = [(0, "LCDC", SMALL), (50, "LCDC", SMALL & ~2), (90, "LCDC", SMALL)]
    body = code("call scene", "call copy_oam") + store("LCDC", SMALL) + code("jp raster")
    return micro(
        "sprites_switched_off_in_mid_frame",
        "LCDC's bit 1 hides all sprites",
        body,
        after=SCENE + sprite_table(_crowd()) + raster(changes),
        frames=12,
    )


def _over_window() -> MicroRom:
    body = code("call scene", "call copy_oam") + store("WX", 60) + store("WY", 30) + store("LCDC", 0xF3)
    return micro(
        "sprites_over_the_window",
        "sprites lie over the window as over the background",
        body,
        after=SCENE + sprite_table(_crowd()),
        frames=14,
    )


def _no_background() -> MicroRom:
    body = code("call scene", "call copy_oam") + store("LCDC", 0x92)
    return micro(
        "sprites_without_background",
        "without background even sprites behind it are seen",
        body,
        after=SCENE + sprite_table(_crowd()),
        frames=12,
    )
