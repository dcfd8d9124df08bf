"""`compat="hardware"`: small programs whose results the documentation of the console demands, where PyBoy's are others."""

import pytest

pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")

from overclock.gameboy.assembler import assemble
from overclock.gameboy.cartridge import Cartridge
from overclock.gameboy.native_console import NativeConsole

RESULT = 0xC000
COPY_TO_HRAM = """
    ld de, routine
    ld hl, 0xFF80
    ld b, routine_end - routine
.copy:
    ld a, [de]
    ld [hl+], a
    inc de
    dec b
    jr nz, .copy
"""


def console(body: str, *, before: str = "", after: str = "", color: bool = False) -> NativeConsole:
    """A console that starts at the game; hl is where results go."""
    text = f"{before}\n    org 0x150\nstart:\n    di\n    ld sp, 0xDFF0\n    ld hl, {RESULT}\n{body}\nend:\n    jr end\n{after}"
    rom = assemble(text, name="hardware", cartridge=Cartridge("HW", cgb="yes" if color else "no")).rom
    return NativeConsole(rom, cgb=color, sound=True, boot=b"", compat="hardware")


def results(body: str, count: int, *, frames: int = 8, **options) -> list[int]:
    """What a program leaves behind."""
    running = console(body, **options)
    running.tick(frames, False)
    return list(running.bytes_at(RESULT, count))


def nops(count: int) -> str:
    return "    nop\n" * count


# Each resets DIV's counter; then it takes 64 M-cycles to the M-cycle in which DIV is read as 1. LDH reads in its third.
RESETS = {
    "ldh [0xFF04], a": 0,  # writes in its last M-cycle
    "inc [hl]": 0,  # reads in its second, writes in its third and last
    "ld [0xFF03], sp": 0,  # the low byte in its fourth, the high one, which is at DIV, in its fifth and last
    "push bc": 1,  # with SP behind DIV: the high byte in its third of four
    "ld [0xFF04], sp": 1,  # the low byte, which is at DIV, in its fourth of five
}


@pytest.mark.parametrize("instruction", RESETS)
def test_a_write_is_made_in_its_own_m_cycle(instruction):
    body = ""
    for wait in (60 - RESETS[instruction], 61 - RESETS[instruction]):
        body += f"    ld hl, 0xFF04\n    ld sp, 0xFF05\n    {instruction}\n{nops(wait)}    ldh a, [0xFF04]\n"
        body += f"    ld [{RESULT} + {wait & 1}], a\n"
    first, second = results(body, 2)[:: 1 if RESETS[instruction] == 0 else -1]
    assert (first, second) == (0, 1)


def test_tima_shows_0_for_an_m_cycle_before_tma_is_loaded():
    body = "    ld a, 0x55\n    ldh [0xFF06], a\n    ld de, 0xC000\n    ld hl, 0xFF05\n    ld c, 7\n"
    for wait in (0, 1):  # the counter's bit 3 falls 4 M-cycles after DIV was reset; the read is made in the fourth
        body += "    xor a\n    ldh [c], a\n    ld [hl], 0xFF\n    ld a, 5\n    ldh [0xFF04], a\n    ldh [c], a\n"
        body += f"{nops(wait)}    ld a, [hl]\n    ld [de], a\n    inc de\n"
    assert results(body, 2) == [0x00, 0x55]


def test_halt_without_interrupts_reads_the_next_byte_twice_if_one_waits():
    body = "    ld a, 4\n    ldh [0xFFFF], a\n    ldh [0xFF0F], a\n    xor a\n    halt\n    inc a\n    nop\n    ld [hl], a\n"
    assert results(body, 1) == [2]


def test_a_push_onto_ie_cancels_the_interrupt_and_goes_to_0000():
    # SP is 0, so that the high byte of PC, 02, goes to FFFF: that does not allow interrupt 2 any more.
    before = "    org 0x00\n    ld a, 0xAA\n    ld [0xC000], a\nstop:\n    jr stop\n    org 0x50\n    jp end\n"
    body = "    jp far\n    org 0x0200\nfar:\n    ld sp, 0\n    ld a, 4\n    ldh [0xFFFF], a\n    ldh [0xFF0F], a\n    ei\n    nop\n"
    running = console(body + nops(4), before=before)
    running.tick(4, False)
    assert running.bytes_at(RESULT, 1) == b"\xaa"
    assert running.bytes_at(0xFF0F, 1)[0] & 4  # it was not acknowledged


