"""Evaluation counts the first N episodes of every lane, and the same seeds bring the same luck everywhere."""

import dataclasses
import math
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Countdown, CountdownParams, Rooms
from train import probes
from train.quick import quick

from overclock.env import Box, Dict, Discrete, MultiDiscrete, Params
from overclock.envs.cartpole.env import CartPole
from overclock.errors import UsageError
from overclock.train import Policy, evaluate_on_host, evaluate_policy, load_policy, save_policy
from overclock.train.networks.agent import Agent
from overclock.train.networks.network import NetworkConfig
from overclock.train.policy import space_from_json, space_to_json
from overclock.vector import host_vector, vectorize

pytestmark = pytest.mark.usefixtures("few_optimisations")

SMALL = NetworkConfig(hidden=(8,))


def untrained(env, network=SMALL, normalise=False):
    params = env.default_params()
    agent = Agent(env.observation_space(params), env.action_space(params), network, normalise)
    return Policy(agent, quick(agent.init)(jax.random.key(0)))


def assert_same_episodes(a, b):
    np.testing.assert_array_equal(a.lengths, b.lengths)
    np.testing.assert_allclose(a.returns, b.returns, rtol=1e-6)  # float32 sums, fused or not


def test_every_lane_counts_its_first_episodes_however_long_they_are():
    env = Countdown(shortest=1, spread=20)  # episodes of 1 to 20 steps
    seeds = list(range(300))
    found = evaluate_policy(untrained(env), vectorize(env, 300), seeds, episodes=4)
    assert found.lengths.shape == found.returns.shape == (300, 4)
    assert found.lengths.min() >= 1
    # Uniform over 1 ... 20: mean 10.5, standard error 0.17. Taking the first to finish would give well below 10.
    assert abs(found.lengths.mean() - 10.5) < 4 * math.sqrt(399 / 12 / 1200)
    again = evaluate_policy(untrained(env), vectorize(env, 3), seeds[:3], episodes=2)
    np.testing.assert_array_equal(again.lengths, found.lengths[:3, :2])  # neither batch nor number of episodes matters


@pytest.mark.parametrize("deterministic", [True, False])
def test_a_host_batch_with_the_same_seeds_plays_the_same_episodes(deterministic):
    env, seeds = Rooms(), [5, 6, 7, 2**40]
    policy = untrained(env, NetworkConfig("gru", (8,), memory=8))
    ours = evaluate_policy(policy, vectorize(env, 4), seeds, 3, deterministic=deterministic)
    host = evaluate_on_host(policy, host_vector(env, 4), seeds, 3, deterministic=deterministic)
    assert_same_episodes(ours, host)


def test_samples_are_repeatable_and_differ_from_the_likeliest_actions():
    env = CartPole()
    policy, venv, seeds = untrained(env), vectorize(env, 16), range(16)
    first, second = (evaluate_policy(policy, venv, seeds, 2, deterministic=False) for _ in range(2))
    assert_same_episodes(first, second)
    assert not np.array_equal(first.lengths, evaluate_policy(policy, venv, seeds, 2).lengths)
    # Two episodes of a lane are two different ones: neither start nor noise repeats.
    assert not np.array_equal(first.lengths[:, 0], first.lengths[:, 1])


@pytest.mark.parametrize("mode", ["same_step", "next_step", "off"])
def test_gymnasium_batches_agree_in_every_auto_reset_mode(mode):
    gymnasium = pytest.importorskip("gymnasium", reason="the reference is Gymnasium's CartPole")
    from overclock.adapters.gymnasium import MODES

    envs = gymnasium.vector.SyncVectorEnv([lambda: gymnasium.make("CartPole-v1")] * 3, autoreset_mode=MODES[mode])
    policy = untrained(CartPole())
    found = evaluate_on_host(policy, envs, seeds=[1, 2, 3], episodes=3)
    # By hand: one environment after the other, seeded once.
    for lane, seed in enumerate([1, 2, 3]):
        env = gymnasium.make("CartPole-v1")
        for episode in range(3):
            obs, _ = env.reset(seed=seed if episode == 0 else None)
            length, over = 0, False
            while not over:
                action = policy.act((), jnp.asarray(obs)[None], jnp.ones(1, jnp.bool_))[1]
                obs, _, terminated, truncated, _ = env.step(int(action[0]))
                length, over = length + 1, terminated or truncated
            assert found.lengths[lane, episode] == found.returns[lane, episode] == length


