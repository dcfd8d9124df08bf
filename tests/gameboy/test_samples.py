"""The sound of `GameBoy` against PyBoy's: the same samples, one by one, whatever plays."""

import io

import numpy as np
import pytest

from overclock.errors import MissingError, UsageError
from overclock.gameboy import GameBoy
from overclock.gameboy.boot import boot_for
from overclock.gameboy.games import game_program
from overclock.gameboy.microroms import tunes
from overclock.gameboy.pyboy.console import import_pyboy

pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")
TUNES = {rom.name: rom for rom in tunes.ROMS.roms()}
EVERY_DOT = 1 << 22
MAZE = game_program("maze").rom


@pytest.fixture
def consoles(tmp_path):
    """Makes PyBoy and ours with the same cartridge, boot code and sample rate."""
    try:
        pyboy = import_pyboy()
    except MissingError as missing:
        pytest.skip(str(missing))
    made = []

    def make(rom, cgb=False, rate=None):
        boot = tmp_path / "boot.bin"
        boot.write_bytes(boot_for(cgb))
        options = {"cgb": cgb, "sound_emulated": True, "sound_sample_rate": rate, "bootrom": str(boot)}
        theirs = pyboy(io.BytesIO(rom), window="null", log_level="ERROR", **options)
        theirs.set_emulation_speed(0)
        made.append(theirs)
        return theirs, GameBoy(rom, **options)

    yield make
    for theirs in made:
        theirs.stop(save=False)


def same(theirs, ours, count=1, sound=True):
    for console in (theirs, ours):
        console.tick(count, False, sound)
    assert ours.sound.raw_buffer_head == theirs.sound.raw_buffer_head
    np.testing.assert_array_equal(ours.sound.ndarray, theirs.sound.ndarray)


@pytest.mark.parametrize("name", TUNES)
def test_a_tune_sounds_the_same(name, consoles):
    rom = TUNES[name]
    theirs, ours = consoles(rom.program.rom, rom.cgb)
    heard = 0
    for _ in range(rom.frames):
        same(theirs, ours)
        heard += np.count_nonzero(ours.sound.ndarray)
    assert heard > 0


@pytest.mark.parametrize("name", TUNES)
def test_a_tune_sounds_the_same_at_every_dot(name, consoles):
    rom = TUNES[name]
    theirs, ours = consoles(rom.program.rom, rom.cgb, EVERY_DOT)
    for _ in range(rom.frames):
        same(theirs, ours)


@pytest.mark.parametrize("rate", [1, 60, 8000, 22050, 44100, 96000, 1_398_101])
def test_any_rate_gives_the_same_samples(rate, consoles):
    theirs, ours = consoles(TUNES["tune_panning"].program.rom, rate=rate)
    assert ours.sound.sample_rate == theirs.sound.sample_rate
    assert ours.sound.raw_buffer_length == theirs.sound.raw_buffer_length
    assert ours.sound.raw_ndarray.shape == theirs.sound.raw_ndarray.shape
    for _ in range(12):
        same(theirs, ours)


def test_only_the_last_frame_is_sampled_and_only_if_asked_to(consoles):
    theirs, ours = consoles(TUNES["tune_volumes"].program.rom)
    for count, sound in ((1, True), (3, True), (2, False), (1, True), (5, True), (1, False), (4, True)):
        same(theirs, ours, count, sound)
    assert len(ours.sound.ndarray) > 800


def test_a_loaded_state_sounds_as_it_did(consoles):
    theirs, ours = consoles(TUNES["tune_envelopes"].program.rom)
    for _ in range(5):
        same(theirs, ours)
    states = []
    for console in (theirs, ours):
        states.append(io.BytesIO())
        console.save_state(states[-1])
    heard = []
    for _ in range(4):
        same(theirs, ours)
        heard.append(ours.sound.ndarray.copy())
    for console, state in zip((theirs, ours), states, strict=True):
        state.seek(0)
        console.load_state(state)
    for before in heard:
        same(theirs, ours)
        np.testing.assert_array_equal(ours.sound.ndarray, before)


def test_a_state_may_be_loaded_where_other_samples_are_made():
    rom = TUNES["tune_panning"].program.rom
    slow, fast = (GameBoy(rom, sound_emulated=True, sound_sample_rate=rate) for rate in (8000, 48000))
    slow.tick(3)
    state = io.BytesIO()
    slow.save_state(state)
    state.seek(0)
    fast.load_state(state)
    fast.tick()
    assert len(fast.sound.ndarray) in (803, 804)


def test_a_hook_in_a_frame_loses_no_samples(consoles):
    theirs, ours = consoles(MAZE)
    called = [0, 0]
    place = game_program("maze").symbols["vblank"]
    for number, console in enumerate((theirs, ours)):

        def count(_, number=number):
            called[number] += 1

        console.hook_register(place.bank, place.address, count, None)
    for _ in range(10):
        same(theirs, ours)
    assert called[0] == called[1] > 0


def test_the_raw_buffer_has_the_samples_in_turn():
    gameboy = GameBoy(TUNES["tune_panning"].program.rom, sound_emulated=True)
    gameboy.tick(9)
    sound = gameboy.sound
    assert list(sound.raw_buffer[: sound.raw_buffer_head]) == sound.ndarray.reshape(-1).tolist()
    assert (sound.raw_buffer.format, sound.raw_buffer_format) == ("b", "b")


def test_the_consoles_own_mixer_knows_volumes_and_converters():
    def loudest(compat, writes):
        gameboy = GameBoy(TUNES["tune_wave_of_each_volume"].program.rom, sound_emulated=True, compat=compat)
        gameboy.tick(18)
        for address, value in {0xFF25: 0x44, **writes}.items():  # the wave alone
            gameboy.memory[address] = value
        gameboy.tick()
        return np.abs(gameboy.sound.ndarray.astype(int)).max(axis=0).tolist()

    nr30, nr50 = 0xFF1A, 0xFF24
    assert loudest("hardware", {nr50: 0x77}) == [30, 30]  # 15 * 8 / 4
    assert loudest("hardware", {nr50: 0x30}) == [15, 3]
    assert loudest("hardware", {nr50: 0x77, nr30: 0}) == [0, 0]
    assert loudest("pyboy", {nr50: 0x30}) == [15, 15]


def test_without_sound_there_are_no_samples():
    gameboy = GameBoy(MAZE)
    gameboy.tick(2)
    with pytest.raises(UsageError, match="sound_emulated=True"):
        _ = gameboy.sound.ndarray
    assert gameboy.sound.raw_buffer_head == 0


@pytest.mark.parametrize("rate", [0, -1, 1 << 23, 48000.5, "fast", True])
def test_a_rate_that_cannot_be_is_refused(rate):
    with pytest.raises(UsageError, match="sound_sample_rate"):
        GameBoy(MAZE, sound_emulated=True, sound_sample_rate=rate)


def test_a_volume_that_cannot_be_is_refused():
    with pytest.raises(UsageError, match="sound_volume"):
        GameBoy(MAZE, sound_emulated=True, sound_volume=101)


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.uint32, np.int64])
def test_a_rate_may_be_any_whole_number(kind):
    with GameBoy(MAZE, sound_emulated=True, sound_sample_rate=kind(32000)) as gameboy:
        gameboy.tick(3, True, True)
        assert len(gameboy.sound.ndarray) > 500
