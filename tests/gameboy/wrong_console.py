"""A console that is not PyBoy's equal: the hardware's timing, where PyBoy's is asked for."""

from overclock.gameboy.native_console import NativeConsole


class HardwareConsole(NativeConsole):
    """Our emulator in its other mode."""

    def __init__(self, rom: bytes, *, cgb: bool = False, sound: bool = False) -> None:
        super().__init__(rom, cgb=cgb, sound=sound, compat="hardware")
