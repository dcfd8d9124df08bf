"""A batch stepped from Python by its C kernel does what the JAX batch does, bit for bit where the rules are exact."""

import jax
import numpy as np
import pytest
from probes import Countdown, CountdownParams, Duel
from vector.lanes import assert_equal

import overclock
from overclock.c_compiler import c_compiler_fault
from overclock.errors import UsageError
from overclock.vector import Pool, host_vector

pytestmark = pytest.mark.skipif(bool(c_compiler_fault()), reason=c_compiler_fault())
LANES, STEPS = 21, 30  # not a multiple of the 16 lanes of a vector
PARAMS = CountdownParams(max_steps=6)


def both(env, **options):
    return [host_vector(env, LANES, seed=3, backend=backend, **options) for backend in ("xla", "c")]


def copied(step):
    row = (step.obs, step.reward, step.terminated, step.truncated, step.final_obs, step.info)
    return jax.tree.map(np.array, row)


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "off"])
def test_it_plays_as_the_jax_batch_does(autoreset):
    xla, kernel = both(Countdown(), autoreset=autoreset, params=PARAMS)
    assert_equal(kernel.reset([*range(LANES)]), xla.reset([*range(LANES)]))
    for actions in np.random.default_rng(0).integers(0, 3, (STEPS, LANES)):
        assert_equal(copied(kernel.step(actions)), copied(xla.step(actions)))
    assert_equal(kernel.get_state(), xla.get_state())


def test_several_players_and_a_reset_of_some_lanes_in_between():
    xla, kernel = both(Duel())
    mask = np.arange(LANES) % 3 == 0
    for turn, actions in enumerate(np.random.default_rng(1).integers(0, 2, (STEPS, LANES, 2))):
        assert_equal(copied(kernel.step(actions)), copied(xla.step(actions)))
        if turn % 7 == 6:
            assert_equal(kernel.reset(None, mask), xla.reset(None, mask))


def test_a_saved_state_goes_on_exactly_and_is_a_copy():
    _, kernel = both(Countdown(), params=PARAMS)
    actions = np.random.default_rng(2).integers(0, 3, (STEPS, LANES))
    for row in actions[:5]:
        kernel.step(row)
    saved = kernel.get_state()
    first = [copied(kernel.step(row)) for row in actions[5:]]
    kernel.set_state(saved)
    assert_equal([copied(kernel.step(row)) for row in actions[5:]], first)


def test_what_a_step_returns_lasts_until_the_next_but_one():
    _, kernel = both(Countdown(), params=PARAMS)
    actions = np.ones(LANES, np.int32)
    first = kernel.step(actions)
    kept = copied(first)
    kernel.step(actions)
    assert_equal(copied(first), kept)


def test_parameters_of_each_lane_are_its_own():
    env, params = overclock.make("cartpole")
    params = params.replace(force_mag=np.linspace(5, 15, LANES, dtype=np.float32))
    xla, kernel = both(env, params=params)
    for _ in range(3):
        theirs, ours = xla.step(np.ones(LANES, np.int32)), kernel.step(np.ones(LANES, np.int32))
    # XLA may fuse a product and a sum, which rounds once instead of twice.
    np.testing.assert_allclose(ours.obs, theirs.obs, rtol=0, atol=1e-6)
    assert len(np.unique(ours.obs[:, 1])) == LANES


def test_actions_of_another_shape_and_reset_strategies_are_refused():
    _, kernel = both(Countdown(), params=PARAMS)
    with pytest.raises(UsageError, match=r"Actions need the shape \(21,\), got \(20,\)"):
        kernel.step(np.zeros(20, np.int32))
    with pytest.raises(UsageError, match="takes resets=Fresh"):
        host_vector(Countdown(), LANES, resets=Pool(4), backend="c")
