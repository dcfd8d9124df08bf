"""The Rust CartPole follows the JAX one: same random words and first states, same episodes within float32 rounding."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from overclock.env import Rng, Section
from overclock.envs.cartpole.env import CartPole, CartPoleParams
from overclock.envs.cartpole.native import NativeCartPole
from overclock.vector import HostStep, JaxHostVector, vectorize

overclock_native = pytest.importorskip("overclock_native", reason="overclock-native is not built; run `make native`")

MODES = ("same_step", "next_step", "off")
LANES = 64
SEED = 20
MAX_STEPS = 30  # so that random episodes end in both ways

# A pole on a cart falls away from an equal one exponentially, at sqrt(g / (l (4/3 - m/M))) per second of 0.02 s steps.
GROWTH = 0.02 * math.sqrt(9.8 / (0.5 * (4 / 3 - 0.1 / 1.1)))
X_LIMIT, THETA_LIMIT = 2.4, 12 * 2 * math.pi / 360


def pair(autoreset, seed=SEED, lanes=LANES, max_steps=MAX_STEPS, sutton_barto_reward=False):
    """The same batch in JAX and in Rust."""
    venv = vectorize(CartPole(sutton_barto_reward), lanes, autoreset)
    return (
        JaxHostVector(venv, CartPoleParams(max_steps=max_steps), seed),
        NativeCartPole(lanes, autoreset, seed, sutton_barto_reward, max_steps),
    )


def random_actions(steps, lanes=LANES):
    return np.random.default_rng(5).integers(0, 2, (steps, lanes), np.int32)


def copy_state(jax_batch, native):
    """Put the Rust batch exactly where the JAX batch is."""
    state = jax_batch.get_state()
    native.set_state({name: state[name] for name in native.get_state()})


def one_step_tolerance(obs):
    """How far one step from an equal state may end from `obs`, per entry.

    XLA may contract `a * b + c` into one rounding and computes sine and cosine itself, so a result may be a neighbour
    of Rust's; two neighbours are allowed. Below 1 the entries keep the spacing of 1, because what is added in a step
    (up to 0.4) and the terms it is made of (up to 20, times 0.02) are rounded at their own size.
    """
    return 2 * np.spacing(np.maximum(np.abs(obs), np.float32(1)))


def assert_close(ours, theirs):
    excess = np.abs(ours.astype(np.float64) - theirs) - one_step_tolerance(theirs)
    assert np.all(excess <= 0), f"an entry is {excess.max():.1e} beyond its tolerance"


def near_a_limit(obs, tolerance):
    """Lanes whose next flag may honestly differ: the two results lie on both sides of a limit."""
    x, theta = np.abs(obs[:, 0].astype(np.float64)), np.abs(obs[:, 2].astype(np.float64))
    return (np.abs(x - X_LIMIT) <= tolerance) | (np.abs(theta - THETA_LIMIT) <= tolerance)


def differing(ours: HostStep, theirs: HostStep):
    """Lanes with another reward or flag."""
    return (
        (ours.reward != theirs.reward)
        | (ours.terminated != theirs.terminated)
        | (ours.truncated != theirs.truncated)
    )  # fmt: skip


def test_random_words_are_those_of_python():
    numbers = np.random.default_rng(0)
    for section in Section:
        for half in (0, 1):
            for _ in range(10):
                seed = int(numbers.integers(0, 2**64, dtype=np.uint64))
                counter, site = int(numbers.integers(0, 2**32)), int(numbers.integers(0, 2**19 - 50))
                rng = Rng.of(seed).replace(counter=jnp.uint32(counter)).of_section(section)
                expected = np.asarray(rng.words(site, (50,), half))
                words = overclock_native.rng_words(seed, counter, int(section), site, 50, half)
                np.testing.assert_array_equal(words, expected)


@pytest.mark.parametrize("width", [8, 15, 16, 24, 31, 32])
def test_random_words_are_those_of_python_beyond_every_width_of_a_counter(width):
    for by in (-2, -1, 0, 1):
        counter = (2**width + by) % 2**32
        expected = np.asarray(Rng.of(5).replace(counter=jnp.uint32(counter)).words(0, (8,)))
        np.testing.assert_array_equal(overclock_native.rng_words(5, counter, 0, 0, 8), expected)


@pytest.mark.parametrize("width", [8, 16, 24, 31, 32])
def test_a_batch_draws_on_beyond_every_width_of_its_counter(width):
    """Resets of the batch draw at the next events: their first states are those of the JAX batch."""
    jax_batch, native = pair("same_step", lanes=4)
    state = jax_batch.get_state()
    (name,) = (name for name in state if name.endswith("counter"))
    state = {**state, name: np.full_like(state[name], 2**width - 3)}
    jax_batch.set_state(state)
    native.set_state({field: state[field] for field in native.get_state()})
    seen = []
    for _ in range(6):
        native.reset(mask=np.ones(4, np.bool_))
        jax_batch.reset(mask=np.ones(4, np.bool_))
        ours, theirs = native.get_state(), jax_batch.get_state()
        for field, array in ours.items():
            np.testing.assert_array_equal(array, theirs[field], err_msg=field)
        seen.append(ours[name].tolist())
    assert len({tuple(row) for row in seen}) == 6


@pytest.mark.parametrize("seed", [0, -1, 2**64 - 1, 2**70 + 3])
def test_any_integer_is_the_seed_that_it_is_in_python(seed):
    words = overclock_native.rng_words(seed, 0, 0, 0, 4)
    np.testing.assert_array_equal(words, np.asarray(Rng.of(seed).words(0, (4,))))


@pytest.mark.parametrize("seed", [0, 7, 2**40 + 1])
def test_first_states_and_streams_are_bit_equal(seed):
    jax_batch, native = pair("same_step", seed, lanes=1000)
    jax_state = jax_batch.get_state()
    for name, array in native.get_state().items():
        np.testing.assert_array_equal(array, jax_state[name], err_msg=name)
        assert array.dtype == jax_state[name].dtype
    np.testing.assert_array_equal(native.reset(), jax_batch.reset())


def test_seeds_and_masks_restart_the_same_lanes_with_the_same_streams():
    jax_batch, native = pair("off", lanes=6)
    seeds, mask = [3, None, 2**63, 5, None, 3], np.array([True, True, True, False, False, True])
    for arguments in ({"seeds": seeds}, {"mask": mask}, {"seeds": seeds, "mask": mask}, {}):
        np.testing.assert_array_equal(native.reset(**arguments), jax_batch.reset(**arguments), err_msg=str(arguments))
    jax_state = jax_batch.get_state()
    for name, array in native.get_state().items():
        np.testing.assert_array_equal(array, jax_state[name], err_msg=name)


@pytest.mark.parametrize("sutton_barto_reward", [False, True])
@pytest.mark.parametrize("autoreset", MODES)
def test_every_step_from_an_equal_state_agrees(autoreset, sutton_barto_reward):
    jax_batch, native = pair(autoreset, sutton_barto_reward=sutton_barto_reward)
    uncertain = terminations = truncations = 0
    for event, actions in enumerate(random_actions(120)):
        copy_state(jax_batch, native)
        restarting = native.get_state()["ended"] if autoreset == "next_step" else np.zeros(LANES, bool)
        theirs, ours = jax_batch.step(actions), native.step(actions)
        assert_close(ours.final_obs, theirs.final_obs)
        near = near_a_limit(theirs.final_obs, one_step_tolerance(theirs.final_obs).max(axis=1))
        assert not np.any(differing(ours, theirs) & ~near)
        if autoreset == "same_step":
            restarting = (theirs.terminated | theirs.truncated) & ~near
        np.testing.assert_array_equal(ours.obs[restarting], theirs.obs[restarting])
        elsewhere = ~restarting & ~near
        assert_close(ours.obs[elsewhere], theirs.obs[elsewhere])
        jax_state, native_state = jax_batch.get_state(), native.get_state()
        for name in ("rng.k0", "rng.k1", "rng.counter"):
            np.testing.assert_array_equal(native_state[name], jax_state[name])
        for name in ("lanes.steps", "ended"):
            np.testing.assert_array_equal(native_state[name][~near], jax_state[name][~near])
        uncertain += near.sum()
        terminations += theirs.terminated.sum()
        truncations += theirs.truncated.sum()
        if autoreset == "off" and event % 8 == 7:
            mask = jax_state["ended"]
            native_obs, jax_obs = native.reset(mask=mask), jax_batch.reset(mask=mask)
            np.testing.assert_array_equal(native_obs[mask], jax_obs[mask])
    assert terminations > 50
    assert truncations > 20
    assert uncertain <= 2  # of 7,680: the flags of practically every step were compared


@pytest.mark.parametrize("autoreset", MODES)
def test_whole_runs_follow_the_same_episodes(autoreset):
    jax_batch, native = pair(autoreset)
    together = np.ones(LANES, bool)  # lanes that no limit has separated
    steps, ends = np.zeros(LANES), 0
    for event, actions in enumerate(random_actions(200)):
        restarting = jax_batch.get_state()["ended"] if autoreset == "next_step" else np.zeros(LANES, bool)
        theirs, ours = jax_batch.step(actions), native.step(actions)
        steps = np.where(restarting, 0, steps + 1)
        # Every step so far may have added an error, which has grown since; first states are equal.
        tolerance = one_step_tolerance(theirs.final_obs).max(axis=1) * np.expm1(GROWTH * steps) / GROWTH
        distance = np.abs(ours.final_obs - theirs.final_obs).max(axis=1)
        assert np.all(distance[together] <= tolerance[together])
        split = differing(ours, theirs) & together
        assert np.all(near_a_limit(theirs.final_obs, tolerance)[split])
        together &= ~split
        over = theirs.terminated | theirs.truncated
        ends += over[together].sum()
        if autoreset == "same_step":
            np.testing.assert_array_equal(ours.obs[over & together], theirs.obs[over & together])
            steps = np.where(over, 0, steps)
        elif autoreset == "off" and event % 8 == 7:
            mask = jax_batch.get_state()["ended"]
            native_obs, jax_obs = native.reset(mask=mask), jax_batch.reset(mask=mask)
            np.testing.assert_array_equal(native_obs[mask], jax_obs[mask])
            steps = np.where(mask, 0, steps)
    assert ends > 300
    assert together.sum() >= LANES - 2  # a lane separates only by ending within `tolerance` of a limit


def test_an_episode_is_truncated_after_500_steps_and_never_without_a_limit():
    for max_steps, expected in ((500, [False, True]), (None, [False, False])):
        native = NativeCartPole(2, "off", seed=0, max_steps=max_steps)
        native.set_state({**native.get_state(), "lanes.steps": np.array([498, 499], np.int32)})
        np.testing.assert_array_equal(native.step([0, 1]).truncated, expected)
