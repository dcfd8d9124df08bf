"""`GameBoy` against PyBoy itself: the same calls, written once, give the same answers."""

import dataclasses
import io

import jax.numpy as jnp
import numpy as np
import pytest

from overclock.errors import MissingError, UsageError
from overclock.gameboy import GameBoy
from overclock.gameboy.assembly.symbols import format_symbols
from overclock.gameboy.boot import boot_for
from overclock.gameboy.game import load_game
from overclock.gameboy.games import folder, game_program
from overclock.gameboy.pyboy.console import import_pyboy

pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")
MAZE = game_program("maze")
SEED, STATE, LIVES = (MAZE.symbols[name].address for name in ("seed", "state", "lives"))


@pytest.fixture
def files(tmp_path):
    rom, boot, symbols = tmp_path / "maze.gb", tmp_path / "boot.bin", tmp_path / "maze.sym"
    rom.write_bytes(MAZE.rom)
    boot.write_bytes(boot_for(False))
    symbols.write_text(format_symbols(MAZE.symbols))
    return rom, boot, symbols


@pytest.fixture
def consoles(files):
    """PyBoy and ours with the same cartridge, boot code and symbols."""
    try:
        pyboy = import_pyboy()
    except MissingError as missing:
        pytest.skip(str(missing))
    rom, boot, symbols = map(str, files)
    theirs = pyboy(
        rom, window="null", cgb=False, sound_emulated=False, bootrom=boot, symbols=symbols, log_level="ERROR"
    )
    theirs.set_emulation_speed(0)
    yield theirs, GameBoy(rom, cgb=False, bootrom=boot, symbols=symbols)
    theirs.stop(save=False)


def played(console):
    """A script of calls, and everything it saw."""
    seen, called = [], []

    def look():
        file = console.register_file
        registers = [getattr(file, name) for name in ("A", "F", "B", "C", "D", "E", "HL", "SP", "PC")]
        seen.append((console.frame_count, console._cycles(), registers, list(console.memory[0xC000:0xC200])))

    assert console.tick(20, True)
    look()
    console.memory[SEED : SEED + 2] = [0x34, 0x12]
    console.tick(10, True)
    look()
    screen = console.screen.ndarray
    seen.append(screen.copy().tolist())
    console.hook_register(None, "move_player", lambda where: called.append((where, console.register_file.PC)), "moved")
    console.hook_register(0, MAZE.symbols["draw"].address, lambda _: called.append(console.memory[LIVES]), None)
    for name in ("right", "down", "left", "up", "a"):
        console.button(name, 8)
        console.tick(24, True)
        look()
    seen.append(screen.copy().tolist())  # the array of before shows the present frame
    console.hook_deregister(None, "move_player")
    console.tick(3, False)
    state = io.BytesIO()
    console.save_state(state)
    console.button_press("down")
    console.tick(30, False)
    look()
    console.button_release("down")
    console.tick()
    state.seek(0)
    console.load_state(state)
    console.tick(2, True)
    look()
    console.memory[LIVES] = 7
    console.memory[0xC300:0xC303] = 9
    console.register_file.B = 0x42
    seen.append([console.register_file.B, console.memory[0xC300:0xC304], console.memory[LIVES]])
    seen.append([console.memory[0, 0x150], console.memory[1, 0x4000:0x4008], console.memory[0xFF40:0xFF4C]])
    seen.append(console.symbol_lookup("draw"))
    return seen, called


def test_the_same_script_of_calls_sees_the_same(consoles):
    (theirs, their_calls), (ours, our_calls) = (played(console) for console in consoles)
    for number, (expected, found) in enumerate(zip(theirs, ours, strict=True)):
        # PyBoy's frame counter is not part of what is emulated, but users wait by it.
        assert found == expected, f"entry {number} of what was seen"
    assert our_calls == their_calls
    assert len(our_calls) > 200


def test_the_picture_is_one_array_that_every_drawn_frame_appears_in():
    console = GameBoy(MAZE.rom)
    console.tick(20)
    screen = console.screen.ndarray
    assert screen.shape == (144, 160, 4)
    before = screen.copy()
    console.memory[SEED] = 5
    console.tick(10, render=False)
    np.testing.assert_array_equal(screen, before)
    console.tick(1)
    assert console.screen.ndarray is screen
    assert not np.array_equal(screen, before)


