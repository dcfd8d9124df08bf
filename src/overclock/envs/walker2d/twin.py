"""Walker2d and Gymnasium's Walker2d-v5 as a twin: what is compared and how closely."""

import numpy as np

from overclock.envs.walker2d.plants import PLANTS
from overclock.planar.twin import (
    ENVELOPE,
    EXACT,
    JUMP,
    ROUNDING,
    SEEN,
    SINGLE,
    SOLVER,
    Closeness,
    Robot,
    contract,
    falling,
)
from overclock.verify.contract import Twin
from overclock.verify.sides.subject import Arrays

ROBOT = Robot("walker2d-v5", "Walker2d-v5", "gymnasium.envs.mujoco.walker2d_v5:Walker2dEnv")
HEIGHTS, ANGLE = (0.8, 2.0), 1.0  # where it falls; the reference decides what is right

# Random play falls within 20 steps in the median and 60 at most, before anything grows: of two of MuJoCo's own that
# begin an ulp apart none was further apart than 5e-14 when it fell (100 episodes). Episodes are compared to their end.


def twin() -> Twin:
    """The twin with Gymnasium's robot as it is."""
    double = contract(
        Closeness(qpos=1e-13, qvel=1e-11, reward=1e-6), Closeness(qpos=3e-12, qvel=7e-11, reward=1e-6),
        reason=f"{ROUNDING}: {SEEN}", envelope=ENVELOPE,
        rare=Closeness(qpos=1e-6, qvel=1e-4, reward=1e-5),
        rare_reason=f"{SOLVER}: 5 of 51,200 steps were off by up to 3e-9, and episodes by up to 3e-8",
    )  # fmt: skip
    single = contract(
        Closeness(qpos=2e-5, qvel=4e-3, reward=5e-5), Closeness(qpos=1e-4, qvel=1e-2, reward=1.5e-3),
        reason=f"{SINGLE}: {SEEN}",
        rare=Closeness(qpos=1e-1, qvel=5.0, reward=1e-1),
        rare_reason=f"{JUMP}: 21 of 400,000 steps were off by up to 6e-3, and 12 of 2,693 episodes by up to 2e-2",
        **falling(distance_to_limit, 1e-3),
    )  # fmt: skip
    return ROBOT.twin({"float64": double, "float32": single}, PLANTS)


def exact() -> Twin:
    """The twin with MuJoCo's solver at its strictest tolerance."""
    step, free = Closeness(qpos=1e-13, qvel=1e-11, reward=1e-9), Closeness(qpos=1e-11, qvel=1e-9, reward=1e-9)
    return ROBOT.twin({"float64": contract(step, free, ROUNDING, envelope=ENVELOPE)}, PLANTS, EXACT)


def distance_to_limit(state: Arrays) -> np.ndarray:
    """How far each lane is from the nearest threshold of falling."""
    z, angle = state["qpos"][:, 1], state["qpos"][:, 2]
    return np.minimum(np.abs(z[:, None] - np.array(HEIGHTS)).min(axis=1), np.abs(np.abs(angle) - ANGLE))
