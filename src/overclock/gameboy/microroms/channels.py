"""What the sound channels do from dot to dot: seen in NR52, in wave memory, and in a Game Boy Color's levels."""

from collections.abc import Callable, Sequence

from overclock.gameboy.microroms.micro import MicroRom, NamedRom, Topic, code, micro, nops, note, store

TONES, OTHERS = "0xFF76", "0xFF77"  # the levels of channels 1 and 2, and of 3 and 4
DOUBLE_SPEED = store("KEY1", 1) + code("stop")
PULSE = store("NR22", 0xF0) + store("NR21", 0xC0) + store("NR23", 0xF0)
SWEPT = store("NR12", 0xF0) + store("NR11", 0xC0) + store("NR13", 0xF0)
WAVE = store("NR30", 0x80) + store("NR32", 0x20) + store("NR33", 0xF1)
NOISE = store("NR42", 0xF0) + store("NR43", 0x0A)


ROMS = Topic()


def _wait(cycles: int, label: str) -> str:
    """Exactly so many machine cycles, at least 10; uses bc."""
    rounds, outer = min((cycles - 3) // 4, 255), ""
    while cycles - 3 - 4 * rounds > 4:
        outer += code(f"ld b, {rounds}", f".{label}_{len(outer)}:", "dec b", f"jr nz, .{label}_{len(outer)}")
        cycles -= 1 + 4 * rounds
        rounds = max(1, min((cycles - 3) // 4, 255))
    outer += code(f"ld b, {rounds}", f".{label}_{len(outer)}:", "dec b", f"jr nz, .{label}_{len(outer)}")
    return outer + nops(max(0, cycles - 1 - 4 * rounds))


def _power() -> str:
    return store("NR52", 0) + store("NR52", 0x80)


def _watch(register: str, rounds: int, pause: int) -> str:
    text = code(f"ld de, {rounds}", ".watch:") + note(register)
    return text + code(
        f"ld b, {pause}", ".pause:", "dec b", "jr nz, .pause", "dec de", "ld a, d", "or e", "jr nz, .watch"
    )


def _series(
    setup: Callable[[int], str], register: str, cases: Sequence[int], begin: str = "", cgb: bool = True
) -> MicroRom:
    """The sound is switched on anew for each case, and looked at once."""
    body = begin + "".join(_power() + setup(case) + note(register) for case in cases)
    return micro(body, frames=10, cgb=cgb, sound=True)


@ROMS.several
def _sequencer() -> list[NamedRom]:
    """512 steps a second follow DIV and the power: three steps of a length end channel 1, sooner or later."""
    tone = store("NR12", 0xF2) + store("NR11", 0x3D) + store("NR14", 0x84) + store("NR14", 0x47)
    cases = {
        "starts_with_the_power": lambda: _wait(750, "a") + _power(),
        "steps_when_div_is_written_late": lambda: _power() + _wait(1500, "a") + store("DIV", 0),
        "waits_when_div_is_written_early": lambda: _power() + _wait(750, "a") + store("DIV", 0),
        "skips_a_step_after_late_power": lambda: store("DIV", 0) + _wait(1500, "a") + _power(),
        "skips_a_step_once": lambda: store("DIV", 0) + _wait(1500, "a") + _power() + _wait(750, "b") + store("DIV", 0),
        "forgets_div_without_power": lambda: store("NR52", 0) + store("DIV", 0) + _wait(3300, "a") + _power(),
    }  # fmt: skip
    return [
        (
            f"sound_sequencer_{name}{'_in_color' * cgb}",
            micro(begin() + tone + _watch("NR52", 0x600, 5), frames=20, cgb=cgb, sound=True),
        )
        for name, begin in cases.items()
        for cgb in (False, True)
    ]


@ROMS.each({"sound_length_switched_on_before_its_clock": (100,), "sound_length_switched_on_after_its_clock": (2200,)})
def _length(wait: int) -> MicroRom:
    """A length that is switched on between its clocks is clocked at once."""
    text = ""
    for number, (control, length) in enumerate(((0xC0, 0x3F), (0x40, 0x3F), (0xC0, 0x3E), (0x80, 0x3F), (0xC0, 0x00))):
        text += _power() + store("NR22", 0xF0) + (store("NR24", 0x80) if control == 0x40 else "")
        text += _wait(wait, f"l{number}") + store("NR21", length) + store("NR24", control) + note("NR52")
        text += store("NR24", 0x40) + note("NR52") + _wait(4200, f"m{number}") + note("NR52")
    return micro(text, frames=12, sound=True)


# The volume shows while the tone is high: it steps there quickly, then stays for long.
START = store("NR21", 0xC0) + store("NR23", 0xFF)
HOLD = store("NR24", 0x87) + nops(8) + store("NR23", 0) + store("NR24", 0)


@ROMS.rom
def sound_volume_changes_when_nrx2_is_written() -> MicroRom:
    """A new envelope turns the volume over."""

    def rewritten(values: Sequence[int], label: str) -> str:
        text = _power() + START + store("NR22", values[0]) + HOLD
        return text + "".join(store("NR22", value) + note(TONES) for value in values[1:])

    pairs = [(old, new) for old in (0x60, 0x62, 0x68, 0x6B, 0x08, 0xF0) for new in (0x50, 0x53, 0x58, 0x5A, 0xF1)]
    sudden = "".join(rewritten((*pair, 0x71, 0x7C), f"e{number}") for number, pair in enumerate(pairs))
    return micro(sudden, frames=6, cgb=True, sound=True)


ENVELOPES = ((0xA1,), (0x60, 0xA1), (0x68, 0x69), (0x62, 0x60, 0x61), (0x60, 0xA7), (0xE1, 0xE9))


@ROMS.each({f"sound_envelope_{number}_counts": values for number, values in enumerate(ENVELOPES)})
def _envelope(first: int, *others: int) -> MicroRom:
    """An envelope that stood begins before its time."""
    body = _power() + _wait(10000, "w") + START + store("NR22", first) + HOLD
    body += "".join(store("NR22", value) for value in others) + _watch(TONES, 0x180, 15)
    return micro(body, frames=12, cgb=True, sound=True)


@ROMS.several
def _tones() -> list[NamedRom]:
    """A tone moves every (2048 - f) * 4 dots; a sweep delays a tone that is started again."""
    found = []
    play = PULSE + store("NR24", 0x87)
    for speed, begin in (("", ""), ("_at_double_speed", DOUBLE_SPEED)):
        for name, setup in {
            "starts": lambda k: play + nops(k),
            "starts_again": lambda k: play + nops(9) + store("NR24", 0x87) + nops(k),
            "is_silent_at_first": lambda k: play + nops(40) + store("NR22", 0) + store("NR22", 0xF0)
            + store("NR24", 0x87) + nops(k),
            "keeps_its_duty_until_it_moves": lambda k: PULSE + store("NR21", 0) + store("NR24", 0x87) + nops(20)
            + store("NR21", 0xC0) + nops(k),
            "keeps_its_pace_until_it_moves": lambda k: play + nops(5) + store("NR23", 0xE0) + nops(k),
        }.items():  # fmt: skip
            found.append((f"sound_tone_{name}{speed}", _series(setup, TONES, range(0, 40), begin)))
    for name, sweep in (("slides", 0x39), ("slides_not", 0x08)):
        again = SWEPT + store("NR10", sweep) + store("NR14", 0x87) + nops(5) + store("NR14", 0x87)
        rom = _series(lambda k, again=again: again + nops(k), TONES, range(0, 30))
        found.append((f"sound_tone_that_{name}_starts_again", rom))
    return found


@ROMS.several
def _waves() -> list[NamedRom]:
    """A wave moves every (2048 - f) * 2 dots, and its memory is reached in the moment it plays."""
    memory = "".join(store(f"WAVE + {i}", (2 * i % 16) * 16 + 2 * i % 16 + 1) for i in range(16))
    trigger = store("NR34", 0x87)
    again = {
        "starts": lambda k: WAVE + trigger + nops(k),
        "starts_again": lambda k: WAVE + trigger + nops(20) + trigger + nops(k),
        "starts_twice_again": lambda k: WAVE + trigger + nops(20) + trigger + trigger + nops(k),
        "is_written": lambda k: WAVE + trigger + nops(k) + store("WAVE + 9", 0xDB),
    }
    found = [
        (f"sound_wave_{name}{speed}", _series(setup, OTHERS, range(0, 30), begin + memory))
        for speed, begin in (("", ""), ("_at_double_speed", DOUBLE_SPEED))
        for name, setup in again.items()
    ]
    for pace in (0xF0, 0xF1, 0xF3, 0xFF):
        play = WAVE + store("NR33", pace) + trigger
        rom = _series(lambda k, play=play: play + nops(k), "WAVE + 9", range(0, 40), memory, cgb=False)
        found.append((f"sound_wave_memory_is_reached_at_pace_{pace:x}", rom))
    return found


RETRIGGERED = {"f9": (0xF9, False), "fe": (0xFE, False), "fe_in_color": (0xFE, True)}


@ROMS.each({f"sound_wave_triggered_while_it_reads_at_pace_{name}": how for name, how in RETRIGGERED.items()})
def _wave_retriggered(pace: int, cgb: bool) -> MicroRom:
    """A wave triggered in the moment in which it reads loses its first bytes; on a Game Boy Color it does not."""
    trigger, body = store("NR34", 0x87), store("NR52", 0x80)
    for wait in range(0, 40, 2):
        body += store("NR30", 0) + "".join(store(f"WAVE + {i}", 0x10 + i) for i in range(16)) + WAVE
        body += store("NR33", pace) + trigger + nops(wait) + trigger + store("NR30", 0)
        body += "".join(note(f"WAVE + {i}") for i in range(4))
    return micro(body, cgb=cgb, sound=True, frames=8)


@ROMS.several
def _noises() -> list[NamedRom]:
    """The noise keeps time with the sound's own clock, also when it is started again or changes its pace."""
    trigger, paces = store("NR44", 0x80), (0x0B, 0x1A, 0x08)
    again = NOISE + trigger + nops(9) + trigger + nops(9) + trigger
    found = []
    for speed, begin in (("", ""), ("_at_double_speed", DOUBLE_SPEED)):
        for pace in (0x08, 0x09, 0x0A, 0x0B, 0x19, 0x2A):
            rom = _series(
                lambda k, pace=pace: (
                    NOISE + store("NR43", pace) + nops(k % 4) + trigger + nops(20 + 3 * (k // 4))
                ), OTHERS, range(0, 64), begin,
            )  # fmt: skip
            found.append((f"sound_noise_of_pace_{pace:02x}_starts{speed}", rom))
        rom = _series(lambda k: again + nops(60 + k), OTHERS, range(0, 50), begin)
        found.append((f"sound_noise_starts_again{speed}", rom))
    changed = _series(
        lambda k: NOISE + trigger + nops(5 + k % 8) + store("NR43", paces[k % 3]) + nops(50 + k), OTHERS, range(0, 60)
    )
    return [*found, ("sound_noise_changes_its_pace", changed)]