def test_a_button_is_held_for_its_frames_whatever_the_ticks_and_hooks():
    def pads(ticks, hook=False):
        console, found = GameBoy(MAZE.rom), []
        console.memory[SEED] = 5
        console.tick(40)
        if hook:
            place = MAZE.symbols["read_pad"]
            console.hook_register(place.bank, place.address, lambda _: None, None)
        console.button("right", 5)
        for count in ticks:
            console.tick(count, False)
            found.append((console.frame_count, console.memory[MAZE.symbols["pad"].address]))
        return dict(found)

    single = pads([1] * 12)
    assert [frame - 40 for frame, pad in single.items() if pad == 1] in ([1, 2, 3, 4, 5], [2, 3, 4, 5, 6])
    for ticks in ([12], [3, 9], [7, 5]):
        for hook in (False, True):
            for frame, pad in pads(ticks, hook).items():
                assert single[frame] == pad


def test_it_stops_and_states_go_into_files():
    with GameBoy(io.BytesIO(MAZE.rom)) as console:
        assert console.cartridge_title == "MAZE"
        assert console.tick(5)
        state = io.BytesIO()
        console.save_state(state)
    assert not console.tick()
    other = GameBoy(MAZE.rom)
    other.load_state(io.BytesIO(state.getvalue()))
    assert other._cycles() == console._cycles()


def test_an_error_of_the_console_is_not_told_as_one_of_the_file():
    class Broken:
        def save_state(self):
            raise ValueError("broken")

    console = GameBoy(MAZE.rom)
    console._console = Broken()
    with pytest.raises(ValueError, match="broken"):
        console.save_state(io.BytesIO())


@pytest.mark.parametrize("array", [np.array, jnp.array])
def test_memory_takes_arrays_with_and_without_axes(array):
    memory = GameBoy(MAZE.rom).memory
    memory[0xC300] = array(5)
    memory[0xC301:0xC303] = array(6)
    memory[0xC303:0xC305] = array([7, 8])
    assert memory[0xC300:0xC305] == [5, 6, 6, 7, 8]


@dataclasses.dataclass
class Place:
    """A path as other libraries have it; its equality makes it one that no dict takes as a key."""

    name: str | bytes

    def __fspath__(self):
        return self.name


def test_whatever_python_opens_as_a_path_is_one(files):
    rom, boot, symbols = (Place(str(file)) for file in files)
    assert GameBoy(rom, bootrom=boot, symbols=symbols).symbol_lookup("lives")[1] == LIVES
    assert GameBoy(rom).symbol_lookup("lives")[1] == LIVES
    description = files[0].with_suffix(".toml")
    description.write_text(folder().joinpath("maze.toml").read_text())
    game = load_game(rom=rom, description=Place(str(description)), symbols=symbols)
    assert game is load_game(rom=str(files[0]), description=str(description), symbols=str(files[2]))


