"""What is drawn: background, window and their registers, at rest and changed in the middle of a picture."""

from overclock.gameboy.microroms.micro import MicroRom, Topic, code, micro, store
from overclock.gameboy.microroms.scene import SCENE, raster

ON, WINDOW, WINDOW_MAP_1, TILES_8000, MAP_1, BACKGROUND = 0x80, 0x20, 0x40, 0x10, 0x08, 0x01
PLAIN = ON | TILES_8000 | BACKGROUND
MID_FRAME = {
    "scx": [(line, "SCX", line * 7 % 256) for line in range(5, 140, 9)],
    "scy": [(line, "SCY", line * 11 % 256) for line in range(5, 140, 9)],
    "bgp": [(line, "BGP", (line * 29) % 256) for line in range(5, 140, 9)],
    "tile_data": [(line, "LCDC", PLAIN ^ (TILES_8000 if line % 2 else 0)) for line in range(5, 140, 9)],
    "tile_map": [(line, "LCDC", PLAIN ^ (MAP_1 if line % 2 else 0)) for line in range(5, 140, 9)],
    "background_off": [(line, "LCDC", PLAIN ^ (BACKGROUND if line % 2 else 0)) for line in range(5, 140, 9)],
    "wx": [(line, "WX", 7 + line) for line in range(5, 140, 9)],
    "wy": [(20, "WY", 10), (50, "WY", 90), (80, "WY", 100), (120, "WY", 30)],
    "window_on_and_off": [
        (line, "LCDC", PLAIN | WINDOW_MAP_1 | (WINDOW if line % 2 else 0)) for line in range(31, 140, 8)
    ],
    "window_switched_late": [(60, "LCDC", PLAIN | WINDOW), (90, "LCDC", PLAIN), (110, "LCDC", PLAIN | WINDOW)],
    "window_hidden_by_wx": [(40, "WX", 167), (60, "WX", 30), (80, "WX", 200), (100, "WX", 7)],
}


WINDOWS = (
    (0, 0), (3, 20), (6, 50), (7, 0), (8, 143), (87, 60), (165, 10), (166, 0), (167, 0), (200, 10), (7, 144),
)  # fmt: skip
ROMS = Topic()


@ROMS.each({f"picture_{name}_in_mid_frame": (name, changes) for name, changes in MID_FRAME.items()})
def _mid_frame(name: str, changes: list[tuple[int, str, int]]) -> MicroRom:
    """A register changed between lines counts from the next line on."""
    windowed = "window" in name or name in ("wx", "wy")
    lcdc = PLAIN | (WINDOW | WINDOW_MAP_1 if windowed and "switched" not in name else 0)
    body = code("call scene") + store("WX", 47) + store("WY", 24) + store("LCDC", lcdc) + code("jp raster")
    start = [(0, changes[0][1], lcdc if changes[0][1] == "LCDC" else 40)]
    return micro(body, after=SCENE + raster([*start, *changes]), frames=14)


@ROMS.each({f"picture_window_at_{wx}_{wy}": (wx, wy) for wx, wy in WINDOWS})
def _window_at(wx: int, wy: int) -> MicroRom:
    """The window begins at WX - 7, WY and goes on to the right and down."""
    body = code("call scene") + store("WX", wx) + store("WY", wy) + store("SCX", 5)
    body += store("LCDC", PLAIN | WINDOW | WINDOW_MAP_1)
    return micro(body, after=SCENE, frames=14)


def _frames(body: str) -> str:
    return store("IE", 1) + store("IF", 0) + code("ei", ".again:", "halt", "nop") + body + code("jr .again")


@ROMS.rom
def picture_scrolls_every_frame() -> MicroRom:
    """The background wraps around in both directions."""
    move = code("inc b", "inc b", "inc b", "ld a, b", "ldh [SCX], a", "swap a", "ldh [SCY], a")
    body = code("call scene") + store("LCDC", PLAIN) + _frames(move)
    return micro(body, after=SCENE, frames=60)


@ROMS.rom
def picture_window_moves_every_frame() -> MicroRom:
    """The window is drawn from its own first line wherever it begins."""
    move = code("inc b", "inc b", "inc b", "ld a, b", "ldh [WX], a", "inc c", "ld a, c", "ldh [WY], a")
    body = code("call scene") + store("LCDC", PLAIN | WINDOW | WINDOW_MAP_1) + _frames(move)
    return micro(body, after=SCENE, frames=90)


@ROMS.rom
def picture_scrolled_by_line_interrupts() -> MicroRom:
    """A line interrupt in time changes the picture from its line on."""
    body = code("call scene") + store("LCDC", PLAIN) + store("STAT", 0x40) + store("IE", 2) + store("LYC", 0)
    body += store("IF", 0) + code("ei", ".again:", "halt", "nop", "jr .again")
    handler = code("push af", "ldh a, [LY]", "ldh [SCX], a", "add 3", "cp 144", "jr c, .on", "xor a", ".on:")
    handler += code("ldh [LYC], a", "pop af", "reti")
    return micro(body, handlers={"stat": handler}, after=SCENE, frames=16)


@ROMS.rom
def picture_with_every_lcdc() -> MicroRom:
    """Every combination of LCDC's bits is drawn."""
    move = code("ld a, b", "or 0x80", "ldh [LCDC], a", "inc b")
    body = code("call scene") + store("WX", 60) + store("WY", 50) + store("LCDC", PLAIN) + _frames(move)
    return micro(body, after=SCENE, frames=140)
