"""CartPole as an agent might hand it in: the control that must pass, and the text that every cheat is made from."""

import dataclasses
import math

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from overclock.env import Box, Discrete, Environment, Rng

from .physics import fallen, move
from .records import CartPoleParams, CartPoleState, Gust, Start


@dataclasses.dataclass(frozen=True)
class CartPole(Environment[CartPoleState, CartPoleParams]):
    """Push a cart left or right so that the pole on it stays up, whatever the wind does."""

    def default_params(self) -> CartPoleParams:
        return CartPoleParams()

    def observation_space(self, params: CartPoleParams) -> Box:
        default = CartPoleParams()
        high = (default.x_threshold * 2, math.inf, default.theta_threshold_radians * 2, math.inf)
        return Box(tuple(-bound for bound in high), high, (4,))

    def action_space(self, params: CartPoleParams) -> Discrete:
        return Discrete(2)

    def draw_reset(self, rng: Rng, params: CartPoleParams) -> Start:
        return Start(uniform_0=rng.uniform(0, -params.reset_bound, params.reset_bound, shape=(4,)))

    def draw_step(self, rng: Rng, state: CartPoleState, params: CartPoleParams) -> Gust:
        return Gust(uniform_0=rng.uniform(0, -params.wind, params.wind))

    def init(self, draw: Start, params: CartPoleParams) -> CartPoleState:
        return CartPoleState(*draw.uniform_0)

    def transition(
        self, state: CartPoleState, action: Int[Array, ""], draw: Gust, params: CartPoleParams
    ) -> tuple[CartPoleState, Float[Array, ""], Bool[Array, ""]]:
        after = move(state, action, draw.uniform_0, params)
        return after, jnp.float32(1.0), fallen(after, params)

    def observe(self, state: CartPoleState, params: CartPoleParams) -> Float[Array, "4"]:
        return jnp.stack([state.x, state.x_dot, state.theta, state.theta_dot]).astype(jnp.float32)


def make() -> tuple[CartPole, CartPoleParams]:
    """The environment and its parameters."""
    env = CartPole()
    return env, env.default_params()
