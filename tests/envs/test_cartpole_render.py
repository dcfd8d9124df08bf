"""CartPole's picture shows its state, and its scripted player balances the pole."""

import itertools

import jax
import numpy as np
import pytest

import overclock
from overclock.env.rng import Rng
from overclock.envs.cartpole import render as drawing
from overclock.envs.cartpole.env import CartPoleState
from overclock.errors import UsageError
from overclock.vector import vectorize


@pytest.fixture(scope="module")
def cartpole():
    return overclock.make("cartpole")


def picture(cartpole, x=0.0, theta=0.0):
    env, params = cartpole
    state = CartPoleState(x=np.float32(x), x_dot=np.float32(0), theta=np.float32(theta), theta_dot=np.float32(0))
    return drawing.render(env, state, params)


def centre_of(frame, colour):
    """Mean (x, y) of the pixels that have exactly a colour."""
    rows, columns = np.nonzero(np.all(frame == colour, axis=-1))
    assert rows.size
    return columns.mean(), rows.mean()


def test_the_picture_has_gymnasiums_size(cartpole):
    frame = picture(cartpole)
    assert frame.shape == (400, 600, 3)
    assert frame.dtype == np.uint8


@pytest.mark.parametrize("x", [-2.0, 0.0, 1.3])
def test_the_cart_stands_where_the_state_says(cartpole, x):
    column, _ = centre_of(picture(cartpole, x=x), drawing.CART)
    assert column == pytest.approx(300 + x * 600 / 4.8, abs=1)  # the scale of Gymnasium's window; one pixel


@pytest.mark.parametrize("theta", [-0.2, 0.0, 0.2])
def test_the_pole_leans_as_the_state_says(cartpole, theta):
    frame = picture(cartpole, theta=theta)
    axle_x, axle_y = centre_of(frame, drawing.AXLE)
    rows, columns = np.nonzero(np.all(frame == drawing.POLE, axis=-1))
    top = rows <= rows.min() + 3
    angle = np.arctan2(columns[top].mean() - axle_x, axle_y - rows[top].mean())
    assert angle == pytest.approx(theta, abs=0.03)  # two pixels at the end of a pole of 125


def test_a_running_environments_state_is_drawn_like_its_rules_state(cartpole):
    env, params = cartpole
    _, state = env.reset(jax.random.key(0), params)
    np.testing.assert_array_equal(drawing.render(env, state, params), drawing.render(env, state.rules))


def test_a_batch_is_refused(cartpole):
    env, params = cartpole
    lanes = vectorize(env, 3).reset(jax.random.key(0), params)[1].lanes
    with pytest.raises(UsageError, match="one environment"):
        drawing.render(env, lanes, params)


def test_edges_are_smooth(cartpole):
    colours = np.unique(picture(cartpole, theta=0.1).reshape(-1, 3), axis=0)
    assert len(colours) > 20


def test_balance_keeps_the_pole_up_from_every_usual_start(cartpole):
    env, params = cartpole
    corners = np.array(list(itertools.product([-0.05, 0.05], repeat=4)), np.float32)
    starts = np.concatenate([corners, np.random.default_rng(0).uniform(-0.05, 0.05, (100, 4)).astype(np.float32)])

    @jax.jit
    @jax.vmap
    def play(start):
        def step(state, _):
            action = drawing.balance(env.observe(state.rules, params))
            _, state, _, terminated, truncated, _ = env.step_env(Rng.of(0), state, action, params)
            return state, (terminated, truncated)

        return jax.lax.scan(step, env.begin(CartPoleState(*start), params), None, 500)[1]

    terminated, truncated = play(starts)
    assert not terminated.any()
    assert truncated[:, -1].all()


def test_balance_gives_an_action_of_the_space(cartpole):
    env, params = cartpole
    assert env.action_space(params).contains(drawing.balance(np.zeros(4, np.float32)))
