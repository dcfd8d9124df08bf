"""First weights: orthonormal, as JAX's own initializer gives them, and without what can stand still."""

from typing import Literal

import jax
import numpy as np
import pytest
from train.quick import quick

from overclock.envs.cartpole.env import CartPole
from overclock.train.networks.orthogonal import orthogonal
from overclock.train.ppo import PPOConfig, make_train


@pytest.mark.parametrize("shape", [(4, 64), (64, 64), (64, 2), (1, 1), (256, 300)])
def test_equals_the_library_initializer_up_to_rounding(shape: tuple[int, int]) -> None:
    key = jax.random.key(7)
    library = jax.nn.initializers.orthogonal(1.5)(key, shape, "float32")
    np.testing.assert_allclose(quick(lambda key: orthogonal(key, shape, 1.5))(key), library, atol=2e-5)


@pytest.mark.parametrize("shape", [(512, 512), (3, 100), (1100, 1100), (200, 1500)])
def test_the_shorter_side_is_orthonormal(shape: tuple[int, int]) -> None:
    q = np.asarray(quick(lambda key: orthogonal(key, shape))(jax.random.key(0)), np.float64)
    product = q.T @ q if shape[0] >= shape[1] else q @ q.T
    np.testing.assert_allclose(product, np.eye(min(shape)), atol=1e-5)


@pytest.mark.parametrize("network", ["mlp", "gru"])
def test_training_calls_no_library_outside_the_compiler(network: Literal["mlp", "gru"]) -> None:
    """A batch of LAPACK factorisations can stop XLA's CPU threads for ever."""
    config = PPOConfig(total_steps=512, num_envs=4, num_steps=16, hidden=(8,), network=network)
    env = CartPole()
    trainer = make_train(env, env.default_params(), config)
    text = jax.jit(jax.vmap(trainer.init)).lower(jax.random.split(jax.random.key(0), 3)).as_text()
    assert "custom_call" not in text
