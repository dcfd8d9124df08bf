"""Training outside JAX is the same training: same numbers on the same experience, same learning on a reference."""

import jax
import numpy as np
import pytest
from probes import Rooms
from train.quick import quick

from overclock.env import Rng
from overclock.errors import UsageError
from overclock.train import PPOConfig, make_train, train_on_gymnasium, train_on_host, tuned
from overclock.vector import host_vector

TINY = PPOConfig(
    total_steps=8 * 8 * 2, num_envs=8, num_steps=8, num_minibatches=2, num_epochs=2, hidden=(8,), memory=8,
    network="gru", learning_rate=1e-2, normalise_observations=True, normalise_rewards=True,
)  # fmt: skip


class SameStreams:
    """A host batch that starts every lane from the streams of a JAX training run instead of from seeds."""

    def __init__(self, env, key):
        self.host = host_vector(env, TINY.num_envs)
        self.key = key

    def __getattr__(self, name):
        return getattr(self.host, name)

    def reset(self, seeds=None, mask=None):
        obs, self.host.state = self.host.venv.reset(Rng.of(self.key), self.host.params)
        return jax.tree.map(np.asarray, obs)


@pytest.mark.long
def test_a_host_loop_learns_what_the_scan_learns():
    """Masks, memories, truncation, both normalisers: two updates end in the same weights and the same curve."""
    trainer = make_train(Rooms(), None, TINY)
    state, curve = quick(trainer.train)(jax.random.key(4))
    env_key, _ = jax.random.split(jax.random.key(4))
    run = train_on_host(SameStreams(Rooms(), env_key), TINY, seed=4)
    np.testing.assert_array_equal(run.curve.metrics["episodes"][:, 0], curve["episodes"])
    for name, values in curve.items():
        # The two compiled programs round differently; Adam's first steps amplify that to a few parts in ten thousand.
        np.testing.assert_allclose(run.curve.metrics[name][:, 0], values, rtol=2e-3, atol=2e-4, err_msg=name)
    pairs = zip(jax.tree.leaves(run.policy.params), jax.tree.leaves(state.learner.params), strict=True)
    for ours, theirs in pairs:
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=2e-3, atol=2e-4)


@pytest.mark.long
def test_ppo_learns_on_gymnasiums_own_cartpole():
    gymnasium = pytest.importorskip("gymnasium", reason="the reference is Gymnasium's CartPole")
    config = tuned("cartpole", total_steps=24_576)
    run = train_on_gymnasium(lambda: gymnasium.make("CartPole-v1"), config, seed=0)
    assert run.curve.steps[-1] == 24_576
    assert np.all(np.diff(run.curve.seconds) > 0)
    assert run.curve.metrics["return"][0, 0] < 40  # random play
    assert run.curve.recent_return(0, updates=4) > 100


def test_unfit_batches_are_refused():
    with pytest.raises(UsageError, match="num_envs = 8, the batch has 4 lanes"):
        train_on_host(host_vector(Rooms(), 4), TINY)
    with pytest.raises(UsageError, match="restarts in the same step"):
        train_on_host(host_vector(Rooms(), 8, autoreset="next_step"), TINY)
