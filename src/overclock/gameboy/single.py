"""One console with PyBoy's interface, on our emulator.

    with GameBoy("game.gb") as gameboy:
        gameboy.button("start")
        gameboy.tick(24)
        gameboy.memory[0xC000], gameboy.screen.ndarray, gameboy.sound.ndarray

Its names and their meaning are PyBoy 2.8.1's, so far as they make sense without a window. States are our own format.
"""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from overclock.env.options import checked_options
from overclock.errors import UsageError
from overclock.gameboy.assembly.symbols import Symbol, parse_symbols, read_symbols
from overclock.gameboy.boot import boot_for
from overclock.gameboy.game import COLOR_FLAG
from overclock.gameboy.given import AnyPath, content, is_path, is_whole, read, whole
from overclock.gameboy.memory import Memory
from overclock.gameboy.native_console import import_gameboy
from overclock.gameboy.sound import SAMPLE_RATE, Sound, check_volume, checked_rate
from overclock.vector.native import usage_errors

REGISTERS = ("A", "F", "B", "C", "D", "E", "HL", "SP", "PC")
LONGEST = 2**32 - 1  # frames of one tick


@dataclasses.dataclass
class _Hook:
    callback: Callable[[Any], object]
    context: Any
    seen: int = 0


class GameBoy:
    """A console without window or loudspeaker.

    `rom` is a path, a file opened in binary, or bytes; `cgb` None means what the cartridge asks for. `bootrom` is
    a path to other boot code than ours, `symbols` a .sym file. `compat` is 'pyboy' or 'hardware'. With
    `sound_emulated`, `sound` has `sound_sample_rate` samples a second; as in PyBoy, `sound_volume` changes none.
    """

    def __init__(
        self,
        rom: AnyPath | bytes | IO[bytes],
        *,
        cgb: bool | None = None,
        sound_emulated: bool = False,
        sound_volume: int = 100,
        sound_sample_rate: int | None = None,
        bootrom: AnyPath | None = None,
        symbols: AnyPath | None = None,
        compat: str = "pyboy",
    ) -> None:
        options = {"cgb": cgb, "sound_emulated": sound_emulated}
        checked_options("GameBoy", type(self), options, options)
        cartridge = content("rom", rom)
        color = cgb if cgb is not None else len(cartridge) > COLOR_FLAG and cartridge[COLOR_FLAG] >= 0x80
        boot = boot_for(color) if bootrom is None else content("bootrom", bootrom)
        rate = checked_rate(SAMPLE_RATE if sound_sample_rate is None else sound_sample_rate)
        check_volume(sound_volume)
        with usage_errors():
            self._console = import_gameboy()(
                cartridge, boot=boot, cgb=color, sound=sound_emulated, compat=compat, sample_rate=rate
            )
        self.cartridge_title = _title(cartridge)
        self.frame_count = 0
        self.memory = Memory(self._console)
        self.register_file = RegisterFile(self._console)
        self.screen = Screen(self._console)
        self.sound = Sound(self._console, rate, sound_emulated)
        self._symbols = _symbols_of(rom, symbols)
        self._hooks: dict[tuple[int, int], _Hook] = {}
        self._releases: list[tuple[int, str]] = []  # the frame before which a button is let go of
        self._stopped = False

    def __enter__(self) -> "GameBoy":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def tick(self, count: int = 1, render: bool = True, sound: bool = True) -> bool:
        """Run `count` frames, draw the last of them and sample its sound if asked to; False after `stop`."""
        if self._stopped:
            return False
        last = self.frame_count + whole("count", count, 0, LONGEST)
        while self.frame_count < last:
            for frame, button in [due for due in self._releases if due[0] <= self.frame_count]:
                self._releases.remove((frame, button))
                self._console.release(button)
            end = min([last, *(frame for frame, _ in self._releases)])
            is_last = end == last
            ran = self._console.tick(end - self.frame_count, bool(render) and is_last, bool(sound) and is_last)
            if ran < end - self.frame_count:
                self.frame_count += ran
                self._call_hooks()
            else:
                self.frame_count = end
        if render:
            self.screen.refresh()
        self.sound.refresh()
        return True

    def button(self, input: str, delay: int = 1) -> None:
        """Press a button now, and let go of it after `delay` frames."""
        end = self.frame_count + whole("delay", delay, 0)
        self.button_press(input)
        self._releases.append((end, input))

    def button_press(self, input: str) -> None:
        """Hold a button: right, left, up, down, a, b, select or start."""
        with usage_errors():
            self._console.press(input)

    def button_release(self, input: str) -> None:
        """Let go of a button."""
        with usage_errors():
            self._console.release(input)

    def save_state(self, file_like_object: IO[bytes]) -> None:
        """Write the whole state into a file opened in binary."""
        state = self._console.save_state()
        try:
            file_like_object.write(state)
        except (AttributeError, TypeError, ValueError):  # not a file, or one of text, closed or not for writing
            raise UsageError(
                f"save_state takes a file opened for writing in binary, got {file_like_object!r}."
            ) from None

    def load_state(self, file_like_object: IO[bytes]) -> None:
        """Go back to a state that `save_state` wrote."""
        state = read(file_like_object)
        if state is None:
            raise UsageError(f"load_state takes a file opened for reading in binary, got {file_like_object!r}.")
        with usage_errors():
            self._console.load_state(state)
        self.screen.refresh()

    def hook_register(self, bank: int | None, addr: int | str, callback: Callable[[Any], object], context: Any) -> None:
        """Call `callback(context)` whenever the CPU comes to an address in a bank of ROM, or to a symbol."""
        place = self._place(bank, addr)
        if place in self._hooks:
            raise UsageError(f"There is a hook at {place[0]:02X}:{place[1]:04X} already.")
        if not callable(callback):
            raise UsageError(f"A hook's callback is a function of one argument, got {callback!r}.")
        with usage_errors():
            self._console.hook(*place, stop=True)
        self._hooks[place] = _Hook(callback, context)

    def hook_deregister(self, bank: int | None, addr: int | str) -> None:
        """Remove the hook at a place; raises UsageError if there is none."""
        place = self._place(bank, addr)
        if self._hooks.pop(place, None) is None:
            raise UsageError(f"There is no hook at {place[0]:02X}:{place[1]:04X}.")
        self._console.unhook(*place)

    def symbol_lookup(self, symbol: str) -> tuple[int, int]:
        """Bank and address of a symbol."""
        if symbol not in self._symbols:
            raise UsageError(f"There is no symbol {symbol!r}; symbols='path.sym' brings them.")
        return self._symbols[symbol].bank, self._symbols[symbol].address

    def set_emulation_speed(self, target_speed: int) -> None:
        """Do nothing: the console always runs as fast as it can."""

    def stop(self, save: bool = False) -> None:
        """No more frames; nothing is written to disk."""
        self._stopped = True

    def _cycles(self) -> int:
        """Cycles since it was switched on."""
        return self._console.cycles()

    def _place(self, bank: int | None, addr: int | str) -> tuple[int, int]:
        if isinstance(addr, str):
            return self.symbol_lookup(addr)
        if bank is None or not is_whole(bank) or not is_whole(addr) or bank < 0 or not 0 <= addr <= 0xFFFF:
            raise UsageError(
                f"A hook needs a bank and an address from 0 to 0xFFFF, or a symbol, got {bank!r}, {addr!r}."
            )
        return int(bank), int(addr)

    def _call_hooks(self) -> None:
        for place, hook in list(self._hooks.items()):
            count = self._console.hook_count(*place)
            if count != hook.seen:
                hook.seen = count
                hook.callback(hook.context)


