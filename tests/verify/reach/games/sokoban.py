"""Sokoban with three boxes: a player at random pushes a box onto a goal now and then, and solves nothing."""

from typing import Any

import gymnasium
import numpy as np

MAPS = (
    """
    ########
    #      #
    # .$ . #
    #  @ $ #
    # $  # #
    #  . # #
    #      #
    ########
    """,
    """
    ########
    #  .   #
    #  $ # #
    #.$@   #
    #  # $ #
    #      #
    #   .  #
    ########
    """,
)
ROWS = np.array([[list(line.strip()) for line in text.strip().splitlines()] for text in MAPS])
WALLS, GOALS, BOXES = ROWS == "#", ROWS == ".", ROWS == "$"
STARTS = np.argwhere(ROWS == "@")[:, 1:]
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
STEPS = 200


class Sokoban(gymnasium.Env[Any, Any]):
    """Boxes are pushed; one on a goal is rewarded, one pushed off again costs as much, and all of them end it."""

    def __init__(self) -> None:
        self.action_space = gymnasium.spaces.Discrete(4)
        self.observation_space = gymnasium.spaces.Box(0, 1, (4, *WALLS.shape[1:]), np.int64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.map = int(self.np_random.integers(len(MAPS)))
        self.boxes = BOXES[self.map].copy()
        self.row, self.column = int(STARTS[self.map, 0]), int(STARTS[self.map, 1])
        self.moves = 0
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        down, right = MOVES[int(action)]
        row, column = self.row + down, self.column + right
        reward, solved = -0.125, False
        if self.boxes[row, column]:
            reward += self._push(row, column, row + down, column + right)
        if not WALLS[self.map, row, column] and not self.boxes[row, column]:
            self.row, self.column = row, column
        if self._solved():
            reward, solved = reward + 10.0, True
        self.moves += 1
        return self._observe(), reward, solved or self.moves >= STEPS, False, {}

    def _push(self, row: int, column: int, to_row: int, to_column: int) -> float:
        if WALLS[self.map, to_row, to_column] or self.boxes[to_row, to_column]:
            return 0.0
        self.boxes[row, column] = False
        self.boxes[to_row, to_column] = True
        gained = 0.0
        if GOALS[self.map, to_row, to_column]:
            gained += 1.0
        if GOALS[self.map, row, column]:
            gained -= 1.0
        return gained

    def _solved(self) -> bool:
        return bool(np.array_equal(self.boxes, GOALS[self.map]))

    def _observe(self) -> Any:
        player = np.zeros(WALLS.shape[1:], np.bool_)
        player[self.row, self.column] = True
        return np.stack([WALLS[self.map], GOALS[self.map], self.boxes, player]).astype(np.int64)
