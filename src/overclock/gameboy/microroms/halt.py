"""HALT: what wakes it with interrupts on and off, and when it goes on."""

from overclock.gameboy.microroms.micro import MicroRom, Topic, code, micro, nops, note, store

ROMS = Topic()


SOURCES = {
    "vblank": (1, ""),
    "hblank": (2, store("STAT", 0x08)),
    "oam": (2, store("STAT", 0x20)),
    "line": (2, store("LYC", 0x35) + store("STAT", 0x40)),
    "timer": (4, store("TMA", 0x9C) + store("TIMA", 0x9C) + store("TAC", 6)),
    "slow_timer": (4, store("TMA", 0xFC) + store("TIMA", 0xFC) + store("TAC", 4)),
    "serial": (8, store("SB", 0x5A) + store("SC", 0x81)),
}
ROUND = "    ld a, {label}\n    ld [hl+], a\n" + note("DIV") + note("LY") + note("STAT") + note("IF") + note("TIMA")


@ROMS.each({f"halt_wakes_without_ime_on_{name}": (name, *how) for name, how in SOURCES.items()})
def _wakes_off(name: str, bits: int, prepare: str) -> MicroRom:
    """With IME off a pending interrupt ends HALT without a call."""
    body = prepare + store("IE", bits) + store("IF", 0)
    again = code("ldh a, [SC]", "or 0x80", "ldh [SC], a") if name == "serial" else ""
    body += code("ld d, 60", ".again:", "halt", "nop") + ROUND.format(label="d") + store("IF", 0) + again
    body += code("dec d", "jr nz, .again")
    return micro(body, frames=16)


@ROMS.each({f"halt_wakes_with_ime_on_{name}": (name, *how) for name, how in SOURCES.items()})
def _wakes_on(name: str, bits: int, prepare: str) -> MicroRom:
    """With IME on the interrupt is served before HALT goes on."""
    body = prepare + store("IE", bits) + store("IF", 0) + code("ei", "ld d, 60", ".again:", "halt", "nop")
    body += ROUND.format(label="d") + (code("ld a, 0x81", "ldh [SC], a") if name == "serial" else "")
    body += code("dec d", "jr nz, .again", "di")
    vector = {1: "vblank", 2: "stat", 4: "timer", 8: "serial"}[bits]
    handler = code("push af", "ld a, 0xCC", "ld [hl+], a") + note("DIV") + note("TIMA") + code("pop af", "reti")
    return micro(body, handlers={vector: handler}, frames=16)


@ROMS.rom
def halt_with_pending_and_ime_off() -> MicroRom:
    """HALT with an interrupt pending and IME off does not wait."""
    body = store("IE", 4) + store("IF", 4) + code("ld b, 0", "halt", "inc b", "nop", "ld a, b", "ld [hl+], a")
    return micro(body)


@ROMS.rom
def halt_right_after_ei() -> MicroRom:
    """EI, HALT with an interrupt pending serves it around the HALT."""
    body = store("IE", 4) + store("IF", 4) + code("ei", "halt", "nop", "nop", "ld a, 1", "ld [hl+], a")
    handler = code("pop de", "push de", "ld [hl], e", "inc hl", "ld a, 0x10", "ldh [IF], a", "reti")
    return micro(body, handlers={"timer": handler}, frames=4)


@ROMS.rom
def halt_right_after_ei_at_an_event() -> MicroRom:
    """A HALT right after EI that ends as a line does is returned to by the handler."""
    body = store("IE", 1) + store("IF", 0) + code("ei", "halt", "nop") + nops(91)  # the next HALT ends as a line does
    body += code(".again:", "di", "nop", "ei", "halt", "nop", "inc d", "jr .again")
    return micro(body, handlers={"vblank": code("inc e", "ld [hl], d", "inc hl", "reti")})


@ROMS.rom
def halt_ignores_what_ie_masks() -> MicroRom:
    """An interrupt that IE masks does not end HALT."""
    body = store("IE", 1) + store("TMA", 0) + store("TAC", 5) + store("IF", 0) + code("halt", "nop")
    body += note("IF") + note("LY") + note("DIV")
    return micro(body)


@ROMS.rom
def halt_paces_a_game_by_frames() -> MicroRom:
    """A game that halts for the vertical blank runs once per frame."""
    body = store("IE", 1) + store("IF", 0) + code("ei", ".again:", "halt", "nop", "inc b", "ld a, b", "ld [hl+], a")
    body += note("DIV") + code("jr .again")
    return micro(body, handlers={"vblank": code("inc c", "reti")}, frames=30)


@ROMS.rom
def halt_ends_on_the_cycle_of_the_timer() -> MicroRom:
    """HALT ends when TIMA overflows, whatever the phase."""
    body = store("TAC", 5) + store("TMA", 0xD0) + store("IE", 4)
    for wait in range(16):
        body += store("IF", 0) + store("DIV", 0) + store("TIMA", 0xF0 + wait) + nops(wait % 5) + code("halt")
        body += note("TIMA") + note("DIV")
    return micro(body)
