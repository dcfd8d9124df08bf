"""A scripted player of the twins of robots that fall, for level 3."""

from typing import Any

import numpy as np

from overclock.verify.rollout.actions import ActionSource
from overclock.verify.sides.subject import Observed


def backwards(description: dict[str, Any]) -> ActionSource:
    """Every motor at its lower limit: Hopper and Walker2d fall on their back within 6 steps."""

    def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
        return np.tile(description["low"], (len(observed.outputs["obs"]), 1))

    return act
