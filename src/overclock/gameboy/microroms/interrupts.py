"""Interrupts: priorities, the delay of EI, nesting, RETI, and what dispatch pushes where."""

from overclock.gameboy.microroms.micro import VECTORS, MicroRom, code, micro, nops, note, store

BITS = {"vblank": 1, "stat": 2, "timer": 4, "serial": 8, "joypad": 16}


def roms() -> list[MicroRom]:
    """All of them."""
    return [
        _priorities(),
        _nested(),
        _ei_delay(),
        _ei_di(),
        _reti_enables(),
        _if_upper_bits(),
        _masked(),
        _dispatch_time(),
        _pushed_address(),
        _ie_pushed_over(),
        _vblank_period(),
        _ei_repeated(),
        _di_between(),
    ]


def _tell(number: int, *, nested: bool = False) -> str:
    text = f"    push af\n    ld a, {number}\n    ld [hl+], a\n" + note("IF")
    return text + (code("ei", "nop", "nop") if nested else "") + code("pop af", "reti")


def _priorities() -> MicroRom:
    body = store("IE", 0x1F)
    for mask in (0x1F, 0x1E, 0x15, 0x0A, 0x18):
        body += store("IF", mask) + code("ei") + nops(8) + code("di") + note("IF")
    handlers = {vector: _tell(index + 1) for index, vector in enumerate(VECTORS)}
    return micro(
        "interrupts_lowest_bit_first",
        "of several pending interrupts the lowest bit is served first",
        body,
        handlers=handlers,
    )


def _nested() -> MicroRom:
    body = store("IE", 0x1F) + store("IF", 0x1F) + code("ei") + nops(10) + code("di") + note("IF")
    handlers = {vector: _tell(index + 1, nested=True) for index, vector in enumerate(VECTORS)}
    return micro(
        "interrupts_nest_after_ei",
        "a handler that enables interrupts is interrupted by the next",
        body,
        handlers=handlers,
    )


def _ei_delay() -> MicroRom:
    body = store("IE", 4) + store("IF", 4) + code("ld b, 0", "ei", "inc b", "inc b", "inc b", "di")
    body += store("IF", 4) + code("ei", "ld a, b", "ld [hl+], a", "di")
    return micro(
        "interrupts_ei_waits_one_instruction",
        "EI takes effect after the instruction that follows it",
        body,
        handlers={"timer": code("ld a, b", "ld [hl+], a", "reti")},
    )


def _ei_di() -> MicroRom:
    body = store("IE", 4) + store("IF", 4) + code("ld b, 7", "ei", "di", "nop", "nop", "ld a, b", "ld [hl+], a")
    return micro(
        "interrupts_ei_di_lets_none_through",
        "DI right after EI lets no interrupt through",
        body,
        handlers={"timer": code("ld b, 99", "reti")},
    )


def _ei_repeated() -> MicroRom:
    body = store("IE", 4) + store("IF", 4) + code("ld b, 0") + code("ei") * 6 + code("inc b", "di", "ld a, b")
    return micro(
        "interrupts_repeated_ei_does_not_postpone",
        "the delay counts from the first EI",
        body,
        handlers={"timer": code("ld [hl], b", "inc hl", "pop de", "push de", "ld [hl], e", "inc hl", "reti")},
    )


def _di_between() -> MicroRom:
    body = store("IE", 4) + store("IF", 0) + store("TMA", 0xF0) + store("TIMA", 0xF0) + store("TAC", 5)
    body += code("ld b, 0", ".again:", "ei", "inc c", "di", "inc b", "ld a, b", "cp 200", "jr nz, .again")
    body += code("ld a, c", "ld [hl+], a")
    return micro(
        "interrupts_come_only_between_ei_and_di",
        "a pending interrupt waits for the one enabled instruction",
        body,
        handlers={"timer": code("ld [hl], b", "inc hl", "ld [hl], c", "inc hl", "reti")},
    )


def _reti_enables() -> MicroRom:
    body = store("IE", 6) + store("IF", 6) + code("ld b, 0", "ei", "inc b", "inc b", "inc b", "di")
    stat = code("ld a, 0x10", "ld [hl+], a", "reti")
    timer = code("ld a, b", "ld [hl+], a", "ret")  # leaves interrupts off
    return micro(
        "interrupts_reti_enables_at_once",
        "RETI enables interrupts without EI's delay; RET does not",
        body + store("IF", 6) + nops(4) + note("IF"),
        handlers={"stat": stat, "timer": timer},
    )


def _if_upper_bits() -> MicroRom:
    body = "".join(store("IF", value) + note("IF") for value in (0, 0xFF, 0xE0, 0x1F, 0x15))
    body += "".join(store("IE", value) + note("IE") for value in (0, 0xFF, 0xE0, 0x1F)) + store("IE", 0)
    return micro("interrupts_if_reads_ones_above_bit_4", "IF's upper bits read as ones, IE's are stored", body)


def _masked() -> MicroRom:
    body = (
        store("IE", 0) + store("IF", 0x1F) + code("ei") + nops(4) + note("IF") + store("IE", 8) + nops(2) + note("IF")
    )
    return micro(
        "interrupts_masked_stay_pending",
        "what IE masks stays in IF until IE allows it",
        body,
        handlers={"serial": _tell(9)},
    )


def _dispatch_time() -> MicroRom:
    body = store("IE", 4) + store("TAC", 5) + store("TMA", 0)
    for wait in range(8):
        body += store("TIMA", 0) + store("DIV", 0) + nops(wait) + store("IF", 4) + code("ei", "nop", "nop", "di")
    return micro(
        "interrupts_dispatch_takes_five_cycles",
        "a dispatch takes five machine cycles",
        body,
        handlers={"timer": code("push af") + note("TIMA") + code("pop af", "ret")},
    )


def _pushed_address() -> MicroRom:
    body = store("IE", 4) + code("ei") + store("IF", 4) + nops(3) + code("call away")
    after = "away:\n" + store("IF", 4) + code("nop", "ret")
    timer = code("pop de", "push de", "push af", "ld a, e", "ld [hl+], a", "ld a, d", "ld [hl+], a", "pop af", "reti")
    return micro(
        "interrupts_push_the_next_address",
        "a dispatch pushes the address of the next instruction",
        body,
        handlers={"timer": timer},
        after=after,
    )


def _ie_pushed_over() -> MicroRom:
    body = code("ld sp, 0x0000") + store("IE", 4) + store("IF", 4) + code("ei", "nop", "nop", "di", "resume:")
    body += note("IE") + note("IF") + code("ld sp, 0xDFF0") + store("IE", 0)
    after = code("went_to_zero:", "ld [hl], 0x77", "inc hl", "jp resume", "org 0", "jp went_to_zero")
    return micro(
        "interrupts_push_may_overwrite_ie",
        "a dispatch whose push lands on IE is decided by the new IE, and goes to 0000 if that allows nothing",
        body,
        handlers={"timer": code("ld a, 0x44", "ld [hl+], a", "ret")},
        after=after,
        frames=3,
    )


def _vblank_period() -> MicroRom:
    body = store("TAC", 6) + store("IE", 1) + store("IF", 0) + code("ei", ".idle:", "inc b", "jr .idle")
    handler = code("push af") + note("TIMA") + note("DIV") + note("LY") + note("STAT") + code("pop af", "reti")
    return micro(
        "interrupts_vblank_once_per_frame",
        "the vertical blank interrupts at line 144 of every frame",
        body,
        handlers={"vblank": handler},
        frames=20,
    )
