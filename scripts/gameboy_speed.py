"""How fast one console of ours is beside PyBoy at its best, in the same run: frames per core, states, memory.

    python scripts/gameboy_speed.py                              # all tables, printed and written to a JSON file
    python scripts/gameboy_speed.py --only cores states          # some of them
    python scripts/gameboy_speed.py --rom game.gb other.gbc      # frames per core of ROMs of yours, printed

PyBoy runs without window and sound and draws one frame in 24, as ours does. All figures are CPU time, the best of
several turns taken alternately: what else the machine does then costs little. How batches scale and how fast PPO
trains is wall time: `overclock bench gameboy-maze --peers pyboy-threads,pyboy-processes`, and with `--training`.
"""

import argparse
import io
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from overclock.errors import OverclockError, UsageError
from overclock.gameboy.boot import boot_for
from overclock.gameboy.games import BENCHMARKS, GAMES, game_program
from overclock.gameboy.native_console import import_gameboy
from overclock.gameboy.pyboy.console import VERSION, PyBoyConsole
from overclock.vector.native import extension

FRAMES, PRESS = 24, 8
BUTTONS = ("right", "left", "up", "down")
CPU_BOUND = "sieve"
BOOT_FRAMES, SETTLE_FRAMES = 20, 8
TABLES = ("cores", "states", "memory")


def main() -> int:
    """Print the tables asked for and write them down; what a user can get wrong is one sentence and 2."""
    try:
        measure()
    except OverclockError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    return 0


def measure() -> None:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=TABLES, default=TABLES)
    parser.add_argument("--rom", nargs="+", help="the first table with these ROMs instead of ours; nothing is written")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each turn")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--output", default="benchmarks/gameboy-cpu.json")
    asked = parser.parse_args()
    if asked.rom:
        per_core(asked, {Path(path).name: own_rom(path) for path in asked.rom})
        return
    own = {name: game_program(name).rom for name in (*GAMES, *BENCHMARKS)}
    measures: dict[str, Callable[[], Any]] = {
        "cores": lambda: per_core(asked, own), "states": lambda: states(asked), "memory": memory,
    }  # fmt: skip
    path = Path(asked.output)
    found = json.loads(path.read_text()) if path.exists() else {}
    found |= {"schema": "overclock.gameboy-speed/1", "machine": machine(), "command": command(asked)}
    for name in asked.only:
        found[name] = measures[name]()
        path.write_text(json.dumps(found, indent=1) + "\n")
    say(f"written to {path}")


def command(asked: argparse.Namespace) -> str:
    """What repeats the figures, wherever they are written to."""
    only = [] if asked.only == TABLES else ["--only", *asked.only]
    return " ".join(["scripts/gameboy_speed.py", *only, f"--seconds {asked.seconds:g} --turns {asked.turns}"])


def say(text: str) -> None:
    """Print a line without buffering, so that progress is seen in a pipe."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def own_rom(path: str) -> bytes:
    """The bytes of a user's ROM, which both emulators are going to run."""
    try:
        rom = Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"The ROM {path} cannot be read: {error.strerror}.") from error
    try:
        import_gameboy()(rom)
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from error
    return rom


def machine() -> dict[str, Any]:
    """Where this ran, and how busy it was."""
    from overclock.bench.machine import code_version
    from overclock.processor import processor

    return {
        "cpu": processor().model, "cores": os.cpu_count(), "load": os.getloadavg()[0],
        "python": platform.python_version(), "pyboy": VERSION,
        **vars(code_version(Path(__file__).parents[1] / "src" / "overclock")),
    }  # fmt: skip


class Theirs:
    """PyBoy with random buttons, frames as a step has them."""

    def __init__(self, rom: bytes, seed: int = 0) -> None:
        self.console = PyBoyConsole(rom, cgb=is_color(rom))
        self.numbers = np.random.default_rng(seed)
        begin(rom, self.console.tick, self.console.write)

    def run(self, steps: int) -> None:
        """So many steps of 24 frames, the last frame drawn."""
        pyboy = self.console.pyboy
        for choice in self.numbers.integers(0, len(BUTTONS), steps):
            pyboy.button(BUTTONS[choice], PRESS)
            pyboy.tick(FRAMES, True, False)


class Ours:
    """Our batch with random buttons; it also writes its reduced gray pictures."""

    def __init__(self, rom: bytes, num_envs: int = 1, threads: int | None = 1, seed: int = 0) -> None:
        cgb = is_color(rom)
        self.batch = extension().VecGameBoy(
            rom, num_envs, FRAMES, PRESS, model="cgb" if cgb else "dmg", boot=boot_for(cgb), threads=threads
        )
        self.numbers = np.random.default_rng(seed)
        begin(rom, lambda frames, _: self.batch.tick(frames), lambda address, byte: self.batch.write([address], [byte]))

    def run(self, steps: int) -> None:
        """So many steps of every lane."""
        for choice in self.numbers.integers(0, len(BUTTONS), (steps, self.batch.num_envs)):
            self.batch.step(1 << choice)