class RegisterFile:
    """`register_file.A` to `.PC`, to be read and written."""

    __slots__ = ("_console",)

    def __init__(self, console: Any) -> None:
        object.__setattr__(self, "_console", console)

    def __getattr__(self, name: str) -> int:
        if name not in REGISTERS:
            raise AttributeError(f"There is no register {name}; there are {', '.join(REGISTERS)}.")
        return self._console.registers()[name]

    def __setattr__(self, name: str, value: int) -> None:
        if name not in REGISTERS:
            raise AttributeError(f"There is no register {name}; there are {', '.join(REGISTERS)}.")
        try:
            self._console.set_registers(**{name: value})
        except (OverflowError, TypeError):
            raise UsageError(f"{value!r} does not fit into register {name}.") from None


class Screen:
    """The picture of the last frame drawn."""

    raw_buffer_format = "RGBA"

    def __init__(self, console: Any) -> None:
        self._console = console
        self._pixels: np.ndarray | None = None

    @property
    def ndarray(self) -> np.ndarray:
        """uint8[144, 160, 4]; it is one array, and every drawn frame appears in it."""
        if self._pixels is None:
            self._pixels = np.array(self._console.screen())
        return self._pixels

    @property
    def image(self) -> Any:
        """The same as a Pillow image."""
        from PIL import Image

        return Image.fromarray(self.ndarray, "RGBA")

    def refresh(self) -> None:
        """Copy the drawn picture, if `ndarray` has been used."""
        if self._pixels is not None:
            self._pixels[:] = self._console.screen()


def _symbols_of(rom: Any, symbols: AnyPath | None) -> dict[str, Symbol]:
    """The symbols of the given file, or of a .sym file beside the ROM."""
    if symbols is not None:
        return read_symbols(symbols)
    if is_path(rom) and Path(rom).with_suffix(".sym").is_file():
        beside = Path(rom).with_suffix(".sym")
        return parse_symbols(beside.read_text(encoding="utf-8", errors="replace").splitlines(), str(beside))
    return {}


def _title(rom: bytes) -> str:
    return rom[0x134:0x143].split(b"\0")[0].decode("ascii", "replace")
