"""`compat="hardware"`: small programs whose results documentation of the console demands, where PyBoy's are others."""

import pytest

pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")

from overclock.gameboy.assembly.assembler import assemble
from overclock.gameboy.cartridge import Cartridge
from overclock.gameboy.microroms.micro import code, nops, note, wait_line
from overclock.gameboy.native_console import NativeConsole

RESULT = 0xC000
MIDDLE = 0x0200  # far behind the beginning of any program here
COPY_TO_HRAM = code(
    "ld de, routine", "ld hl, 0xFF80", "ld b, routine_end - routine", ".copy:", "ld a, [de]", "ld [hl+], a", "inc de",
    "dec b", "jr nz, .copy",
)  # fmt: skip


def console(body: str, *, before: str = "", after: str = "", color: bool = False) -> NativeConsole:
    """A console that starts at the game; hl is where results go."""
    text = (
        before
        + code("org 0x150", "start:", "di", "ld sp, 0xDFF0", f"ld hl, {RESULT}")
        + body
        + code("end:", "jr end")
        + after
    )
    rom = assemble(text, name="hardware", cartridge=Cartridge("HW", cgb="yes" if color else "no")).rom
    return NativeConsole(rom, cgb=color, sound=True, boot=b"", compat="hardware")


def results(body: str, count: int, *, frames: int = 8, **options) -> list[int]:
    """What a program leaves behind."""
    running = console(body, **options)
    running.tick(frames, False)
    return list(running.bytes_at(RESULT, count))


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
    body = code(f"ld de, {RESULT}")
    for wait in (60 - RESETS[instruction], 61 - RESETS[instruction]):
        body += code("ld hl, 0xFF04", "ld sp, 0xFF05", instruction) + nops(wait) + code("ldh a, [0xFF04]")
        body += code("ld [de], a", "inc de")
    assert results(body, 2) == [0, 1]


def test_tima_shows_0_for_an_m_cycle_before_tma_is_loaded():
    body = code("ld a, 0x55", "ldh [0xFF06], a", "ld de, 0xC000", "ld hl, 0xFF05", "ld c, 7")
    for wait in (0, 1):  # the counter's bit 3 falls 4 M-cycles after DIV was reset; the read is made in the fourth
        body += code("xor a", "ldh [c], a", "ld [hl], 0xFF", "ld a, 5", "ldh [0xFF04], a", "ldh [c], a")
        body += nops(wait) + code("ld a, [hl]", "ld [de], a", "inc de")
    assert results(body, 2) == [0x00, 0x55]


def test_halt_without_interrupts_reads_the_next_byte_twice_if_one_waits():
    body = code("ld a, 4", "ldh [0xFFFF], a", "ldh [0xFF0F], a", "xor a", "halt", "inc a", "nop", "ld [hl], a")
    assert results(body, 1) == [2]


def test_a_push_onto_ie_cancels_the_interrupt_and_goes_to_0000():
    # SP is 0, so that the high byte of PC, 02, goes to FFFF: that does not allow interrupt 2 any more.
    before = code("org 0x00", "ld a, 0xAA", "ld [0xC000], a", "stop:", "jr stop", "org 0x50", "jp end")
    body = code(
        "jp far", "org 0x0200", "far:", "ld sp, 0", "ld a, 4", "ldh [0xFFFF], a", "ldh [0xFF0F], a", "ei", "nop"
    )
    running = console(body + nops(4), before=before)
    running.tick(4, False)
    assert running.bytes_at(RESULT, 1) == b"\xaa"
    assert running.bytes_at(0xFF0F, 1)[0] & 4  # it was not acknowledged


def test_di_right_after_ei_leaves_interrupts_off():
    before = code("org 0x50", "ld a, 0xEE", "ld [0xC000], a", "reti")
    body = code("ld a, 4", "ldh [0xFFFF], a", "ldh [0xFF0F], a", "ei", "di", "nop", "ld [hl], 1")
    assert results(body, 1, before=before) == [1]


