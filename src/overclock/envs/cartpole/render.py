"""CartPole's picture, drawn like Gymnasium's (same window, same scale), and a scripted player that balances it."""

import functools
import math
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from overclock.errors import UsageError

# Gymnasium's window and proportions, in pixels.
WIDTH, HEIGHT = 600, 400
CART_Y = 300  # of the cart's centre
CART_WIDTH, CART_HEIGHT = 50, 30
POLE_WIDTH = 10
AXLE_ABOVE_CENTRE = CART_HEIGHT / 4

WHEEL_RADIUS = 6
TRACK_Y = CART_Y + CART_HEIGHT // 2 + WHEEL_RADIUS

SUPERSAMPLING = 3  # drawn this many times larger and averaged down: smooth edges

SKY = (246, 248, 251)
GROUND = (226, 231, 238)
TRACK = (70, 80, 95)
CART = (38, 50, 70)
WHEEL = (96, 108, 128)
POLE = (202, 152, 101)
AXLE = (129, 132, 203)

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
    picture = _background().copy()
    _draw_cart(ImageDraw.Draw(picture), centre, float(rules.theta), 2 * float(params.length) * scale)
    return np.asarray(picture.reduce(SUPERSAMPLING))


@functools.cache
def _background() -> Image.Image:
    """Sky, ground, and the track with its middle marked."""
    picture = Image.new("RGB", (WIDTH * SUPERSAMPLING, HEIGHT * SUPERSAMPLING), SKY)
    draw = ImageDraw.Draw(picture)
    draw.rectangle(_scaled(0, TRACK_Y, WIDTH, HEIGHT), GROUND)
    draw.rectangle(_scaled(0, TRACK_Y, WIDTH, TRACK_Y + 2), TRACK)
    draw.rectangle(_scaled(WIDTH / 2 - 1, TRACK_Y, WIDTH / 2 + 1, TRACK_Y + 9), TRACK)
    return picture


def _draw_cart(draw: ImageDraw.ImageDraw, centre: float, theta: float, pole_length: float) -> None:
    top, bottom = CART_Y - CART_HEIGHT / 2, CART_Y + CART_HEIGHT / 2
    for side in (-1, 1):
        _disc(draw, centre + side * CART_WIDTH * 0.3, bottom, WHEEL_RADIUS, WHEEL)
    body = _scaled(centre - CART_WIDTH / 2, top, centre + CART_WIDTH / 2, bottom)
    draw.rounded_rectangle(body, 5 * SUPERSAMPLING, CART)

    axle = (centre, CART_Y - AXLE_ABOVE_CENTRE)
    along = (math.sin(theta), -math.cos(theta))
    across = (-along[1] * POLE_WIDTH / 2, along[0] * POLE_WIDTH / 2)
    end = (axle[0] + along[0] * (pole_length - POLE_WIDTH / 2), axle[1] + along[1] * (pole_length - POLE_WIDTH / 2))
    corners = [(p[0] + s * across[0], p[1] + s * across[1]) for p, s in ((axle, 1), (end, 1), (end, -1), (axle, -1))]
    draw.polygon([(x * SUPERSAMPLING, y * SUPERSAMPLING) for x, y in corners], POLE)
    for point in (axle, end):
        _disc(draw, *point, POLE_WIDTH / 2, POLE)
    _disc(draw, *axle, POLE_WIDTH / 2, AXLE)


def _disc(draw: ImageDraw.ImageDraw, x: float, y: float, radius: float, colour: tuple[int, int, int]) -> None:
    draw.ellipse(_scaled(x - radius, y - radius, x + radius, y + radius), colour)


def _scaled(*box: float) -> list[float]:
    """A box in picture pixels, in pixels of the large drawing."""
    return [value * SUPERSAMPLING for value in box]