def test_masks_reach_the_policy_through_gymnasium():
    pytest.importorskip("gymnasium", reason="needs Gymnasium's vector environments")
    from overclock.adapters.gymnasium import make_vec

    env, seeds = Rooms(), [1, 2, 3]
    policy = untrained(env)
    for mode in ("same_step", "next_step", "off"):
        found = evaluate_on_host(policy, make_vec(env, 3, autoreset=mode), seeds, 2, deterministic=False)
        np.testing.assert_array_equal(found.returns, 7.0)  # an illegal door would have ended the episode with -1


def test_an_endless_episode_is_refused_with_a_remedy():
    env, policy = probes.Endless(), untrained(probes.Endless())
    with pytest.raises(UsageError, match=r"Lane 0 finished 0 of 1 episodes in 50 steps; raise step_limit"):
        evaluate_policy(policy, vectorize(env, 2), [1, 2], params=Params(), step_limit=50)
    host = host_vector(env, 2, params=Params())
    with pytest.raises(UsageError, match=r"Lane 0 finished 0 of 1 episodes in 50 steps"):
        evaluate_on_host(policy, host, [1, 2], step_limit=50)


def test_wrong_requests_are_one_sentence():
    env = CartPole()
    policy = untrained(env)
    with pytest.raises(UsageError, match=r"needs vectorize\(env, 3, 'same_step'\)"):
        evaluate_policy(policy, vectorize(env, 2), [1, 2, 3])
    with pytest.raises(UsageError, match="episodes must be a whole number"):
        evaluate_policy(policy, vectorize(env, 2), [1, 2], episodes=0)
    with pytest.raises(UsageError, match="policy sees observations of shape"):
        evaluate_policy(policy, vectorize(Countdown(), 2), [1, 2], params=CountdownParams(max_steps=5))
    with pytest.raises(UsageError, match="one per lane"):
        evaluate_on_host(policy, host_vector(env, 2), [1, 2, 3])


@pytest.mark.parametrize(
    "space",
    [
        Discrete(3),
        MultiDiscrete((2, 3), np.int64),
        Box(-math.inf, (1.0, math.inf), (2,)),
        Box(0, 255, (2, 2), np.uint8),
        Dict({"a": Discrete(2), "b": Dict({"c": Box(0.0, 1.0, ())})}),
    ],
)
def test_spaces_survive_json(space):
    assert space_from_json(space_to_json(space)) == space


def test_a_saved_policy_acts_the_same_and_loads_without_the_trainer(tmp_path):
    env = Rooms()
    policy = untrained(env, NetworkConfig("gru", (8,), memory=8), normalise=True)
    stats = policy.params.observations
    stats = stats.update(jnp.arange(2 * stats.mean.size, dtype=jnp.float32).reshape(2, -1))
    policy = dataclasses.replace(policy, params=policy.params.replace(observations=stats))
    save_policy(tmp_path / "policy", policy, {"env": "rooms"})
    loaded = load_policy(tmp_path / "policy")
    assert loaded.agent == policy.agent
    for a, b in zip(jax.tree.leaves(policy.params), jax.tree.leaves(loaded.params), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    script = (
        "import sys; from overclock.train import load_policy; load_policy(sys.argv[1]); "
        "assert 'optax' not in sys.modules and 'overclock.train.ppo' not in sys.modules"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "policy"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_policy_that_is_none_is_one_sentence(tmp_path):
    with pytest.raises(UsageError, match="no saved policy"):
        load_policy(tmp_path)
    save_policy(tmp_path, untrained(CartPole()))
    (tmp_path / "policy.safetensors").write_bytes(b"")
    with pytest.raises(UsageError, match="damaged"):
        load_policy(tmp_path)
    (tmp_path / "policy.json").write_text('{"schema": "overclock.policy/9"}')
    with pytest.raises(UsageError, match=r"expected 'overclock\.policy/1'"):
        load_policy(tmp_path)
    (tmp_path / "policy.json").write_text('{"schema": "overclock.policy/1"}')
    with pytest.raises(UsageError, match="not a complete policy"):
        load_policy(tmp_path)
