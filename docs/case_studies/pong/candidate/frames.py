"""One step of a game: as many frames as the frameskip says, fewer where a point ends it."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int
from rounds import (
    BALL_HEIGHT,
    BALL_MAX_SPEED_Y,
    BALL_SPEED_Y_INCREMENT,
    BALL_WIDTH,
    HEIGHT,
    MAX_PADDLE_Y,
    MAX_SCORE,
    MIN_PADDLE_Y,
    PADDLE_HEIGHT,
    PADDLE_SPEED,
    WIDTH,
    compute_observations,
    reset_round,
)

LEVEL = np.float32(0.01)  # the reference compares a float with the double 0.01, which lies just above this float

Floats = tuple[Float[Array, ""], ...]
Ints = tuple[Int[Array, ""], ...]


class Play(NamedTuple):
    """What changes from frame to frame, number by number; after `over` nothing does."""

    yl: Float[Array, ""]
    yr: Float[Array, ""]
    x: Float[Array, ""]
    y: Float[Array, ""]
    vx: Float[Array, ""]
    vy: Float[Array, ""]
    score_l: Int[Array, ""]
    score_r: Int[Array, ""]
    bounces: Int[Array, ""]
    seen: tuple[Float[Array, ""], ...]
    reward: Float[Array, ""]
    over: Bool[Array, ""]


def frame(play: Play, direction: Float[Array, ""]) -> Play:
    """One frame of a step that goes on; the ball that a point leaves behind the line stays there."""
    yl, yr, x, y, vx, vy = play[:6]
    yr = jnp.clip(yr + PADDLE_SPEED * direction, MIN_PADDLE_Y, MAX_PADDLE_Y)
    yl = yl + jnp.clip(y - (yl + PADDLE_HEIGHT / 2), -PADDLE_SPEED, PADDLE_SPEED)
    yl = jnp.clip(yl, MIN_PADDLE_Y, MAX_PADDLE_Y)
    x, y = x + vx, y + vy
    vy = jnp.where((y < 0) | (y + BALL_HEIGHT > HEIGHT), -vy, vy)

    left, right = x < 0, x + BALL_WIDTH > WIDTH
    hit_l = left & (y + BALL_HEIGHT > yl) & (y < yl + PADDLE_HEIGHT)
    hit_r = right & (y + BALL_HEIGHT > yr) & (y < yr + PADDLE_HEIGHT)
    won, lost = left & ~hit_l, right & ~hit_r
    vx = jnp.where(hit_l | hit_r, -vx, vx)
    turned = jnp.clip(vy + BALL_SPEED_Y_INCREMENT * direction, -BALL_MAX_SPEED_Y, BALL_MAX_SPEED_Y)
    turned = jnp.where(jnp.abs(turned) <= LEVEL, BALL_SPEED_Y_INCREMENT, turned)
    vy = jnp.where(hit_r, turned, vy)
    x = jnp.where(hit_r, jnp.clip(x, 0, WIDTH - BALL_WIDTH), x)
    y = jnp.where(hit_r, jnp.clip(y, 0, HEIGHT - BALL_HEIGHT), y)

    over = won | lost
    reward = jnp.where(won, 1.0, jnp.where(lost, -1.0, jnp.where(hit_r, 0.1, play.reward)))
    scene = (yl, yr, x, y, vx, vy)
    return Play(
        *scene,
        play.score_l + lost,
        play.score_r + won,
        play.bounces + hit_l + hit_r,
        tuple(jnp.where(over, old, new) for old, new in zip(play.seen, scene, strict=True)),  # a point comes first
        reward.astype(jnp.float32),
        over,
    )


def c_step(
    scene: Floats, counts: Ints, seen: Floats, action: Int[Array, ""], serve: Int[Array, ""], frameskip: int
) -> tuple[Float[Array, "6"], Int[Array, "4"], Float[Array, "6"], Float[Array, "8"], Float[Array, ""], Bool[Array, ""]]:
    """Scene, counts, the scene that was last seen, observation, reward and terminal.

    What is given may be arrays or tuples of numbers.
    """
    yl, yr, x, y, vx, vy = scene
    score_l, score_r, tick, bounces = counts
    direction = jnp.where(action == 1, 1.0, jnp.where(action == 2, -1.0, 0.0)).astype(yl.dtype)
    begun = Play(
        yl, yr, x, y, vx, vy, score_l, score_r, bounces, tuple(seen), jnp.float32(0.0), jnp.bool_(False)
    )  # fmt: skip

    def next_frame(_: Int[Array, ""], play: Play) -> Play:
        after = frame(play, direction)
        return jax.tree.map(lambda old, new: jnp.where(play.over, old, new).astype(old.dtype), play, after)

    play = lax.fori_loop(0, frameskip, next_frame, begun)
    won, lost = play.over & (play.reward > 0), play.over & (play.reward < 0)
    terminal = (won & (play.score_r == MAX_SCORE)) | (lost & (play.score_l == MAX_SCORE))
    served = play.over & ~terminal  # once after all frames: nothing happened since the point
    ball = zip(reset_round(serve), play[:6], strict=True)
    counted = jnp.stack([
        play.score_l, play.score_r, jnp.where(served, 0, tick + 1), jnp.where(served, 0, play.bounces)
    ])  # fmt: skip
    return (
        jnp.stack([jnp.where(served, new, old).astype(old.dtype) for new, old in ball]),
        counted.astype(jnp.int32),
        jnp.stack(play.seen),
        compute_observations(play.seen),
        play.reward,
        terminal,
    )
