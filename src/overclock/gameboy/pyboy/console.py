"""PyBoy, the reference, as a console to compare with. It is a black box here: constructed, run and looked at."""

import io
import logging
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from overclock.errors import MissingError
from overclock.gameboy.boot import boot_for
from overclock.gameboy.cartridge import KIND, KINDS, RAM_SIZE
from overclock.gameboy.console import AREAS, COLOR_AREAS, REGISTERS, Snapshot

CLOCKS = (KINDS["mbc3+timer+battery"], KINDS["mbc3+timer+ram+battery"])
VERSION = "2.8.1"  # versions of PyBoy differ from each other in timing, so only this one is the reference


def import_pyboy() -> Any:
    """The class PyBoy, of the one version that is the reference."""
    try:
        from importlib.metadata import version

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells which SDL it found
            from pyboy import PyBoy
    except ImportError as error:
        raise MissingError("PyBoy is not installed: pip install 'overclock[gameboy]'.") from error
    if version("pyboy") != VERSION:
        raise MissingError(f"PyBoy {version('pyboy')} is installed; the reference is {VERSION}: its versions differ.")
    logging.getLogger("pyboy").setLevel(logging.ERROR)
    return PyBoy


class PyBoyConsole:
    """A PyBoy without window, as fast as it goes, started by our boot code."""

    def __init__(self, rom: bytes, *, cgb: bool = False, sound: bool = False, boot: bytes | None = None) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "boot.bin"
            path.write_bytes(boot_for(cgb) if boot is None else boot)
            self.pyboy = import_pyboy()(
                io.BytesIO(rom), window="null", cgb=cgb, sound_emulated=sound, bootrom=str(path), log_level="ERROR"
            )
        self.pyboy.set_emulation_speed(0)
        if rom[KIND] in CLOCKS:
            self.pyboy.rtc_lock_experimental(True)  # or it would follow the wall's clock
        self.cgb = cgb
        self.areas = dict(AREAS)
        if rom[RAM_SIZE] == 0 and not 5 <= rom[KIND] <= 6:  # there is none, except for the one inside an MBC2
            del self.areas["cartridge_ram"]

    def tick(self, count: int, render: bool) -> None:
        self.pyboy.tick(count, render, False)

    def press(self, button: str) -> None:
        self.pyboy.button_press(button)

    def release(self, button: str) -> None:
        self.pyboy.button_release(button)

    def snapshot(self, pixels: bool) -> Snapshot:
        memory, file = self.pyboy.memory, self.pyboy.register_file
        content = {
            # PyBoy gives lists, which become bytes sooner than they become an array.
            name: np.frombuffer(bytes(memory[start : start + length]), np.uint8)
            for name, (start, length) in self.areas.items()
        }
        if self.cgb:
            content |= {
                # The last byte on its own: PyBoy refuses a slice that ends where a bank does.
                name: np.array([*memory[bank, start : start + length - 1], memory[bank, start + length - 1]], np.uint8)
                for name, (bank, start, length) in COLOR_AREAS.items()
            }
        picture = self.pyboy.screen.ndarray.copy() if pixels else None
        return Snapshot({name: getattr(file, name) for name in REGISTERS}, self.pyboy._cycles(), content, picture)

    def bytes_at(self, address: int, length: int) -> bytes:
        """Memory as a program sees it."""
        return bytes(self.pyboy.memory[address : address + length])

    def register_values(self) -> dict[str, int]:
        """The CPU's registers by name."""
        return {name: getattr(self.pyboy.register_file, name) for name in REGISTERS}

    def sent(self) -> bytes:
        """What went out over the cable since the last call."""
        return self.pyboy._serial().encode("latin-1", "replace")

    def save(self) -> bytes:
        stream = io.BytesIO()
        self.pyboy.save_state(stream)
        return stream.getvalue()

    def load(self, state: bytes) -> None:
        self.pyboy.load_state(io.BytesIO(state))

    def write(self, address: int, value: int) -> None:
        self.pyboy.memory[address] = value

    def close(self) -> None:
        self.pyboy.stop(save=False)
