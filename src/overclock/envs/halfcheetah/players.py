"""Scripted players of HalfCheetah's twins for level 3: one runs, one turns over."""

from typing import Any

import numpy as np

from overclock.envs.halfcheetah.gait import run
from overclock.verify.rollout.actions import ActionSource, policy
from overclock.verify.sides.subject import Observed

LEGS = np.array([1, 1, 1, -1, -1, -1], np.float32)
STEPS = 5  # in one direction

running = policy(run)


def tumbling(description: dict[str, Any]) -> ActionSource:
    """Both legs together, then apart, with all their force: in most episodes it ends on its back."""

    def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
        apart = observed.state["steps"] // STEPS % 2 == 0
        return np.where(apart[:, None], -LEGS, LEGS).astype(description["low"].dtype)

    return act
