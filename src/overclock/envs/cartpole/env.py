"""CartPole: the rules of Gymnasium's CartPole-v1, in the same order of floating-point operations."""

import dataclasses
import math
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from overclock.env import Box, Discrete, Environment, Params, Rng, Struct

REWARD_DTYPE = jnp.float32


class CartPoleParams(Params):
    """Gymnasium's constants; `length` is half the pole's length, `tau` the seconds between two steps."""

    max_steps: int | None = 500
    gravity: float = 9.8
    masscart: float = 1.0
    masspole: float = 0.1
    length: float = 0.5
    force_mag: float = 10.0
    tau: float = 0.02
    theta_threshold_radians: float = 12 * 2 * math.pi / 360
    x_threshold: float = 2.4
    reset_low: float = -0.05
    reset_high: float = 0.05


class CartPoleState(Struct):
    """Position and velocity of the cart, angle and angular velocity of the pole."""

    x: Float[Array, ""]
    x_dot: Float[Array, ""]
    theta: Float[Array, ""]
    theta_dot: Float[Array, ""]


@dataclasses.dataclass(frozen=True)
class CartPole(Environment[CartPoleState, CartPoleParams]):
    """Push a cart left or right so that the pole on it stays up.

    - **Observation**: `float32[4]`: cart position, cart velocity, pole angle, pole angular velocity.
    - **Action**: `Discrete(2)`: 0 pushes left, 1 pushes right.
    - **Reward**: 1 per step, the last included; with `sutton_barto_reward`, -1 on the terminating step and 0 before.
    - **Termination**: |x| > 2.4 or |angle| > 12 degrees. **Truncation**: 500 steps.
    - **State**: four scalars, float64 when x64 is enabled (as in Gymnasium), else float32.
    - **Reset draw**: the four numbers of the first state, uniform in [-0.05, 0.05).
    """

    sutton_barto_reward: bool = False

    def default_params(self) -> CartPoleParams:
        return CartPoleParams()

    def observation_space(self, params: CartPoleParams) -> Box:
        # Twice the limits, as in Gymnasium, so that the failing observation is still inside.
        default = CartPoleParams()
        high = (default.x_threshold * 2, math.inf, default.theta_threshold_radians * 2, math.inf)
        return Box(tuple(-bound for bound in high), high, (4,))

    def action_space(self, params: CartPoleParams) -> Discrete:
        return Discrete(2)

    def draw_reset(self, rng: Rng, params: CartPoleParams) -> CartPoleState:
        low, high = params.reset_low, params.reset_high
        return CartPoleState(*(rng.uniform(site, low, high) for site in range(4)))

    def init(self, draw: CartPoleState, params: CartPoleParams) -> CartPoleState:
        return draw

    def transition(
        self, state: CartPoleState, action: Int[Array, ""], draw: Any, params: CartPoleParams
    ) -> tuple[CartPoleState, Float[Array, ""], Bool[Array, ""]]:
        acceleration_x, acceleration_theta = self.accelerations(state, action, params)
        after = CartPoleState(
            x=state.x + params.tau * state.x_dot,
            x_dot=state.x_dot + params.tau * acceleration_x,
            theta=state.theta + params.tau * state.theta_dot,
            theta_dot=state.theta_dot + params.tau * acceleration_theta,
        )
        terminated = self.fallen(after, params)
        return after, self.reward(state, terminated, params), terminated

    def accelerations(
        self, state: CartPoleState, action: Int[Array, ""], params: CartPoleParams
    ) -> tuple[Float[Array, ""], Float[Array, ""]]:
        """Of the cart and of the pole's angle."""
        dtype = state.theta.dtype
        total_mass = jnp.asarray(params.masspole, dtype) + params.masscart
        polemass_length = jnp.asarray(params.masspole, dtype) * params.length
        force = jnp.where(action == 1, params.force_mag, -params.force_mag).astype(dtype)
        costheta = jnp.cos(state.theta)
        sintheta = jnp.sin(state.theta)
        temp = (force + polemass_length * jnp.square(state.theta_dot) * sintheta) / total_mass
        thetaacc = (params.gravity * sintheta - costheta * temp) / (
            params.length * (4.0 / 3.0 - params.masspole * jnp.square(costheta) / total_mass)
        )
        xacc = temp - polemass_length * thetaacc * costheta / total_mass
        return xacc, thetaacc

    def fallen(self, state: CartPoleState, params: CartPoleParams) -> Bool[Array, ""]:
        """Whether the cart left the track or the pole leans too far."""
        return (
            (state.x < -params.x_threshold)
            | (state.x > params.x_threshold)
            | (state.theta < -params.theta_threshold_radians)
            | (state.theta > params.theta_threshold_radians)
        )

    def reward(self, before: CartPoleState, terminated: Bool[Array, ""], params: CartPoleParams) -> Float[Array, ""]:
        """The reward of a step that started in `before`; a step that starts and ends fallen gets 0."""
        if self.sutton_barto_reward:
            return jnp.where(terminated, -1.0, 0.0).astype(REWARD_DTYPE)
        return jnp.where(terminated & self.fallen(before, params), 0.0, 1.0).astype(REWARD_DTYPE)

    def observe(self, state: CartPoleState, params: CartPoleParams) -> Float[Array, "4"]:
        return jnp.stack([state.x, state.x_dot, state.theta, state.theta_dot]).astype(jnp.float32)
