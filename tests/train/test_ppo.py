"""The pieces of an update, each against a slow and obvious version of itself."""

import dataclasses
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Duel, Rooms
from train import probes
from train.quick import quick

from overclock.env import Box, Discrete, Rng
from overclock.errors import UsageError
from overclock.train import PPOConfig, make_train
from overclock.train.networks.agent import Agent, RunningStats
from overclock.train.networks.network import NetworkConfig
from overclock.train.ppo import Batch, Experience, Learner, gae, judge, loss, make_optimizer, scale_rewards

pytestmark = pytest.mark.usefixtures("few_optimisations")

TINY = PPOConfig(
    total_steps=64, num_envs=8, num_steps=8, num_minibatches=1, num_epochs=1, hidden=(8,), memory=8, learning_rate=1e-2
)


def test_advantages_cut_at_every_end_and_bootstrap_unless_terminated():
    random = np.random.default_rng(0)
    time, lanes, gamma, lam = 12, 6, 0.97, 0.8
    reward, value, next_value = random.normal(size=(3, time, lanes)).astype(np.float32)
    terminated, truncated = random.random((2, time, lanes)) < 0.2
    expected = np.zeros((time, lanes))
    for lane in range(lanes):
        for t in range(time):  # the definition: a discounted sum of surprises up to the end of the episode
            for k in range(t, time):
                ahead = 0.0 if terminated[k, lane] else next_value[k, lane]
                surprise = reward[k, lane] + gamma * ahead - value[k, lane]
                expected[t, lane] += (gamma * lam) ** (k - t) * surprise
                if terminated[k, lane] or truncated[k, lane]:
                    break
    ours = gae(*(jnp.asarray(a) for a in (reward, value, next_value, terminated, truncated)), gamma, lam)
    np.testing.assert_allclose(ours, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("network", ["mlp", "gru"])
def test_a_step_is_worth_what_the_critic_thinks_of_its_outcome(network):
    """The short way gives what asking the critic about every single outcome gives, however episodes end."""
    time, lanes = 9, 7
    agent = Agent(Box(-1.0, 1.0, (2,)), Discrete(2), NetworkConfig(network, (8,), memory=8))
    params = quick(agent.init)(jax.random.key(0))
    random = np.random.default_rng(0)
    terminated, truncated = random.random((2, time, lanes)) < 0.3  # several cuts in one lane, some at the last step
    assert (truncated & ~terminated)[:-1].sum(axis=0).max() > 1
    start = np.concatenate([random.random((1, lanes)) < 0.5, (terminated | truncated)[:-1]])
    obs = random.normal(size=(time + 1, lanes, 2)).astype(np.float32)
    ended = (terminated | truncated)[..., None]
    final_obs = np.where(ended, random.normal(size=(time, lanes, 2)), obs[1:]).astype(np.float32)
    first = jax.tree.map(lambda leaf: leaf + 0.3, agent.first_memory(lanes))
    experience = Experience(
        obs[:-1], jnp.asarray(start), None, None, None, None, jnp.asarray(terminated), jnp.asarray(truncated), final_obs
    )
    value, next_value, last = quick(lambda e: judge(agent, params, first, first, e))(experience)
    memory = first["critic"] if agent.recurrent else ()
    critic, worth = quick(agent.critic), quick(agent.value)
    for t in range(time):
        after, expected = critic(params, memory, obs[t][None], start[t][None])
        np.testing.assert_allclose(value[t], expected[0], rtol=1e-5, atol=1e-6)
        memory = after[0] if agent.recurrent else ()
        outcome = worth(params, memory, final_obs[t], jnp.zeros(lanes, jnp.bool_))
        asked = ~terminated[t]
        np.testing.assert_allclose(next_value[t][asked], outcome[asked], rtol=1e-5, atol=1e-6)
    if agent.recurrent:
        np.testing.assert_allclose(last["critic"], memory, rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(last["actor"], first["actor"])


@pytest.mark.parametrize(("env", "network"), [(Rooms(), "gru"), (probes.Aim(), "mlp")])
def test_before_the_first_gradient_step_old_and_new_policy_are_the_same(env, network):
    """Whatever the loss replays gives the rollout's numbers: masks, memories, statistics, unclipped actions."""
    config = dataclasses.replace(TINY, network=network, total_steps=128, normalise_observations=True)
    trainer = make_train(env, None, config)
    update = quick(trainer.update)
    state, first = update(quick(trainer.init)(jax.random.key(0)))
    _, second = update(state)  # begins in the middle of episodes, with memories of the first rollout
    for metrics in (first, second):
        assert abs(float(metrics["kl"])) < 1e-6  # rounding: a sequence is computed in another order than step by step
        assert float(metrics["clipped"]) == 0


def test_memory_is_wiped_where_an_episode_starts_and_only_there():
    agent = Agent(Box(-1.0, 1.0, (1,)), Discrete(2), NetworkConfig("gru", (8,), memory=8))
    params = quick(agent.init)(jax.random.key(0))
    features = jnp.asarray([0.3, -0.7, 0.9])[:, None, None]
    never = jnp.zeros((3, 1), jnp.bool_)
    blank = agent.first_memory(1)["actor"]
    actor = quick(agent.actor)
    _, kept = actor(params, blank + 0.5, features, never)
    _, wiped = actor(params, blank + 0.5, features, never.at[1].set(True))
    _, fresh = actor(params, blank, features[1:], never[1:])
    np.testing.assert_array_equal(wiped[0], kept[0])
    np.testing.assert_allclose(wiped[1:], fresh, rtol=1e-5, atol=1e-7)
    assert not np.allclose(wiped[1:], kept[1:], rtol=1e-3)


def test_the_loss_is_ppos():
    config = dataclasses.replace(TINY, normalise_advantages=False, clip_value=True, entropy_coefficient=0.1)
    trainer = make_train(probes.ActionReward(), None, config)
    params = quick(trainer.init)(jax.random.key(0)).learner.params
    start = jnp.ones((1, 4), jnp.bool_)
    _, outputs = trainer.agent.actor(params, (), jnp.zeros((1, 4, 1)), start)
    _, value = trainer.agent.critic(params, (), jnp.zeros((1, 4, 1)), start)
    log_p, v = np.asarray(jax.nn.log_softmax(outputs))[0, 0], np.asarray(value)[0, 0]
    ratio, advantage = np.array([1.5, 1.5, 0.5, 0.9]), np.array([1.0, -1.0, -1.0, 2.0])
    old_value, target = v + np.array([0.0, 0.5, -0.5, 0.1]), v + np.array([1.0, 0.0, 0.3, -0.2])
    action = np.array([0, 1, 0, 1])
    batch = Batch(
        obs=jnp.zeros((1, 4, 1)), start=start, mask=None, action=jnp.asarray(action)[None],
        log_prob=jnp.asarray(log_p[action] - np.log(ratio))[None], value=jnp.asarray(old_value)[None],
        advantage=jnp.asarray(advantage)[None], target=jnp.asarray(target)[None], memory=(),
    )  # fmt: skip
    total, metrics = loss(params.weights, trainer.agent, config, params, batch)
    # Clipped at 1.2 when that is worse for the objective, left alone when not.
    objective = np.array([1.2 * 1.0, 1.5 * -1.0, 0.8 * -1.0, 0.9 * 2.0])
    near = old_value + np.clip(v - old_value, -0.2, 0.2)
    value_loss = 0.5 * np.mean(np.maximum((v - target) ** 2, (near - target) ** 2))
    entropy = -np.sum(np.exp(log_p) * log_p)
    np.testing.assert_allclose(metrics["policy_loss"], -objective.mean(), rtol=1e-5)
    np.testing.assert_allclose(metrics["value_loss"], value_loss, rtol=1e-5)
    np.testing.assert_allclose(metrics["entropy"], entropy, rtol=1e-5)
    np.testing.assert_allclose(metrics["clipped"], 0.75)
    np.testing.assert_allclose(total, -objective.mean() + 0.5 * value_loss - 0.1 * entropy, rtol=1e-5)


def test_running_statistics_are_those_of_everything_seen():
    random = np.random.default_rng(0)
    batches = [random.normal(3, 5, (4, 7, 2)), random.normal(-1, 0.1, (2, 3, 2)), random.normal(0, 1, (9, 1, 2))]
    stats = RunningStats.empty((2,))
    for batch in batches:
        stats = stats.update(jnp.asarray(batch, jnp.float32))
    seen = np.concatenate([batch.reshape(-1, 2) for batch in batches])
    np.testing.assert_allclose(stats.mean, seen.mean(0), rtol=1e-4)
    np.testing.assert_allclose(stats.std, seen.std(0), rtol=1e-4)


def test_rewards_are_scaled_by_the_deviation_of_discounted_returns():
    config = dataclasses.replace(TINY, normalise_rewards=True, gamma=0.5)
    blank = Learner(None, None, RunningStats.empty(()), jnp.zeros(8), Rng.of(0), jnp.int32(0))
    experience = dataclasses.make_dataclass("E", ["reward", "start"])(
        reward=10.0 * jnp.ones((4, 8)), start=jnp.asarray([True, False, True, False])[:, None] * jnp.ones((4, 8), bool)
    )
    learner, reward = scale_rewards(config, blank, experience)
    sums = np.array([10.0, 15.0, 10.0, 15.0])  # a new episode starts at the third step
    np.testing.assert_allclose(reward, 10.0 / sums.std() * np.ones((4, 8)), rtol=1e-5)
    np.testing.assert_allclose(learner.discounted, 15.0)


@pytest.mark.parametrize(("anneal", "last"), [(True, [1.0, 2 / 3, 1 / 3, 0.0]), (False, [1.0, 1.0, 1.0, 1.0])])
def test_the_learning_rate_falls_to_zero_unless_told_not_to(anneal, last):
    config = dataclasses.replace(TINY, total_steps=64 * 3, anneal=anneal)  # three gradient steps
    optimizer, moves = make_optimizer(config), []
    state = optimizer.init(jnp.float32(0))
    for _ in range(4):
        move, state = optimizer.update(jnp.float32(0.1), state)
        moves.append(-float(move) / config.learning_rate)
    np.testing.assert_allclose(moves, last, rtol=1e-3)  # Adam's epsilon


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"num_envs": 0}, "num_envs must be a whole number of at least 1, got 0"),
        ({"total_steps": 1.5}, "total_steps must be a whole number"),
        ({"gamma": 1.1}, "gamma must lie between 0 and 1"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"learning_rate": float("nan")}, "learning_rate must be above 0"),
        ({"num_minibatches": 5}, "num_envs x num_steps = 64 cannot be cut into 5"),
        ({"network": "gru", "num_minibatches": 16}, "num_envs = 8 cannot be cut into 16"),
        ({"network": "lstm"}, "network must be 'mlp' or 'gru'"),
        ({"activation": "sine"}, "activation must be one of tanh, relu, swish"),
        ({"precision": "fp8"}, "precision must be one of float32, bf16"),
        ({"hidden": (0,)}, "at least one unit"),
    ],
)
def test_an_impossible_configuration_is_one_sentence(changes, part):
    with pytest.raises(UsageError, match=part):
        dataclasses.replace(TINY, **changes)


