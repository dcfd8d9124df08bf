"""The PPU's clock: lines, modes, coincidence, STAT interrupts, and what the LCD does when it is switched off and on."""

import itertools

from overclock.gameboy.microroms.micro import MicroRom, Topic, code, micro, nops, note, store, wait_line
from overclock.gameboy.microroms.scene import SCENE, sprite_table

STAT_SOURCES = {"hblank": 0x08, "vblank": 0x10, "oam": 0x20, "line": 0x40, "hblank_and_oam": 0x28, "all": 0x78}


ROMS = Topic()


CROWDS = {
    "one_sprite": [(50, 20, 1, 0)],
    "ten_sprites": [(50, 8 + 13 * i, i, 0) for i in range(10)],
    "sprites_left_edge": [(50, i, i, 0) for i in range(0, 9)],
    "stacked_sprites": [(50, 80, i, 0) for i in range(10)],
}


@ROMS.each({f"ppu_stat_interrupt_on_{name}": (bits,) for name, bits in STAT_SOURCES.items()})
def _stat_interrupt(bits: int) -> MicroRom:
    """STAT interrupts when the line of its enabled sources rises."""
    body = store("LYC", 40) + store("STAT", bits) + store("IE", 2) + store("IF", 0) + code("ei", ".idle:", "inc b")
    body += code("jr .idle")
    handler = code("push af") + note("LY") + note("STAT") + code("ld a, b", "ld [hl+], a", "res 4, h", "pop af", "reti")
    return micro(body, handlers={"stat": handler}, frames=8)


EVENTS = ((0x48, 51), (0x48, 144), (0x68, 144), (0x50, 0))


@ROMS.each({f"ppu_stat_{bits:02x}_interrupts_anew_at_line_{line}": (bits, line) for bits, line in EVENTS})
def line_after_mode(bits: int, line: int, *, cgb: bool = False) -> MicroRom:
    """In PyBoy the mode's source falls before the line's rises, at the start of a line and in the first frame."""
    body = store("LYC", line) + store("STAT", bits) + store("IE", 2) + store("IF", 0) + code("ei", ".idle:", "jr .idle")
    handler = code("push af") + note("LY") + note("DIV") + code("res 4, h", "pop af", "reti")
    return micro(body, handlers={"stat": handler}, cgb=cgb)


@ROMS.each({f"ppu_mode_lengths_scx_{scx}".removesuffix("_scx_0"): (scx, []) for scx in (0, 3, 7)})
@ROMS.each({f"ppu_mode_lengths_{name}": (0, sprites) for name, sprites in CROWDS.items()})
def _mode_lengths(scx: int, sprites: list[tuple[int, int, int, int]]) -> MicroRom:
    """Drawing takes longer with a scroll that is no multiple of 8 and with every sprite on the line.

    TIMA ticks every 16 cycles; the loops are offset line by line, so the edges are sampled at all phases.
    """
    body = code("call scene", "call copy_oam") + store("SCX", scx) + store("LCDC", 0x93) + store("TAC", 5)
    body += code("ld d, 100", ".line:", "ldh a, [STAT]", "and 3", "jr z, .line", ".until_hblank:", "ldh a, [STAT]")
    body += code("and 3", "jr nz, .until_hblank", "ldh a, [TIMA]", "ld [hl+], a") + note("LY") + code("nop")
    body += code(".until_next:", "ldh a, [STAT]", "and 3", "jr z, .until_next", "ldh a, [TIMA]", "ld [hl+], a")
    body += code("dec d", "jr nz, .line")
    return micro(body, after=SCENE + sprite_table(sprites), frames=14)


# For 60 lines, the place in a row of nops at which HBlank interrupts.
TIME_HBLANKS = store("IE", 2) + code("ld b, 60", "again:") + store("STAT", 0x20) + store("IF", 0)
TIME_HBLANKS += code("ei", "halt", "nop", "di") + store("STAT", 0x08) + store("IF", 0) + code("ei") + nops(90)
TIME_HBLANKS += code("di", "dec b", "jp nz, again")
NOTE_HBLANK = {"stat": code("pop de", "push de", "ld [hl], e", "inc hl") + note("LY") + code("reti")}


