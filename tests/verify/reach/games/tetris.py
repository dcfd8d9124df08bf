"""Tetris on a board of 10 by 20: play that is random clears no line in many thousand steps."""

from typing import Any

import gymnasium
import numpy as np

HEIGHT, WIDTH = 20, 10
CELLS = np.array(
    [  # piece, rotation, cell: row and column
        [[[0, 0], [0, 1], [0, 2], [0, 3]], [[0, 0], [1, 0], [2, 0], [3, 0]]] * 2,  # I
        [[[0, 0], [0, 1], [1, 0], [1, 1]]] * 4,  # O
        [
            [[0, 0], [0, 1], [0, 2], [1, 1]], [[0, 1], [1, 0], [1, 1], [2, 1]],
            [[0, 1], [1, 0], [1, 1], [1, 2]], [[0, 0], [1, 0], [1, 1], [2, 0]],
        ],  # T
        [[[0, 1], [0, 2], [1, 0], [1, 1]], [[0, 0], [1, 0], [1, 1], [2, 1]]] * 2,  # S
        [[[0, 0], [0, 1], [1, 1], [1, 2]], [[0, 1], [1, 0], [1, 1], [2, 0]]] * 2,  # Z
        [
            [[0, 0], [1, 0], [1, 1], [1, 2]], [[0, 0], [0, 1], [1, 0], [2, 0]],
            [[0, 0], [0, 1], [0, 2], [1, 2]], [[0, 1], [1, 1], [2, 0], [2, 1]],
        ],  # J
        [
            [[0, 2], [1, 0], [1, 1], [1, 2]], [[0, 0], [1, 0], [2, 0], [2, 1]],
            [[0, 0], [0, 1], [0, 2], [1, 0]], [[0, 0], [0, 1], [1, 1], [2, 1]],
        ],  # L
    ],
    np.int64,
)  # fmt: skip
LEFT, RIGHT, TURN, DROP = 1, 2, 3, 4
POINTS = (0, 40, 100, 300, 1200)
LINES_PER_LEVEL = 10


class Tetris(gymnasium.Env[Any, Any]):
    """A piece falls by one row in every step; full rows are cleared, which is all that is rewarded."""

    def __init__(self) -> None:
        self.action_space = gymnasium.spaces.Discrete(5)
        self.observation_space = gymnasium.spaces.Box(0, 2, (HEIGHT, WIDTH), np.int64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.board = np.zeros((HEIGHT, WIDTH), np.int64)
        self.lines, self.score, self.game_over = 0, 0, False
        self._spawn()
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if self.game_over:
            return self._observe(), 0.0, True, False, {}
        if action == LEFT and self._fits(self.turned, self.row, self.column - 1):
            self.column -= 1
        elif action == RIGHT and self._fits(self.turned, self.row, self.column + 1):
            self.column += 1
        elif action == TURN and self._fits((self.turned + 1) % 4, self.row, self.column):
            self.turned = (self.turned + 1) % 4
        elif action == DROP:
            while self._fits(self.turned, self.row + 1, self.column):
                self.row += 1
        reward = 0.0
        if self._fits(self.turned, self.row + 1, self.column):
            self.row += 1
        else:
            reward = float(self._land())
        return self._observe(), reward, self.game_over, False, {}

    def _fits(self, turned: int, row: int, column: int) -> bool:
        for down, right in CELLS[self.piece, turned]:
            y, x = row + down, column + right
            if y >= HEIGHT or x < 0 or x >= WIDTH:
                return False
            if self.board[y, x]:
                return False
        return True

    def _land(self) -> int:
        for down, right in CELLS[self.piece, self.turned]:
            self.board[self.row + down, self.column + right] = 1
        cleared = 0
        for row in range(HEIGHT):
            if self.board[row].all():
                self.board[1 : row + 1] = self.board[0:row].copy()
                self.board[0] = 0
                cleared += 1
        level = self.lines // LINES_PER_LEVEL
        points = POINTS[cleared] * (level + 1)
        self.lines += cleared
        self.score += points
        self._spawn()
        return points

    def _spawn(self) -> None:
        self.piece = int(self.np_random.integers(len(CELLS)))
        self.turned, self.row, self.column = 0, 0, WIDTH // 2 - 2
        if not self._fits(self.turned, self.row, self.column):
            self.game_over = True

    def _observe(self) -> Any:
        shown = self.board.copy()
        for down, right in CELLS[self.piece, self.turned]:
            shown[self.row + down, self.column + right] = 2
        return shown