def test_the_defaults_are_the_papers():
    config = PPOConfig()
    assert (config.learning_rate, config.clip, config.num_epochs) == (2.5e-4, 0.2, 4)
    assert (config.gae_lambda, config.gamma) == (0.95, 0.99)
    assert PPOConfig(total_steps=100_001, num_envs=10, num_steps=100, num_minibatches=1).num_updates == 101


def test_games_of_several_players_are_refused():
    with pytest.raises(UsageError, match="trains one player"):
        make_train(Duel())


def test_importing_touches_no_device_and_x64_trains_in_float32():
    script = """
import overclock.train.ppo, overclock.train.evaluate, overclock.train.loop, overclock.train.host.training
from jax._src import xla_bridge
assert not xla_bridge._backends, "importing started a device"
import jax, jax.numpy as jnp, overclock
env, params = overclock.make("cartpole")
config = overclock.train.PPOConfig(total_steps=128, num_envs=8, num_steps=8, network="gru", hidden=(8,), memory=8,
                                   normalise_observations=True, normalise_rewards=True)
state, metrics = jax.eval_shape(overclock.train.make_train(env, params, config).train, jax.random.key(0))
assert state.env.inner.lanes.rules.x.dtype == jnp.float64
assert all(leaf.dtype == jnp.float32 for leaf in jax.tree.leaves(state.learner.params))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False,
        env={"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
