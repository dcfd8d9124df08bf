"""Snake on a board of 12 by 12: a player at random eats a few times and never becomes long."""

from typing import Any

import gymnasium
import numpy as np

SIZE = 12
MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
LONG = 20  # from here on food is worth more
HUNGER = 150  # steps without food


class Snake(gymnasium.Env[Any, Any]):
    """The body is a list of cells, the head first; it grows by one cell with each piece of food."""

    def __init__(self) -> None:
        self.action_space = gymnasium.spaces.Discrete(4)
        self.observation_space = gymnasium.spaces.Box(0, 3, (SIZE, SIZE), np.int64)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.body = [(6, 6), (6, 5), (6, 4)]
        self.heading, self.hungry = 1, 0
        self._place_food()
        return self._observe(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        if (int(action) + 2) % 4 != self.heading:
            self.heading = int(action)
        down, right = MOVES[self.heading]
        row, column = self.body[0][0] + down, self.body[0][1] + right
        if row < 0 or row >= SIZE or column < 0 or column >= SIZE:
            return self._observe(), -1.0, True, False, {}
        if (row, column) in self.body[:-1]:
            return self._observe(), -1.0, True, False, {}
        self.body.insert(0, (row, column))
        self.hungry += 1
        reward, terminated = 0.0, False
        if (row, column) == self.food:
            self.hungry = 0
            reward = 2.0 if len(self.body) > LONG else 1.0
            if len(self.body) == SIZE * SIZE:
                return self._observe(), reward + 100.0, True, False, {}
            self._place_food()
        else:
            self.body.pop()
        if self.hungry >= HUNGER:
            reward, terminated = -0.5, True
        return self._observe(), reward, terminated, False, {}

    def _place_food(self) -> None:
        free = [(row, column) for row in range(SIZE) for column in range(SIZE) if (row, column) not in self.body]
        self.food = free[int(self.np_random.integers(len(free)))]

    def _observe(self) -> Any:
        shown = np.zeros((SIZE, SIZE), np.int64)
        for row, column in self.body:
            shown[row, column] = 1
        shown[self.body[0]] = 2
        shown[self.food] = 3
        return shown