def test_a_byte_takes_4096_cycles_at_the_serial_port_and_ones_come_in():
    body = code("xor a", "ldh [0xFF01], a", "ld a, 0x81", "ldh [0xFF02], a")
    for label in ("a", "b"):  # 250 rounds of 4 M-cycles are 4,000 cycles
        body += code("ld b, 250", f".{label}:", "dec b", f"jr nz, .{label}", "ldh a, [0xFF02]", "ld [hl+], a")
        body += code("ldh a, [0xFF01]", "ld [hl+], a")
    assert results(body, 4) == [0xFF, 0x7F, 0x7F, 0xFF]


def test_bits_that_nobody_is_connected_to_read_1():
    registers = {0x02: 0x7E, 0x03: 0xFF, 0x07: 0xF8, 0x0F: 0xE1, 0x4D: 0xFF, 0x55: 0xFF, 0x70: 0xFF, 0x1F: 0xFF}
    body = "".join(code(f"ldh a, [0xFF{register:02X}]", "ld [hl+], a") for register in registers)
    assert results(body, len(registers)) == list(registers.values())


def test_ff00_follows_the_buttons_and_tells_the_row():
    running = console(code("ld a, 0x10", "ldh [0xFF00], a", "loop:", "ldh a, [0xFF00]", "ld [hl], a", "jr loop"))
    running.tick(2, False)
    assert running.bytes_at(RESULT, 1) == b"\xdf"
    running.press("a")
    running.tick(1, False)
    assert running.bytes_at(RESULT, 1) == b"\xde"
    assert running.bytes_at(0xFF0F, 1)[0] & 0x10


def test_ly_is_0_in_most_of_line_153():
    body = wait_line(152, "last") + nops(130) + note("LY") + note("STAT")
    assert results(body, 2) == [0, 0x85]  # still mode 1, and LYC, which is 0, is met


def m_cycles_to_hblank(scx: int, sprite: int | None) -> int:
    """From the interrupt of mode 2 to the M-cycle in which STAT tells mode 0, less what every program here takes."""
    entry = "" if sprite is None else "".join(
        code(f"ld a, {value}", f"ld [{0xFE00 + i}], a") for i, value in enumerate((56, sprite, 0, 0))
    )  # fmt: skip
    body = code("xor a", "ldh [0xFF40], a") + entry + code(f"ld a, {scx}", "ldh [0xFF43], a", "ld a, 0x93")
    body += code("ldh [0xFF40], a", "ld a, 2", "ldh [0xFFFF], a", "ld a, 0x20", "ldh [0xFF41], a")
    waits = range(48, 60)
    for wait in waits:
        body += code(f".line{wait}:", "ldh a, [0xFF44]", "cp 41", f"jr nz, .line{wait}", "xor a", "ldh [0xFF0F], a")
        body += code("ei", "halt", "nop") + nops(wait) + code("ldh a, [0xFF41]", "di", "and 3", "ld [hl+], a")
    return results(body, len(waits), before=code("org 0x48", "reti"), frames=20).index(0)


@pytest.mark.parametrize(
    ("scx", "sprite", "dots"), [(3, None, 3), (5, None, 5), (0, 8, 11), (0, 12, 7), (4, 12, 4 + 11)]
)
def test_scrolling_and_sprites_make_mode_3_longer(scx, sprite, dots):
    assert m_cycles_to_hblank(scx, sprite) - m_cycles_to_hblank(0, None) == dots // 4


def test_the_copy_to_oam_begins_two_m_cycles_after_the_write_and_takes_160():
    routine = code(
        "routine:", "ldh [0xFF46], a", "ld a, [hl]", "ld [bc], a", "ld b, 38", ".wait:", "dec b", "jr nz, .wait"
    )
    routine += code(
        "nop", "ld a, [hl]", "ldh [0xFF90 + 32], a", "ld a, [hl]", "ldh [0xFF90 + 33], a", "ret", "routine_end:"
    )
    body = code("xor a", "ldh [0xFF40], a", "ld a, 0x44", "ld [0xFE00], a", "ld a, 0x33", "ld [0xC100], a")
    body += COPY_TO_HRAM + code("ld hl, 0xFE00", "ld bc, 0xFFB2", "ld a, 0xC1", "call 0xFF80")
    running = console(body, after=routine)
    running.tick(4, False)
    assert running.bytes_at(0xFFB0, 3) == b"\xff\x33\xff"  # near the end, after it, and two M-cycles after the write


