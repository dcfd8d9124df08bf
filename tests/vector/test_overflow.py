"""Room that runs out in a batch: told in `info` by every backend, refused by rollouts outside of `jit`."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Dealer

from overclock.errors import OverflowedError
from overclock.vector import EpisodeStatistics, fused_rollout, host_vector, rollout, vectorize

SHORT, ROOMY = Dealer(tape_words=1), Dealer(tape_words=3)
BACKENDS = ["xla", "c"]


def greedy(venv, rng, obs, mask, params):
    return jnp.ones(venv.num_envs, jnp.int32)


def frugal(venv, rng, obs, mask, params):
    return jnp.zeros(venv.num_envs, jnp.int32)


def batch(env, **options):
    venv = vectorize(env, 4, **options)
    return venv, venv.reset(jax.random.key(0))[1]


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_step_tells_which_lanes_ran_out_of_room(backend, autoreset):
    venv, state = batch(SHORT, backend=backend, autoreset=autoreset)
    *_, info = venv.step(state, jnp.array([0, 1, 0, 2]))
    assert info["overflow"].tolist() == [False, True, False, True]


def test_a_rollout_outside_of_jit_refuses_overflow():
    venv, state = batch(SHORT)
    steps = 9  # some lanes begin an episode anew in the last one: the final state does not tell any more
    with pytest.raises(OverflowedError, match="rollout"):
        rollout(venv, state, steps, greedy)
    after, kept = rollout(venv, state, steps, greedy, overflow="info")
    assert kept.info["overflow"].any(axis=0).all()
    assert not after.lanes.rules.overflow.all()
    rollout(venv, state, steps, frugal)


def test_a_rollout_that_keeps_nothing_refuses_overflow_as_well():
    statistics = EpisodeStatistics(batch(SHORT)[0])
    with pytest.raises(OverflowedError):
        rollout(statistics, statistics.reset(jax.random.key(0))[1], 9, greedy, keep=lambda transition: ())


def test_a_rollout_inside_of_jit_cannot_refuse():
    venv, state = batch(SHORT)
    assert jax.jit(lambda state: rollout(venv, state, 9, greedy)[0])(state).lanes.steps.shape == (4,)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_fused_rollout_refuses_overflow_whatever_it_keeps(backend):
    venv, state = batch(SHORT, backend=backend)
    with pytest.raises(OverflowedError, match="lane 0 and 3 more"):
        fused_rollout(venv, state, 20)
    fused_rollout(venv, state, 20, overflow="info")
    roomy, begun = batch(ROOMY, backend=backend)
    fused_rollout(roomy, begun, 20)


def test_a_random_rollout_on_a_kernel_refuses_overflow():
    with pytest.raises(OverflowedError):
        rollout(*batch(SHORT, backend="c"), 20)


def test_a_host_batch_tells_overflow_in_its_info():
    host = host_vector(SHORT, 2, "off", backend="c")
    host.reset([0, 1])
    assert host.step(np.array([0, 1])).info["overflow"].tolist() == [False, True]
