"""Our environments where gymnax's are expected: by hand, by gymnax's wrappers, by PureJaxRL-style PPO, by rejax."""

import copy
import subprocess
import sys

import chex
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from games import TicTacToe

from overclock.adapters.against import against
from overclock.adapters.gymnax import GymnaxV0, GymnaxV1
from overclock.adapters.gymnax_spaces import to_gymnax_space
from overclock.env import Box, Dict, Discrete, MultiDiscrete
from overclock.envs.cartpole.env import CartPole, CartPoleParams
from overclock.errors import UsageError

KEY = jax.random.key(0)
FALLING = jnp.int32(1)  # always pushing right drops the pole in about ten steps


@pytest.mark.parametrize("view", [GymnaxV0(CartPole()), GymnaxV1(CartPole())])
def test_episode_is_the_kernels_own(view):
    env, params = CartPole(), CartPoleParams()
    obs, state = view.reset(KEY, view.default_params)
    expected_obs, expected_state = env.reset(KEY, params)
    chex.assert_trees_all_equal((obs, state), (expected_obs, expected_state))
    for step in range(15):
        key = jax.random.fold_in(KEY, step)
        obs, state, reward, *_, info = view.step(key, state, FALLING, view.default_params)
        expected_obs, expected_state, expected_reward, terminated, truncated, expected = env.step(
            key, expected_state, FALLING, params
        )
        chex.assert_trees_all_equal((obs, state, reward), (expected_obs, expected_state, expected_reward))
        assert (info["terminated"], info["truncated"]) == (terminated, truncated)
        assert jnp.array_equal(info["final_observation"], expected["final_observation"])


def test_parameters_may_be_left_out_or_plain():
    view = GymnaxV0(CartPole())
    chex.assert_trees_all_equal(view.reset(KEY), view.reset(KEY, CartPoleParams()))


def end_of_episode(view, params, steps):
    """The last step of an episode of constant pushing, as returned by the view."""
    _, state = view.reset(KEY, params)
    for _ in range(steps - 1):
        _, state, *_ = view.step(KEY, state, FALLING, params)
    return view.step(KEY, state, FALLING, params)


# From rest in the middle (`UPRIGHT`), pushed right all the time, the pole falls at step 9.
UPRIGHT = {"reset_low": 0.0, "reset_high": 0.0}
ENDS = [
    pytest.param(500, 9, (True, False), id="terminated only"),
    pytest.param(5, 5, (False, True), id="truncated only"),
    pytest.param(9, 9, (True, True), id="both"),
    pytest.param(500, 4, (False, False), id="neither"),
]


@pytest.mark.parametrize(("max_steps", "steps", "flags"), ENDS)
def test_terminal_semantics(max_steps, steps, flags):
    terminated, truncated = flags
    v0, v1 = GymnaxV0(CartPole()), GymnaxV1(CartPole())
    params = v0.default_params.replace(max_steps_in_episode=max_steps, **UPRIGHT)
    obs, state, _, done, info = end_of_episode(v0, params, steps)
    assert bool(done) == (terminated or truncated)
    assert (bool(info["terminated"]), bool(info["truncated"])) == flags
    assert float(info["discount"]) == (0.0 if terminated else 1.0)
    assert (int(state.steps) == 0) == bool(done)
    assert bool(jnp.array_equal(obs, info["final_observation"])) == (not done)
    assert bool(jnp.any(info["final_observation"] != 0))

    obs, state, _, terminated_1, truncated_1, info_1 = end_of_episode(v1, params, steps)
    assert (bool(terminated_1), bool(truncated_1)) == flags
    chex.assert_trees_all_equal(info_1, info)


