"""The Game Boy Color: two speeds, banks of VRAM and WRAM, palettes, attributes, and copies by the hardware."""

import dataclasses
import functools

from overclock.gameboy.microroms.micro import (
    FILL,
    MicroRom,
    Topic,
    code,
    fill_c100,
    micro,
    nops,
    note,
    store,
    wait_line,
)
from overclock.gameboy.microroms.ppu import NOTE_HBLANK, TIME_HBLANKS, line_after_mode
from overclock.gameboy.microroms.scene import SCENE, Sprite, sprite_table
from overclock.gameboy.microroms.timer import PERIOD

SWITCH = store("KEY1", 1) + store("P1", 0x30) + code("stop", "nop")
FILL_PALETTES = code(
    "fill_palettes:", "ld a, 0x80", "ldh [BCPS], a", "ldh [OCPS], a", "ld b, 64", "ld c, 0x35", ".next:"
)
FILL_PALETTES += code("ld a, c", "add 0x4B", "rlca", "ld c, a", "ldh [BCPD], a", "xor 0x5A", "ldh [OCPD], a", "dec b")
FILL_PALETTES += code("jr nz, .next", "ret")
# Both banks of VRAM full of differing bytes, so that every attribute occurs.
COLOR_SCENE = code("color_scene:", "call scene") + store("VBK", 1) + code("ld de, 0x8000", "ld bc, 0x2000", "call fill")
COLOR_SCENE += store("VBK", 0) + code("call fill_palettes", "ret") + FILL_PALETTES + SCENE


CROWD = [(16 + 4 * i, 8 + 13 * i % 160, 5 * i, 0x1F & i | 32 * i % 256) for i in range(36)]
ROMS = Topic()
_color = functools.partial(micro, cgb=True)


@ROMS.each({f"color_timer_in_double_speed_at_rate_{rate}": (rate,) for rate in PERIOD})
def _timer_in_double_speed(rate: int) -> MicroRom:
    """The timer counts the faster cycles."""
    body = SWITCH + store("TMA", 0) + store("TAC", 4 | rate) + store("TIMA", 0)
    for wait in (1, 3, 9, PERIOD[rate] - 1, PERIOD[rate], PERIOD[rate] + 1):
        body += store("DIV", 0) + nops(wait) + note("TIMA") + note("DIV")
    return _color(body)


@ROMS.rom
def color_key1_tells_the_speed() -> MicroRom:
    """KEY1's bit 7 is the speed, bit 0 asks for the other."""
    body = note("KEY1") + store("KEY1", 1) + note("KEY1") + store("KEY1", 0) + note("KEY1") + SWITCH + note("KEY1")
    body += SWITCH + note("KEY1") + store("KEY1", 0xFF) + note("KEY1")
    return _color(body, frames=8)


@ROMS.rom
def color_speed_switch_time() -> MicroRom:
    """A change of speed resets DIV."""
    body = store("TAC", 5)
    for _ in range(4):
        body += note("DIV") + note("TIMA") + note("LY") + SWITCH + note("DIV") + note("TIMA") + note("LY") + nops(100)
    return _color(body, frames=10)


@ROMS.rom
def color_lines_in_double_speed() -> MicroRom:
    """Lines take twice as many of the faster cycles."""
    body = SWITCH + code("ld bc, 0x0800", ".read:") + note("STAT") + note("LY")
    body += code("dec bc", "ld a, b", "or c", "jr nz, .read")
    return _color(body, frames=8)


@ROMS.rom
def color_frames_in_double_speed() -> MicroRom:
    """A frame has twice the cycles."""
    body = SWITCH + store("IE", 1) + store("IF", 0) + code("ei", ".again:", "halt", "nop") + note("DIV") + note("LY")
    body += code("jr .again")
    return _color(body, frames=20)


@ROMS.rom
def color_halt_in_double_speed() -> MicroRom:
    """HALT ends on the cycle of its event in either speed."""
    body = SWITCH + store("TAC", 5) + store("TMA", 0xC0) + store("STAT", 0x08) + store("IE", 6) + store("IF", 0)
    body += code("ld d, 100", ".again:", "halt", "nop") + note("IF") + note("TIMA") + note("STAT") + store("IF", 0)
    body += code("dec d", "jr nz, .again")
    return _color(body, frames=10)


