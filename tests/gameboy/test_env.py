"""Game Boy games as environments: the batch in Rust, the pure functions in JAX, and what users of both see."""

import dataclasses

import jax
import numpy as np
import pytest

import overclock
from overclock.errors import UsageError
from overclock.gameboy.description import Value, parse_description
from overclock.gameboy.game import load_game
from overclock.gameboy.games import game_program
from overclock.gameboy.readings import Readings, decoded
from overclock.gameboy.vector import GameBoyMaze, GameBoyPaddle, GameBoyVector
from overclock.vector.host import JaxHostVector, host_vector
from overclock.vector.vectorize import vectorize

pytest.importorskip("overclock_native", reason="the Rust extension is not built: `make native`")

OUTPUTS = ("obs", "reward", "terminated", "truncated", "final_obs")
TOML = """
name = "own"
[actions]
buttons = ["none", ["a", "right"]]
press = 2
frames = 4
[observation]
kind = "ram"
values = ["state", "lives"]
[reset]
boot_frames = 20
seed = {seed}
settle_frames = 8
[values]
state = {{ at = {state} }}
lives = {{ at = {lives} }}
frames = {{ at = {frames}, bytes = 2 }}
[[rewards]]
value = "frames"
weight = 0.5
[[terminated]]
value = "frames"
at_least = 20
"""


def test_readings_of_a_batch_are_those_of_single_consoles():
    numbers = np.random.default_rng(0)
    for encoding in ("plain", "bcd", "bits", "signed"):
        for order in ("little", "big"):
            value = Value("v", (0, 10, 20), 3, encoding, order, 0x7F if encoding == "bits" else 0xFF)
            ram = numbers.integers(0, 256, (50, 30), np.uint8)
            content = np.stack([ram[:, at : at + 3] for at in value.addresses], axis=1)
            expected = [value.read(lambda at, count, row=row: bytes(row[at : at + count])) for row in ram]
            assert decoded(value, content).sum(axis=1).tolist() == expected


def test_rewards_and_ends_of_a_batch_are_those_of_the_description():
    description = dataclasses.replace(
        load_game("maze").description,
        ends=parse_description(
            TOML.format(seed=0xC000, state=0xC000, lives=0xC001, frames=0xC002)
            + '[[terminated]]\nvalue = "lives"\nis_not = 3\n[[terminated]]\nvalue = "state"\nat_most = 0\n'
        ).ends[1:],
    )
    readings, numbers = Readings(description), np.random.default_rng(1)
    before, after = numbers.integers(0, 5, (2, 200, len(readings.names)))
    rows = [[dict(zip(readings.names, row.tolist(), strict=True)) for row in side] for side in (before, after)]
    assert readings.rewards(before, after).tolist() == [description.reward(*pair) for pair in zip(*rows, strict=True)]
    assert readings.terminated(after).tolist() == [description.terminated(values) for values in rows[1]]
    assert 0 < readings.terminated(after).sum() < 200


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
def test_the_pure_functions_and_the_batch_play_the_same_episodes(autoreset):
    env, params = overclock.make("gameboy-maze")
    pure = JaxHostVector(vectorize(env, 3, autoreset), params.replace(max_steps=4), seed=5)
    batch = host_vector("gameboy-maze", 3, autoreset, seed=5, max_steps=4)
    assert isinstance(batch, GameBoyMaze)
    np.testing.assert_array_equal(batch.reset([1, None, 3]), pure.reset([1, None, 3]))
    numbers, ended = np.random.default_rng(2), 0
    for step in range(10):
        actions = numbers.integers(0, 5, 3)
        ours, theirs = batch.step(actions), pure.step(actions)
        for name in OUTPUTS:
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), err_msg=name)
        for name, values in theirs.info.items():
            np.testing.assert_array_equal(ours.info[name], values)
        ended += ours.truncated.sum()
        if step == 6:
            mask = np.array([False, True, False])
            np.testing.assert_array_equal(batch.reset(mask=mask), pure.reset(mask=mask))
    assert ended
    state = pure.get_state()
    for name, values in batch.get_state().items():
        np.testing.assert_array_equal(state[name], values, err_msg=name)


def test_a_seed_decides_the_episode_whatever_the_batch():
    wide, narrow = GameBoyMaze(5, seed=1, observation="gray"), GameBoyMaze(1, seed=2, observation="gray")
    seen = wide.reset([11, 12, 13, 14, 15]).copy()
    assert len({board.tobytes() for board in seen}) == 5
    np.testing.assert_array_equal(narrow.reset([13])[0], seen[2])
    np.testing.assert_array_equal(GameBoyMaze(5, seed=3, observation="gray").reset([11, 12, 13, 14, 15]), seen)
    # Seed 13 of a lane goes on with episodes of its own.
    assert narrow.reset()[0].tobytes() != seen[2].tobytes()


