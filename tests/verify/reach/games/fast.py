"""The performance sides of the three games, in JAX, and rare bugs that can be planted in them by name."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from verify.reach.games import snake, sokoban, tetris

from overclock.env import Box, Discrete, Environment, Params, Struct

BUGS = {
    "tetris": ("no-line-is-cleared", "four-lines-are-worth-less", "level-is-no-factor", "one-line-at-a-time"),
    "snake": ("does-not-grow", "grows-to-twenty", "long-is-nothing-more", "never-hungry"),
    "sokoban": ("goal-is-not-counted", "leaving-costs-nothing", "never-solved", "solved-for-nothing"),
}
MOVES = np.array(snake.MOVES)


class GameParams(Params):
    """All three have the time limit of their wrapper."""

    max_steps: int | None = 500


class Number(Struct):
    """The number that a reset or a step of the reference drew; 0 where it drew none."""

    number: Any


class _Game(Environment[Any, GameParams]):
    def default_params(self):
        return GameParams()

    def draw_reset(self, rng, params):
        return Number(rng.integers(0, 2))

    def draw_step(self, rng, state, params):
        return Number(rng.integers(0, 2))


class TetrisState(Struct):
    board: Any
    piece: Any
    turned: Any
    row: Any
    column: Any
    lines: Any
    score: Any
    game_over: Any


@dataclasses.dataclass(frozen=True)
class Tetris(_Game):
    """Tetris, as tetris.py has it."""

    bug: str = ""

    def observation_space(self, params):
        return Box(0, 2, (tetris.HEIGHT, tetris.WIDTH), jnp.int32)

    def action_space(self, params):
        return Discrete(5)

    def init(self, draw, params):
        zero = jnp.int32(0)
        board = jnp.zeros((tetris.HEIGHT, tetris.WIDTH), jnp.int32)
        return self._spawned(TetrisState(board, zero, zero, zero, zero, zero, zero, jnp.bool_(False)), draw)

    def transition(self, state, action, draw, params):
        moved = state
        for number, change in (
            (tetris.LEFT, {"column": state.column - 1}),
            (tetris.RIGHT, {"column": state.column + 1}),
            (tetris.TURN, {"turned": (state.turned + 1) % 4}),
        ):
            tried = state.replace(**change)
            moved = _either((action == number) & self._fits(tried), tried, moved)
        fallen = jax.lax.fori_loop(0, tetris.HEIGHT, lambda _, now: self._fall(now)[0], moved)
        falling, falls = self._fall(_either(action == tetris.DROP, fallen, moved))
        landed, points = self._landed(falling, draw)
        after = _either(state.game_over, state, _either(falls, falling, landed))
        reward = jnp.where(state.game_over | falls, 0, points).astype(jnp.float32)
        return after, reward, after.game_over

    def observe(self, state, params):
        y, x = self._cells(state)
        return state.board.at[y, x].set(2)

    def _cells(self, state):
        cells = jnp.asarray(tetris.CELLS, jnp.int32)[state.piece, state.turned]
        return state.row + cells[:, 0], state.column + cells[:, 1]

    def _fits(self, state):
        y, x = self._cells(state)
        inside = (y < tetris.HEIGHT) & (x >= 0) & (x < tetris.WIDTH)
        return jnp.all(inside & (state.board[jnp.clip(y, 0, tetris.HEIGHT - 1), x % tetris.WIDTH] == 0))

    def _fall(self, state):
        lower = state.replace(row=state.row + 1)
        falls = self._fits(lower)
        return _either(falls, lower, state), falls

    def _landed(self, state, draw):
        y, x = self._cells(state)
        board = state.board.at[y, x].set(1)
        full = jnp.all(board != 0, axis=1)
        if self.bug == "no-line-is-cleared":
            full = jnp.zeros_like(full)
        if self.bug == "one-line-at-a-time":
            full &= jnp.arange(tetris.HEIGHT) == jnp.argmax(full)
        order = jnp.argsort(~full, stable=True)  # full rows first, the others in their order
        cleared = full.sum().astype(jnp.int32)
        kept = board[order]
        board = jnp.where((jnp.arange(tetris.HEIGHT) < cleared)[:, None], 0, kept)
        worth = (0, 40, 100, 300, 800 if self.bug == "four-lines-are-worth-less" else 1200)
        level = 0 if self.bug == "level-is-no-factor" else state.lines // tetris.LINES_PER_LEVEL
        points = jnp.asarray(worth, jnp.int32)[cleared] * (level + 1)
        state = state.replace(board=board, lines=state.lines + cleared, score=state.score + points)
        return self._spawned(state, draw), points

    def _spawned(self, state, draw):
        begun = (jnp.int32(0), jnp.int32(0), jnp.int32(tetris.WIDTH // 2 - 2))
        names = ("turned", "row", "column")
        state = state.replace(piece=draw.number.astype(jnp.int32), **dict(zip(names, begun, strict=True)))
        return state.replace(game_over=state.game_over | ~self._fits(state))


class SnakeState(Struct):
    body_row: Any
    body_column: Any
    body_length: Any
    heading: Any
    hungry: Any
    food_row: Any
    food_column: Any


@dataclasses.dataclass(frozen=True)
class Snake(_Game):
    """Snake, as snake.py has it."""

    bug: str = ""

    def observation_space(self, params):
        return Box(0, 3, (snake.SIZE, snake.SIZE), jnp.int32)

    def action_space(self, params):
        return Discrete(4)

    def init(self, draw, params):
        row, column = (jnp.zeros(snake.SIZE**2, jnp.int32) for _ in range(2))
        begun = SnakeState(row.at[:3].set(6), column.at[:3].set(jnp.array([6, 5, 4])), *map(jnp.int32, (3, 1, 0, 0, 0)))
        return self._fed(begun, draw)

    def transition(self, state, action, draw, params):
        heading = jnp.where((action + 2) % 4 == state.heading, state.heading, action).astype(jnp.int32)
        turned = state.replace(heading=heading)
        down, right = jnp.asarray(MOVES, jnp.int32)[heading]
        row, column = state.body_row[0] + down, state.body_column[0] + right
        there = jnp.arange(snake.SIZE**2)
        hits = (state.body_row == row) & (state.body_column == column) & (there < state.body_length - 1)
        over = (row < 0) | (row >= snake.SIZE) | (column < 0) | (column >= snake.SIZE) | jnp.any(hits)
        ate = (row == state.food_row) & (column == state.food_column)
        grows = ate & (self.bug != "does-not-grow")
        if self.bug == "grows-to-twenty":
            grows &= state.body_length < 20
        length = (state.body_length + grows).astype(jnp.int32)
        rows, columns = (
            jnp.where(there < length, jnp.concatenate([head[None], tail[:-1]]), 0)
            for head, tail in ((row, state.body_row), (column, state.body_column))
        )
        hungry = jnp.where(ate, 0, state.hungry + 1).astype(jnp.int32)
        moved = turned.replace(body_row=rows, body_column=columns, body_length=length, hungry=hungry)
        full = ate & (length == snake.SIZE**2)
        moved = _either(ate & ~full, self._fed(moved, draw), moved)
        long = (length > snake.LONG) & (self.bug != "long-is-nothing-more")
        worth = jnp.where(ate, jnp.where(long, 2.0, 1.0) + jnp.where(full, 100.0, 0.0), 0.0)
        starved = (hungry >= snake.HUNGER) & (self.bug != "never-hungry")
        reward = jnp.where(over, -1.0, jnp.where(starved, -0.5, worth)).astype(jnp.float32)
        return _either(over, turned, moved), reward, over | starved | full

    def observe(self, state, params):
        there = jnp.arange(snake.SIZE**2) < state.body_length
        shown = jnp.zeros((snake.SIZE, snake.SIZE), jnp.int32)
        shown = shown.at[state.body_row, state.body_column].max(there.astype(jnp.int32))
        shown = shown.at[state.body_row[0], state.body_column[0]].set(2)
        return shown.at[state.food_row, state.food_column].set(3)

    def _fed(self, state, draw):
        there = jnp.arange(snake.SIZE**2) < state.body_length
        taken = jnp.zeros((snake.SIZE, snake.SIZE), jnp.int32)
        free = taken.at[state.body_row, state.body_column].max(there.astype(jnp.int32)).ravel() == 0
        cell = jnp.argmax(jnp.cumsum(free) == draw.number + 1).astype(jnp.int32)
        return state.replace(food_row=cell // snake.SIZE, food_column=cell % snake.SIZE)


class SokobanState(Struct):
    boxes: Any
    map: Any
    row: Any
    column: Any
    moves: Any


@dataclasses.dataclass(frozen=True)
class Sokoban(_Game):
    """Sokoban, as sokoban.py has it."""

    bug: str = ""

    def observation_space(self, params):
        return Box(0, 1, (4, *sokoban.WALLS.shape[1:]), jnp.int32)

    def action_space(self, params):
        return Discrete(4)

    def init(self, draw, params):
        number = draw.number.astype(jnp.int32)
        row, column = jnp.asarray(sokoban.STARTS, jnp.int32)[number]
        return SokobanState(jnp.asarray(sokoban.BOXES)[number], number, row, column, jnp.int32(0))

    def transition(self, state, action, draw, params):
        walls, goals = jnp.asarray(sokoban.WALLS)[state.map], jnp.asarray(sokoban.GOALS)[state.map]
        down, right = jnp.asarray(MOVES, jnp.int32)[action]
        row, column = state.row + down, state.column + right
        beyond = (row + down, column + right)
        pushes = state.boxes[row, column] & ~walls[beyond] & ~state.boxes[beyond]
        boxes = jnp.where(pushes, state.boxes.at[row, column].set(False).at[beyond].set(True), state.boxes)
        onto, off = goals[beyond], goals[row, column]
        if self.bug == "goal-is-not-counted":
            onto = jnp.zeros_like(onto)
        if self.bug == "leaving-costs-nothing":
            off = jnp.zeros_like(off)
        goes = ~walls[row, column] & ~boxes[row, column]
        solved = jnp.all(boxes == goals) & (self.bug != "never-solved")
        gained = jnp.where(pushes, onto.astype(jnp.float32) - off.astype(jnp.float32), 0.0)
        reward = gained - 0.125 + jnp.where(solved, 0.0 if self.bug == "solved-for-nothing" else 10.0, 0.0)
        row, column = jnp.where(goes, row, state.row), jnp.where(goes, column, state.column)
        moves = state.moves + 1
        after = SokobanState(boxes, state.map, row.astype(jnp.int32), column.astype(jnp.int32), moves)
        return after, reward.astype(jnp.float32), solved | (moves >= sokoban.STEPS)

    def observe(self, state, params):
        walls, goals = jnp.asarray(sokoban.WALLS)[state.map], jnp.asarray(sokoban.GOALS)[state.map]
        player = jnp.zeros(sokoban.WALLS.shape[1:], jnp.bool_).at[state.row, state.column].set(True)
        return jnp.stack([walls, goals, state.boxes, player]).astype(jnp.int32)


def _either(choice, one, other):
    """One of two states."""
    return jax.tree.map(lambda a, b: jnp.where(choice, a, b), one, other)
