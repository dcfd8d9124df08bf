"""All situations of discrete Pong, whose state has whole numbers only, to check one step from each.

Paddles and ball meet in a few comparisons only. There are 10^11 reachable situations, so they are taken apart:
every reachable ball with some paddles, every ball that is about to leave with every place of the paddle it may meet,
and every height of the ball with every place of the opponent that aims at it.
"""

from collections.abc import Iterator

import numpy as np

from overclock.envs.pong.library import SHOWN, Lanes

BALL = ("ball_x", "ball_y", "ball_vx", "ball_vy")
BLOCK = 200_000  # situations at a time
ACTIONS = (0, 1, 2)
OPPONENT = np.arange(-35, 606, dtype=np.float32)  # it moves by any whole number up to 8
PLAYER = np.arange(-35, 606, 8, dtype=np.float32)  # it begins at 285 and moves by 8, and both limits are among these
SERVES = ((100.0, 304.0, 10.0, -1.0), (100.0, 304.0, 10.0, 0.0))
LEFT_X, RIGHT_X = 8.0, (460.0, 468.0)  # from where the next frame ends beyond an edge: -2; 470 and 478
LOWEST_X, LOWEST_Y, FASTEST = 10, 13, 13  # how far the ball gets below zero, and its vertical speed
TABLE = (LOWEST_X + 469, LOWEST_Y + 622, 2, 2 * FASTEST + 1)
PAIRS = 16  # of paddles for every ball
EDGE = (-79.0, -78.0, -77.0, -70.0, -62.0, 24.0, 32.0, 39.0, 40.0, 41.0)  # paddles around the limits of a hit

Block = tuple[np.ndarray, np.ndarray, np.ndarray]  # states (of SHOWN), actions, serves


def reachable_balls() -> np.ndarray:
    """Every position and speed of the ball that the reference gets to from its serves: (number, 4).

    A ball is followed with both paddles where they return it and with every action; a miss leads to a serve.
    """
    known = np.zeros(TABLE, np.bool_)
    frontier = np.array(SERVES, np.float32)
    while len(frontier):
        known[_places(frontier)] = True
        found = np.concatenate([_returned(frontier, action) for action in ACTIONS])
        frontier = np.unique(found[~known[_places(found)]], axis=0)
    x, y, rightwards, vy = np.nonzero(known)
    return np.stack([x - LOWEST_X, y - LOWEST_Y, 20 * rightwards - 10, vy - FASTEST], axis=1).astype(np.float32)


def _places(balls: np.ndarray) -> tuple[np.ndarray, ...]:
    """Where balls are in the table of all whole numbers they could be at."""
    x, y, vx, vy = balls.astype(np.int32).T
    return x + LOWEST_X, y + LOWEST_Y, (vx > 0).astype(np.int32), vy + FASTEST


def _returned(balls: np.ndarray, action: int) -> np.ndarray:
    """Where balls are one step later if the paddles are where they are."""
    lanes = Lanes(len(balls))
    states = _states(balls)
    middle = np.clip(states["ball_y"] - 16, OPPONENT[0], OPPONENT[-1])
    states["paddle_yl"] = middle
    states["paddle_yr"] = PLAYER[np.round((middle - PLAYER[0]) / 8).astype(np.int32)]
    lanes.set(states)
    lanes.step_all(np.full(len(balls), action), np.zeros(len(balls)))
    shown = lanes.get()
    assert not np.any(shown["score_l"] + shown["score_r"]), "a paddle missed a ball that it was put behind"
    return np.stack([shown[name] for name in BALL], axis=1)


def every_situation(balls: np.ndarray) -> Iterator[Block]:
    """Every reachable situation, in blocks."""
    generator = np.random.default_rng(0)
    for _ in range(PAIRS):
        states = _states(balls)
        states["paddle_yl"] = generator.choice(OPPONENT, len(balls))
        states["paddle_yr"] = generator.choice(PLAYER, len(balls))
        yield from _blocks(states, generator)
    x, rightwards = balls[:, 0], balls[:, 2] > 0
    for place in OPPONENT:
        states = _states(balls[(x == LEFT_X) & ~rightwards])
        states["paddle_yl"], states["paddle_yr"] = place, generator.choice(PLAYER, len(states))
        yield from _blocks(states, generator)
    for place in PLAYER:
        states = _states(balls[np.isin(x, RIGHT_X) & rightwards])
        states["paddle_yl"], states["paddle_yr"] = generator.choice(OPPONENT, len(states)), place
        yield from _blocks(states, generator)
    heights = np.unique(balls[:, 1])
    for place in OPPONENT:
        states = _states(balls[generator.integers(0, len(balls), len(heights))])
        states["ball_y"], states["paddle_yl"], states["paddle_yr"] = heights, place, generator.choice(PLAYER)
        yield from _blocks(states, generator)


def edge_situations() -> Block:
    """A slice of it that needs no reference: balls at both edges, every third height, all speeds, touching paddles."""
    heights, speeds = np.arange(-13, 622, 3, dtype=np.float32), np.arange(-13, 14, dtype=np.float32)
    parts = []
    for x, vx in ((LEFT_X, -10.0), *((x, 10.0) for x in RIGHT_X)):
        y, vy, beside = (axis.ravel() for axis in np.meshgrid(heights, speeds, np.array(EDGE, np.float32)))
        states = _states(np.stack([np.full_like(y, x), y, np.full_like(y, vx), vy], axis=1))
        paddle = np.clip(y + vy + beside, OPPONENT[0], OPPONENT[-1])
        states["paddle_yl"] = paddle
        states["paddle_yr"] = PLAYER[np.round((paddle - PLAYER[0]) / 8).astype(np.int32)]
        parts.append(states)
    states = np.tile(np.concatenate(parts), len(ACTIONS))
    count = np.arange(len(states))
    states["score_l"], states["score_r"] = count % 21, (count // 21) % 21
    return states, np.repeat(ACTIONS, len(states) // len(ACTIONS)).astype(np.int32), (count % 2).astype(np.int32)


def _states(balls: np.ndarray) -> np.ndarray:
    """States with these balls; what was last seen is that of another one."""
    states = np.zeros(len(balls), SHOWN)
    for column, name in enumerate(BALL):
        states[name] = balls[:, column]
    for name, seen in zip(BALL, ("seen_x", "seen_y", "seen_vx", "seen_vy"), strict=True):
        states[seen] = np.roll(states[name], 1)
    states["seen_yl"], states["seen_yr"] = OPPONENT[-1], PLAYER[0]
    return states


def _blocks(states: np.ndarray, generator: np.random.Generator) -> Iterator[Block]:
    """Every action from every state, with any score and either serve."""
    for start in range(0, len(states), BLOCK):
        block = states[start : start + BLOCK].copy()
        for name in ("score_l", "score_r"):
            block[name] = generator.integers(0, 21, len(block))
        for action in ACTIONS:
            yield block, np.full(len(block), action, np.int32), generator.integers(0, 2, len(block)).astype(np.int32)