def test_in_the_m_cycle_after_the_write_oam_is_still_free():
    # The write is the last M-cycle of an instruction right before OAM, so the next ones fetch there: INC A as long as
    # OAM is seen, then FF, which is RST 38. The copy comes from video RAM: the bus of ROM and stack stays free.
    before = code("org 0x38", "ld [0xC000], a", "stop:", "jr stop")
    body = code("xor a", "ldh [0xFF40], a", "ld a, 0x3C", "ld [0xFE00], a", "ld [0xFE01], a", "ld [0xFE02], a")
    body += code("ld a, 0xE0", "ld [0xDDFE], a", "ld a, 0x46", "ld [0xDDFF], a", "ld a, 0x80", "jp 0xFDFE")
    assert results(body, 1, before=before) == [0x81]


@pytest.mark.parametrize("read", ["ld a, [hl+]", "ld a, [bc]", "pop af"])
def test_video_ram_is_locked_in_mode_3_whatever_the_instruction(read):
    body = code("xor a", "ldh [0xFF40], a", "ld a, 0x5A", "ld [0x8000], a", "ld [0x8001], a", "ld a, 0x91")
    body += code(
        "ldh [0xFF40], a", ".line:", "ldh a, [0xFF44]", "cp 20", "jr nz, .line", "ld hl, 0x8000", "ld bc, 0x8000"
    )
    body += code(".mode:", "ldh a, [0xFF41]", "and 3", "cp 3", "jr nz, .mode", "ld sp, 0x8000", read, "ld [0xC000], a")
    assert results(body, 1) == [0xFF]


def test_the_speed_is_told_by_ff4d():
    body = code("ldh a, [0xFF4D]", "ld [hl+], a", "ld a, 1", "ldh [0xFF4D], a", "ldh a, [0xFF4D]", "ld [hl+], a")
    body += code("stop", "ldh a, [0xFF4D]", "ld [hl+], a")
    assert results(body, 3, color=True) == [0x7E, 0x7F, 0xFE]


SWITCH = code("ld a, 1", "ldh [0xFF4D], a", "stop")


@pytest.mark.parametrize("switches", [1, 2])
def test_timers_run_for_32768_m_cycles_while_the_speed_changes(switches):
    # The age suite, verified on consoles: TIMA is 80 hex after the switch, and DIV begins anew with it.
    body = SWITCH * (switches - 1)
    for wait in (60, 61):
        body += code("xor a", "ldh [0xFF07], a", "ldh [0xFF05], a", "ldh [0xFF04], a", "ld a, 4", "ldh [0xFF07], a")
        body += SWITCH + nops(wait) + note("0xFF04") + note("0xFF05") + SWITCH
    assert results(body, 4, frames=12, color=True) == [0, 0x80, 1, 0x80]


def test_the_picture_goes_on_while_the_speed_changes():
    # 65,536 dots are 143 lines and 328 dots; 131,072, back at the normal speed, are a frame, 133 lines and 200 dots.
    body = wait_line(4, "first") + SWITCH + note("0xFF44") + wait_line(4, "second") + SWITCH + note("0xFF44")
    assert results(body, 2, frames=12, color=True) == [4 + 143, 4 + 133]


def pause(m_cycles: int, label: str) -> str:
    """Exactly so many of them; `label` must be new."""
    rounds, rest = divmod(m_cycles - 2, 7)
    return code(f"ld bc, {rounds}", f"{label}:", "dec bc", "ld a, b", "or c", f"jr nz, {label}") + nops(rest)


# From the age suite (spsw-mode0), verified on three consoles: M-cycles from switching the LCD on, then from each switch
# of the speed, to the next switch; and from a switch to the last read of STAT that shows mode 3 in some line.
STAYS = (2692, 4829, 2458, 4828)
LAST_OF_MODE_3 = (486, 281, 486, 396)