@ROMS.rom
def color_dma_in_double_speed() -> MicroRom:
    """OAM DMA goes twice as fast."""
    body = SWITCH + fill_c100(0x0100)
    for wait in (100, 155, 160, 165, 170, 200):
        body += store("DMA", 0xC1) + nops(wait) + code("ld a, [0xFE00]", "ld [hl+], a", "ld a, [0xFE9F]", "ld [hl+], a")
        body += nops(40)
    return _color(body, after=FILL)


@ROMS.rom
def color_serial_speeds() -> MicroRom:
    """SC's bit 1 makes the clock faster."""
    body = store("SB", 0x12) + store("SC", 0x83) + code("ld b, 40", ".read:") + note("SC") + note("SB") + note("IF")
    body += code("dec b", "jr nz, .read") + SWITCH + store("IF", 0) + store("SC", 0x81) + code("ld b, 200", ".more:")
    body += note("SC") + note("IF") + code("dec b", "jr nz, .more")
    return _color(body)


@ROMS.rom
def color_wram_has_banks() -> MicroRom:
    """D000 shows one of seven banks; 0 means 1."""
    body = ""
    for bank in range(9):
        body += store("SVBK", bank) + note("SVBK")
        body += code(f"ld a, {0x60 + bank}", "ld [0xD000], a", f"ld [0xD7{bank:02X}], a")
    for bank in (1, 0, 7, 3, 2, 5, 4, 6):
        body += store("SVBK", bank) + code("ld a, [0xD000]", "ld [hl+], a", "ld a, [0xF000]", "ld [hl+], a")
    body += store("SVBK", 1)
    return _color(body)


@ROMS.rom
def color_vram_has_two_banks() -> MicroRom:
    """VBK's bit 0 chooses the bank of VRAM."""
    body = store("LCDC", 0)
    for bank in (0, 1, 0xFE, 0xFF):
        body += store("VBK", bank)
        body += note("VBK") + code(f"ld a, {bank ^ 0x33}", "ld [0x8010], a", f"ld [0x98{bank:02X}], a")
    for bank in (0, 1):
        body += store("VBK", bank) + code("ld a, [0x8010]", "ld [hl+], a")
    return _color(body)


@ROMS.rom
def color_palette_registers_count_up() -> MicroRom:
    """With bit 7 the index counts up with every write, not read."""
    body = store("LCDC", 0)
    for select, data in (("BCPS", "BCPD"), ("OCPS", "OCPD")):
        for index in (0x80, 0x05, 0xBF, 0x3F, 0xC1):
            body += store(select, index) + note(select) + store(data, 0x6D) + note(select) + note(data)
            body += store(data, 0x93) + note(select) + note(data)
    return _color(body)


@ROMS.rom
def color_background_attributes() -> MicroRom:
    """Attributes choose palette, bank, mirrors and priority of a tile."""
    body = code("call color_scene") + store("LCDC", 0x91)
    return _color(body, after=COLOR_SCENE, frames=20)


STILL = {
    # sprites choose one of eight palettes and a bank
    "color_sprites_have_palettes_and_banks": (store("LCDC", 0x97), CROWD),
    # the first in OAM is in front, wherever it is
    "color_sprites_in_order_of_oam": (store("LCDC", 0x93), [(50 + i, 90 - 4 * i, 3 * i, i % 8) for i in range(10)]),
    # LCDC's bit 0 takes the background's priority away
    "color_sprites_always_in_front": (store("LCDC", 0x92), CROWD),
    # the window has attributes as the background
    "color_window_has_attributes": (store("WX", 50) + store("WY", 40) + store("LCDC", 0xF3), CROWD),
}


@ROMS.each(STILL)
def _still(registers: str, sprites: list[Sprite]) -> MicroRom:
    """A picture with sprites that does not change."""
    body = code("call color_scene", "call copy_oam") + registers
    return _color(body, after=COLOR_SCENE + sprite_table(sprites), frames=20)


@ROMS.rom
def color_palettes_in_mid_frame() -> MicroRom:
    """A palette may change between lines."""
    body = code("call color_scene") + store("LCDC", 0x91) + code("ld e, 0", "frame:")
    for number, line in enumerate(range(10, 140, 20)):
        body += wait_line(line, f"l{number}")
        body += store("BCPS", 0x80 | number * 8) + code("ld a, e", "ldh [BCPD], a", "inc e")
    return _color(body + code("jp frame"), after=COLOR_SCENE, frames=24)


