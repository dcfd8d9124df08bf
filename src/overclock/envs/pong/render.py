"""Pong's picture, laid out like PufferLib's (same window, same colours), and a player that follows the ball."""

import functools
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from overclock.errors import UsageError

# PufferLib's drawing: beside the field, of the parameters' size, there is room for the paddles.
PADDLE_WIDTH = 20
MARGIN = 3 * PADDLE_WIDTH
SCORE_SIZE, SCORE_TOP, SCORE_OFFSET = 30, 10, 50

SUPERSAMPLING = 2  # drawn this many times larger and averaged down: smooth edges

BACKGROUND = (6, 24, 24)
OPPONENT = (255, 0, 0)
PLAYER = (0, 255, 255)
BALL = (255, 255, 255)
SCORE = (0, 187, 187)

HEIGHT, BALL_MIDDLE, IDLE = 640.0, 16.0, 6.0  # pixels: of the field, above the ball's lower edge, not worth a move


def follow(obs: Any) -> Any:
    """The action that brings the paddle's middle to the ball's."""
    gap = (obs[..., 3] - obs[..., 1]) * np.float32(HEIGHT) + np.float32(BALL_MIDDLE)
    return (gap > IDLE).astype(np.int32) + 2 * (gap < -IDLE).astype(np.int32)


def render(env: Any, state: Any, params: Any = None) -> np.ndarray:
    """One state (an `EnvState` or its rules' state) as an RGB picture, `uint8[640, 620, 3]`."""
    params = env.default_params() if params is None else params
    rules = getattr(state, "rules", state)
    if np.ndim(rules.ball_x) != 0:
        raise UsageError("Pong's renderer draws one environment; pick one of the batch first.")
    width, height = round(float(params.width)) + 2 * MARGIN, round(float(params.height))
    picture = Image.new("RGB", (width * SUPERSAMPLING, height * SUPERSAMPLING), BACKGROUND)
    draw = ImageDraw.Draw(picture)

    def box(x: float, y: float, across: float, up: float) -> list[float]:
        """From the field's coordinates, which count upwards, to the large drawing's."""
        edges = (MARGIN + x, height - y - up, MARGIN + x + across, height - y)
        return [edge * SUPERSAMPLING - (index >= 2) for index, edge in enumerate(edges)]

    paddle = float(params.paddle_height)
    draw.rectangle(box(-PADDLE_WIDTH, float(rules.paddle_yl), PADDLE_WIDTH, paddle), OPPONENT)
    draw.rectangle(box(float(params.width), float(rules.paddle_yr), PADDLE_WIDTH, paddle), PLAYER)
    ball = (float(rules.ball_x), float(rules.ball_y), float(params.ball_width), float(params.ball_height))
    draw.ellipse(box(*ball), BALL)
    for score, side in ((rules.score_l, -1), (rules.score_r, 1)):
        place = ((width / 2 + side * SCORE_OFFSET) * SUPERSAMPLING, SCORE_TOP * SUPERSAMPLING)
        draw.text(place, str(int(score)), SCORE, _font(), anchor="ma")
    return np.asarray(picture.reduce(SUPERSAMPLING))


@functools.cache
def _font() -> Any:
    return ImageFont.load_default(SCORE_SIZE * SUPERSAMPLING)
