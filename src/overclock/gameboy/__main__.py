"""Compares our emulator with PyBoy from the command line.

python -m overclock.gameboy check [PART-OF-A-NAME ...]              every micro-ROM, game and benchmark
python -m overclock.gameboy check maze --fuzz SEED --episodes N     random inputs, frame-skips, drawings, saved states
python -m overclock.gameboy trace NAME --frame N [--last 40]        what PyBoy executed up to that frame
python -m overclock.gameboy suite FOLDER [--model dmg]              test ROMs of yours: who passes on PyBoy and on ours
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from overclock.errors import MissingError, UsageError
from overclock.gameboy.comparing import Mismatch, Step, compare, frame_by_frame, fuzzed_steps, plain_steps
from overclock.gameboy.games import BENCHMARKS, GAMES, game_program
from overclock.gameboy.microroms import MicroRom, micro_roms
from overclock.gameboy.native_console import NativeConsole
from overclock.gameboy.pyboy.console import PyBoyConsole
from overclock.gameboy.pyboy.tracing import trace
from overclock.gameboy.suite import COLUMNS, LIMIT, Verdict, run_suite, told

GAME_FRAMES = 120


def all_roms() -> dict[str, MicroRom]:
    """Micro-ROMs, games and benchmarks alike."""
    ours = {name: MicroRom(name, "", GAME_FRAMES) for name in (*GAMES, *BENCHMARKS)}
    return {**micro_roms(), **ours}


def rom_bytes(rom: MicroRom) -> bytes:
    """The bytes of a micro-ROM, game or benchmark."""
    return rom.program.rom if rom.text else game_program(rom.name).rom


def steps_for(rom: MicroRom, fuzz: int | None) -> list[Step]:
    """The steps of a comparison: every frame, or random ones from a seed; games get their own seed written first."""
    begin = []
    if not rom.text and rom.name in GAMES:
        address = game_program(rom.name).symbols["seed"].address
        begin = [Step(20), Step(8, writes=((address, 1 + (fuzz or 0) % 255), (address + 1, 77)))]
    return [*begin, *(plain_steps(rom.frames) if fuzz is None else fuzzed_steps(fuzz, max(20, rom.frames // 2)))]


def check_rom(rom: MicroRom, fuzz: int | None) -> Mismatch | None:
    """The first difference, in the frame where it first shows.

    Without fuzzing a ROM runs a second time in one go: looking at a console after every frame reads registers, and some
    of them change when they are read.
    """
    wrong = compare_on_both(rom, steps_for(rom, fuzz))
    return wrong if wrong or fuzz is not None else compare_on_both(rom, [Step(rom.frames)])


def compare_on_both(rom: MicroRom, steps: list[Step]) -> Mismatch | None:
    """Run a ROM through the steps on PyBoy and on ours; the first difference, or None."""
    content = rom_bytes(rom)

    def theirs() -> PyBoyConsole:
        return PyBoyConsole(content, cgb=rom.cgb, sound=rom.sound)

    def ours() -> NativeConsole:
        return NativeConsole(content, cgb=rom.cgb, sound=rom.sound)

    wrong = compare(theirs, ours, steps)
    if wrong is not None and any(step.frames > 1 for step in steps):
        wrong = compare(theirs, ours, frame_by_frame(steps, wrong.step)) or wrong
    return wrong


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 1 if something differs."""
    parser = argparse.ArgumentParser(prog="python -m overclock.gameboy")
    commands = parser.add_subparsers(dest="command", required=True)
    check = commands.add_parser("check", help="compare ROMs of ours with PyBoy, frame by frame")
    check.add_argument("names", nargs="*", metavar="NAME", help="a part of the names of ROMs; all of them without one")
    check.add_argument("--fuzz", type=int, help="the seed of random inputs, skipped and drawn frames, saved states")
    check.add_argument("--episodes", type=int, help="so many seeds, from that of --fuzz (0) on")
    tracing = commands.add_parser("trace", help="tell what PyBoy executed up to a frame")
    tracing.add_argument("name", help="the whole name of a ROM of ours; `check` lists them")
    tracing.add_argument("--frame", type=int, required=True, help="the last frame to run, counted from 1")
    tracing.add_argument("--last", type=int, default=40, help="so many instructions of its end (40)")
    suite = commands.add_parser("suite", help="run a folder of test ROMs on PyBoy and on both modes")
    suite.add_argument("folder", type=Path, help="where the .gb and .gbc files are, or folders of them")
    suite.add_argument("--model", choices=("auto", "dmg", "cgb"), default="auto", help="auto is what headers ask for")
    suite.add_argument("--verdict", help="ADDRESS:PASSED:FAILED, where the ROMs leave their verdict in memory")
    suite.add_argument("--frames", type=int, default=LIMIT, help=f"after which a silent ROM is left ({LIMIT})")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.command == "suite":
            return print_suite(chosen.folder, chosen.model, chosen.verdict, chosen.frames)
        return print_trace(chosen) if chosen.command == "trace" else print_check(chosen)
    except (UsageError, MissingError) as error:
        parser.error(str(error))


