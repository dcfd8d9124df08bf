"""`fused_rollout`: policies, summaries, windows and buffers of a kernel are those of the same rollout under XLA."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from vector.fused.programs import KERNEL, as_on_a_processor
from vector.lanes import assert_equal

import overclock
from overclock.errors import UsageError
from overclock.vector import fused_rollout, lane_scan, vectorize

LANES, STEPS = 21, 40
ENV, _ = overclock.make("pong", frameskip=4)


def batch(backend):
    venv = vectorize(ENV, LANES, backend=backend)
    return venv, venv.reset(jax.random.key(3))[1]


def both(**options):
    ours = fused_rollout(*batch(KERNEL), STEPS, **options)
    with as_on_a_processor():
        return ours, fused_rollout(*batch("xla"), STEPS, **options)


def kept(transition):
    return {"before": transition.obs, "after": transition.next_obs, "action": transition.action}


def follow(rng, obs, mask, params):
    """Up or down to the ball, and now and then anywhere."""
    return jnp.where(rng.unit(0) < 0.2, rng.integers(1, 3), jnp.where(obs[3] > obs[1], 1, 2))


def test_a_policy_of_one_lane_sees_what_that_lane_sees():
    ours, theirs = both(policy=follow, keep=kept)
    assert_equal(ours, theirs)
    _, steps, _ = ours
    np.testing.assert_array_equal(steps["before"][1:], steps["after"][:-1])
    assert set(np.unique(steps["action"])) == {0, 1, 2}


def test_a_summary_is_folded_in_order_of_time():
    def add(sums, transition):
        return sums * jnp.uint32(31) + transition.action.astype(jnp.uint32)

    first = jnp.arange(LANES, dtype=jnp.uint32)
    ours, theirs = both(fold=(first, add), keep=kept)
    assert_equal(ours, theirs)
    expected = np.asarray(first)
    for actions in np.asarray(ours[1]["action"]):
        expected = expected * np.uint32(31) + actions.astype(np.uint32)
    np.testing.assert_array_equal(ours[2], expected)


@pytest.mark.parametrize("window", [1, 7, STEPS])
def test_a_window_keeps_the_last_steps_each_in_its_row(window):
    (_, all_steps, _), _ = both(keep=kept)
    ours, theirs = both(keep=kept, window=window)
    assert_equal(ours, theirs)
    for t in range(STEPS - window, STEPS):
        np.testing.assert_array_equal(ours[1]["after"][t % window], all_steps["after"][t])


def test_buffers_that_are_given_away_are_written_to_where_they_lie():
    venv, state = batch(KERNEL)
    expected = fused_rollout(venv, state, STEPS, keep=kept)[1]
    buffers = jax.tree.map(lambda leaf: jnp.full(leaf.shape, 9, leaf.dtype), expected)
    places = jax.tree.map(lambda leaf: leaf.unsafe_buffer_pointer(), buffers)

    @functools.partial(jax.jit, donate_argnums=1)
    def play(state, buffers):
        return fused_rollout(venv, state, STEPS, keep=kept, into=buffers)[1]

    written = play(state, buffers)
    assert_equal(written, expected)
    assert jax.tree.map(lambda leaf: leaf.unsafe_buffer_pointer(), written) == places


def test_wrong_windows_buffers_and_states_are_refused():
    venv, state = batch(KERNEL)
    for window in (0, STEPS + 1):
        with pytest.raises(UsageError, match=f"window must be 1 to {STEPS} steps, got {window}"):
            fused_rollout(venv, state, STEPS, keep=kept, window=window)
    with pytest.raises(UsageError, match="The arrays to write to must be"):
        fused_rollout(venv, state, STEPS, keep=lambda transition: transition.reward, into=jnp.zeros((STEPS, 3)))
    with pytest.raises(UsageError, match="turns float32"):
        lane_scan(lambda c, x, k, s: (c.astype(jnp.int32), ()), jnp.zeros(4), None, 2, backend=KERNEL)
