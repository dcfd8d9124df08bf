"""What CartPole consists of: its parameters, its state, and what is drawn for it."""

import math

from jaxtyping import Array, Float

from overclock.env import Params, Struct


class CartPoleParams(Params):
    """The reference's constants; `length` is half the pole's length, `tau` the seconds between two steps."""

    max_steps: int | None = 500
    gravity: float = 9.8
    masscart: float = 1.0
    masspole: float = 0.1
    length: float = 0.5
    force_mag: float = 10.0
    tau: float = 0.02
    theta_threshold_radians: float = 12 * 2 * math.pi / 360
    x_threshold: float = 0.2
    reset_bound: float = 0.05
    wind: float = 1.0


class CartPoleState(Struct):
    """Position and velocity of the cart, angle and angular velocity of the pole."""

    x: Float[Array, ""]
    x_dot: Float[Array, ""]
    theta: Float[Array, ""]
    theta_dot: Float[Array, ""]


class Start(Struct):
    """What a reset draws: one number for each field of the state."""

    uniform_0: Float[Array, "4"]


class Gust(Struct):
    """What a step draws: the wind's push."""

    uniform_0: Float[Array, ""]