def print_trace(chosen: argparse.Namespace) -> int:
    """The last instructions up to a frame."""
    roms = all_roms()
    if chosen.name not in roms:
        raise UsageError(f"no ROM of ours is called {chosen.name}; `check` lists them")
    if chosen.frame < 1 or chosen.last < 1:
        raise UsageError(f"--frame and --last must be at least 1, got {chosen.frame} and {chosen.last}")
    rom = roms[chosen.name]
    executed = trace(rom_bytes(rom), plain_steps(chosen.frame), cgb=rom.cgb, sound=rom.sound, last=chosen.last)
    sys.stdout.write("\n".join(map(str, executed)) + "\n")
    return 0


def print_check(chosen: argparse.Namespace) -> int:
    """Which ROMs are the same on both; 1 if one is not."""
    roms = all_roms()
    if chosen.fuzz is not None and chosen.fuzz < 0:
        raise UsageError(f"--fuzz must be a seed of 0 or more, got {chosen.fuzz}")
    if chosen.episodes is not None and chosen.episodes < 1:
        raise UsageError(f"--episodes must be at least 1, got {chosen.episodes}")
    names = [name for name in roms if not chosen.names or any(part in name for part in chosen.names)]
    if not names:
        raise UsageError(f"no ROM of ours has {' or '.join(chosen.names)} in its name")
    first = 0 if chosen.fuzz is None else chosen.fuzz
    seeds = [chosen.fuzz] if chosen.episodes is None else range(first, first + chosen.episodes)
    different = sum(not check_seeds(roms[name], seeds) for name in names)
    sys.stdout.write(f"{len(names) - different} of {len(names)} are the same\n")
    return int(different > 0)


def print_suite(folder: Path, model: str, verdict: str | None, frames: int) -> int:
    """The table of test ROMs; 1 if the default mode does not say what PyBoy says, or hardware mode passes less."""
    place = None if verdict is None else Verdict.parse(verdict)
    results = []
    for result in run_suite(folder, model, place, frames):
        if not results:
            sys.stdout.write("PyBoy itself, then ours with compat pyboy and hardware; - where a ROM said nothing\n")
            sys.stdout.write(row("ROM", COLUMNS))
        sys.stdout.write(row(result.name, [told(result.said(column)) for column in COLUMNS]))
        sys.stdout.writelines(f"    {where}: {why}\n" for where, why in result.reasons().items())
        sys.stdout.flush()
        results.append(result)
    passed = {column: sum(result.said(column) is True for result in results) for column in COLUMNS}
    other = [result for result in results if result.said("PyBoy") != result.said("pyboy")]
    lost = [result for result in results if result.said("PyBoy") and not result.said("hardware")]
    counts = ", ".join(f"{column} {passed[column]}" for column in COLUMNS)
    sys.stdout.write(f"passed of {len(results)}: {counts}\n")
    sys.stdout.writelines(f"differs from PyBoy: {result.name}\n" for result in other)
    sys.stdout.writelines(f"passes on PyBoy, not in hardware mode: {result.name}\n" for result in lost)
    return int(bool(other or lost))


def row(name: str, words: Sequence[str]) -> str:
    """A line of the table."""
    return f"{name:<64}" + "".join(f"{word:>10}" for word in words) + "\n"


def check_seeds(rom: MicroRom, seeds: Sequence[int | None]) -> bool:
    """Whether a ROM does the same with every seed; the first difference is told, with the seed that shows it."""
    for seed in seeds:
        wrong = check_rom(rom, seed)
        if wrong is not None:
            sys.stdout.write(f"differs {rom.name}" + ("" if seed is None else f" --fuzz {seed}") + f"\n  {wrong}\n")
            return False
    frames = sum(step.frames for seed in seeds for step in steps_for(rom, seed))
    told = f", {len(seeds)} episodes, {frames:,} frames" if len(seeds) > 1 else ""
    sys.stdout.write(f"same    {rom.name}{told}\n")
    sys.stdout.flush()
    return True


if __name__ == "__main__":
    sys.exit(main())