@ROMS.each({f"ppu_hblank_time_with_scx_{scx}": (scx, []) for scx in range(8)})
@ROMS.each({f"ppu_hblank_time_with_{name}": (0, sprites) for name, sprites in CROWDS.items()})
def _hblank_time(scx: int, sprites: list[tuple[int, int, int, int]]) -> MicroRom:
    """Mode 3 ends later with a fine scroll and with every sprite on the line.

    The address that HBlank interrupts in a row of nops tells the length of mode 3 to a machine cycle.
    """
    body = code("call scene", "call copy_oam") + store("SCX", scx) + store("LCDC", 0x93) + TIME_HBLANKS
    return micro(body, handlers=NOTE_HBLANK, after=SCENE + sprite_table(sprites), frames=14)


@ROMS.rom
def ppu_lines_and_modes_of_a_frame() -> MicroRom:
    """154 lines of 456 cycles in modes 2, 3, 0 and 1."""
    body = (
        code("ld bc, 0x0800", ".read:") + note("STAT") + note("LY") + code("dec bc", "ld a, b", "or c", "jr nz, .read")
    )
    return micro(body, frames=8)


@ROMS.rom
def ppu_coincidence_bit_follows_ly() -> MicroRom:
    """STAT's bit 2 is set while LY equals LYC."""
    body = store("STAT", 0)
    for line in (0, 1, 77, 143, 144, 152, 153):
        body += store("LYC", line) + wait_line(line, f"l{line}") + note("STAT") + note("LY") + note("STAT")
        body += note("STAT") + note("LY")
    return micro(body, frames=10)


@ROMS.rom
def ppu_lyc_written_on_its_line() -> MicroRom:
    """Writing LYC the present line asks for an interrupt."""
    body = store("STAT", 0x40) + store("IE", 2) + store("LYC", 200) + store("IF", 0) + wait_line(60, "a")
    body += store("LYC", 60) + note("IF") + note("STAT") + store("LYC", 61) + note("STAT") + store("IF", 0)
    body += store("LYC", 62) + wait_line(62, "b") + note("IF") + store("LYC", 0) + note("IF") + note("STAT")
    return micro(body)


@ROMS.rom
def ppu_lcd_switched_off_and_on() -> MicroRom:
    """A switched-off LCD stands at line 0 in mode 0."""
    body = code("ld d, 12", ".again:") + wait_line(30, "off") + store("LCDC", 0x11) + note("LY") + note("STAT")
    body += code("ld b, 200", ".dark:", "dec b", "jr nz, .dark") + note("LY") + note("STAT") + store("LCDC", 0x91)
    body += note("LY") + note("STAT") + note("DIV") + code("dec d", "jr nz, .again")
    return micro(body, frames=24)


@ROMS.rom
def ppu_lcd_off_for_frames() -> MicroRom:
    """Frames go on at their length while the LCD is off."""
    body = wait_line(100, "a") + store("LYC", 0) + store("LCDC", 0) + note("STAT") + store("LYC", 9) + note("STAT")
    body += note("LY") + code("ld bc, 0x6000", ".dark:", "dec bc", "ld a, b", "or c", "jr nz, .dark") + note("LY")
    body += note("STAT") + note("IF") + store("LCDC", 0x91) + note("STAT") + note("LY")
    return micro(body, frames=20)


@ROMS.rom
def ppu_first_line_after_switching_on() -> MicroRom:
    """The first line after switching on has no mode 2."""
    body = wait_line(145, "a") + store("LCDC", 0) + code("ld bc, 0x0180") + store("LCDC", 0x91)
    body += code(".read:") + note("STAT") + note("LY") + code("dec bc", "ld a, b", "or c", "jr nz, .read")
    return micro(body)


@ROMS.rom
def ppu_lcd_off_at_any_line() -> MicroRom:
    """Switching off and on starts a new picture."""
    body = store("IE", 1) + store("IF", 0)
    for line in (1, 70, 143, 144, 150):
        body += wait_line(line, f"l{line}") + store("LCDC", 0) + note("IF") + store("LCDC", 0x91) + note("LY")
    return micro(body, frames=14)


@ROMS.rom
def ppu_stat_low_bits_are_read_only() -> MicroRom:
    """STAT's low bits cannot be written, bit 7 reads as one."""
    body = wait_line(10, "a")
    for value in (0, 0xFF, 0x78, 0x87, 0x20, 0x08):
        body += store("STAT", value) + note("STAT") + note("IF") + store("IF", 0)
    return micro(body)


