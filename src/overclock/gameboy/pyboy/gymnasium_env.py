"""A described game on PyBoy as a Gymnasium environment: what level 4 trains on at the reference's side."""

from typing import Any

import numpy as np

from overclock.errors import MissingError
from overclock.gameboy.game import load_game
from overclock.gameboy.pyboy.game import PyBoyGame

try:
    import gymnasium
except ImportError as error:
    raise MissingError("Training on PyBoy needs: pip install 'overclock[gymnasium]'.") from error


class PyBoyEnv(gymnasium.Env[np.ndarray, int]):
    """Seeds of episodes come from Gymnasium's generator. Options are those of `load_game`."""

    def __init__(self, game: str | None = None, **options: Any) -> None:
        from overclock.adapters.gymnasium_spaces import to_gymnasium_space

        self.loaded = load_game(game, **options)
        self.observation_space = to_gymnasium_space(self.loaded.observation_space)
        self.action_space = to_gymnasium_space(self.loaded.action_space)
        self._game, self._steps = PyBoyGame(self.loaded), 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self._game.reset(int(self.np_random.integers(1, self.loaded.seeds + 1)) if self.loaded.seeds else 0)
        self._steps, self._values = 0, self._game.values()
        return self._game.observe(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        before, names = self._values, self.loaded.readings.names
        self._game.step(int(action))
        self._steps, self._values = self._steps + 1, self._game.values()
        was, now = (dict(zip(names, values.tolist(), strict=True)) for values in (before, self._values))
        description = self.loaded.description
        truncated = description.max_steps is not None and self._steps >= description.max_steps
        return self._game.observe(), description.reward(was, now), description.terminated(now), truncated, {}

    def close(self) -> None:
        self._game.close()
