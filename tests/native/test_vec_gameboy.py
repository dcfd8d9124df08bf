"""`VecGameBoy` against the extension's single `GameBoy`, driven by the same calls."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from overclock.gameboy.boot import boot_for
from overclock.gameboy.games import game_program
from overclock.gameboy.microroms import tunes

native = pytest.importorskip("overclock_native")
if not hasattr(native, "VecGameBoy"):
    pytest.skip("this overclock_native has no VecGameBoy", allow_module_level=True)

BUTTONS = ("right", "left", "up", "down", "a", "b", "select", "start")
MAZE = game_program("maze")
SEED, STATE, SCORE, LIVES = (MAZE.symbols[name].address for name in ("seed", "state", "score", "lives"))
RAM = [STATE, SCORE, LIVES, SEED]


def batch(num_envs=3, **options):
    options = {"boot": boot_for(False), "boot_frames": 20, "ram": RAM, **options}
    return native.VecGameBoy(MAZE.rom, num_envs, **options)


def seeded(num_envs=3, **options):
    made = batch(num_envs, **options)
    seeds = np.stack([np.arange(1, num_envs + 1), np.full(num_envs, 7)], axis=1)
    made.reset(addresses=[SEED, SEED + 1], values=seeds, frames=8)
    return made


def console(seed):
    one = native.GameBoy(MAZE.rom, boot=boot_for(False), cgb=False)
    one.tick(20, True)
    one.write(SEED, seed)
    one.write(SEED + 1, 7)
    one.tick(8, True)
    return one


def step(one, pressed, frame_skip=24, press_frames=8):
    held = [name for bit, name in enumerate(BUTTONS) if pressed >> bit & 1]
    for name in held:
        one.press(name)
    one.tick(press_frames, press_frames == frame_skip)
    for name in held:
        one.release(name)
    if press_frames < frame_skip:
        one.tick(frame_skip - press_frames, True)


@pytest.mark.parametrize(("frame_skip", "press_frames"), [(24, 8), (4, 4)])
def test_a_lane_is_a_console_with_its_buttons_held_and_its_last_frame_drawn(frame_skip, press_frames):
    many = seeded(observation="rgb", frame_skip=frame_skip, press_frames=press_frames)
    ones = [console(lane + 1) for lane in range(3)]
    for pressed in np.random.default_rng(0).integers(0, 256, (12, 3)):
        obs, ram = many.step(pressed)
        for lane, one in enumerate(ones):
            step(one, pressed[lane], frame_skip, press_frames)
            np.testing.assert_array_equal(obs[lane], one.screen()[:, :, :3])
            assert ram[lane].tolist() == [one.read(address)[0] for address in RAM]
            assert many.save_state(lane).cycles == one.cycles()


def test_every_kind_of_observation_is_the_same_picture():
    kinds = {kind: seeded(observation=kind) for kind in ("rgb", "gray", "gray_2x2", "packed_2bit", "ram")}
    for pressed in ([1, 2, 4], [8, 0, 1]):
        seen = {kind: many.step(pressed) for kind, many in kinds.items()}
    rgb, gray = (seen[kind][0].astype(int) for kind in ("rgb", "gray"))
    assert {len(np.unique(lane)) for lane in gray} == {4}
    np.testing.assert_array_equal(rgb, np.repeat(gray[..., None], 3, axis=-1))
    squares = gray.reshape(3, 72, 2, 80, 2).sum(axis=(2, 4)) // 4
    np.testing.assert_array_equal(seen["gray_2x2"][0], squares)
    packed = seen["packed_2bit"][0]
    unpacked = np.stack([packed >> shift & 3 for shift in (6, 4, 2, 0)], axis=-1).reshape(3, 144, 160)
    np.testing.assert_array_equal(unpacked * 85 // 64, gray // 64)
    np.testing.assert_array_equal(seen["ram"][0], seen["rgb"][1])
    for kind, many in kinds.items():
        assert seen[kind][0].shape == (3, *many.observation_shape)
        np.testing.assert_array_equal(seen[kind][1], seen["rgb"][1])


def test_the_number_of_threads_changes_nothing():
    made = [seeded(9, threads=threads) for threads in (None, 1, 3)]
    for pressed in np.random.default_rng(1).integers(0, 256, (5, 9)):
        first, *others = ([array.copy() for array in many.step(pressed)] for many in made)
        for other in others:
            for ours, theirs in zip(other, first, strict=True):
                np.testing.assert_array_equal(ours, theirs)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.parametrize("threads", [None, 2])
def test_a_forked_process_steps_without_the_threads_it_has_not_got(threads):
    program = (
        f"import os, sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        "from test_vec_gameboy import seeded\n"
        f"many = seeded(threads={threads}); many.step([0] * 3)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    many.step([0] * 3); os._exit(0)\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_outputs_go_into_the_callers_arrays():
    many = seeded()
    obs, ram = np.zeros((3, 72, 80), np.uint8), np.zeros((3, len(RAM)), np.uint8)
    given = many.step([0] * 3, out={"obs": obs, "ram": ram})
    assert given[0] is obs
    assert given[1] is ram
    assert obs.any()
    assert ram.any()


def test_lanes_outside_a_mask_stay_and_are_not_written():
    many, mask = seeded(), np.array([True, False, True])
    before = [many.save_state(lane).cycles for lane in range(3)]
    obs = np.full((3, 72, 80), 9, np.uint8)
    for call in (
        lambda: many.step([1] * 3, mask=mask, out={"obs": obs}),
        lambda: many.tick(2, mask=mask, out={"obs": obs}),
        lambda: many.reset(mask=mask, out={"obs": obs}),
    ):
        call()
        after = [many.save_state(lane).cycles for lane in range(3)]
        assert [now == then for now, then in zip(after, before, strict=True)] == [False, True, False]
        assert (obs[1] == 9).all()
        assert not (obs[0] == 9).all()


def test_saved_and_cloned_lanes_go_on_alike():
    many, numbers = seeded(4), np.random.default_rng(2)
    many.step(numbers.integers(0, 16, 4))
    kept = many.save_state(2)
    played = numbers.integers(0, 16, (6, 1)).repeat(4, axis=1)
    first = [many.step(pressed)[0][2].copy() for pressed in played]
    many.load_state(0, kept)
    many.load_state(3, kept)
    many.clone(3, 1)
    for pressed, expected in zip(played, first, strict=True):
        obs, _ = many.step(pressed)
        for lane in (0, 1, 3):
            np.testing.assert_array_equal(obs[lane], expected)


@pytest.mark.parametrize("model", ["dmg", "cgb"])
@pytest.mark.parametrize("booting", [True, False])
def test_a_state_as_bytes_goes_on_in_another_batch_and_in_a_single_console(model, booting):
    options = {"model": model, "boot": boot_for(model == "cgb"), "boot_frames": 0, "observation": "rgb"}
    many, other = batch(2, **options), batch(2, **options)
    many.tick(1 if booting else 30)
    many.write([SEED], [[3], [4]])
    many.step([1, 2])
    kept, rows = bytes(many.save_state(1)), many.states()
    one = native.GameBoy(MAZE.rom, boot=boot_for(model == "cgb"), cgb=model == "cgb")
    one.load_state(kept)  # as in PyBoy, the line of the window stays, which is right after a drawn frame
    other.tick(50)
    other.load_state(0, kept)
    for number, pressed in enumerate((4, 8, 0)):
        expected, ram = (array.copy() for array in many.step([pressed] * 2))
        obs, values = other.step([pressed] * 2)
        step(one, pressed)
        np.testing.assert_array_equal(obs[0], expected[1])
        np.testing.assert_array_equal(values[0], ram[1])
        if number > 0:
            np.testing.assert_array_equal(one.screen()[:, :, :3], expected[1])
    assert one.save_state() == bytes(many.save_state(1)) == bytes(other.save_state(0))
    other.set_states(rows)
    np.testing.assert_array_equal(other.states(), rows)
    for pressed in (4, 8, 0):
        np.testing.assert_array_equal(other.step([pressed] * 2)[0].any(axis=(1, 2, 3)), [True, True])
    np.testing.assert_array_equal(other.states(), many.states())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda state: b"", "These bytes are not a saved state of a Game Boy."),
        (lambda state: b"x" * 99, "These bytes are not a saved state of a Game Boy."),
        (lambda state: state[:-1], "This state is cut off or damaged; nothing of it was loaded."),
        (lambda state: state[:40], "This state is cut off or damaged; nothing of it was loaded."),
        (lambda state: bytes(other_state()), "This state was saved with another ROM; load it with that one."),
        (lambda state: bytes(batch(compat="hardware").save_state(0)), "a console with other options"),
        (lambda state: 5, "A state is a GameBoyState or its bytes, got 5."),
    ],
)
def test_bytes_that_are_no_state_change_nothing(change, sentence):
    many = seeded()
    state = bytes(many.save_state(0))
    for take in (lambda what: many.load_state(0, what), many.set_start):
        with pytest.raises(ValueError, match=sentence):
            take(change(state))
    assert bytes(many.save_state(0)) == state


def test_a_pickled_state_goes_on_as_the_state_itself():
    many = seeded()
    many.step([1, 2, 4])
    kept = many.save_state(2)
    again = pickle.loads(pickle.dumps(kept))
    assert (bytes(again), again.cycles) == (bytes(kept), kept.cycles)
    many.load_state(0, kept)
    many.load_state(1, again)
    obs, ram = many.step([8, 8, 8])
    for array in (obs, ram):
        np.testing.assert_array_equal(array[1], array[0])
    many.set_start(again)
    many.reset(frames=24)
    assert many.save_state(0).cycles > kept.cycles


def test_a_pickled_state_of_something_else_is_refused_by_the_batch():
    many = seeded()
    before = bytes(many.save_state(0))
    damaged = bytes(many.save_state(0))[:-1]
    for state, sentence in (
        (native.GameBoyState(damaged), "cut off or damaged; nothing of it was loaded."),
        (pickle.loads(pickle.dumps(other_state())), "saved with another ROM"),
    ):
        with pytest.raises(ValueError, match=sentence):
            many.load_state(0, state)
    pickled = pickle.dumps(many.save_state(0)).replace(b"OCGB", b"XXXX")
    with pytest.raises(ValueError, match="These bytes are not a saved state of a Game Boy"):
        pickle.loads(pickled)
    assert bytes(many.save_state(0)) == before


def test_episodes_begin_where_they_are_told_to():
    many = seeded()
    many.step([1] * 3)
    many.set_start(many.save_state(1))
    expected, ram = (array[1].copy() for array in many.step([2] * 3))
    many.reset()
    obs, values = many.step([2] * 3)
    for lane in range(3):
        np.testing.assert_array_equal(obs[lane], expected)
        np.testing.assert_array_equal(values[lane], ram)


def test_ram_is_read_and_written_for_the_whole_batch():
    many = seeded()
    many.write([0xC3F0, 0xC3F1], [[1, 2], [3, 4], [5, 6]])
    assert many.read([0xC3F1, 0xC3F0]).tolist() == [[2, 1], [4, 3], [6, 5]]
    many.write([0xC3F0], [9], mask=[False, True, True])
    assert many.read([0xC3F0]).tolist() == [[1], [9], [9]]
    assert many.read([]).shape == (3, 0)


def test_hooks_count_per_lane_and_outlive_resets():
    many, vblank, begin = seeded(), MAZE.symbols["vblank"], MAZE.symbols["begin"]
    many.hook(vblank.bank, vblank.address)
    many.step([0] * 3)
    assert many.hook_counts().tolist() == [[24], [24], [24]]
    many.hook(begin.bank, begin.address)
    many.step([0] * 3, mask=[True, False, False])
    many.reset(mask=[False, True, False], addresses=[SEED], values=[5], frames=10)
    many.clone(0, 2)
    counts = many.hook_counts()
    assert counts[:, 1].tolist() == [0, 1, 0]
    assert counts[0, 0] == 48
    assert 24 < counts[1, 0] <= 34
    assert counts[2, 0] == 24


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: native.VecGameBoy(b"", 1), "This ROM has 0 bytes"),
        (lambda: native.VecGameBoy(MAZE.rom[:-5], 1), "32763 bytes"),
        (lambda: native.VecGameBoy("maze.gb", 1), "rom must be the bytes of a ROM, got 'maze.gb'."),
        (lambda: batch(0), "num_envs must be a positive whole number, got 0."),
        (lambda: batch(frame_skip=4, press_frames=5), r"press_frames must be 1 to frame_skip \(4\), got 5."),
        (lambda: batch(observation="grey"), "observation must be one of 'rgb', .*, got 'grey'."),
        (lambda: batch(observation="ram", ram=[]), "observation='ram' needs addresses"),
        (lambda: batch(ram=[0x10000]), r"Addresses must be whole numbers from 0 to 0xFFFF, got \[65536\]."),
        (lambda: batch(ram=[0xC000, True]), r"Addresses must be whole numbers .*, got \[49152, True\]."),
        (lambda: batch(model="gba"), "model must be one of 'auto', 'dmg', 'cgb', got 'gba'."),
        (lambda: batch(compat="bgb"), "compat must be one of"),
        (
            lambda: batch(sound=True, sample_rate=4194305),
            "sample_rate must be a whole number from 0 to 4194304, got 4194305.",
        ),
        (lambda: batch(sound=True, sample_rate=-1), "sample_rate must be .*, got -1."),
        (lambda: native.GameBoy(MAZE.rom, sound=True, sample_rate=4194305), "sample_rate must be .*, got 4194305."),
        (lambda: batch(sound=True, sample_rate="a"), "sample_rate must be .*, got 'a'."),
        (lambda: batch(sample_rate=None), "sample_rate must be .*, got None."),
        (lambda: batch(boot_frames=-1), "boot_frames must be a whole number from 0 to 4294967295, got -1."),
        (lambda: batch(boot_frames=2**32), "boot_frames must be .*, got 4294967296."),
        (lambda: batch(boot_frames="a"), "boot_frames must be .*, got 'a'."),
        (lambda: batch(compat=None), "compat must be one of 'pyboy', 'hardware', got None."),
        (lambda: batch(model=None), "model must be one of 'auto', 'dmg', 'cgb', got None."),
        (lambda: batch(observation=3), "observation must be one of .*, got 3."),
        (lambda: batch(sound="yes"), "sound must be True or False, got 'yes'."),
        (lambda: batch(boot="boot.bin"), "boot must be bytes or None, got 'boot.bin'."),
        (lambda: batch(boot=b""), "Boot code of a Game Boy has 256 bytes; got 0."),
        (lambda: batch(boot=boot_for(True)), "Boot code of a Game Boy has 256 bytes; got 2304."),
        (lambda: batch(boot=boot_for(False), model="cgb"), "a Game Boy Color has 2304 bytes, .*; got 256."),
        (lambda: batch(boot=bytes(2048), model="cgb"), "a Game Boy Color has 2304 bytes, .*; got 2048."),
        (lambda: native.GameBoy(MAZE.rom, boot=bytes(255)), "Boot code of a Game Boy has 256 bytes; got 255."),
        (lambda: native.GameBoy(MAZE.rom, cgb="yes"), "cgb must be True or False, got 'yes'."),
        (lambda: native.GameBoy("maze.gb"), "rom must be the bytes of a ROM, got 'maze.gb'."),
        (lambda: native.GameBoy(MAZE.rom).tick(-1), "The number of frames must be .*, got -1."),
        (lambda: native.GameBoy(MAZE.rom).tick(1, "yes"), "render must be True or False, got 'yes'."),
        (lambda: native.GameBoy(MAZE.rom).press(1), "There is no button 1"),
        (lambda: native.GameBoy(MAZE.rom).button("a", -1), "The number of frames must be .*, got -1."),
        (lambda: native.GameBoy(MAZE.rom).read(-1), "An address must be a whole number from 0 to 65535, got -1."),
        (lambda: native.GameBoy(MAZE.rom).read(0, 1 << 20), "length must be a whole number from 0 to 65536"),
        (lambda: native.GameBoy(MAZE.rom).write(0xC000, 256), "A byte must be a whole number from 0 to 255, got 256."),
        (lambda: native.GameBoy(MAZE.rom).read_bank(-1, 0x4000), "A bank must be .*, got -1."),
        (lambda: native.GameBoy(MAZE.rom).load_state("file"), "A state is bytes, got 'file'."),
        (lambda: native.GameBoy(MAZE.rom).hook(2, 0x4000), "A hook's bank in this cartridge must be .*, got 2."),
        (lambda: native.GameBoy(MAZE.rom).hook(1, 0x4000, "yes"), "stop must be True or False, got 'yes'."),
        (lambda: batch().tick(-1), "The number of frames must be a whole number from 0 to 4294967295, got -1."),
        (lambda: batch().tick(1.5), "The number of frames must be .*, got 1.5."),
        (lambda: batch().tick(True), "The number of frames must be .*, got True."),
        (lambda: batch().reset(frames="a"), "The number of frames must be .*, got 'a'."),
        (lambda: batch().hook(2, 0x4000), "A hook's bank in this cartridge must be a whole number from 0 to 1, got 2."),
        (lambda: batch().hook("a", 0x150), "A hook's bank in this cartridge must be .*, got 'a'."),
        (lambda: batch().hook(0, 0x10000), "An address must be a whole number from 0 to 65535, got 65536."),
        (lambda: batch().hook(0, None), "An address must be .*, got None."),
        (lambda: batch().hook(1, 0xC000), "A hook above 7FFF has bank 0, got 1 with C000."),
        (lambda: batch().screen("a"), "There is no lane 'a'; lanes are 0 to 2."),
        (lambda: batch().step([0] * 3, out=5), "out must be a dict of arrays, got 5."),
        (lambda: native.GameBoyState("file"), "A state is a GameBoyState or its bytes, got 'file'."),
        (lambda: native.GameBoyState(b"OCGB"), "This state is cut off or damaged"),
        (lambda: batch(threads=0), "threads must be a positive whole number, got 0."),
        (lambda: batch().step([0, 0]), r"Buttons must have shape \(3,\), got \(2,\)."),
        (lambda: batch().step([0, 0, 256]), "Buttons must be 0 to 255, got 256 in lane 2."),
        (lambda: batch().step([0.5] * 3), "Buttons must be whole numbers"),
        (lambda: batch().step([0] * 3, mask=[True]), r"mask must have shape \(3,\)"),
        (lambda: batch().step([0] * 3, out={"obs": np.zeros(3)}), r"out\['obs'\] must be a C-contiguous uint8"),
        (lambda: batch().step([0] * 3, out={"picture": np.zeros(3)}), "out takes obs and ram, got 'picture'."),
        (lambda: batch().reset(addresses=[SEED]), "addresses and values are given together."),
        (lambda: batch().write([SEED], [[1, 2]]), r"values must have shape \(1,\) or \(3, 1\), got \(1, 2\)."),
        (lambda: batch().write([SEED], [256]), "values must be 0 to 255, got 256"),
        (lambda: batch().save_state(3), "There is no lane 3; lanes are 0 to 2."),
        (lambda: batch().clone(-1, 0), "There is no lane -1"),
        (lambda: batch().set_states(np.zeros((2, 9), np.uint8)), "a row for each of 3 lanes"),
        (lambda: batch().set_states(np.zeros((3, 9), np.uint8)), "Lane 0: These bytes are not"),
        (lambda: batch().load_state(0, other_state()), "This state was saved with another ROM."),
        (lambda: batch(model="cgb", boot=boot_for(True)).load_state(0, batch().save_state(0)), "another model"),
        (lambda: batch(compat="hardware").load_state(0, batch().save_state(0)), "compat, sound, sample rate and boot"),
        (lambda: batch(compat="hardware").set_start(batch().save_state(0)), "compat, sound, sample rate and boot"),
        (lambda: batch(sound=True).load_state(0, batch().save_state(0)), "compat, sound, sample rate and boot"),
        (
            lambda: batch(sound=True, sample_rate=44100).load_state(
                0, batch(sound=True, sample_rate=8000).save_state(0)
            ),
            "compat, sound, sample rate and boot",
        ),
    ],
)
def test_what_does_not_fit_is_one_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence) as raised:
        call()
    assert "\n" not in str(raised.value)


def other_state():
    return native.VecGameBoy(game_program("paddle").rom, 1).save_state(0)


def test_any_bytes_are_a_rom_or_one_sentence():
    numbers = np.random.default_rng(0)
    lengths = [0, 1, 0x147, 0x7FFF, 0x8000, 0x8001, 0xC000, 0x10000, 0x10001, 0x800000, 0x804000]
    started, refused = 0, []
    for length in [*lengths, *numbers.integers(0, 0x20000, 40).tolist()]:
        rom = bytearray(numbers.bytes(length))
        if length >= 0x14A and numbers.random() < 0.7:
            rom[0x147:0x14A] = bytes([numbers.choice([0, 3, 6, 0x10, 0x1B]), numbers.integers(0, 3), 0])
        try:
            native.VecGameBoy(bytes(rom), 1).step([0])
            started += 1
        except ValueError as error:
            refused.append(str(error))
    assert started
    assert len(refused) > 20
    assert all(sentence.endswith(".") and "\n" not in sentence for sentence in refused)


def test_a_lane_sounds_as_a_console_does():
    rom = {rom.name: rom for rom in tunes.ROMS.roms()}["tune_panning"].program.rom
    lanes = native.VecGameBoy(rom, 2, frame_skip=3, press_frames=1, sound=True, sample_rate=44100, boot=boot_for(False))
    one = native.GameBoy(rom, boot=boot_for(False), cgb=False, sound=True, sample_rate=44100)
    for _ in range(6):
        lanes.step(np.zeros(2, int))
        one.tick(3, False, True)
        assert len(lanes.samples(1)) > 700
        np.testing.assert_array_equal(lanes.samples(1), one.samples())


def test_samples_need_sound_and_a_rate():
    with pytest.raises(ValueError, match="sound=True"):
        batch(sample_rate=48000)
    assert batch().samples(0).shape == (0, 2)
    one = native.GameBoy(MAZE.rom, sound=True)
    one.tick(3, True, True)
    assert one.samples().shape == (0, 2)