def test_di_right_after_ei_leaves_interrupts_off():
    before = "    org 0x50\n    ld a, 0xEE\n    ld [0xC000], a\n    reti\n"
    body = "    ld a, 4\n    ldh [0xFFFF], a\n    ldh [0xFF0F], a\n    ei\n    di\n    nop\n    ld [hl], 1\n"
    assert results(body, 1, before=before) == [1]


def test_a_byte_takes_4096_cycles_at_the_serial_port_and_ones_come_in():
    body = "    xor a\n    ldh [0xFF01], a\n    ld a, 0x81\n    ldh [0xFF02], a\n"
    for label in ("a", "b"):  # 250 rounds of 4 M-cycles are 4,000 cycles
        body += f"    ld b, 250\n.{label}:\n    dec b\n    jr nz, .{label}\n    ldh a, [0xFF02]\n    ld [hl+], a\n"
        body += "    ldh a, [0xFF01]\n    ld [hl+], a\n"
    assert results(body, 4) == [0xFF, 0x7F, 0x7F, 0xFF]


def test_bits_that_nobody_is_connected_to_read_1():
    registers = {0x02: 0x7E, 0x03: 0xFF, 0x07: 0xF8, 0x0F: 0xE1, 0x4D: 0xFF, 0x55: 0xFF, 0x70: 0xFF, 0x1F: 0xFF}
    body = "".join(f"    ldh a, [0xFF{register:02X}]\n    ld [hl+], a\n" for register in registers)
    assert results(body, len(registers)) == list(registers.values())


def test_ff00_follows_the_buttons_and_tells_the_row():
    running = console("    ld a, 0x10\n    ldh [0xFF00], a\nloop:\n    ldh a, [0xFF00]\n    ld [hl], a\n    jr loop\n")
    running.tick(2, False)
    assert running.bytes_at(RESULT, 1) == b"\xdf"
    running.press("a")
    running.tick(1, False)
    assert running.bytes_at(RESULT, 1) == b"\xde"
    assert running.bytes_at(0xFF0F, 1)[0] & 0x10


def test_ly_is_0_in_most_of_line_153():
    wait = ".a{0}:\n    ldh a, [0xFF44]\n    cp {0}\n    jr nz, .a{0}\n"
    body = wait.format(152) + nops(100) + "    ldh a, [0xFF44]\n    ld [hl+], a\n" + nops(30)
    assert results(body + "    ldh a, [0xFF44]\n    ld [hl+], a\n    ldh a, [0xFF41]\n    ld [hl], a\n", 3)[1:] == [0, 0x85]


def m_cycles_to_hblank(scx: int, sprite: int | None) -> int:
    """From the interrupt of mode 2 to the M-cycle in which STAT tells mode 0, less what every program here takes."""
    entry = "" if sprite is None else "".join(
        f"    ld a, {value}\n    ld [{0xFE00 + i}], a\n" for i, value in enumerate((56, sprite, 0, 0))
    )  # fmt: skip
    body = f"    xor a\n    ldh [0xFF40], a\n{entry}    ld a, {scx}\n    ldh [0xFF43], a\n    ld a, 0x93\n"
    body += "    ldh [0xFF40], a\n    ld a, 2\n    ldh [0xFFFF], a\n    ld a, 0x20\n    ldh [0xFF41], a\n"
    waits = range(48, 60)
    for wait in waits:
        body += f".line{wait}:\n    ldh a, [0xFF44]\n    cp 41\n    jr nz, .line{wait}\n    xor a\n    ldh [0xFF0F], a\n"
        body += f"    ei\n    halt\n    nop\n{nops(wait)}    ldh a, [0xFF41]\n    di\n    and 3\n    ld [hl+], a\n"
    return results(body, len(waits), before="    org 0x48\n    reti\n", frames=20).index(0)


