"""CartPole's picture, drawn like Gymnasium's (same window, same scale), and a scripted player that balances it."""

import math
from typing import Any

import numpy as np

from overclock.drawing import DARK, GREY, GROUND, LILAC, SAND, TRACK, Canvas
from overclock.errors import UsageError

# Gymnasium's window and proportions, in pixels.
WIDTH, HEIGHT = 600, 400
CART_Y = 300  # of the cart's centre
CART_WIDTH, CART_HEIGHT = 50, 30
POLE_WIDTH = 10
AXLE_ABOVE_CENTRE = CART_HEIGHT / 4

WHEEL_RADIUS = 6
TRACK_Y = CART_Y + CART_HEIGHT // 2 + WHEEL_RADIUS

CART, WHEEL, POLE, AXLE = DARK, GREY, SAND, LILAC

GAINS = (0.25, 0.6, 4.0, 1.0)  # of position, velocity, angle, angular velocity


def balance(obs: Any) -> Any:
    """The action that keeps the pole up: push towards the side to which cart and pole drift."""
    lean = obs @ np.asarray(GAINS, np.float32)
    return (lean > 0).astype(np.int32)


def render(env: Any, state: Any, params: Any = None) -> np.ndarray:
    """One state (an `EnvState` or its rules' state) as an RGB picture, `uint8[400, 600, 3]`."""
    params = env.default_params() if params is None else params
    rules = getattr(state, "rules", state)
    if np.ndim(rules.x) != 0:
        raise UsageError("CartPole's renderer draws one environment; pick one of the batch first.")
    scale = WIDTH / (2 * float(params.x_threshold))
    centre = WIDTH / 2 + float(rules.x) * scale
    canvas = Canvas(WIDTH, HEIGHT)
    canvas.box(0, TRACK_Y, WIDTH, HEIGHT, GROUND)
    canvas.box(0, TRACK_Y, WIDTH, TRACK_Y + 2, TRACK)
    canvas.box(WIDTH / 2 - 1, TRACK_Y, WIDTH / 2 + 1, TRACK_Y + 9, TRACK)  # the middle
    _draw_cart(canvas, centre, float(rules.theta), 2 * float(params.length) * scale)
    return canvas.pixels()


def _draw_cart(canvas: Canvas, centre: float, theta: float, pole_length: float) -> None:
    top, bottom = CART_Y - CART_HEIGHT / 2, CART_Y + CART_HEIGHT / 2
    for side in (-1, 1):
        canvas.disc((centre + side * CART_WIDTH * 0.3, bottom), WHEEL_RADIUS, WHEEL)
    canvas.box(centre - CART_WIDTH / 2, top, centre + CART_WIDTH / 2, bottom, CART, rounding=5)

    axle, shown = (centre, CART_Y - AXLE_ABOVE_CENTRE), pole_length - POLE_WIDTH / 2
    canvas.rod(axle, (axle[0] + math.sin(theta) * shown, axle[1] - math.cos(theta) * shown), POLE_WIDTH / 2, POLE)
    canvas.disc(axle, POLE_WIDTH / 2, AXLE)
