"""Our emulator against PyBoy 2.8.1: registers, cycles, all memory and every picture, after every frame."""

import pytest

pytest.importorskip("pyboy", reason="PyBoy is the reference: pip install 'overclock[gameboy]'")

from overclock.errors import MissingError
from overclock.gameboy.comparing import (
    Step,
    compare,
    frame_by_frame,
    fuzzed_steps,
    plain_steps,
)
from overclock.gameboy.games import BENCHMARKS, GAMES, game_program
from overclock.gameboy.microroms import micro_roms, random_programs
from overclock.gameboy.native_console import NativeConsole, import_gameboy
from overclock.gameboy.pyboy.console import PyBoyConsole

try:
    import_gameboy()
    missing = False
except MissingError:
    missing = True
needs_ours = pytest.mark.skipif(missing, reason="overclock-native with GameBoy is not built; run `make native`")
ROMS = micro_roms()
DEVIATIONS = {("sounding", 136)}  # whose rule was not found
FUZZED = [name for name in ROMS if name.startswith(("joypad", "picture_window_at_7", "random_interrupted_1"))]


def agree(rom, steps, **options):
    def theirs():
        return PyBoyConsole(rom, **options)

    def ours():
        return NativeConsole(rom, **options)

    wrong = compare(theirs, ours, steps)
    if wrong is not None and any(step.frames > 1 for step in steps):
        wrong = compare(theirs, ours, frame_by_frame(steps, wrong.step)) or wrong
    assert wrong is None, str(wrong)


@needs_ours
@pytest.mark.parametrize("name", ROMS)
def test_a_micro_rom_does_the_same(name):
    rom = ROMS[name]
    agree(rom.program.rom, plain_steps(rom.frames), cgb=rom.cgb, sound=rom.sound)
    unseen = [Step(rom.frames)]  # looking on reads registers, and some change when they are read
    agree(rom.program.rom, unseen, cgb=rom.cgb, sound=rom.sound)


@needs_ours
@pytest.mark.parametrize("name", FUZZED)
def test_a_micro_rom_does_the_same_under_any_input(name):
    rom = ROMS[name]
    agree(rom.program.rom, fuzzed_steps(len(name), 40), cgb=rom.cgb, sound=rom.sound)


@needs_ours
@pytest.mark.long
@pytest.mark.parametrize("name", ROMS)
def test_every_micro_rom_does_the_same_under_any_input(name):
    rom = ROMS[name]
    agree(rom.program.rom, fuzzed_steps(len(name) + 1000, 40), cgb=rom.cgb, sound=rom.sound)


@needs_ours
def test_a_loaded_state_does_not_know_that_a_halt_came_right_after_ei():
    steps = [*plain_steps(2), Step(save=True), Step(), Step(load=True), Step()]
    agree(ROMS["halt_right_after_ei_at_an_event"].program.rom, steps)


@needs_ours
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_does_the_same(name):
    agree(game_program(name).rom, fuzzed_steps(1, 40))


@needs_ours
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("seed", range(1, 6))
def test_a_game_does_the_same(name, seed):
    program = game_program(name)
    address = program.symbols["seed"].address
    begin = [Step(20, True), Step(8, True, writes=((address, seed), (address + 1, 17 * seed)))]
    agree(
        program.rom,
        [*begin, *fuzzed_steps(seed, 80, buttons=("left", "right", "up", "down", "start"))],
        sound=seed == 1,
    )


@needs_ours
@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_a_game_does_the_same_in_a_hundred_episodes(name):
    program = game_program(name)
    address = program.symbols["seed"].address
    for seed in range(100, 200):
        begin = [Step(20, True), Step(8, True, writes=((address, seed), (address + 1, 3 * seed & 0xFF)))]
        agree(program.rom, [*begin, *fuzzed_steps(seed, 60)], sound=seed % 2 == 0)


@needs_ours
@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 160))
@pytest.mark.parametrize("kind", random_programs.KINDS)
def test_any_program_does_the_same(kind, seed, request):
    if (kind, seed) in DEVIATIONS:
        request.applymarker(pytest.mark.xfail(strict=True, reason="a known deviation: the emulator's README lists it"))
    rom = random_programs.random_rom(kind, seed)
    agree(rom.program.rom, fuzzed_steps(seed, 30), cgb=rom.cgb, sound=rom.sound)


def test_pyboy_agrees_with_itself():
    rom = ROMS["random_interrupted_0"].program.rom
    assert compare(lambda: PyBoyConsole(rom), lambda: PyBoyConsole(rom), fuzzed_steps(3, 40)) is None


def test_a_difference_is_told_with_its_frame_and_both_values():
    def started(amount):
        text = ROMS["halt_paces_a_game_by_frames"].text.replace("inc b", amount)
        from overclock.gameboy import assemble

        return lambda: PyBoyConsole(assemble(text).rom)

    wrong = compare(started("inc b"), started("dec b"), plain_steps(5))
    assert wrong is not None
    assert wrong.frame == 2
    assert "register B: PyBoy has 0001, ours 00FF" in str(wrong)