def test_a_path_of_bytes_is_refused(files):
    rom = Place(bytes(files[0]))
    with pytest.raises(UsageError, match="rom must be a path"):
        GameBoy(rom)
    with pytest.raises(UsageError, match="rom must be a path"):
        load_game(rom=rom, description="maze.toml")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda c: c.button("x"), "There is no button 'x'"),
        (lambda c: c.memory[0x10000], "Addresses are 0 to 0xFFFF"),
        (lambda c: c.memory[5:5], "a slice has at least one"),
        (lambda c: c.memory["score"], "memory takes an address"),
        (lambda c: c.memory[9, 0xFF00], "There are no banks from"),
        (lambda c: c.memory[99, 0x4000], "There is no bank 99 at 4000."),
        (lambda c: c.memory.__setitem__(0xC000, 256), "A byte is a whole number"),
        (lambda c: c.memory.__setitem__(slice(0xC000, 0xC002), [1]), "Got 1 bytes for 2 addresses."),
        (lambda c: c.memory.__setitem__((1, 0xD000), 1), "Banks can be read but not written"),
        (lambda c: setattr(c.register_file, "A", 256), "256 does not fit into register A."),
        (lambda c: c.symbol_lookup("nowhere"), "There is no symbol 'nowhere'"),
        (lambda c: c.hook_deregister(0, 0x150), "There is no hook at 00:0150."),
        (lambda c: c.load_state(io.BytesIO(b"state")), "These bytes are not a saved state"),
        (lambda c: c.load_state("file"), "load_state takes a file opened for reading in binary, got 'file'."),
        (lambda c: c.load_state(io.StringIO("state")), "load_state takes a file opened for reading in binary"),
        (lambda c: c.save_state("file"), "save_state takes a file opened for writing in binary, got 'file'."),
        (lambda c: c.save_state(io.StringIO()), "save_state takes a file opened for writing in binary"),
        (lambda c: c.tick(-1), "count must be a whole number from 0 to 4294967295, got -1."),
        (lambda c: c.tick(1.5), "count must be a whole number from 0 to 4294967295, got 1.5."),
        (lambda c: c.tick("a"), "count must be a whole number from 0 to 4294967295, got 'a'."),
        (lambda c: c.button("a", "b"), "delay must be a whole number of at least 0, got 'b'."),
        (lambda c: c.button(5), "There is no button 5;"),
        (lambda c: c.hook_register(0, 0x150, "print", None), "A hook's callback is a function of one argument"),
        (lambda c: c.hook_register("a", 0x150, print, None), "A hook needs a bank and an address .*, got 'a', 336."),
        (lambda c: c.hook_register(0, 1.5, print, None), "A hook needs a bank and an address .*, got 0, 1.5."),
        (lambda c: c.hook_register(2, 0x4000, print, None), "A hook's bank in this cartridge must be .* 0 to 1, got 2"),
        (lambda c: c.hook_deregister([], 0x150), "A hook needs a bank and an address"),
        (lambda c: c.memory["a":"b"], "memory takes an address"),
        (lambda c: c.memory["a", 0x4000], "A bank of memory is a whole number, got 'a'."),
        (lambda c: c.memory[-1, 0x4000], "A bank must be a whole number from 0 to 65535, got -1."),
        (lambda c: c.memory.__setitem__(0xC000, "a"), "A byte is a whole number from 0 to 255, got 'a'."),
        (lambda c: c.memory.__setitem__(0xC000, np.array(256)), r"A byte is a whole number .*, got array\(256\)."),
        (lambda c: c.memory.__setitem__(0xC000, np.array(True)), r"A byte is a whole number .*, got array\(True\)."),
        (lambda c: c.memory.__setitem__(0xC000, None), "A byte is a whole number from 0 to 255, got None."),
        (lambda c: GameBoy(5), "rom must be a path, bytes or a file opened in binary, got 5."),
        (lambda c: GameBoy(io.StringIO("rom")), "rom must be a path, bytes or a file opened in binary"),
        (lambda c: GameBoy(MAZE.rom, bootrom=bytes(255)), "Boot code of a Game Boy has 256 bytes; got 255."),
        (lambda c: GameBoy(MAZE.rom, bootrom=5), "bootrom must be a path"),
        (lambda c: GameBoy(MAZE.rom, symbols=5), "5 is not a readable symbol file"),
        (lambda c: GameBoy(MAZE.rom, cgb="yes"), "GameBoy takes true or false or null as its option cgb, got 'yes'."),
        (lambda c: GameBoy(MAZE.rom, sound_emulated="yes"), "GameBoy takes true or false as its option sound_emulated"),
        (lambda c: GameBoy(MAZE.rom, compat=None), "compat must be one of 'pyboy', 'hardware', got None."),
        (lambda c: GameBoy("nowhere.gb"), "nowhere.gb cannot be read: No such file or directory."),
        (lambda c: GameBoy(b"short"), "This ROM has 5 bytes"),
    ],
)
def test_what_does_not_fit_is_one_sentence(call, sentence):
    with pytest.raises(UsageError, match=sentence):
        call(GameBoy(MAZE.rom))
