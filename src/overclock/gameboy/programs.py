"""The micro-ROMs as something to verify: what a console does while it runs one from its start.

Level 1 of the Game Boy's twins checks the processor's instructions by them, level 2 everything else.
"""

import functools
import zlib
from typing import Any

import numpy as np

from overclock.entry_point import EntryPoint
from overclock.gameboy.console import AREAS, REGISTERS, Console, Snapshot
from overclock.gameboy.microroms import MicroRom, micro_roms
from overclock.verify.sides.subject import Arrays, Observed

INSTRUCTIONS = "instructions_"  # the micro-ROMs of level 1 begin so
NATIVE, PYBOY = "overclock.gameboy.native_console:NativeConsole", "overclock.gameboy.pyboy.console:PyBoyConsole"


@functools.cache
def programs() -> tuple[MicroRom, ...]:
    """Every micro-ROM; a program's number is its place in here."""
    return tuple(micro_roms().values())


def run_program(console: EntryPoint | str, number: int) -> Arrays:
    """Run a micro-ROM on a new console, frame by frame; returns what is inside at the end.

    `frames` is a checksum over registers, cycles, memory and picture after every frame. `unseen` is one over a second
    run without looking on, because some registers change when they are read.
    """
    rom, make = programs()[number], EntryPoint.of(console).load()
    watched: Console = make(rom.program.rom, cgb=rom.cgb, sound=rom.sound)
    try:
        checksum = 0
        for _ in range(rom.frames):
            watched.tick(1, True)
            checksum = _checksum(watched.snapshot(True), checksum)
        end = watched.snapshot(True)
    finally:
        watched.close()
    alone: Console = make(rom.program.rom, cgb=rom.cgb, sound=rom.sound)
    try:
        alone.tick(rom.frames, True)
        unseen = _checksum(alone.snapshot(True), 0)
    finally:
        alone.close()
    assert end.pixels is not None
    return {
        "registers": np.array([end.registers[name] for name in REGISTERS], np.int32),
        "cycles": np.array(end.cycles, np.int64),
        "areas": np.array([_crc(end.memory[name]) if name in end.memory else 0 for name in AREAS], np.uint32),
        "picture": np.array(_crc(end.pixels), np.uint32),
        "frames": np.array(checksum, np.uint32),
        "unseen": np.array(unseen, np.uint32),
    }


def _checksum(shown: Snapshot, before: int) -> int:
    """One number for everything that a console shows, continued from that of the frame before."""
    registers = np.array([shown.registers[name] for name in REGISTERS], np.int64)
    checksum = zlib.crc32(registers.tobytes(), zlib.crc32(np.int64(shown.cycles).tobytes(), before))
    for name in sorted(shown.memory):
        checksum = zlib.crc32(shown.memory[name].tobytes(), checksum)
    assert shown.pixels is not None
    return zlib.crc32(np.ascontiguousarray(shown.pixels).tobytes(), checksum)


def _crc(values: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(values).tobytes())


class ProgramSubject:
    """Micro-ROMs as a verify Subject: an action is the number of a program, which runs on a new console."""

    def __init__(self, num_envs: int, console: str) -> None:
        """`console` is the entry point of a `Console`: PyBoy's or ours."""
        self.num_envs, self._console = num_envs, console
        self._steps = np.zeros(num_envs, np.int32)
        nothing = {name: np.zeros_like(values) for name, values in run_program(console, 0).items()}
        self._lanes: list[Arrays] = [nothing] * num_envs
        self._nothing = nothing

    def describe(self) -> dict[str, Any]:
        return {"kind": "discrete", "n": len(programs())}

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.reset`: nothing has run yet, and nothing is random."""
        for lane in np.flatnonzero(mask):
            self._lanes[lane] = self._nothing
        self._steps[mask] = 0
        shown = self._shown()
        return Observed({"obs": shown.pop("picture")}, shown, {})

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        """As `Subject.step`; every lane runs its program to its end."""
        self._lanes = [run_program(self._console, int(number)) for number in actions]
        self._steps += 1
        shown, flags = self._shown(), np.zeros(self.num_envs, np.bool_)
        reward = np.zeros(self.num_envs, np.float32)
        outputs = {"obs": shown.pop("picture"), "reward": reward, "terminated": flags, "truncated": flags.copy()}
        return Observed(outputs, shown, {})

    def set_state(self, state: Arrays) -> None:
        """Nothing but the number of steps: every program starts on a new console."""
        self._steps[:] = state["steps"]

    def _shown(self) -> Arrays:
        shown = {name: np.stack([lane[name] for lane in self._lanes]) for name in self._nothing}
        return {**shown, "steps": self._steps.copy()}
