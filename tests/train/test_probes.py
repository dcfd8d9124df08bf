"""PPO learns for the right reason: on each probe the value and the policy are known, and a mistake would move them."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from train import probes
from train.quick import quick

from overclock.env import Rng
from overclock.train import Policy, PPOConfig, make_train

pytestmark = pytest.mark.usefixtures("few_optimisations")

CONFIG = PPOConfig(
    total_steps=32 * 8 * 60, num_envs=32, num_steps=8, learning_rate=1e-2, gamma=0.9, hidden=(16,), max_grad_norm=10.0
)
CLOSE = 0.05  # sampling noise that is left after the budget above; the mistakes these probes look for move it by >= 0.1


def learned(env, **changes):
    """Policy and curve after a short run."""
    trainer = make_train(env, None, dataclasses.replace(CONFIG, **changes))
    state, curve = quick(trainer.train)(jax.random.key(0))
    return Policy(trainer.agent, state.learner.params), curve


def values(policy, *observations):
    """The value of each observation, seen as an episode's first."""
    obs = jnp.asarray(observations, jnp.float32)[:, None]
    return np.asarray(policy.agent.value(policy.params, (), obs, jnp.ones(len(observations), jnp.bool_)))


def actions(policy, *observations, mask=None):
    """The likeliest action for each observation."""
    obs = jnp.asarray(observations, jnp.float32)[:, None]
    start, memory = jnp.ones(len(observations), jnp.bool_), policy.first_memory(len(observations))
    return np.asarray(policy.act(memory, obs, start, mask)[1])


@pytest.mark.long
def test_a_constant_reward_is_its_value():
    policy, curve = learned(probes.ConstantReward())
    np.testing.assert_allclose(values(policy, 0), [1.0], atol=CLOSE)
    assert curve["value_loss"][-1] < 1e-3


@pytest.mark.long
def test_values_depend_on_the_observation():
    policy, curve = learned(probes.ObservationReward())
    np.testing.assert_allclose(values(policy, -1, 1), [-1.0, 1.0], atol=CLOSE)
    assert curve["value_loss"][-1] < 1e-3


def test_a_later_reward_is_discounted():
    policy, _ = learned(probes.TwoSteps())
    np.testing.assert_allclose(values(policy, 0, 1), [CONFIG.gamma, 1.0], atol=CLOSE)


@pytest.mark.long
def test_the_better_action_is_taken():
    policy, curve = learned(probes.ActionReward())
    assert actions(policy, 0) == [1]
    assert curve["return"][-1] > 0.95


def test_the_action_follows_the_observation():
    policy, curve = learned(probes.ActionForObservation())
    np.testing.assert_array_equal(actions(policy, -1, 1), [0, 1])
    assert curve["return"][-1] > 0.95


def test_a_truncated_episode_has_the_value_of_an_endless_one():
    policy, _ = learned(probes.Endless(), total_steps=32 * 8 * 120)
    endless = 1 / (1 - CONFIG.gamma)  # 10. Were truncation taken for termination: at most 1 + 0.9 + 0.9**2 = 2.7;
    # were the next episode's first observation taken for the last of this one: about 8.
    expected = [CONFIG.gamma**2 * endless, CONFIG.gamma * endless, endless]
    np.testing.assert_allclose(values(policy, 0, 0.5, 1), expected, rtol=0.05)


def test_an_illegal_action_is_never_taken_however_tempting():
    policy, curve = learned(probes.Forbidden())
    assert np.max(curve["return"]) <= 1.0  # one illegal action in a rollout's few hundred would lift it beyond
    assert actions(policy, 0, mask=jnp.asarray([[False, True, True]])) == [1]
    rng = Rng.of(0).lanes(10_000)
    mask = jnp.broadcast_to(jnp.asarray([False, True, True]), (10_000, 3))
    sampled = policy.act((), jnp.zeros((10_000, 1)), jnp.ones(10_000, jnp.bool_), mask, rng)[1]
    assert set(np.unique(sampled)) <= {1, 2}


@pytest.mark.long
def test_a_gru_remembers_the_first_observation_and_an_mlp_cannot():
    longer = {"total_steps": 32 * 8 * 80}
    _, remembering = learned(probes.Recall(), network="gru", memory=16, **longer)
    _, forgetting = learned(probes.Recall(), **longer)
    assert remembering["return"][-5:].mean() > 0.9
    assert abs(forgetting["return"][-5:].mean()) < 0.3  # guessing a coin: 0, with 5 x 64 episodes +- 0.06


def test_continuous_actions_find_their_aim():
    policy, _ = learned(probes.Aim(), entropy_coefficient=0.0)
    np.testing.assert_allclose(actions(policy, -1, 1)[:, 0], [-0.5, 0.5], atol=0.1)


@pytest.mark.long
def test_every_choice_of_a_multi_discrete_action_is_learned():
    policy, curve = learned(probes.Combination())
    np.testing.assert_array_equal(actions(policy, 0), [[1, 0]])
    assert curve["return"][-1] > 1.9


@pytest.mark.long
def test_normalising_and_clipping_do_not_stop_learning():
    options = {"normalise_observations": True, "normalise_rewards": True, "clip_value": True}
    policy, _ = learned(probes.ActionForObservation(), **options)
    np.testing.assert_array_equal(actions(policy, -1, 1), [0, 1])
