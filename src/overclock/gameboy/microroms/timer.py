"""The timer: DIV, TIMA, TMA and TAC at every rate, their reloads and the edges that writes make."""

from overclock.gameboy.microroms.micro import MicroRom, Topic, code, micro, nops, note, store

PERIOD = {0: 256, 1: 4, 2: 16, 3: 64}  # machine cycles of a tick, by the two rate bits


ROMS = Topic()


@ROMS.each({f"timer_counts_at_rate_{rate}": (rate,) for rate in PERIOD})
def _counting(rate: int) -> MicroRom:
    """TIMA ticks every PERIOD[rate] machine cycles."""
    waits = [1, 2, 3, 5, 7, 11, PERIOD[rate] - 1, PERIOD[rate], PERIOD[rate] + 1]
    body = store("TMA", 0) + store("TAC", 4 | rate) + store("TIMA", 0)
    for wait in waits:
        body += store("DIV", 0) + nops(wait) + note("TIMA") + note("DIV") + note("TAC")
    return micro(body)


@ROMS.each({f"timer_reloads_at_rate_{rate}": (rate,) for rate in PERIOD})
def _reload(rate: int) -> MicroRom:
    """An overflow loads TMA one machine cycle later and asks for an interrupt."""
    body = store("TMA", 0xF3) + store("TAC", 4 | rate)
    for wait in range(12):
        body += store("IF", 0) + store("DIV", 0) + store("TIMA", 0xFF) + nops(PERIOD[rate] - 8 + wait)
        body += note("TIMA") + note("IF") + note("TIMA")
    return micro(body)


@ROMS.each({f"timer_ticks_on_div_write_at_rate_{rate}": (rate,) for rate in PERIOD})
def _div_write(rate: int) -> MicroRom:
    """Clearing DIV while its bit is set is a falling edge."""
    body = store("TMA", 0x80) + store("TAC", 4 | rate)
    step = max(1, PERIOD[rate] // 8)
    for wait in range(0, PERIOD[rate] + step, step):
        body += store("DIV", 0) + store("TIMA", 0x10) + nops(wait) + store("DIV", 0) + note("TIMA") + note("DIV")
    for wait in range(0, PERIOD[rate] + step, step):  # the edge overflows
        body += store("IF", 0) + store("DIV", 0) + store("TIMA", 0xFF) + nops(wait) + store("DIV", 0)
        body += note("TIMA") + note("IF")
    return micro(body)


@ROMS.each({f"timer_interrupts_at_rate_{rate}": (rate,) for rate in PERIOD})
def _interrupts(rate: int) -> MicroRom:
    """An overflow interrupts within an instruction."""
    body = store("TMA", 0xE0) + store("TIMA", 0xE0) + store("TAC", 4 | rate) + store("IE", 4) + store("IF", 0)
    body += code("ei", "ld b, 0", ".count:", "inc b", "jr .count")
    handler = code("push af") + note("DIV") + note("TIMA") + note("LY")
    handler += code("ld a, b", "ld [hl+], a", "res 4, h", "pop af", "reti")
    return micro(body, handlers={"timer": handler}, frames=12)


@ROMS.rom
def timer_ticks_on_tac_change() -> MicroRom:
    """A change of TAC that drops the selected bit is a falling edge."""
    body = ""
    for before in range(8):
        for after in range(8):
            for wait in (1, 4, 9, 30):
                body += store("TAC", before) + store("TIMA", 0x20) + store("DIV", 0) + nops(wait)
                body += store("TAC", after) + note("TIMA")
    return micro(body)


@ROMS.rom
def timer_tima_written_at_reload() -> MicroRom:
    """TIMA written in the cycle of the reload is lost or cancels it."""
    body = store("TMA", 0x77) + store("TAC", 5)
    for wait in range(10):
        body += store("IF", 0) + store("DIV", 0) + store("TIMA", 0xFF) + nops(wait) + store("TIMA", 0x33)
        body += note("TIMA") + note("IF")
    return micro(body)


@ROMS.each({f"timer_tima_written_at_overflow_at_rate_{rate}": (rate,) for rate in PERIOD})
def _tima_written_at_overflow(rate: int) -> MicroRom:
    """TIMA written between its overflow and the load of TMA is kept; in PyBoy the interrupt comes all the same."""
    body = store("TMA", 0x77) + store("TAC", 4 | rate)
    ticks = 4 if rate == 1 else 2  # the writes before the one in question take longer than two of the fastest
    for wait in range(8):
        body += store("DIV", 0) + store("TIMA", 0x100 - ticks) + store("IF", 0) + nops(ticks * PERIOD[rate] - 16 + wait)
        body += store("TIMA", 0x33) + note("TIMA") + note("IF") + nops(8) + note("TIMA") + note("IF")
    return micro(body)


@ROMS.rom
def timer_tma_written_at_reload() -> MicroRom:
    """TMA written in the cycle of the reload goes to TIMA as well."""
    body = store("TAC", 5)
    for wait in range(10):
        body += store("TMA", 0x77) + store("DIV", 0) + store("TIMA", 0xFF) + nops(wait) + store("TMA", 0x99)
        body += note("TIMA") + note("TIMA")
    return micro(body)


@ROMS.rom
def timer_div_counts_every_64_cycles() -> MicroRom:
    """DIV is the upper byte of a counter of cycles."""
    body = store("DIV", 0x55) + code("ld bc, 0x0400", ".read:") + note("DIV") + code("inc e")
    body += code("dec bc", "ld a, b", "or c", "jr nz, .read")
    return micro(body)


@ROMS.rom
def timer_stands_still_when_off() -> MicroRom:
    """TIMA keeps its value while TAC's bit 2 is clear."""
    body = store("TAC", 5) + store("TIMA", 0) + nops(20) + store("TAC", 1) + note("TIMA") + nops(40) + note("TIMA")
    body += store("TAC", 0xFF) + note("TAC") + store("TAC", 0) + note("TAC")
    return micro(body)