def playing_until_terminated(batch, limit=600):
    """Up to a step in which a lane is terminated."""
    numbers = np.random.default_rng(0)
    for _ in range(limit):
        out = batch.step(numbers.integers(0, batch.action_space.n, batch.num_envs))
        if out.terminated.any():
            return out
    raise AssertionError("no episode ended")


@pytest.mark.parametrize("kind", ["gray_2x2", "ram"])
def test_an_episode_that_ends_keeps_its_last_observation_and_a_new_one_begins(kind):
    batch = GameBoyPaddle(6, seed=0, max_steps=None, observation=kind)
    out = playing_until_terminated(batch)
    lane = int(np.flatnonzero(out.terminated)[0])
    assert not out.truncated.any()
    assert out.info["state"][lane] == 2
    assert out.info["lives"][lane] == 0
    assert not np.array_equal(out.obs[lane], out.final_obs[lane])
    others = ~out.terminated
    np.testing.assert_array_equal(out.obs[others], out.final_obs[others])
    assert batch.get_state()["lanes.steps"][lane] == 0
    assert (batch.get_state()["lanes.steps"][others] > 0).all()
    assert batch.step(np.zeros(6, int)).info["state"][lane] == 1


def test_a_time_limit_truncates_and_both_flags_may_come_together():
    endless = GameBoyPaddle(4, "off", seed=3, max_steps=None, observation="ram")
    actions, played = np.random.default_rng(4).integers(0, 3, (400, 4)), []
    for row in actions:
        played.append(endless.step(row).terminated.copy())
        if played[-1].any():
            break
    assert played[-1].any()
    lane, limited = (
        int(np.flatnonzero(played[-1])[0]),
        GameBoyPaddle(4, "off", seed=3, max_steps=len(played), observation="ram"),
    )
    for row in actions[: len(played)]:
        out = limited.step(row)
    assert out.truncated.all()
    assert out.terminated[lane]
    assert not out.terminated.all()


def test_states_are_saved_restored_and_cloned():
    batch, other = GameBoyMaze(3, seed=3), GameBoyMaze(3, seed=9)
    numbers = np.random.default_rng(5)
    batch.step(numbers.integers(0, 5, 3))
    saved, played = batch.get_state(), numbers.integers(0, 5, (5, 3))
    expected = [batch.step(actions).obs.copy() for actions in played]
    other.set_state(saved)
    np.testing.assert_array_equal(other.reset(mask=np.zeros(3, bool))[1].any(), True)
    for actions, obs in zip(played, expected, strict=True):
        np.testing.assert_array_equal(other.step(actions).obs, obs)
    other.clone(0, 2)
    state = other.get_state()
    for name, values in state.items():
        np.testing.assert_array_equal(values[2], values[0], err_msg=name)
    out = other.step(np.array([1, 0, 1]))
    np.testing.assert_array_equal(out.obs[2], out.obs[0])


def test_hooks_count_by_symbol_or_address_over_all_episodes():
    batch, begin = GameBoyMaze(2, seed=0, max_steps=2), game_program("maze").symbols["begin"]
    batch.hook("vblank")
    batch.hook(str(begin))
    batch.hook("vblank")
    for _ in range(2):
        batch.step(np.zeros(2, int))
    counts = batch.hook_counts()
    assert list(counts) == ["vblank", str(begin)]
    assert (counts["vblank"] >= 48).all()
    assert counts[str(begin)].tolist() == [1, 1]  # the episode that began after the second step
    for wrong in ("nowhere", "1:x", "12345", 5, []):
        with pytest.raises(UsageError, match="A hook is a symbol"):
            batch.hook(wrong)
    for wrong, sentence in (
        ("0:12345", "An address must be a whole number from 0 to 65535, got 74565."),
        ("2:4000", "A hook's bank in this cartridge must be a whole number from 0 to 1, got 2."),
    ):
        with pytest.raises(UsageError, match=sentence):
            batch.hook(wrong)
    assert len(batch.hook_counts()) == 2


def own_files(tmp_path, **symbols):
    program = game_program("paddle")
    rom, toml, names = tmp_path / "own.gb", tmp_path / "own.toml", tmp_path / "own.sym"
    rom.write_bytes(program.rom)
    places = {name: hex(program.symbols[name].address) for name in ("seed", "state", "lives", "frames")}
    toml.write_text(TOML.format(**{**places, **symbols}))
    names.write_text("\n".join(f"{symbol} {name}" for name, symbol in program.symbols.items()))
    return {"rom": str(rom), "description": str(toml), "symbols": str(names)}


