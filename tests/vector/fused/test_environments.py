"""Whole environments: a rollout by a kernel is the rollout by XLA."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from games import Pig, RockPaperScissors, TicTacToe
from probes import Countdown, Dealer, Duel, Rooms
from vector.fused.programs import KERNEL, as_on_a_processor, assert_same

from overclock.bench.expensive import ExpensiveReset
from overclock.envs.cartpole.env import CartPole
from overclock.envs.pong.env import Pong
from overclock.vector import rollout, vectorize

ROLLOUT = jax.jit(rollout, static_argnames=("venv", "num_steps"))
LANES = 19  # no multiple of a vector's
STEPS = 60
# XLA may fuse a product and a sum into one rounding, which a kernel never does, and has another sine: one step from the
# same state differs by a few ulp of the largest terms in it.
ROUNDING = {"float32": 2e-6, "float64": 1e-14}


def played(env, backend, autoreset="same_step", params=None, lanes=LANES, steps=STEPS, seed=3):
    """The last state and everything that happened, as NumPy arrays."""
    with as_on_a_processor() if backend == "xla" else contextlib.nullcontext():
        venv = vectorize(env, lanes, autoreset, backend=backend)
        _, state = venv.reset(jax.random.key(seed), params)
        return jax.tree.map(np.asarray, ROLLOUT(venv, state, num_steps=steps, params=params))


WHOLE = {
    "countdown": Countdown(),
    "rooms, observations of several parts": Rooms(),
    "dealer, a tape": Dealer(),
    "duel, two players": Duel(),
    "tic-tac-toe, masks": TicTacToe(),
    "pig, masks and turns": Pig(),
    "rock paper scissors": RockPaperScissors(),
    "expensive reset": ExpensiveReset(),
}


@pytest.mark.parametrize("env", WHOLE.values(), ids=WHOLE.keys())
def test_an_environment_of_whole_numbers_is_equal_to_the_last_bit(env):
    assert_same(played(env, KERNEL), played(env, "xla"))


@pytest.mark.parametrize("autoreset", ["next_step", "off"])
def test_every_way_to_restart_is_that_of_xla(autoreset):
    assert_same(played(Countdown(), KERNEL, autoreset), played(Countdown(), "xla", autoreset))


@pytest.mark.parametrize("continuous", [False, True], ids=["discrete", "continuous"])
def test_pong_is_equal_to_the_last_bit(continuous):
    env = Pong(continuous=continuous)
    assert_same(played(env, KERNEL, steps=400), played(env, "xla", steps=400))


def assert_steps_are_close(env, autoreset, params=None, steps=25):
    """Both step from the same states, so that no difference can grow."""
    kernel, xla = (vectorize(env, LANES, autoreset, backend=backend) for backend in (KERNEL, "xla"))
    _, state = xla.reset(jax.random.key(9), params)
    for _ in range(steps):
        actions = xla.sample_actions(state, params)
        mine, theirs = kernel.step(state, actions, params), xla.step(state, actions, params)
        for a, b in zip(jax.tree.leaves(mine), jax.tree.leaves(theirs), strict=True):
            a, b = np.asarray(a), np.asarray(b)
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            bound = ROUNDING.get(str(b.dtype), 0)
            np.testing.assert_allclose(a, b, rtol=bound, atol=bound)
        state = theirs[1]


@pytest.mark.parametrize(
    ("autoreset", "wide"), [("same_step", False), ("next_step", False), ("off", False), ("same_step", True)]
)
def test_cartpole_is_that_of_xla(autoreset, wide):
    with jax.enable_x64(wide):
        assert_steps_are_close(CartPole(), autoreset)


def test_a_lane_has_its_own_parameters():
    env = CartPole(sutton_barto_reward=True)
    gravity = jnp.linspace(1.0, 30.0, LANES)
    assert_steps_are_close(env, "same_step", env.default_params().replace(gravity=gravity, max_steps=7))


def test_what_a_lane_does_depends_on_no_other():
    """A batch that fills its vectors and one that does not."""
    first = played(CartPole(), KERNEL, lanes=3, steps=30)[1]
    every = played(CartPole(), KERNEL, lanes=48, steps=30)[1]
    assert_same(first, jax.tree.map(lambda leaf: leaf[:, :3], every))
