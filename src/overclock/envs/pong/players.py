"""Scripted players of Pong's twins for level 3: they rally, and then spin the ball until the opponent misses it.

Both are functions of the reference's state and play all four variants, discrete or continuous, one frame per step or
eight. A rally ends where the ball has become too fast for the opponent, so games end, too: 21 points in a row.
"""

from typing import Any

import numpy as np

from overclock.envs.pong.env import PongParams
from overclock.verify.rollout.actions import ActionSource
from overclock.verify.sides.subject import Arrays, Observed

GAME = PongParams()
ROOM = GAME.height - GAME.ball_height  # where the ball's lower edge can be
# Pixels: not worth a move, even of eight frames; how far behind the ball a spin begins; by how much it must meet.
IDLE, BEHIND, SURELY = 32.0, 24.0, 8.0


def patient(description: dict[str, Any]) -> ActionSource:
    """A first rally of 260 hits, then short ones: a game of 26,000 frames."""
    return _rallying(description, first=260, later=8)


def spinning(description: dict[str, Any]) -> ActionSource:
    """Rallies of 44 hits, after which the ball gets as fast as it can."""
    return _rallying(description, first=44, later=44)


def _rallying(description: dict[str, Any], first: int, later: int) -> ActionSource:
    def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
        direction = _direction(observed.state, first, later)
        if description["kind"] == "discrete":
            return np.where(direction > 0, 1, np.where(direction < 0, 2, 0)).astype(np.int32)
        return direction[:, None].astype(description["low"].dtype)

    return act


def _direction(state: Arrays, first: int, later: int) -> np.ndarray:
    """Per lane, which way the paddle moves: to where the ball will land, and along with the ball if it shall spin."""
    coming = state["ball_vx"] > 0
    frames, height = _landing(state, coming)
    hits = np.where(state["score_l"] + state["score_r"] == 0, first, later)
    spin, side = coming & (state["n_bounces"] >= hits), np.where(state["ball_vy"] < 0, -1.0, 1.0)
    target = np.where(coming, height, ROOM / 2) + GAME.ball_height / 2 - BEHIND * side * spin
    gap = target - (state["paddle_yr"] + GAME.paddle_height / 2)
    follow = np.where(np.abs(gap) > IDLE, np.sign(gap), 0.0)
    then = state["paddle_yr"] + GAME.paddle_speed * side * frames  # the paddle at the landing, if it moves all the time
    meets = (height + GAME.ball_height > then + SURELY) & (height < then + GAME.paddle_height - SURELY)
    return np.where(spin & meets, side, follow)


def _landing(state: Arrays, coming: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """In how many frames a ball that comes passes the right edge, and its height there; walls turn it."""
    speed = np.where(coming, state["ball_vx"], 1.0)
    frames = np.where(coming, np.floor((GAME.width - GAME.ball_width - state["ball_x"]) / speed) + 1, 0.0)
    return frames, ROOM - np.abs((state["ball_y"] + state["ball_vy"] * frames) % (2 * ROOM) - ROOM)
