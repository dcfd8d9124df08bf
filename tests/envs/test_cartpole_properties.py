"""What must hold for CartPole whatever the reference says: mirror symmetry, bounds, and what an observation is."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overclock.env import EnvState, Rng
from overclock.envs.cartpole.env import CartPole, CartPoleParams, CartPoleState

ENV, PARAMS = CartPole(), CartPoleParams()
PRECISIONS = pytest.mark.parametrize("precision", ["float32", "float64"])


def numbers(limit):
    """Of a size that play reaches and beyond; representable in float32, and XLA takes subnormal numbers for zero."""
    limit = float(np.float32(limit))
    return st.floats(-limit, limit, width=32, allow_subnormal=False)


def around(limit):
    """Often close to a threshold, on either side of it and of zero."""
    near = st.floats(0.875, 1.125, width=32).map(lambda share: float(np.float32(share * limit)))
    return st.one_of(numbers(2 * limit), near, near.map(lambda value: -value))


states = st.tuples(
    around(PARAMS.x_threshold),
    numbers(4.0),
    around(PARAMS.theta_threshold_radians),
    st.one_of(st.just(0.0), numbers(4.0)),
)
actions = st.integers(0, 1)
quick = settings(max_examples=100, deadline=None, derandomize=True)


@jax.jit
def compiled_step(values, action):
    after, reward, terminated = ENV.transition(CartPoleState(*values), action, (), PARAMS)
    return jnp.stack(jax.tree.leaves(after)), reward, terminated


@jax.jit
def compiled_observe(values):
    return ENV.observe(CartPoleState(*values), PARAMS)


@jax.jit
def compiled_advance(steps):
    upright = CartPoleState(*(jnp.zeros(()) for _ in range(4)))
    return ENV.advance(EnvState(upright, steps), jnp.int32(0), (), PARAMS)


def step(precision, state, action):
    with jax.enable_x64(precision == "float64"):
        values = tuple(np.asarray(value, precision) for value in state)
        return tuple(np.asarray(value) for value in compiled_step(values, np.int32(action)))


@PRECISIONS
@quick
@given(states, actions)
def test_the_mirror_image_of_a_step_is_a_step_from_the_mirror_image(precision, state, action):
    after, reward, terminated = step(precision, state, action)
    mirrored, same_reward, same_end = step(precision, tuple(-value for value in state), 1 - action)
    assert after.dtype == precision
    np.testing.assert_array_equal(mirrored, -after)  # exactly: no operation of the rules prefers a side
    assert (same_reward, same_end) == (reward, terminated)


@PRECISIONS
@quick
@given(states)
def test_an_action_changes_velocities_at_once_and_positions_only_later(precision, state):
    left, right = (step(precision, state, action)[0] for action in (0, 1))
    assert (left[0], left[2]) == (right[0], right[2])
    assert left[1] < right[1]  # pushed to the right, the cart is faster to the right,
    if abs(state[2]) < math.pi / 2:
        assert left[3] > right[3]  # and the pole above it tips to the left


@PRECISIONS
@quick
@given(states, actions)
def test_rewards_are_zero_or_one_and_every_step_from_inside_earns_one(precision, state, action):
    _, reward, terminated = step(precision, state, action)
    number = np.dtype(precision).type
    inside = abs(number(state[0])) <= number(PARAMS.x_threshold)
    inside &= abs(number(state[2])) <= number(PARAMS.theta_threshold_radians)
    assert reward == (1.0 if inside or not terminated else 0.0)


@PRECISIONS
@quick
@given(states)
def test_an_observation_is_the_state_cast_to_float32(precision, state):
    with jax.enable_x64(precision == "float64"):
        obs = compiled_observe(tuple(np.asarray(value, precision) for value in state))
    assert obs.dtype == np.float32
    np.testing.assert_array_equal(np.asarray(obs), np.asarray(state, np.float32))


@PRECISIONS
def test_first_states_lie_inside_the_limits_of_their_draw(precision):
    with jax.enable_x64(precision == "float64"):
        draw = jax.vmap(lambda rng: ENV.init(ENV.draw_reset(rng, PARAMS), PARAMS))(Rng.of(7).lanes(20_000))
        values = np.stack([np.asarray(leaf) for leaf in jax.tree.leaves(draw)])
    low, high = (values.dtype.type(bound) for bound in (PARAMS.reset_low, PARAMS.reset_high))
    assert values.dtype == precision
    assert low <= values.min() < low + 1e-5
    assert high - 1e-5 < values.max() < high


@quick
@given(st.integers(0, 2000))
def test_truncation_says_that_the_steps_are_used_up_and_nothing_else(steps):
    after, _, terminated, truncated = compiled_advance(np.int32(steps))
    assert after.steps == steps + 1
    assert truncated == (steps + 1 >= 500)
    assert not terminated
