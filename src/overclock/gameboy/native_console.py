"""Our emulator as a console to compare: the extension's `GameBoy` behind the calls of console.py."""

import importlib
from typing import Any

import numpy as np

from overclock.errors import MissingError
from overclock.gameboy.boot import boot_for
from overclock.gameboy.console import AREAS, COLOR_AREAS, REGISTERS, Snapshot


def import_gameboy() -> Any:
    """The Rust extension's class `GameBoy`; raises MissingError if the extension is not built."""
    try:
        return importlib.import_module("overclock_native").GameBoy
    except (ImportError, AttributeError) as error:
        raise MissingError(f"The Game Boy needs the package overclock-native ({error}): run `make native`.") from error


class NativeConsole:
    """One of ours, started by our boot code, or with empty boot code at the game's first instruction."""

    def __init__(
        self, rom: bytes, *, cgb: bool = False, sound: bool = False, boot: bytes | None = None, compat: str = "pyboy"
    ) -> None:
        code = boot_for(cgb) if boot is None else boot or None
        self.gameboy = import_gameboy()(rom, boot=code, cgb=cgb, sound=sound, compat=compat)
        self.cgb = cgb
        self.areas = dict(AREAS)
        if rom[0x149] == 0 and not 5 <= rom[0x147] <= 6:
            del self.areas["cartridge_ram"]

    def tick(self, count: int, render: bool) -> None:
        self.gameboy.tick(count, render)

    def press(self, button: str) -> None:
        self.gameboy.press(button)

    def release(self, button: str) -> None:
        self.gameboy.release(button)

    def snapshot(self, pixels: bool) -> Snapshot:
        content = {name: self._read(start, length) for name, (start, length) in self.areas.items()}
        if self.cgb:
            content |= {
                name: np.frombuffer(self.gameboy.read_bank(bank, start, length), np.uint8)
                for name, (bank, start, length) in COLOR_AREAS.items()
            }
        registers = self.gameboy.registers()
        picture = np.array(self.gameboy.screen()).reshape(144, 160, 4) if pixels else None
        return Snapshot({name: registers[name] for name in REGISTERS}, self.gameboy.cycles(), content, picture)

    def bytes_at(self, address: int, length: int) -> bytes:
        """Memory as a program sees it."""
        return bytes(self.gameboy.read(address, length))

    def register_values(self) -> dict[str, int]:
        """The CPU's registers by name."""
        return self.gameboy.registers()

    def sent(self) -> bytes:
        """What went out over the cable since the last call."""
        return self.gameboy.sent()

    def _read(self, start: int, length: int) -> np.ndarray:
        return np.frombuffer(self.gameboy.read(start, length), np.uint8)

    def save(self) -> bytes:
        return self.gameboy.save_state()

    def load(self, state: bytes) -> None:
        self.gameboy.load_state(state)

    def write(self, address: int, value: int) -> None:
        self.gameboy.write(address, value)

    def close(self) -> None:
        pass
