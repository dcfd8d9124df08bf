"""Interrupts: priorities, the delay of EI, nesting, RETI, and what dispatch pushes where."""

from overclock.gameboy.microroms.micro import VECTORS, MicroRom, Topic, code, micro, nops, note, store

BITS = {"vblank": 1, "stat": 2, "timer": 4, "serial": 8, "joypad": 16}


ROMS = Topic()


def _tell(number: int, *, nested: bool = False) -> str:
    text = f"    push af\n    ld a, {number}\n    ld [hl+], a\n" + note("IF")
    return text + (code("ei", "nop", "nop") if nested else "") + code("pop af", "reti")


@ROMS.rom
def interrupts_lowest_bit_first() -> MicroRom:
    """Of several pending interrupts the lowest bit is served first."""
    body = store("IE", 0x1F)
    for mask in (0x1F, 0x1E, 0x15, 0x0A, 0x18):
        body += store("IF", mask) + code("ei") + nops(8) + code("di") + note("IF")
    handlers = {vector: _tell(index + 1) for index, vector in enumerate(VECTORS)}
    return micro(body, handlers=handlers)


@ROMS.rom
def interrupts_nest_after_ei() -> MicroRom:
    """A handler that enables interrupts is interrupted by the next."""
    body = store("IE", 0x1F) + store("IF", 0x1F) + code("ei") + nops(10) + code("di") + note("IF")
    handlers = {vector: _tell(index + 1, nested=True) for index, vector in enumerate(VECTORS)}
    return micro(body, handlers=handlers)


@ROMS.rom
def interrupts_ei_waits_one_instruction() -> MicroRom:
    """EI takes effect after the instruction that follows it."""
    body = store("IE", 4) + store("IF", 4) + code("ld b, 0", "ei", "inc b", "inc b", "inc b", "di")
    body += store("IF", 4) + code("ei", "ld a, b", "ld [hl+], a", "di")
    return micro(body, handlers={"timer": code("ld a, b", "ld [hl+], a", "reti")})


@ROMS.rom
def interrupts_ei_di_lets_none_through() -> MicroRom:
    """DI right after EI lets no interrupt through."""
    body = store("IE", 4) + store("IF", 4) + code("ld b, 7", "ei", "di", "nop", "nop", "ld a, b", "ld [hl+], a")
    return micro(body, handlers={"timer": code("ld b, 99", "reti")})


@ROMS.rom
def interrupts_repeated_ei_does_not_postpone() -> MicroRom:
    """The delay counts from the first EI."""
    body = store("IE", 4) + store("IF", 4) + code("ld b, 0") + code("ei") * 6 + code("inc b", "di", "ld a, b")
    return micro(
        body, handlers={"timer": code("ld [hl], b", "inc hl", "pop de", "push de", "ld [hl], e", "inc hl", "reti")}
    )


@ROMS.rom
def interrupts_come_only_between_ei_and_di() -> MicroRom:
    """A pending interrupt waits for the one enabled instruction."""
    body = store("IE", 4) + store("IF", 0) + store("TMA", 0xF0) + store("TIMA", 0xF0) + store("TAC", 5)
    body += code("ld b, 0", ".again:", "ei", "inc c", "di", "inc b", "ld a, b", "cp 200", "jr nz, .again")
    body += code("ld a, c", "ld [hl+], a")
    return micro(body, handlers={"timer": code("ld [hl], b", "inc hl", "ld [hl], c", "inc hl", "reti")})


@ROMS.rom
def interrupts_reti_enables_at_once() -> MicroRom:
    """RETI enables interrupts without EI's delay; RET does not."""
    body = store("IE", 6) + store("IF", 6) + code("ld b, 0", "ei", "inc b", "inc b", "inc b", "di")
    stat = code("ld a, 0x10", "ld [hl+], a", "reti")
    timer = code("ld a, b", "ld [hl+], a", "ret")  # leaves interrupts off
    return micro(body + store("IF", 6) + nops(4) + note("IF"), handlers={"stat": stat, "timer": timer})


@ROMS.rom
def interrupts_if_reads_ones_above_bit_4() -> MicroRom:
    """IF's upper bits read as ones, IE's are stored."""
    body = "".join(store("IF", value) + note("IF") for value in (0, 0xFF, 0xE0, 0x1F, 0x15))
    body += "".join(store("IE", value) + note("IE") for value in (0, 0xFF, 0xE0, 0x1F)) + store("IE", 0)
    return micro(body)


@ROMS.rom
def interrupts_masked_stay_pending() -> MicroRom:
    """What IE masks stays in IF until IE allows it."""
    body = (
        store("IE", 0) + store("IF", 0x1F) + code("ei") + nops(4) + note("IF") + store("IE", 8) + nops(2) + note("IF")
    )
    return micro(body, handlers={"serial": _tell(9)})


@ROMS.rom
def interrupts_dispatch_takes_five_cycles() -> MicroRom:
    """A dispatch takes five machine cycles."""
    body = store("IE", 4) + store("TAC", 5) + store("TMA", 0)
    for wait in range(8):
        body += store("TIMA", 0) + store("DIV", 0) + nops(wait) + store("IF", 4) + code("ei", "nop", "nop", "di")
    return micro(body, handlers={"timer": code("push af") + note("TIMA") + code("pop af", "ret")})


@ROMS.rom
def interrupts_push_the_next_address() -> MicroRom:
    """A dispatch pushes the address of the next instruction."""
    body = store("IE", 4) + code("ei") + store("IF", 4) + nops(3) + code("call away")
    after = "away:\n" + store("IF", 4) + code("nop", "ret")
    timer = code("pop de", "push de", "push af", "ld a, e", "ld [hl+], a", "ld a, d", "ld [hl+], a", "pop af", "reti")
    return micro(body, handlers={"timer": timer}, after=after)


@ROMS.rom
def interrupts_push_may_overwrite_ie() -> MicroRom:
    """A dispatch whose push lands on IE is decided by the new IE, and goes to 0000 if that allows nothing."""
    body = code("ld sp, 0x0000") + store("IE", 4) + store("IF", 4) + code("ei", "nop", "nop", "di", "resume:")
    body += note("IE") + note("IF") + code("ld sp, 0xDFF0") + store("IE", 0)
    after = code("went_to_zero:", "ld [hl], 0x77", "inc hl", "jp resume", "org 0", "jp went_to_zero")
    return micro(body, handlers={"timer": code("ld a, 0x44", "ld [hl+], a", "ret")}, after=after, frames=3)


@ROMS.rom
def interrupts_vblank_once_per_frame() -> MicroRom:
    """The vertical blank interrupts at line 144 of every frame."""
    body = store("TAC", 6) + store("IE", 1) + store("IF", 0) + code("ei", ".idle:", "inc b", "jr .idle")
    handler = code("push af") + note("TIMA") + note("DIV") + note("LY") + note("STAT") + code("pop af", "reti")
    return micro(body, handlers={"vblank": handler}, frames=20)