def test_step_env_does_not_reset():
    v0, v1 = GymnaxV0(CartPole()), GymnaxV1(CartPole())
    params = v0.default_params.replace(max_steps_in_episode=1)
    _, state = v0.reset(KEY, params)
    obs, after, _, done, info = v0.step_env(KEY, state, FALLING, params)
    assert bool(done)
    assert int(after.steps) == 1
    obs_1, after_1, _, terminated, info_1 = v1.step_env(KEY, state, FALLING, params)
    chex.assert_trees_all_equal((obs_1, after_1, info_1), (obs, after, info))
    assert not bool(terminated)  # the time limit is `is_truncated`'s, as in gymnax 1.x
    assert bool(v1.is_truncated(after_1, params))
    assert not bool(v1.is_truncated(state, params))
    assert jnp.array_equal(v1.observe(KEY, after_1, FALLING, params), v1.get_obs(after_1, params))


def test_views_of_equal_environments_share_compilations():
    assert GymnaxV0(CartPole()) == GymnaxV0(CartPole())
    assert hash(GymnaxV0(CartPole())) == hash(GymnaxV0(CartPole()))
    assert GymnaxV0(CartPole()) != GymnaxV1(CartPole())
    assert GymnaxV0(CartPole()) != GymnaxV0(CartPole(sutton_barto_reward=True))


def test_params_speak_gymnax():
    params = GymnaxV1(CartPole()).default_params
    assert isinstance(params, CartPoleParams)
    assert params.max_steps_in_episode == params.max_steps == 500
    assert params.replace(max_steps_in_episode=7, gravity=1.0).max_steps == 7
    assert copy.deepcopy(params).max_steps_in_episode == 500
    assert params.replace(max_steps=None).max_steps_in_episode > 10**9


def test_description():
    view = GymnaxV0(CartPole())
    assert (view.name, view.num_actions) == ("CartPole", 2)
    assert view.action_space().n == 2
    assert view.observation_space(view.default_params).shape == (4,)


SPACES = [
    (Discrete(5), 5),
    (MultiDiscrete((2, 3)), np.array([2, 0])),
    (Box(-1.0, np.inf, (2, 2)), np.full((2, 2), -2.0)),
    (Dict({"a": Discrete(2), "b": Box(0, 1, (3,))}), {"a": 1, "b": np.full(3, 2.0)}),
]


@pytest.mark.parametrize(("space", "outside"), SPACES)
def test_spaces_sample_and_contain_under_jit(space, outside):
    view = to_gymnax_space(space)
    sample = jax.jit(view.sample)(KEY)
    assert space.contains(jax.tree.map(np.asarray, sample))
    assert bool(jax.jit(view.contains)(sample))
    assert not bool(jax.jit(view.contains)(outside))