@pytest.mark.parametrize(("scx", "sprite", "dots"), [(3, None, 3), (5, None, 5), (0, 8, 11), (0, 12, 7), (4, 12, 4 + 11)])
def test_scrolling_and_sprites_make_mode_3_longer(scx, sprite, dots):
    assert m_cycles_to_hblank(scx, sprite) - m_cycles_to_hblank(0, None) == dots // 4


def test_the_copy_to_oam_begins_two_m_cycles_after_the_write_and_takes_160():
    routine = "routine:\n    ldh [0xFF46], a\n    ld a, [hl]\n    ld [bc], a\n    ld b, 38\n.wait:\n    dec b\n    jr nz, .wait\n"
    routine += "    nop\n    ld a, [hl]\n    ldh [0xFF90 + 32], a\n    ld a, [hl]\n    ldh [0xFF90 + 33], a\n    ret\nroutine_end:\n"
    body = "    xor a\n    ldh [0xFF40], a\n    ld a, 0x44\n    ld [0xFE00], a\n    ld a, 0x33\n    ld [0xC100], a\n"
    body += COPY_TO_HRAM + "    ld hl, 0xFE00\n    ld bc, 0xFFB2\n    ld a, 0xC1\n    call 0xFF80\n"
    running = console(body, after=routine)
    running.tick(4, False)
    assert running.bytes_at(0xFFB0, 2) == b"\xff\x33"


@pytest.mark.parametrize("read", ["ld a, [hl+]", "ld a, [bc]", "pop af"])
def test_video_ram_is_locked_in_mode_3_whatever_the_instruction(read):
    body = "    xor a\n    ldh [0xFF40], a\n    ld a, 0x5A\n    ld [0x8000], a\n    ld [0x8001], a\n    ld a, 0x91\n"
    body += "    ldh [0xFF40], a\n.line:\n    ldh a, [0xFF44]\n    cp 20\n    jr nz, .line\n    ld hl, 0x8000\n    ld bc, 0x8000\n"
    body += f".mode:\n    ldh a, [0xFF41]\n    and 3\n    cp 3\n    jr nz, .mode\n    ld sp, 0x8000\n    {read}\n    ld [0xC000], a\n"
    assert results(body, 1) == [0xFF]


def test_the_speed_is_told_by_ff4d():
    body = "    ldh a, [0xFF4D]\n    ld [hl+], a\n    ld a, 1\n    ldh [0xFF4D], a\n    ldh a, [0xFF4D]\n    ld [hl+], a\n"
    body += "    stop\n    ldh a, [0xFF4D]\n    ld [hl+], a\n"
    assert results(body, 3, color=True) == [0x7E, 0x7F, 0xFE]


def test_a_general_copy_to_video_ram_takes_8_m_cycles_for_16_bytes():
    registers = {0x51: 0x00, 0x52: 0x00, 0x53: 0x80, 0x54: 0x00}
    body = "    xor a\n    ldh [0xFF40], a\n"
    body += "".join(f"    ld a, {value}\n    ldh [0xFF{register:02X}], a\n" for register, value in registers.items())
    body += "    ld a, 31\n    ldh [0xFF04], a\n    ldh [0xFF55], a\n    ldh a, [0xFF04]\n    ld [hl+], a\n"
    assert results(body, 1, color=True) == [4]  # 32 blocks: 1,024 cycles, and DIV counts 256 each


def test_a_state_holds_the_line_of_the_window():
    body = "    ld a, 0xB1\n    ldh [0xFF40], a\n    ld a, 40\n    ldh [0xFF4A], a\n    ld a, 7\n    ldh [0xFF4B], a\n"
    running, other = console(body), console(body)
    running.tick(5, True)
    other.load(running.save())
    for emulator in (running, other):
        emulator.tick(1, True)
    assert (running.snapshot(True).pixels == other.snapshot(True).pixels).all()
    assert running.save() == other.save()