def begin(rom: bytes, tick: Callable[[int, bool], Any], write: Callable[[int, int], Any]) -> None:
    """Boot, and give a game of ours the seed that it waits for."""
    tick(BOOT_FRAMES, True)
    for game in GAMES:
        if rom == game_program(game).rom:
            address = game_program(game).symbols["seed"].address
            write(address, 1)
            write(address + 1, 2)
    tick(SETTLE_FRAMES, True)


def is_color(rom: bytes) -> bool:
    """What the cartridge asks for."""
    return rom[0x143] >= 0x80


def frames_per_second(run: Callable[[int], None], seconds: float) -> float:
    """Over at least so many seconds of CPU time."""
    run(1)
    ran, steps, started = 0, 1, time.process_time()
    while (passed := time.process_time() - started) < seconds:
        run(steps)
        ran += steps
        steps *= 2
    return FRAMES * ran / passed


def per_core(asked: argparse.Namespace, roms: dict[str, bytes]) -> dict[str, Any]:
    """Frames per second of CPU time for every ROM, and the geometric mean of the ratios."""
    rows: dict[str, Any] = {}
    say("| ROM | PyBoy, frames/s/core | ours | ratio |\n|---|---|---|---|")
    for name, rom in roms.items():
        theirs, ours = Theirs(rom), Ours(rom)
        best = [0.0, 0.0]
        for _ in range(asked.turns):
            for side, runner in enumerate((theirs, ours)):
                best[side] = max(best[side], frames_per_second(runner.run, asked.seconds))
        theirs.console.close()
        rows[name] = {"pyboy": best[0], "ours": best[1], "ratio": best[1] / best[0]}
        say(f"| {name} | {best[0]:,.0f} | {best[1]:,.0f} | {best[1] / best[0]:.1f} |")
    mean = statistics.geometric_mean(row["ratio"] for row in rows.values())
    bound = rows[CPU_BOUND]["ratio"] if CPU_BOUND in rows else None
    say(
        f"\ngeometric mean {mean:.2f}"
        + ("" if bound is None else f"; the CPU-bound one ({CPU_BOUND}) {bound:.2f}")
        + "\n"
    )
    return {"rows": rows, "geometric_mean": mean, "cpu_bound": bound}


def states(asked: argparse.Namespace) -> dict[str, Any]:
    """Microseconds of CPU time for saving and loading one console."""
    rom = game_program("maze").rom
    theirs, ours = Theirs(rom), Ours(rom, 2)

    def pyboy() -> None:
        stream = io.BytesIO()
        theirs.console.pyboy.save_state(stream)
        stream.seek(0)
        theirs.console.pyboy.load_state(stream)

    def handle() -> None:
        ours.batch.load_state(0, ours.batch.save_state(0))

    def as_bytes() -> None:
        ours.batch.load_state(0, bytes(ours.batch.save_state(0)))

    found = {
        "pyboy": microseconds(pyboy, 20, asked.turns),
        "ours": microseconds(handle, 2000, asked.turns),
        "ours_bytes": microseconds(as_bytes, 500, asked.turns),
        "ours_clone": microseconds(lambda: ours.batch.clone(0, 1), 2000, asked.turns),
    }
    theirs.console.close()
    found["ratio"] = found["pyboy"] / found["ours"]
    times = ", ".join(f"{name} {value:,.1f} us" for name, value in found.items() if name != "ratio")
    say(f"save + load: {times}; {found['ratio']:,.0f} times\n")
    return found


def microseconds(call: Callable[[], Any], times: int, turns: int) -> float:
    """The best mean over some turns, of CPU time."""
    best = float("inf")
    for _ in range(turns):
        started = time.process_time()
        for _ in range(times):
            call()
        best = min(best, (time.process_time() - started) / times)
    return best * 1e6


def memory() -> dict[str, Any]:
    """Bytes that 1,000 consoles with 32 KiB of cartridge RAM take in a fresh process."""
    count = 1000
    said = subprocess.run(
        [sys.executable, __file__, "memory-of", str(count)], capture_output=True, text=True, check=True
    )
    found = {"consoles": count, "bytes": int(said.stdout.split()[-1])}
    say(f"{count} consoles with 32 KiB of cartridge RAM: {found['bytes'] / 1e6:.0f} MB beside ROM and outputs\n")
    return found


def memory_of(count: int) -> None:
    """Print by how much this process grows."""
    rom = bytearray(game_program("maze").rom)
    rom[0x147:0x14A] = bytes([0x03, 0x00, 0x03])  # MBC1 with RAM and battery, 32 KiB of both
    rom[0x14D] = -(sum(rom[0x134:0x14D]) + 25) & 0xFF
    make = extension().VecGameBoy
    make(bytes(rom), 1, observation="ram", ram=[0xC000], boot=boot_for(False)).step([0])
    before = resident()
    batch = make(bytes(rom), count, observation="ram", ram=[0xC000], boot=boot_for(False), boot_frames=30)
    batch.write([0x0000], [0x0A])  # cartridge RAM on
    batch.step([0] * count)
    say(str(resident() - before))


def resident() -> int:
    """Bytes of memory this process has now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


if __name__ == "__main__":
    if sys.argv[1:2] == ["memory-of"]:
        memory_of(int(sys.argv[2]))
    else:
        sys.exit(main())