def test_a_rom_of_the_users_own_is_played_as_its_description_says(tmp_path):
    batch = GameBoyVector(2, seed=0, **own_files(tmp_path, lives='"lives"'))
    assert batch.action_space.n == 2
    assert batch.max_steps is None
    assert batch.observation_space.shape == (2,)
    out = batch.step(np.array([0, 1]))
    np.testing.assert_array_equal(out.reward, [2.0, 2.0])  # half a point for each of four frames
    np.testing.assert_array_equal(out.obs, np.float32([[1 / 255, 3 / 255]] * 2))
    for _ in range(8):
        out = batch.step(np.array([0, 1]))
        if out.terminated.any():
            break
    assert out.terminated.all()
    env, params = overclock.make("gameboy-maze", **own_files(tmp_path))
    obs, _ = env.reset(jax.random.key(0), params)
    assert obs.shape == (2,)


def test_episodes_begin_with_a_state_of_the_users_own(tmp_path):
    files = own_files(tmp_path)
    first = GameBoyVector(1, seed=0, **files)
    first.step(np.array([1]))
    (tmp_path / "late.state").write_bytes(bytes(first.batch.save_state(0)))
    toml = tmp_path / "own.toml"
    reset = toml.read_text().partition("[reset]")[2].partition("[values]")[0]
    toml.write_text(toml.read_text().replace(reset, '\nstate = "late.state"\n'))
    late = GameBoyVector(2, **files)
    np.testing.assert_array_equal(
        late.get_state()["lanes.rules.console"][1], first.get_state()["lanes.rules.console"][0]
    )
    (tmp_path / "late.state").write_bytes(b"PyBoy")
    with pytest.raises(UsageError, match="not a saved state"):
        GameBoyVector(2, **files)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"rom": "no.gb"}, "needs a description"),
        ({"rom": "no.gb", "description": "no.toml"}, "The ROM no.gb cannot be read: No such file or directory."),
        ({"observation": "grey"}, "observation must be one of rgb, gray"),
        ({"max_steps": 0}, "max_steps must be a positive whole number, None or 'own', got 0."),
        ({"max_steps": "none"}, "max_steps must be"),
        ({"model": "gba"}, "model must be one of auto, dmg, cgb, got 'gba'."),
        ({"compat": "bgb"}, "compat must be one of"),
        ({"threads": 0}, "threads must be a positive whole number"),
        ({"autoreset": "never"}, "autoreset must be"),
        ({"num_envs": 0}, "num_envs must be a positive whole number, got 0."),
    ],
)
def test_wrong_options_are_one_sentence(options, sentence):
    with pytest.raises(UsageError, match=sentence) as raised:
        GameBoyMaze(**{"num_envs": 1, **options})
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda b: b.step([0, 5]), "Actions must be 0 to 4, got 0 to 5."),
        (lambda b: b.step([0]), "Actions must be 2 whole numbers"),
        (lambda b: b.step([0.5, 1]), "Actions must be 2 whole numbers"),
        (lambda b: b.reset(draws=np.array([0, 1])), "draws must be 1 to 65535, got 0 to 1."),
        (lambda b: b.reset([1]), "Got 1 seeds for 2 environments."),
        (lambda b: b.set_state({}), "it differs in ended, lanes.rules.console"),
        (lambda b: b.clone(0, 2), "There is no lane 2"),
    ],
)
def test_what_does_not_fit_is_one_sentence_and_changes_nothing(call, sentence):
    batch = GameBoyMaze(2, seed=0)
    before = batch.get_state()
    with pytest.raises(UsageError, match=sentence):
        call(batch)
    for name, values in batch.get_state().items():
        np.testing.assert_array_equal(values, before[name])


def test_gymnasium_makes_batches_and_single_games():
    gymnasium = pytest.importorskip("gymnasium")
    envs = gymnasium.make_vec("overclock/gameboy-maze-v1", num_envs=3, autoreset="same_step", max_episode_steps=3)
    obs, _ = envs.reset(seed=4)
    assert envs.observation_space.contains(obs)
    for _ in range(3):
        obs, _, terminated, truncated, info = envs.step(np.array([1, 2, 3]))
    assert truncated.all()
    assert not terminated.any()
    assert info["final_obs"].shape == obs.shape
    assert not np.array_equal(info["final_obs"], obs)
    assert (info["final_info"]["lives"] == 3).all()
    single = gymnasium.make("overclock/gameboy-maze-v1", render_mode="rgb_array", observation="ram")
    first, _ = single.reset(seed=4)
    assert single.observation_space.contains(first)
    assert single.render().shape == (144, 160, 3)
    assert single.spec.max_episode_steps == 600


