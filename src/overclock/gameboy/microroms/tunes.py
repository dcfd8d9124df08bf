"""Programs to be listened to: each channel plays in every way it can, and samples of it are compared."""

from overclock.gameboy.microroms.micro import NamedRom, Topic, code, micro, nops, store

ON = store("NR52", 0x80) + store("NR50", 0x77) + store("NR51", 0xFF)
WAVE = "".join(store(f"WAVE + {i}", (37 * i + 11) % 256) for i in range(16))


ROMS = Topic()


def _pause(number: int, label: str) -> str:
    """About 1,800 dots so many times; uses bc."""
    return code(f"ld b, {number}", f".{label}:", "ld c, 112", f".{label}_inner:", "dec c", f"jr nz, .{label}_inner",
                "dec b", f"jr nz, .{label}")  # fmt: skip


def _pulse(base: int, volume: int, duty: int, frequency: int, control: int = 0x80) -> str:
    values = (duty, volume, frequency & 0xFF, control | frequency >> 8)
    return "".join(store(f"{base + 1 + i:#x}", value) for i, value in enumerate(values))


def _first(volume: int = 0xF0, duty: int = 0x80, frequency: int = 0x6F1) -> str:
    return _pulse(0xFF10, volume, duty, frequency)


def _second(volume: int = 0xA0, duty: int = 0x40, frequency: int = 0x7A3) -> str:
    return _pulse(0xFF15, volume, duty, frequency)


def _wave(volume: int = 0x20, frequency: int = 0x789) -> str:
    return store("NR30", 0x80) + store("NR32", volume) + store("NR33", frequency & 0xFF) + store(
        "NR34", 0x80 | frequency >> 8)  # fmt: skip


def _noise(volume: int = 0xC0, pace: int = 0x23) -> str:
    return store("NR42", volume) + store("NR43", pace) + store("NR44", 0x80)


def _each(register: str, values: list[int], rounds: int = 12) -> str:
    """The values one after the other, a while between them."""
    return "".join(store(register, value) + _pause(rounds, f"{register.lower()}_{i}") for i, value in enumerate(values))


ALL = WAVE + _first() + _second() + _wave() + _noise()
TUNES = {  # what is heard, and how it is played
    "pulses_of_each_duty": ("two pulses, each duty", _first() + _second() + _each("NR11", [0, 0x40, 0x80, 0xC0])
                            + _each("NR21", [0, 0x40, 0x80, 0xC0])),
    "pulses_at_every_height": ("a pulse from low to beyond hearing", _first() + _each("NR13", [0, 0x80, 0xF0, 0xFF])
                               + _each("NR14", [0, 3, 6, 7])),
    "envelopes": ("volumes that rise and fall", _first(0xF1) + _second(0x09) + _noise(0xF2)
                  + _pause(200, "long") + store("NR12", 0x62) + store("NR22", 0x6B) + _pause(200, "longer")),
    "sweeps_upwards": ("a tone that rises until it ends", store("NR10", 0x13) + _first(frequency=0x200)),
    "sweeps_downwards": ("a tone that falls", store("NR10", 0x2A) + _first(frequency=0x700)),
    "wave_of_each_volume": ("a wave, each volume", WAVE + _wave() + _each("NR32", [0x40, 0x60, 0, 0x20])),
    "wave_that_is_triggered_again": ("a wave from its beginning", WAVE + _wave() + _each("NR34", [0x87, 0x86, 0x87])),
    "noise_of_15_bits": ("noise, several paces", _noise() + _each("NR43", [0, 1, 0x17, 0x52, 0x91])),
    "noise_of_7_bits": ("a buzz, several paces", _noise() + _each("NR43", [8, 9, 0x1F, 0x5A, 0x99])),
    "panning": ("all channels, left and right", ALL + _each("NR51", [0xF0, 0x0F, 0x12, 0x48, 0xA5, 0])),
    "volumes": ("all channels, each volume", ALL + _each("NR50", [0x77, 0x70, 0x07, 0x52, 0x00, 0xFF])),
    "converters": ("channels whose converter goes off and on", ALL + _each("NR12", [0x08, 0, 0xF0])
                   + _each("NR30", [0, 0x80]) + _each("NR42", [7, 0xF0]) + _first() + _wave() + _noise()),
    "lengths": ("tones that end by themselves", ALL + store("NR11", 0x30) + store("NR14", 0xC7) + store("NR21", 0x20)
                + store("NR24", 0xC7) + store("NR31", 0xE0) + store("NR34", 0xC7) + store("NR41", 0x38)
                + store("NR44", 0xC0)),
    "power": ("off and on", ALL + _pause(9, "a") + store("NR52", 0) + _pause(9, "b") + ON + _pause(9, "c")
              + _first() + nops(3) + _second() + _wave() + _noise()),
    "triggered_again": ("all channels from their beginning", ALL + _each("NR14", [0x86, 0x86], 3)
                        + _each("NR24", [0x87, 0x85], 5) + _each("NR44", [0x80, 0x80], 7)),
}  # fmt: skip


@ROMS.several
def tunes() -> list[NamedRom]:
    """All of them, on either console."""
    return [
        (f"tune_{name}{'_in_color' * cgb}", micro(ON + body, frames=20, cgb=cgb, sound=True))
        for name, (_, body) in TUNES.items()
        for cgb in (False, True)
    ]
