"""Sound registers as a program sees them, with the sound emulated and without."""

from overclock.gameboy.microroms.micro import MicroRom, Topic, code, micro, note, store

REGISTERS = [f"0x{address:04X}" for address in range(0xFF10, 0xFF30)]


ROMS = Topic()


def _on_and_off(name: str) -> dict[str, tuple[bool]]:
    return {f"sound_{word}_{name}": (sound,) for word, sound in (("on", True), ("off", False))}


ALL = "".join(note(register) for register in REGISTERS)


@ROMS.each(_on_and_off("registers_read_back"))
def _read_back(sound: bool) -> MicroRom:
    """Bits that cannot be read are ones."""
    body = store("NR52", 0x80)
    for value in (0x00, 0xFF, 0x5A):
        for register in REGISTERS:
            if register not in ("0xFF14", "0xFF19", "0xFF1E", "0xFF23", "0xFF26"):
                body += store(register, value)
        body += ALL
    return micro(body, sound=sound)


@ROMS.each(_on_and_off("power_clears_registers"))
def _power_off(sound: bool) -> MicroRom:
    """Without power all registers are clear and stay so."""
    body = store("NR52", 0x80) + "".join(store(register, 0x77) for register in REGISTERS[:22]) + store("NR52", 0)
    body += ALL + "".join(store(register, 0x33) for register in REGISTERS[:22]) + ALL + store("NR52", 0x80) + ALL
    return micro(body, sound=sound)


@ROMS.each(_on_and_off("wave_memory_is_kept"))
def _wave(sound: bool) -> MicroRom:
    """Wave memory is kept without power."""
    body = store("NR30", 0)
    for i in range(16):
        body += store(f"WAVE + {i}", i * 17)
    body += "".join(note(f"WAVE + {i}") for i in range(16)) + store("NR52", 0) + store("WAVE + 3", 0x99)
    body += "".join(note(f"WAVE + {i}") for i in range(16)) + store("NR52", 0x80)
    return micro(body, sound=sound)


@ROMS.each(_on_and_off("length_ends_channels"))
def _length(sound: bool) -> MicroRom:
    """NR52 tells which channels have not run out."""
    body = store("NR52", 0x80) + store("NR51", 0xFF) + store("NR50", 0x77)
    body += store("NR12", 0xF0) + store("NR11", 0x3C) + store("NR14", 0xC0) + store("NR22", 0xF0) + store("NR21", 0x30)
    body += store("NR24", 0xC0) + store("NR30", 0x80) + store("NR31", 0xF0) + store("NR34", 0xC0)
    body += store("NR42", 0xF0) + store("NR41", 0x20) + store("NR44", 0xC0)
    body += code("ld bc, 0x0C00", ".read:") + note("NR52") + code("ld a, h", "and 0xCF", "ld h, a") + _pause(16)
    body += code("dec bc", "ld a, b", "or c", "jr nz, .read")
    return micro(body, sound=sound, frames=30)


def _pause(rounds: int) -> str:
    return code(f"ld d, {rounds}", ".pause:", "dec d", "jr nz, .pause")


@ROMS.each(_on_and_off("sweep_ends_channel_one"))
def _sweep(sound: bool) -> MicroRom:
    """A sweep beyond the highest tone ends the channel."""
    body = store("NR52", 0x80) + store("NR12", 0xF0) + store("NR10", 0x11) + store("NR13", 0x00) + store("NR14", 0x84)
    body += code("ld bc, 0x0400", ".read:") + note("NR52") + code("ld a, h", "and 0xCF", "ld h, a") + _pause(40)
    body += code("dec bc", "ld a, b", "or c", "jr nz, .read")
    return micro(body, sound=sound, frames=20)


@ROMS.each(_on_and_off("silent_converters_end_channels"))
def _envelope(sound: bool) -> MicroRom:
    """A channel whose converter is off does not play."""
    body = store("NR52", 0x80)
    for volume in (0x00, 0x08, 0xF0, 0x07, 0xF1):
        for base in (0xFF10, 0xFF15, 0xFF1F):
            body += store(f"{base + 2:#x}", volume) + store(f"{base + 4:#x}", 0x80) + note("NR52")
        for base in (0xFF10, 0xFF15, 0xFF1F):
            body += store(f"{base + 2:#x}", 0) + note("NR52")
    body += store("NR30", 0x80) + store("NR34", 0x80) + note("NR52") + store("NR30", 0) + note("NR52")
    return micro(body, sound=sound)


@ROMS.each(_on_and_off("any_write"))
def _every_write(sound: bool) -> MicroRom:
    """Any byte may be written to any sound register.

    A small generator writes every register over and over and reads it back.
    """
    body = code("ld de, 0x4321", "ld b, 0", ".again:", "ld a, d", "add e", "rlca", "ld d, a", "xor e", "add 0x4D")
    body += code("ld e, a", "and 0x1F", "add 0x10", "ld c, a", "ld a, d", "ldh [c], a", "ldh a, [c]", "ld [hl+], a")
    body += note("NR52") + code("dec b", "jr nz, .again", "ld a, h", "cp 0xD0", "jr c, .again")
    return micro(body, sound=sound, frames=8)


@ROMS.each(_on_and_off("wave_memory_while_playing"))
def _wave_while_playing(sound: bool) -> MicroRom:
    """While the channel plays only its present byte is seen."""
    body = store("NR52", 0x80) + "".join(store(f"WAVE + {i}", i * 16 + 15 - i) for i in range(16)) + store("NR30", 0x80)
    body += store("NR32", 0x20) + store("NR33", 0x00) + store("NR34", 0x87) + code("ld b, 100", ".read:")
    body += note("WAVE") + note("WAVE + 5") + code("dec b", "jr nz, .read") + store("NR30", 0) + note("WAVE")
    return micro(body, sound=sound)
