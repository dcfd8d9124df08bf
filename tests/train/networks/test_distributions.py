"""Distributions over actions agree with textbook formulas, and what is illegal has probability zero."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.env import Box, Dict, Discrete, MultiDiscrete, Rng
from overclock.errors import UsageError
from overclock.train.networks.distributions import distribution

LANES = 20_000


def test_discrete_probabilities_entropy_and_samples_agree():
    pi = distribution(Discrete(3))
    p = np.array([0.2, 0.5, 0.3])
    logits = jnp.broadcast_to(jnp.log(p) + 7.0, (LANES, 3)).astype(jnp.float32)
    np.testing.assert_allclose(pi.log_prob(logits[:3], jnp.arange(3)), np.log(p), rtol=1e-5)
    np.testing.assert_allclose(pi.entropy(logits[0]), -np.sum(p * np.log(p)), rtol=1e-5)
    assert pi.mode(logits[0]) == 1
    shares = np.bincount(np.asarray(pi.sample(logits, Rng.of(0).lanes(LANES))), minlength=3) / LANES
    np.testing.assert_allclose(shares, p, atol=4 * np.sqrt(0.25 / LANES))  # four standard errors


def test_an_illegal_action_has_probability_zero_and_no_gradient():
    pi = distribution(Discrete(3))
    mask = jnp.asarray([True, False, True])

    def restricted(outputs):
        return pi.restrict(outputs, mask)

    outputs = jnp.asarray([0.0, 50.0, 1.0])
    log_p = pi.log_prob(jnp.broadcast_to(restricted(outputs), (3, 3)), jnp.arange(3))
    assert np.exp(log_p[1]) == 0
    np.testing.assert_allclose(np.exp(log_p[0]) + np.exp(log_p[2]), 1, rtol=1e-6)
    assert pi.mode(restricted(outputs)) == 2
    samples = pi.sample(jnp.broadcast_to(restricted(outputs), (LANES, 3)), Rng.of(0).lanes(LANES))
    assert not np.any(samples == 1)
    for function in (lambda o: pi.entropy(restricted(o)), lambda o: pi.log_prob(restricted(o), jnp.int32(0))):
        gradient = jax.grad(function)(outputs)
        assert np.all(np.isfinite(gradient))
        assert gradient[1] == 0
        assert gradient[0] != 0


def test_a_multi_discrete_action_is_independent_choices():
    pi = distribution(MultiDiscrete((2, 3)))
    parts = [np.array([0.25, 0.75]), np.array([0.5, 0.2, 0.3])]
    logits = jnp.log(jnp.concatenate([jnp.asarray(p) for p in parts])).astype(jnp.float32)
    np.testing.assert_allclose(np.exp(pi.log_prob(logits, jnp.asarray([1, 2]))), 0.75 * 0.3, rtol=1e-5)
    np.testing.assert_allclose(pi.entropy(logits), -sum(np.sum(p * np.log(p)) for p in parts), rtol=1e-5)
    np.testing.assert_array_equal(pi.mode(logits), [1, 0])
    samples = np.asarray(pi.sample(jnp.broadcast_to(logits, (LANES, 5)), Rng.of(1).lanes(LANES)))
    assert samples.shape == (LANES, 2)
    joint = np.mean((samples[:, 0] == 1) & (samples[:, 1] == 2))
    np.testing.assert_allclose(joint, 0.75 * 0.3, atol=4 * np.sqrt(0.25 / LANES))
    mask = jnp.asarray([False, True, True, False, True])  # one part after the other
    samples = np.asarray(pi.sample(jnp.broadcast_to(pi.restrict(logits, mask), (LANES, 5)), Rng.of(1).lanes(LANES)))
    assert set(samples[:, 0]) == {1}
    assert set(samples[:, 1]) == {0, 2}


def test_a_gaussian_has_the_normal_density_and_clips_only_what_is_played():
    space = Box((-1.0, -5.0), (1.0, 5.0), (2,))
    pi = distribution(space)
    mean, std = np.array([0.5, -1.0]), np.array([2.0, 0.5])
    outputs = jnp.asarray(np.concatenate([mean, np.log(std)]), jnp.float32)
    action = np.array([3.0, -1.5])
    density = np.prod(np.exp(-0.5 * ((action - mean) / std) ** 2) / (std * np.sqrt(2 * np.pi)))
    np.testing.assert_allclose(pi.log_prob(outputs, jnp.asarray(action, jnp.float32)), np.log(density), rtol=1e-5)
    np.testing.assert_allclose(pi.entropy(outputs), np.sum(np.log(std * np.sqrt(2 * np.pi * np.e))), rtol=1e-5)
    np.testing.assert_allclose(pi.mode(outputs), mean, rtol=1e-6)
    samples = np.asarray(pi.sample(jnp.broadcast_to(outputs, (LANES, 4)), Rng.of(0).lanes(LANES)))
    np.testing.assert_allclose(samples.mean(0), mean, atol=4 * std.max() / np.sqrt(LANES))
    np.testing.assert_allclose(samples.std(0), std, rtol=0.03)
    assert np.abs(samples[:, 0]).max() > 1.0  # unclipped, as their density assumes
    played = np.asarray(pi.playable(jnp.asarray(samples)))
    assert played.dtype == space.dtype
    assert np.abs(played[:, 0]).max() == 1.0
    np.testing.assert_array_equal(played[0].shape, space.shape)


@pytest.mark.parametrize("space", [Box(0, 3, (2,), np.int32), Dict({"a": Discrete(2)})])
def test_other_action_spaces_are_refused(space):
    with pytest.raises(UsageError, match="PPO acts in"):
        distribution(space)
