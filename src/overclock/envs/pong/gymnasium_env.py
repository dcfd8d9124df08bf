"""One game of PufferLib's C Pong as a Gymnasium environment: what level 4 trains on at the reference's side."""

from typing import Any

import numpy as np

from overclock.envs.pong.env import Pong
from overclock.envs.pong.library import Lanes
from overclock.errors import MissingError

try:
    import gymnasium
except ImportError as error:
    raise MissingError("Training on Pong's reference needs: pip install 'overclock[gymnasium]'.") from error


class PufferPong(gymnasium.Env[np.ndarray, Any]):
    """The serves come from Gymnasium's generator; the last step of a game shows how it ended, not the next one."""

    def __init__(self, frameskip: int = 1, continuous: bool = False) -> None:
        ours = Pong(frameskip, continuous)
        seen = ours.observation_space(ours.default_params())  # the reference's own bounds are a little too narrow
        self.observation_space = gymnasium.spaces.Box(*seen.bounds(), dtype=np.float32)
        one = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float32)
        self.action_space = one if continuous else gymnasium.spaces.Discrete(3)
        self._lanes = Lanes(1, frameskip, continuous)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._lanes.reset(0, int(self.np_random.integers(2)))
        return self._lanes.get()["obs"][0].copy(), {}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        taken = float(np.clip(action, -1, 1)[0]) if self._lanes.continuous else float(action)
        self._lanes.step(0, taken, int(self.np_random.integers(2)))
        shown = self._lanes.get()[0]
        return shown["obs"].copy(), float(shown["reward"]), bool(shown["terminal"]), False, {}
