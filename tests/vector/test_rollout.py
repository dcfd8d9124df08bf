"""A rollout is repeated stepping, compiled as one program."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Countdown, CountdownParams, Duel, Rooms
from vector.lanes import assert_equal

from overclock.env import Section
from overclock.envs.cartpole.env import CartPole
from overclock.vector import Optimistic, Pool, random_policy, rollout, vectorize

ROLLOUT = jax.jit(rollout, static_argnames=("venv", "num_steps", "policy", "keep", "unroll"))


@pytest.mark.parametrize(
    "venv",
    [
        vectorize(Countdown(), 4),
        vectorize(Countdown(), 4, "next_step", Pool(2)),
        vectorize(Rooms(), 4, "same_step", Optimistic(2)),
        vectorize(Duel(), 4, "off"),
    ],
    ids=lambda venv: type(venv.env).__name__ + "-" + venv.autoreset,
)
def test_a_rollout_equals_repeated_steps(venv):
    obs, start = venv.reset(jax.random.key(5))
    end, steps = ROLLOUT(venv, start, num_steps=12)
    state = start
    for t in range(12):
        action = venv.sample_actions(state)
        now = jax.tree.map(lambda leaf: leaf[t], steps)  # noqa: B023
        assert_equal((now.obs, now.action), (obs, action))
        obs, state, reward, terminated, truncated, info = venv.step(state, action)
        assert_equal((now.reward, now.terminated, now.truncated, now.info), (reward, terminated, truncated, info))
    assert_equal(end, state)


@pytest.mark.parametrize("env", [Countdown(), CartPole()], ids=["Countdown", "CartPole"])
def test_unrolling_changes_no_result(env):
    venv = vectorize(env, 4)
    _, start = venv.reset(jax.random.key(2))
    # 3 does not divide 10, so the last piece is shorter.
    unrolled, plain = ROLLOUT(venv, start, num_steps=10, unroll=3), ROLLOUT(venv, start, num_steps=10)
    for a, b in zip(jax.tree.leaves(unrolled), jax.tree.leaves(plain), strict=True):
        # Integers and flags are equal; floats may be rounded otherwise where a processor's fused multiply-add
        # meets another fusion (seen with AVX-512), by an ulp per step that ten steps amplify to a few.
        tolerance = 1e-6 if np.issubdtype(a.dtype, np.floating) else 0
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=0, atol=tolerance)


def test_two_rollouts_in_a_row_are_one_long_one():
    venv = vectorize(Countdown(), 4)
    _, start = venv.reset(jax.random.key(2))
    end, whole = ROLLOUT(venv, start, num_steps=10)
    middle, first = ROLLOUT(venv, start, num_steps=6)
    last, second = ROLLOUT(venv, middle, num_steps=4)
    assert_equal(last, end)
    assert_equal(jax.tree.map(lambda *leaves: np.concatenate(leaves), first, second), whole)


def test_what_keep_leaves_out_is_not_stored():
    venv = vectorize(Rooms(), 64)
    _, start = venv.reset(jax.random.key(0))

    def rewards(transition):
        return {"reward": transition.reward.sum()}

    end, kept = ROLLOUT(venv, start, num_steps=50, keep=rewards)
    full_end, full = ROLLOUT(venv, start, num_steps=50)
    assert jax.tree.map(np.shape, kept) == {"reward": (50,)}
    assert_equal(end, full_end)
    np.testing.assert_array_equal(kept["reward"], full.reward.sum(axis=1))
    # Nor is it in the compiled program: the result of a step is one number.
    compiled = ROLLOUT.lower(venv, start, num_steps=50, keep=rewards).compile()
    state_bytes = sum(leaf.nbytes for leaf in jax.tree.leaves(start))
    assert compiled.memory_analysis().output_size_in_bytes <= state_bytes + 50 * 4 + 64 * len(jax.tree.leaves(start))


def test_policies_get_masks_observations_and_the_action_section():
    venv = vectorize(Rooms(), 6)
    _, start = venv.reset(jax.random.key(3))
    seen = []

    def lowest_door(venv, rng, obs, mask, params):
        seen.append((rng.section, obs["view"].shape, mask.shape, mask.dtype, params.max_steps))
        return jnp.argmax(mask, axis=-1).astype(jnp.int32)

    _, steps = rollout(venv, start, 10, policy=lowest_door)
    assert seen[0] == (int(Section.ACTION), (6, 2), (6, 5), np.bool_, 7)
    # A legal policy is never punished, and only the clock ends its episodes.
    assert np.all(np.asarray(steps.reward) == 1)
    assert not np.any(steps.terminated)
    assert np.asarray(steps.truncated).sum() == 6


def test_environments_without_masks_give_none():
    venv = vectorize(Countdown(), 2)
    _, start = venv.reset(jax.random.key(3))
    assert venv.action_mask(start) is None

    def policy(venv, rng, obs, mask, params):
        assert mask is None
        return random_policy(venv, rng, obs, mask, params)

    rollout(venv, start, 1, policy=policy)


def test_random_actions_are_legal_cover_everything_and_differ_between_lanes():
    venv = vectorize(Rooms(), 512)
    _, state = venv.reset(jax.random.key(3))
    actions, mask = np.asarray(venv.sample_actions(state)), np.asarray(venv.action_mask(state))
    assert mask[np.arange(512), actions].all()
    assert set(actions) == set(range(5))
    duel = vectorize(Duel(), 512)
    _, state = duel.reset(jax.random.key(3))
    both = np.asarray(duel.sample_actions(state))
    assert both.shape == (512, 2)
    assert len(np.unique(both, axis=0)) == 16


def test_rollouts_take_batched_params():
    params = CountdownParams(max_steps=np.array([2, 5], np.int32))
    venv = vectorize(Countdown(shortest=50), 2)
    _, start = venv.reset(jax.random.key(0), params)
    _, steps = ROLLOUT(venv, start, num_steps=10, params=params)
    assert np.asarray(steps.truncated).sum(axis=0).tolist() == [5, 2]