def test_works_without_gymnax():
    program = """
import sys; sys.modules["gymnax"] = None
import jax
from overclock.adapters.gymnax import GymnaxV0
from overclock.envs.cartpole.env import CartPole
view = GymnaxV0(CartPole())
obs, state = view.reset(jax.random.key(0))
space = view.action_space()
assert space.n == 2 and len(view.step(jax.random.key(1), state, space.sample(jax.random.key(2)))) == 5
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_games_need_an_opponent_first():
    with pytest.raises(UsageError, match="against"):
        GymnaxV1(TicTacToe())
    view = GymnaxV1(against(TicTacToe()))
    _, state = view.reset(KEY)
    assert view.action_mask(state).shape == (9,)
    assert view.num_actions == 9


def test_gymnax_wrappers_accept_the_six_value_view():
    wrappers = pytest.importorskip("gymnax.wrappers", reason="gymnax is not installed")
    view = GymnaxV1(CartPole())
    params = view.default_params.replace(max_steps_in_episode=5)

    log = wrappers.LogWrapper(view)
    _, state = log.reset(KEY, params)
    for _ in range(7):
        _, state, _, _, truncated, info = log.step(KEY, state, FALLING, params)
        if truncated:
            assert (int(info["returned_episode_lengths"]), float(info["returned_episode_returns"])) == (5, 5.0)
    assert int(state.episode_lengths) == 2

    sticky = wrappers.StickyActionWrapper(wrappers.FlattenObservationWrapper(view), 0.5)
    _, state = sticky.reset(KEY, params)
    assert len(sticky.step(KEY, state, FALLING, params)) == 6

    dm_env = wrappers.GymnaxToDmEnvWrapper(view)
    timestep = dm_env.reset(KEY, params)
    for _ in range(5):
        timestep = dm_env.step(KEY, timestep, FALLING, params)
    assert float(timestep.discount) == 1.0  # cut off, not terminated
    assert not jnp.array_equal(timestep.observation, timestep.final_observation)

    legacy = wrappers.LegacyStepAPIWrapper(view)
    chex.assert_trees_all_equal(
        legacy.step(KEY, legacy.reset(KEY, params)[1], FALLING, params),
        GymnaxV0(CartPole()).step(KEY, view.reset(KEY, params)[1], FALLING, params),
    )


def test_gymnax_makes_gymnasium_environments_of_it():
    wrappers = pytest.importorskip("gymnax.wrappers", reason="gymnax is not installed")
    single = wrappers.GymnaxToGymWrapper(GymnaxV1(CartPole()))
    obs, _ = single.reset(seed=3)
    assert single.observation_space.contains(np.asarray(obs))
    assert len(single.step(single.action_space.sample())) == 5
    vector = wrappers.GymnaxToVectorGymWrapper(GymnaxV1(CartPole()), num_envs=3)
    obs, _ = vector.reset(seed=3)
    assert obs.shape == (3, 4)
    assert vector.step(vector.action_space.sample())[1].shape == (3,)


@pytest.mark.long
@pytest.mark.parametrize(("view", "values"), [(GymnaxV0, 5), (GymnaxV1, 6)])
def test_purejaxrl_style_ppo_trains(view, values):
    pytest.importorskip("flax", reason="flax and optax are the extra 'train'")
    from purejaxrl import Config, make_train

    env = view(CartPole())
    params = env.default_params.replace(max_steps_in_episode=40)
    config = Config(values_per_step=values)
    _, metrics = jax.jit(make_train(config, env, params))(KEY)
    assert np.all(np.isfinite(metrics["loss"]))
    ended = np.asarray(metrics["returned_episode"])
    assert ended.shape == (config.num_updates, config.num_steps, config.num_envs)
    lengths = np.asarray(metrics["returned_episode_length"])[ended]
    assert len(lengths) > 0
    assert lengths.max() <= 40
    assert np.array_equal(lengths, np.asarray(metrics["returned_episode_return"])[ended])  # reward 1 a step
    assert len(set(lengths.tolist())) > 1  # start states and actions differ between lanes


def rejax_ppo(env, params):
    rejax = pytest.importorskip("rejax", reason="rejax is not installed")
    return rejax.PPO.create(
        env=env,
        env_params=params,
        total_timesteps=512,
        eval_freq=512,
        num_envs=8,
        num_steps=16,
        num_minibatches=4,
        num_epochs=1,
        skip_initial_evaluation=True,
        agent_kwargs={"hidden_layer_sizes": (16,)},
    )


@pytest.mark.long
def test_rejax_trains_on_the_five_value_view():
    view = GymnaxV0(CartPole())
    algorithm = rejax_ppo(view, view.default_params.replace(max_steps_in_episode=60))
    train_state, (lengths, returns) = jax.jit(algorithm.train)(KEY)
    assert int(train_state.global_step) == 512
    assert lengths.shape == (1, 128)
    assert np.array_equal(lengths, returns)  # reward 1 a step
    assert 8 <= lengths.min() < lengths.max() <= 60
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(train_state.actor_ts.params))


def test_rejax_itself_does_not_take_six_values():
    """rejax 0.1.3 unpacks five values: gymnax 1.x's own environments fail in it, and the 0.x view is the one to use."""
    gymnax = pytest.importorskip("gymnax", reason="gymnax is not installed")
    algorithm = rejax_ppo(*gymnax.make("CartPole-v1"))
    with pytest.raises(ValueError, match="too many values to unpack"):
        jax.eval_shape(algorithm.train, KEY)
