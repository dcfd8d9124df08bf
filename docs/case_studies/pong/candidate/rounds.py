"""The beginning of a game and of a round, and what is shown of a scene.

A scene is (paddle_yl, paddle_yr, ball_x, ball_y, ball_vx, ball_vy), counts are (score_l, score_r, tick, n_bounces).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

WIDTH, HEIGHT = 500.0, 640.0
PADDLE_HEIGHT, PADDLE_SPEED = 70.0, 8.0
BALL_WIDTH, BALL_HEIGHT = 32.0, 32.0
BALL_INITIAL_SPEED_X, BALL_INITIAL_SPEED_Y = 10.0, 1.0
BALL_MAX_SPEED_Y, BALL_SPEED_Y_INCREMENT = 13.0, 3.0
MAX_SCORE = 21
MIN_PADDLE_Y, MAX_PADDLE_Y = -PADDLE_HEIGHT / 2, HEIGHT - PADDLE_HEIGHT / 2


def divided(number: Float[Array, ""], divisor: float) -> Float[Array, ""]:
    """A quotient that is rounded once, as in C.

    XLA multiplies by the reciprocal where it knows that a divisor is a constant, which rounds twice; it cannot know it
    of a value that would be another one for NaN.
    """
    return number / jnp.where(number == number, divisor, 1.0).astype(number.dtype)


def compute_observations(scene: tuple[Float[Array, ""], ...]) -> Float[Array, "8"]:
    """Everything scaled to about 0 to 1.

    The reference divides the scores as whole numbers, which gives 0 below the last point, and nobody looks between the
    last point and the end of a game: both are always 0.
    """
    yl, yr, x, y, vx, vy = scene
    span = MAX_PADDLE_Y - MIN_PADDLE_Y
    shown = (
        divided(yl - MIN_PADDLE_Y, span),
        divided(yr - MIN_PADDLE_Y, span),
        divided(x, WIDTH),
        divided(y, HEIGHT),
        divided(vx + BALL_INITIAL_SPEED_X, 2 * BALL_INITIAL_SPEED_X),
        divided(vy + BALL_MAX_SPEED_Y, 2 * BALL_MAX_SPEED_Y),
        jnp.zeros(()),
        jnp.zeros(()),
    )
    return jnp.stack([one.astype(jnp.float32) for one in shown])


def reset_round(serve: Int[Array, ""]) -> tuple[Float[Array, ""], ...]:
    """The scene of a serve, number by number: down (0) or level (1)."""
    paddle = HEIGHT / 2 - PADDLE_HEIGHT / 2
    fixed = (paddle, paddle, WIDTH / 5, HEIGHT / 2 - BALL_HEIGHT / 2, BALL_INITIAL_SPEED_X)
    return *(jnp.array(one, float) for one in fixed), ((serve - 1) * BALL_INITIAL_SPEED_Y).astype(float)


def c_reset(serve: Int[Array, ""], frameskip: int) -> tuple[Float[Array, "6"], Int[Array, "4"], Float[Array, "8"]]:
    """Scene, counts and observation of a new game."""
    scene = reset_round(serve)
    return jnp.stack(scene), jnp.zeros(4, jnp.int32), compute_observations(scene)
