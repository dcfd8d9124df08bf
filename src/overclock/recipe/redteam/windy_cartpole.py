"""The reference of the red team: CartPole with a random push of the wind in every step, so that steps draw, too."""

from typing import Any

import gymnasium
import numpy as np

GRAVITY, MASSCART, MASSPOLE, LENGTH, FORCE, TAU = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
ANGLE, TRACK = 12 * 2 * np.pi / 360, 0.2  # short, so that play leaves it at either end once in a while
START, WIND = 0.05, 1.0


class WindyCartPole(gymnasium.Env):
    """CartPole's equations with a random horizontal force in every step, on a short track."""

    def __init__(self) -> None:
        high = np.array([TRACK * 2, np.inf, ANGLE * 2, np.inf], np.float32)
        self.observation_space = gymnasium.spaces.Box(-high, high, dtype=np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Start near the middle, nearly at rest."""
        super().reset(seed=seed)
        start = self.np_random.uniform(-START, START, size=4)
        self.x, self.x_dot, self.theta, self.theta_dot = (float(value) for value in start)
        return self._seen(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Push left (0) or right (1); the wind adds a uniform force."""
        force = (FORCE if action == 1 else -FORCE) + self.np_random.uniform(-WIND, WIND)
        cosine, sine = np.cos(self.theta), np.sin(self.theta)
        mass, moment = MASSPOLE + MASSCART, MASSPOLE * LENGTH
        temp = (force + moment * np.square(self.theta_dot) * sine) / mass
        turn = (GRAVITY * sine - cosine * temp) / (LENGTH * (4.0 / 3.0 - MASSPOLE * np.square(cosine) / mass))
        push = temp - moment * turn * cosine / mass
        self.x, self.x_dot = float(self.x + TAU * self.x_dot), float(self.x_dot + TAU * push)
        self.theta, self.theta_dot = float(self.theta + TAU * self.theta_dot), float(self.theta_dot + TAU * turn)
        fallen = self.x < -TRACK or self.x > TRACK or self.theta < -ANGLE or self.theta > ANGLE
        return self._seen(), 1.0, bool(fallen), False, {}

    def _seen(self) -> np.ndarray:
        return np.array([self.x, self.x_dot, self.theta, self.theta_dot], np.float32)