@pytest.mark.parametrize("switches", [1, 2, 3, 4])
def test_lines_go_on_to_the_m_cycle_when_the_speed_changes(switches):
    seen = []
    for late in (0, 1):
        body = code("ld de, 0xFF41", "xor a", "ldh [0xFF40], a", "ld a, 0x81", "ldh [0xFF40], a")
        for index, stay in enumerate(STAYS[:switches]):
            body += pause(stay, f".stay{index}") + SWITCH
        body += pause(LAST_OF_MODE_3[switches - 1] + late, ".last") + code("ld a, [de]", "ld [hl+], a")
        seen += results(body, 1, frames=20, color=True)
    assert seen == [0x83, 0x80]


def test_an_interrupt_ends_the_wait_for_the_other_speed():
    # A byte at the serial port takes 4,096 cycles: DIV is 16 then, and moves on 64 M-cycles later.
    body = code("xor a", "ldh [0xFF0F], a", "ldh [0xFF40], a", "ld a, 8", "ldh [0xFFFF], a")
    starts = code("ld a, 1", "ldh [0xFF4D], a", "ldh [0xFF04], a", "ld a, 0x81", "ldh [0xFF02], a", "stop")
    for wait in (60, 61):
        body += starts + nops(wait) + note("0xFF04") + code("xor a", "ldh [0xFF0F], a") + SWITCH
    assert results(body, 2, frames=12, color=True) == [0x10, 0x11]


@pytest.mark.parametrize(("wait", "seen"), [(1, 0xFF), (2, 0x33)])
def test_a_copy_to_oam_stands_still_while_the_speed_changes(wait, seen):
    # As DocBoy's suite found on a console: 159 M-cycles after the switch the copy still runs.
    routine = code("routine:", "ldh [0xFF46], a", "stop", "ld b, 38", ".wait:", "dec b", "jr nz, .wait") + nops(wait)
    routine += code("ld hl, 0xFE02", "ld a, [hl]", "ldh [0xFFB0], a", "ret", "routine_end:")
    body = code("xor a", "ldh [0xFF40], a", "ld a, 0x33", "ld [0xC102], a", "ld a, 1", "ldh [0xFF4D], a")
    running = console(body + COPY_TO_HRAM + code("ld a, 0xC1", "call 0xFF80"), after=routine, color=True)
    running.tick(6, False)
    assert running.bytes_at(0xFFB0, 1) == bytes([seen])


def test_a_general_copy_to_video_ram_takes_8_m_cycles_for_16_bytes():
    registers = {0x51: 0x00, 0x52: 0x00, 0x53: 0x80, 0x54: 0x00}
    body = code("xor a", "ldh [0xFF40], a")
    body += "".join(code(f"ld a, {value}", f"ldh [0xFF{register:02X}], a") for register, value in registers.items())
    body += code("ld a, 31", "ldh [0xFF04], a", "ldh [0xFF55], a", "ldh a, [0xFF04]", "ld [hl+], a")
    assert results(body, 1, color=True) == [4]  # 32 blocks: 1,024 cycles, and DIV counts 256 each


def test_a_state_holds_the_line_of_the_window():
    # The first of a tile's eight lines is black. The state is saved in the middle of a frame, below the window's top.
    body = code(
        "xor a", "ldh [0xFF40], a", "dec a", "ld [0x8000], a", "ld [0x8001], a", "ld a, 0xB1", "ldh [0xFF40], a"
    )
    body += code("ld a, 41", "ldh [0xFF4A], a", "ld a, 7", "ldh [0xFF4B], a", "again:") + wait_line(60, "in_window")
    body += code("jp middle", f"org {MIDDLE}", "middle:", "nop") + wait_line(100, "below") + code("jp again")
    running, other = console(body), console(body)
    running.tick(3, True)
    running.gameboy.hook(0, MIDDLE, stop=True)
    running.tick(1, True)
    assert running.register_values()["PC"] == MIDDLE
    other.load(running.save())
    for emulator in (running, other):
        emulator.tick(1, True)
    assert (running.snapshot(True).pixels == other.snapshot(True).pixels).all()
    assert running.save() == other.save()
