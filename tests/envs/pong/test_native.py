"""The Rust Pong follows the JAX one, and PufferLib's C, bit for bit."""

import jax
import numpy as np
import pytest

from overclock.env.spaces import structure
from overclock.envs.pong.env import Pong, PongParams
from overclock.envs.pong.native import NativePong
from overclock.errors import MissingError, UsageError
from overclock.vector import JaxHostVector, host_vector, vectorize

pytest.importorskip("overclock_native", reason="overclock-native is not built; run `make native`")

MODES = ("same_step", "next_step", "off")
VARIANTS = ((1, False), (8, False), (1, True), (8, True), (3, True))  # frameskip, continuous
LANES = 24  # a block and a half
SEED = 20
RULES = "lanes.rules."


def pair(autoreset="same_step", frameskip=1, continuous=False, max_steps=None, lanes=LANES):
    """The same batch in JAX and in Rust."""
    venv = vectorize(Pong(frameskip, continuous), lanes, autoreset)
    return (
        JaxHostVector(venv, PongParams(max_steps=max_steps), SEED),
        NativePong(lanes, autoreset, SEED, frameskip, continuous, max_steps),
    )


def random_actions(steps, continuous, lanes=LANES, seed=5):
    numbers = np.random.default_rng(seed)
    if continuous:  # beyond the bounds too: both sides limit them
        return numbers.uniform(-1.3, 1.3, (steps, lanes, 1)).astype(np.float32)
    return numbers.integers(0, 3, (steps, lanes), np.int32)


def late(jax_batch, native):
    """Put both near the end of their games: a player leads here and there, and balls are at any place."""
    numbers, state = np.random.default_rng(1), jax_batch.get_state()
    for name, low, high in (("score_l", 15, 21), ("score_r", 15, 21), ("ball_y", 0, 600), ("ball_vy", -13, 14)):
        like = state[RULES + name]
        state[RULES + name] = numbers.integers(low, high, like.shape).astype(like.dtype)
    jax_batch.set_state(state)
    native.set_state({name: state[name] for name in native.get_state()})


def assert_same_steps(ours, theirs):
    for name in ("obs", "reward", "terminated", "truncated", "final_obs"):
        left, right = getattr(ours, name), getattr(theirs, name)
        assert left.dtype == right.dtype
        np.testing.assert_array_equal(left, right, err_msg=name)


def assert_same_states(native, jax_batch):
    jax_state = jax_batch.get_state()
    for name, array in native.get_state().items():
        np.testing.assert_array_equal(array, jax_state[name], err_msg=name)
        assert array.dtype == jax_state[name].dtype


