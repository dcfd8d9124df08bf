"""A reference that changes while it is looked at: later episodes of a process earn more, whatever their seed."""

from pathlib import Path
from typing import Any

import numpy as np

from overclock.envs.cartpole.reference import reference as cartpole

ENVIRONMENT = (("PYTHONPATH", str(Path(__file__).parents[1])),)
BONUS = 2.0  # per step and per episode played before


def reference(num_envs: int) -> Any:
    subject = cartpole(num_envs)
    reset, step, started = subject.reset, subject.step, 0
    number = np.zeros(num_envs)

    def counting_reset(mask, seeds, draws=None):
        nonlocal started
        for lane in np.flatnonzero(mask):
            number[lane], started = started, started + 1
        return reset(mask, seeds, draws)

    def paying_step(actions, draws=None):
        seen = step(actions, draws)
        seen.outputs["reward"] = seen.outputs["reward"] + BONUS * number
        return seen

    subject.reset, subject.step = counting_reset, paying_step
    return subject
