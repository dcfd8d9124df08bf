"""The micro-ROM suite: small programs, each named after the fact it tests, to be compared frame by frame."""

import importlib

from overclock.gameboy.microroms.micro import MicroRom

TOPICS = (
    "timer", "interrupts", "halt", "ppu", "picture", "sprites", "transfers", "mappers", "sound", "channels", "tunes",
    "instructions", "random_programs", "color",
)  # fmt: skip


def micro_roms() -> dict[str, MicroRom]:
    """All micro-ROMs of all topics by name; raises ValueError if two have the same."""
    found: dict[str, MicroRom] = {}
    for topic in TOPICS:
        for rom in importlib.import_module(f"{__name__}.{topic}").ROMS.roms():
            if rom.name in found:
                raise ValueError(f"two micro-ROMs are named {rom.name}")
            found[rom.name] = rom
    return found


__all__ = ["MicroRom", "micro_roms"]