@pytest.mark.parametrize(
    ("autoreset", "frameskip", "continuous"),
    # Every mode, frameskip and kind of action; not every combination, because XLA takes seconds to compile each.
    [("same_step", 1, False), ("same_step", 8, False), ("next_step", 1, True), ("off", 3, True), ("off", 8, True)],
)
def test_whole_runs_are_bit_equal(autoreset, frameskip, continuous):
    jax_batch, native = pair(autoreset, frameskip, continuous, max_steps=300 // frameskip)
    assert_same_states(native, jax_batch)
    late(jax_batch, native)
    hits = points = terminations = truncations = 0
    for event, actions in enumerate(random_actions(700 if frameskip == 1 else 250, continuous)):
        theirs, ours = jax_batch.step(actions), native.step(actions)
        assert_same_steps(ours, theirs)
        hits += (ours.reward == np.float32(0.1)).sum()
        points += (np.abs(ours.reward) == 1).sum()
        terminations += ours.terminated.sum()
        truncations += ours.truncated.sum()
        if autoreset == "off" and event % 64 == 63:
            mask = native.get_state()["ended"]
            np.testing.assert_array_equal(native.reset(mask=mask), jax_batch.reset(mask=mask))
        if event % 100 == 99:
            assert_same_states(native, jax_batch)
    assert hits > 20
    assert points > 100
    assert terminations > 10
    assert truncations > 10


def test_a_step_from_where_ball_and_paddles_just_touch_is_bit_equal():
    lanes, numbers = 4096, np.random.default_rng(3)
    jax_batch, native = pair("off", lanes=lanes)
    state = jax_batch.get_state()

    def put(name, values):
        state[RULES + name] = values.astype(state[RULES + name].dtype)

    y, vy = numbers.integers(-5, 615, lanes), numbers.integers(-13, 14, lanes)
    # Paddles whose lower or upper edge will be at most a pixel from where the ball's upper or lower one will be.
    beside = numbers.choice([32, -70], (2, lanes)) + numbers.integers(-1, 2, (2, lanes))
    left = numbers.random(lanes) < 0.5
    put("ball_x", np.where(left, 10, 458) + numbers.integers(-2, 3, lanes))
    put("ball_y", y)
    put("ball_vx", np.where(left, -10, 10))
    put("ball_vy", vy)
    put("paddle_yl", np.clip(y + vy + beside[0] + 8 * np.sign(beside[0]), -35, 605))
    put("paddle_yr", np.clip(y + vy + beside[1], -35, 605))
    jax_batch.set_state(state)
    native.set_state({name: state[name] for name in native.get_state()})
    actions = np.zeros(lanes, np.int32)
    theirs, ours = jax_batch.step(actions), native.step(actions)
    assert_same_steps(ours, theirs)
    assert_same_states(native, jax_batch)
    for reward in (1, -1, np.float32(0.1), 0):
        assert (ours.reward == reward).sum() > lanes // 20


@pytest.mark.parametrize(("frameskip", "continuous"), [(8, False), (1, True)])
def test_random_play_is_that_of_the_jax_batch(frameskip, continuous):
    jax_batch, native = pair("same_step", frameskip, continuous, max_steps=90)
    late(jax_batch, native)
    sample, rewards, episodes = jax.jit(jax_batch.venv.sample_actions), 0.0, 0
    for _ in range(200):
        theirs = jax_batch.step(sample(jax_batch.state, jax_batch.params))
        rewards += theirs.reward.astype(np.float64).sum()
        episodes += (theirs.terminated | theirs.truncated).sum()
    # Rewards have 24 bits, so that sums of a few thousand are exact in float64, in any order.
    assert native.play(200) == (rewards, episodes)
    assert episodes > LANES
    assert_same_states(native, jax_batch)
    np.testing.assert_array_equal(native.reset(mask=np.zeros(LANES, bool)), theirs.obs)


@pytest.mark.parametrize("autoreset", MODES)
def test_given_serves_replace_the_streams_and_nothing_else(autoreset):
    numbers = np.random.default_rng(2)
    left, right = (NativePong(LANES, autoreset, seed, frameskip=8, max_steps=60) for seed in (1, 2))
    first = numbers.integers(0, 2, LANES)
    np.testing.assert_array_equal(left.reset(draws=first), right.reset(draws=first))
    np.testing.assert_array_equal(left.get_state()[RULES + "ball_vy"], first - 1)
    served = np.zeros(2, int)
    for actions in random_actions(150, continuous=False):
        starts, serves = numbers.integers(0, 2, (2, LANES))
        restarted = left.get_state()["ended"] if autoreset == "next_step" else np.zeros(LANES, bool)
        ours, theirs = (batch.step(actions, draws=starts, step_draws=serves) for batch in (left, right))
        assert_same_steps(ours, theirs)
        state = left.get_state()
        if autoreset == "same_step":
            restarted = ours.terminated | ours.truncated
        point = (np.abs(ours.reward) == 1) & ~ours.terminated & ~restarted
        np.testing.assert_array_equal(state[RULES + "ball_vy"][point], serves[point] - 1)
        np.testing.assert_array_equal(state[RULES + "ball_vy"][restarted], starts[restarted] - 1)
        served += [point.sum(), restarted.sum()]
    assert served[0] > 100
    assert served[1] > LANES or autoreset == "off"
    assert not np.array_equal(left.get_state()["rng.k0"], right.get_state()["rng.k0"])


def test_states_are_saved_restored_and_cloned():
    batch, other = NativePong(LANES, seed=3, frameskip=8), NativePong(LANES, seed=4, frameskip=8)
    batch.play(50)
    saved = batch.get_state()
    expected = batch.play(100)
    other.set_state(saved)
    assert other.play(100) == expected
    for name, array in batch.get_state().items():
        np.testing.assert_array_equal(other.get_state()[name], array, err_msg=name)
    other.clone(2, LANES - 1)
    other.play(300)
    assert all(array[2] == array[LANES - 1] for array in other.get_state().values())


def test_host_vector_gives_the_rust_batch_with_the_spaces_of_the_jax_one():
    for continuous in (False, True):
        options = {"frameskip": 8, "continuous": continuous}
        native = host_vector("pong", LANES, "next_step", seed=4, backend="native", **options)
        assert isinstance(native, NativePong)
        jax_batch = host_vector("pong", LANES, "next_step", seed=4, **options)
        for name in ("num_envs", "num_players", "autoreset", "observation_space", "action_space", "max_steps"):
            assert getattr(native, name) == getattr(jax_batch, name)
        obs, expected = native.reset(), structure(native.observation_space, (LANES,))
        assert (obs.shape, obs.dtype) == (expected.shape, expected.dtype)


NAN = np.where(np.arange(LANES) == 3, np.nan, 0).reshape(LANES, 1)


@pytest.mark.parametrize(
    ("continuous", "call", "sentence"),
    [
        (False, lambda b: b.step([0] * (LANES - 1) + [3]), "Actions must be 0 to 2, got 3 in lane 23."),
        (False, lambda b: b.step(np.zeros((LANES, 1), np.int32)), r"Actions must have shape \(24,\), got \(24, 1\)."),
        (True, lambda b: b.step(np.zeros(LANES, np.float32)), r"Actions must have shape \(24, 1\), got \(24,\)."),
        (True, lambda b: b.step(NAN), "Actions must be numbers, got nan in lane 3."),
        (False, lambda b: b.step([0] * LANES, draws=[2] * LANES), "draws must be 0 to 1, got 2 in lane 0."),
        (False, lambda b: b.step([0] * LANES, step_draws=[0.5] * LANES), "step_draws must be whole numbers, got"),
        (False, lambda b: b.reset(draws=[1]), r"draws must have shape \(24,\), got \(1,\)."),
        (False, lambda b: b.set_state({}), "it differs in ended, lanes.rules.ball_vx"),
        (False, lambda b: b.play(0), "steps must be a positive whole number, got 0."),
    ],
)
def test_what_does_not_fit_is_one_sentence_and_changes_nothing(continuous, call, sentence):
    batch = NativePong(LANES, seed=0, continuous=continuous)
    before = batch.get_state()
    with pytest.raises(UsageError, match=sentence) as raised:
        call(batch)
    assert "\n" not in str(raised.value)
    for name, array in batch.get_state().items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize("options", [{"frameskip": 0}, {"max_steps": 0}])
def test_wrong_options_are_one_sentence(options):
    with pytest.raises(UsageError, match=next(iter(options))):
        NativePong(1, **options)


@pytest.mark.long
@pytest.mark.parametrize(("frameskip", "continuous"), VARIANTS)
def test_every_step_is_that_of_pufferlibs_c(frameskip, continuous):
    from overclock.envs.pong.library import STATE, Lanes

    lanes, steps = 1024, 4000
    try:
        reference = Lanes(lanes, frameskip, continuous)
    except MissingError as missing:
        pytest.skip(str(missing))
    native, numbers = NativePong(lanes, "off", 0, frameskip, continuous), np.random.default_rng(7)
    serves = numbers.integers(0, 2, lanes)
    native.reset(draws=serves)
    for lane in range(lanes):
        reference.reset(lane, int(serves[lane]))
    games = 0
    for actions in random_actions(steps, continuous, lanes):
        serves = numbers.integers(0, 2, lanes)
        ours = native.step(actions, step_draws=serves)
        reference.step_all(np.clip(actions, -1, 1) if continuous else actions, serves)
        theirs = reference.get()
        np.testing.assert_array_equal(ours.obs, theirs["obs"])
        np.testing.assert_array_equal(ours.reward, theirs["reward"])
        np.testing.assert_array_equal(ours.terminated, theirs["terminal"] != 0)
        state = native.get_state()
        for name in STATE:
            np.testing.assert_array_equal(state[RULES + name], theirs[name], err_msg=name)
        if ours.terminated.any():
            native.reset(mask=ours.terminated, draws=serves)
            for lane in np.flatnonzero(theirs["terminal"]):
                reference.reset(int(lane), int(serves[lane]))
            games += ours.terminated.sum()
    assert games > lanes