@ROMS.each({"ppu_vram_while_drawing": ("0x8123",), "ppu_oam_while_searching": ("0xFE10",)})
def _memory_in_use(address: str) -> MicroRom:
    """VRAM cannot be read while the PPU draws from it, and OAM not while the PPU searches and draws.

    Every way to read and write memory, at many places of a line.
    """
    body = code(f"ld de, {address}", "ld b, 150", ".again:", "ld a, b", "ld [de], a", "ld a, [de]", "ld [hl+], a")
    body += code(f"ld a, [{address}]", "ld [hl+], a", "push hl", f"ld hl, {address}", "ld c, [hl]", "ld a, [hl]")
    body += code("pop hl", "ld [hl+], a", "ld a, c", "ld [hl+], a") + note("STAT") + code("dec b", "jr nz, .again")
    return micro(body)


ACCESSES = {
    "vram_read": (0x8123, "ld a, [de]"),
    "vram_read_by_hl": (0x8123, "ld a, [hl]"),
    "vram_written": (0x8123, "ld [de], a"),
    "oam_read": (0xFE10, "ld a, [de]"),
    "oam_written": (0xFE10, "ld [de], a"),
}


@ROMS.each({f"ppu_{name}_anywhere_in_a_line": how for name, how in ACCESSES.items()})
def _access_through_a_line(address: int, access: str) -> MicroRom:
    """Memory the PPU uses is out of reach for the processor.

    One access per line, each a machine cycle later than the one before, from the start of the line on.
    """
    body = store("STAT", 0x20) + store("IE", 2)
    for wait in range(114):
        body += code(f"ld de, {address:#x}", "push hl", "ld h, d", "ld l, e") + store("IF", 0) + code("ld c, 0x5A")
        body += code("halt", f"ld a, {wait}")
        body += nops(wait) + code(access, "ld b, a", "ldh a, [STAT]", "ld c, a", "pop hl")
        body += code("ld a, b", "ld [hl+], a", "ld a, c", "ld [hl+], a", f"ld a, [{address:#x}]", "ld [hl+], a")
    return micro(body, frames=8)


@ROMS.each({"ppu_modes_after_oam": (0x20, 8), "ppu_modes_after_hblank": (0x08, 8), "ppu_modes_after_line": (0x40, 120)})
def _mode_through_a_line(bits: int, frames: int) -> MicroRom:
    """STAT tells the mode at every cycle of a line.

    STAT and LY at every machine cycle of a line, from an interrupt on.
    """
    body = store("STAT", bits) + store("LYC", 77) + store("IE", 2)
    for wait in range(116):
        body += store("IF", 0) + code("halt") + nops(wait) + note("STAT") + note("LY") + note("IF")
    return micro(body, frames=frames)


@ROMS.rom
def ppu_first_stat_read_after_lyc_while_off() -> MicroRom:
    """LYC may be written while the LCD is off."""
    body = ""
    for number, wait in enumerate((2, 30, 150)):
        body += wait_line(145, f"a{number}") + store("LCDC", 0) + store("LYC", 3 * number) + store("LCDC", 0x91)
        body += nops(wait) + note("LY") + note("STAT") + note("STAT") + nops(40) + note("STAT")
    return micro(body, frames=8)


@ROMS.each({f"ppu_on_with_stat_{name}": (bits,) for name, bits in STAT_SOURCES.items()})
def _on_with_sources(bits: int) -> MicroRom:
    """Sources of STAT that are high when the LCD goes on request nothing."""
    body = ""
    for number, (wait, lyc, early) in enumerate(itertools.product((0, 60, 64, 120), (0, 5), (0, bits))):
        body += store("STAT", early) + wait_line(145, f"a{number}") + store("LCDC", 0) + store("LYC", lyc)
        body += store("STAT", bits) + store("IF", 0) + store("LCDC", 0x91) + nops(wait) + note("IF")
    return micro(body, frames=24)


@ROMS.rom
def ppu_ly_is_read_only() -> MicroRom:
    """Writing to LY changes nothing."""
    body = wait_line(20, "a") + store("LY", 99) + note("LY") + note("STAT") + wait_line(21, "b") + note("STAT")
    return micro(body)


@ROMS.rom
def ppu_vblank_before_stat_at_line_144() -> MicroRom:
    """At line 144 both interrupts come, the vertical blank first."""
    body = store("STAT", 0x10) + store("IE", 3) + store("IF", 0) + code("ei", ".idle:", "inc b", "jr .idle")
    tell = code("push af", "ld a, {}", "ld [hl+], a", "ld a, b", "ld [hl+], a") + note("STAT") + code("pop af", "reti")
    handlers = {"vblank": tell.format(1), "stat": tell.format(2)}
    return micro(body, handlers=handlers, frames=6)