def test_envpools_and_pufferlibs_interfaces_drive_the_batch():
    from overclock.adapters.envpool import EnvPool
    from overclock.adapters.pufferlib import PufferVec

    pool = EnvPool(GameBoyMaze(3, "next_step", max_steps=2), seed=6)
    _, info = pool.reset()
    assert info["env_id"].tolist() == [0, 1, 2]
    pool.step(np.zeros(3, int))
    _, _, _, truncated, info = pool.step(np.zeros(3, int))
    assert truncated.all()
    _, reward, _, truncated, info = pool.step(np.zeros(3, int))
    assert not truncated.any()
    assert not reward.any()
    assert info["elapsed_step"].tolist() == [0, 0, 0]
    puffer = PufferVec(GameBoyPaddle(3, max_steps=2), seed=6)
    puffer.reset()
    puffer.step(np.zeros(3, int))
    observations, _, _, truncations, infos = puffer.step(np.zeros(3, int))
    assert truncations.all()
    assert [one["episode_length"] for one in infos] == [2, 2, 2]
    assert not np.array_equal(puffer.final_observations, observations)


def test_a_batch_of_pure_functions_runs_inside_a_scan():
    env, params = overclock.make("gameboy-paddle")
    venv = vectorize(env, 2)
    _, state = venv.reset(jax.random.key(0), params)

    def step(state, _):
        obs, state, *_ = venv.step(state, venv.sample_actions(state, params), params)
        return state, obs

    state, seen = jax.jit(lambda state: jax.lax.scan(step, state, None, 4))(state)
    assert seen.shape == (4, 2, 6)
    assert state.lanes.steps.tolist() == [4, 4]


def test_a_recording_shows_steps_at_a_pace_that_can_be_followed(tmp_path):
    from overclock.record import record

    told = record("gameboy-maze", tmp_path / "maze.gif", steps=1, width=160)
    assert told.fps == 5
    assert (told.width, told.height) == (160, 144)


def adapted(name):
    """(first observations, a step) of three paddle games, seeds 4 to 6, behind somebody's interface."""
    if name == "gymnasium":
        pytest.importorskip("gymnasium")
        from overclock.adapters.gymnasium import GymnasiumVectorEnv

        envs = GymnasiumVectorEnv(GameBoyPaddle(3))
        return envs.reset(seed=4)[0], lambda actions: envs.step(actions)[:4]
    if name == "envpool":
        from overclock.adapters.envpool import EnvPool

        pool = EnvPool(GameBoyPaddle(3, "next_step"), seed=4)
        return pool.reset()[0], lambda actions: pool.step(actions)[:4]
    from overclock.adapters.pufferlib import PufferVec

    puffer = PufferVec(GameBoyPaddle(3), seed=4)
    return puffer.reset()[0].copy(), lambda actions: puffer.step(actions)[:4]


@pytest.mark.parametrize("name", ["gymnasium", "envpool", "pufferlib"])
def test_adapters_hand_on_what_the_batch_gives(name):
    batch = GameBoyPaddle(3, "next_step" if name == "envpool" else "same_step")
    numbers, ended = np.random.default_rng(3), 0
    first, step = adapted(name)
    np.testing.assert_array_equal(first, batch.reset([4, 5, 6]))
    for _ in range(40):
        actions = numbers.integers(0, 3, 3)
        out = batch.step(actions)
        for found, expected in zip(step(actions), (out.obs, out.reward, out.terminated, out.truncated), strict=True):
            np.testing.assert_array_equal(found, expected)
        ended += out.terminated.sum()
    assert ended


def test_files_that_changed_are_read_again(tmp_path, monkeypatch):
    """People write descriptions by trying them, in one process."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "game.gb").write_bytes(game_program("paddle").rom)
    text = (
        'name = "game"\n[actions]\nbuttons = [{}]\n[observation]\nkind = "gray"\n[values]\nlives = {{ at = 0xC005 }}\n'
    )
    (tmp_path / "game.toml").write_text(text.format('"none", "left"'))
    first = load_game(rom="game.gb", description="game.toml")
    assert load_game(rom="game.gb", description="game.toml") is first
    (tmp_path / "game.toml").write_text(text.format('"none", "left", "right", "a"'))
    assert len(load_game(rom="game.gb", description="game.toml").buttons) == 4
    (tmp_path / "game.gb").write_bytes(game_program("maze").rom)
    assert load_game(rom="game.gb", description="game.toml").rom == game_program("maze").rom
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="cannot be read"):
        load_game(rom="game.gb", description="game.toml")
