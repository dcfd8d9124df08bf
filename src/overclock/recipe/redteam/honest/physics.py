"""The cart and its pole: one step of the equations of motion, in the reference's order of operations."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from .records import CartPoleParams, CartPoleState


def accelerations(
    state: CartPoleState, action: Int[Array, ""], wind: Float[Array, ""], params: CartPoleParams
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Of the cart, and of the pole's angle."""
    dtype = state.theta.dtype
    total_mass = jnp.asarray(params.masspole, dtype) + params.masscart
    polemass_length = jnp.asarray(params.masspole, dtype) * params.length
    force = jnp.where(action == 1, params.force_mag, -params.force_mag).astype(dtype) + wind
    costheta = jnp.cos(state.theta)
    sintheta = jnp.sin(state.theta)
    temp = (force + polemass_length * jnp.square(state.theta_dot) * sintheta) / total_mass
    thetaacc = (params.gravity * sintheta - costheta * temp) / (
        params.length * (4.0 / 3.0 - params.masspole * jnp.square(costheta) / total_mass)
    )
    xacc = temp - polemass_length * thetaacc * costheta / total_mass
    return xacc, thetaacc


def move(state: CartPoleState, action: Int[Array, ""], wind: Float[Array, ""], params: CartPoleParams) -> CartPoleState:
    """The state after `tau` seconds, by Euler's method with the old velocities."""
    xacc, thetaacc = accelerations(state, action, wind, params)
    return CartPoleState(
        x=state.x + params.tau * state.x_dot,
        x_dot=state.x_dot + params.tau * xacc,
        theta=state.theta + params.tau * state.theta_dot,
        theta_dot=state.theta_dot + params.tau * thetaacc,
    )


def fallen(state: CartPoleState, params: CartPoleParams) -> Bool[Array, ""]:
    """Whether the cart left the track or the pole leans too far."""
    return (
        (state.x < -params.x_threshold)
        | (state.x > params.x_threshold)
        | (state.theta < -params.theta_threshold_radians)
        | (state.theta > params.theta_threshold_radians)
    )
