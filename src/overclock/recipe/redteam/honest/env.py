"""CartPole as an agent might hand it in: the control that must pass, and the text that every cheat is made from."""

import dataclasses
import math
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from overclock.env import Box, Discrete, Environment, Rng

from .physics import fallen, move
from .records import CartPoleParams, CartPoleState


@dataclasses.dataclass(frozen=True)
class CartPole(Environment[CartPoleState, CartPoleParams]):
    """Push a cart left or right so that the pole on it stays up."""

    def default_params(self) -> CartPoleParams:
        return CartPoleParams()

    def observation_space(self, params: CartPoleParams) -> Box:
        default = CartPoleParams()
        high = (default.x_threshold * 2, math.inf, default.theta_threshold_radians * 2, math.inf)
        return Box(tuple(-bound for bound in high), high, (4,))

    def action_space(self, params: CartPoleParams) -> Discrete:
        return Discrete(2)

    def draw_reset(self, rng: Rng, params: CartPoleParams) -> CartPoleState:
        bound = params.reset_bound
        return CartPoleState(*(rng.uniform(site, -bound, bound) for site in range(4)))

    def init(self, draw: CartPoleState, params: CartPoleParams) -> CartPoleState:
        return draw

    def transition(
        self, state: CartPoleState, action: Int[Array, ""], draw: Any, params: CartPoleParams
    ) -> tuple[CartPoleState, Float[Array, ""], Bool[Array, ""]]:
        after = move(state, action, params)
        terminated = fallen(after, params)
        # As in the reference, a step that starts fallen and stays fallen earns nothing.
        reward = jnp.where(terminated & fallen(state, params), 0.0, 1.0)
        return after, reward.astype(jnp.float32), terminated

    def observe(self, state: CartPoleState, params: CartPoleParams) -> Float[Array, "4"]:
        return jnp.stack([state.x, state.x_dot, state.theta, state.theta_dot]).astype(jnp.float32)


def make() -> tuple[CartPole, CartPoleParams]:
    """The environment and its parameters."""
    env = CartPole()
    return env, env.default_params()
