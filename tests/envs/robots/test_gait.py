"""HalfCheetah's scripted player runs, from whatever start."""

import jax
import numpy as np
import pytest

import overclock
from overclock.envs.halfcheetah.gait import run
from overclock.vector import rollout, vectorize

pytestmark = pytest.mark.usefixtures("few_optimisations")


def far(transition):
    return transition.info["x_position"]


@pytest.mark.long
def test_the_scripted_player_runs():
    env, _ = overclock.make("halfcheetah")
    batch = vectorize(env, 8)

    @jax.jit
    def play(key):
        return rollout(batch, batch.reset(key)[1], 100, lambda _, rng, obs, mask, params: run(obs), keep=far)[1]

    metres = np.asarray(play(jax.random.key(0)))[-1]
    assert metres.min() > 4  # in five seconds; random play gets nowhere


def test_its_action_is_one_of_the_space_and_follows_from_the_observation_with_or_without_x():
    env, params = overclock.make("halfcheetah")
    obs = np.linspace(-3, 3, 17)
    assert env.action_space(params).contains(run(obs))
    np.testing.assert_array_equal(run(np.concatenate([[12.0], obs])), run(obs))