@ROMS.each({f"color_copy_of_{blocks + 1}_blocks": (blocks,) for blocks in (0, 7, 0x7F)})
def _general_copy(blocks: int) -> MicroRom:
    """A general copy stops the processor until it is done."""
    body = store("LCDC", 0) + fill_c100(0x0C00) + store("TAC", 5)
    body += store("HDMA1", 0xC1) + store("HDMA2", 0x07) + store("HDMA3", 0x88) + store("HDMA4", 0x13) + note("TIMA")
    body += store("HDMA5", blocks) + note("TIMA") + note("HDMA5") + note("DIV") + store("LCDC", 0x91)
    return _color(body, after=FILL)


@ROMS.rom
def color_copy_in_hblanks() -> MicroRom:
    """A copy by HBlanks moves 16 bytes per line."""
    body = fill_c100(0x0C00) + wait_line(20, "a")
    body += store("HDMA1", 0xC1) + store("HDMA2", 0) + store("HDMA3", 0x80) + store("HDMA4", 0) + store("HDMA5", 0x8F)
    body += code("ld b, 250", ".read:") + note("HDMA5") + note("LY") + code("dec b", "jr nz, .read")
    return _color(body, after=FILL, frames=10)


@ROMS.rom
def color_copy_in_hblanks_stopped() -> MicroRom:
    """A copy by HBlanks can be stopped and another started."""
    body = fill_c100(0x0C00) + wait_line(20, "a")
    body += store("HDMA1", 0xC1) + store("HDMA2", 0) + store("HDMA3", 0x80) + store("HDMA4", 0) + store("HDMA5", 0xBF)
    body += wait_line(40, "b") + note("HDMA5") + store("HDMA5", 0x00)
    body += note("HDMA5") + wait_line(60, "c") + note("HDMA5")
    body += store("HDMA5", 0x83) + wait_line(80, "d") + note("HDMA5")
    return _color(body, after=FILL, frames=10)


@ROMS.rom
def color_copy_registers_cannot_be_read() -> MicroRom:
    """HDMA1 to HDMA4 read as ones."""
    body = "".join(store(f"HDMA{n}", 0x5F) + note(f"HDMA{n}") for n in range(1, 5)) + note("HDMA5")
    return _color(body)


@ROMS.rom
def color_other_registers() -> MicroRom:
    """FF72 to FF75 hold bits, others read as ones."""
    body = ""
    for address in (*range(0xFF4C, 0xFF50), *range(0xFF56, 0xFF68), *range(0xFF6C, 0xFF80)):
        if address not in (0xFF4D, 0xFF4F, 0xFF70):
            body += note(f"{address:#x}") + store(f"{address:#x}", 0xFF)
            body += note(f"{address:#x}") + store(f"{address:#x}", 0)
            body += note(f"{address:#x}")
    return _color(body)


@ROMS.rom
def color_shows_an_old_game() -> MicroRom:
    """A game without color gets palettes from the boot code."""
    body = code("call scene", "call copy_oam") + store("LCDC", 0x93)
    old = micro(body, after=SCENE + sprite_table(CROWD), frames=14)
    return dataclasses.replace(old, cgb=True)  # its cartridge knows nothing of color


@ROMS.rom
def color_mode_lengths() -> MicroRom:
    """Mode 3 takes as long as the line's sprites ask for."""
    body = code("call color_scene", "call copy_oam") + store("LCDC", 0x93) + TIME_HBLANKS
    return _color(body, handlers=NOTE_HBLANK, after=COLOR_SCENE + sprite_table(CROWD), frames=24)


@ROMS.rom
def color_interrupts_at_line_144() -> MicroRom:
    """Of line 144 the interrupt of mode 2 comes a machine cycle before VBlank's."""
    body = store("STAT", 0x20)
    for wait in range(92, 108):
        body += wait_line(5, f"top_{wait}") + wait_line(143, f"last_{wait}") + nops(wait) + store("IF", 0) + note("IF")
    return _color(body, frames=24)


@ROMS.rom
def color_stat_48_interrupts_anew_at_line_51() -> MicroRom:
    """In PyBoy the mode's source falls before the line's rises."""
    return line_after_mode(0x48, 51, cgb=True)
