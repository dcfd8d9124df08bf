"""Hopper and Gymnasium's Hopper-v5 as a twin: what is compared and how closely."""

import numpy as np

from overclock.envs.hopper.plants import PLANTS
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

ROBOT = Robot("hopper-v5", "Hopper-v5", "gymnasium.envs.mujoco.hopper_v5:HopperEnv")
HEIGHT, ANGLE, NUMBER = 0.7, 0.2, 100.0  # where it falls; the reference decides what is right

# Random play falls within 20 steps in the median and 62 at most, before anything grows: of two of MuJoCo's own that
# begin an ulp apart none was further apart than 1e-15 when it fell (100 episodes). Episodes are compared to their end.


def twin() -> Twin:
    """The twin with Gymnasium's robot as it is."""
    double = contract(
        Closeness(qpos=5e-14, qvel=5e-13, reward=1e-6), Closeness(qpos=5e-13, qvel=7e-12, reward=1e-6),
        reason=f"{ROUNDING}: {SEEN}", envelope=ENVELOPE,
        rare=Closeness(qpos=1e-6, qvel=5e-5, reward=1e-5),
        rare_reason=f"{SOLVER}: 12 of 51,200 steps were off by up to 9e-9, and episodes by up to 9e-8",
    )  # fmt: skip
    single = contract(
        Closeness(qpos=1e-5, qvel=2e-4, reward=1e-5), Closeness(qpos=5e-5, qvel=1e-3, reward=2e-4),
        reason=f"{SINGLE}: {SEEN}",
        rare=Closeness(qpos=1e-2, qvel=0.5, reward=5e-2),
        rare_reason=f"{JUMP}: 17 of 400,000 steps were off by up to 5e-4, and 7 of 2,752 episodes by up to 1e-3",
        **falling(distance_to_limit, 1e-3),
    )  # fmt: skip
    return ROBOT.twin({"float64": double, "float32": single}, PLANTS)


def exact() -> Twin:
    """The twin with MuJoCo's solver at its strictest tolerance."""
    step, free = Closeness(qpos=1e-13, qvel=1e-12, reward=1e-8), Closeness(qpos=1e-12, qvel=1e-11, reward=1e-8)
    return ROBOT.twin({"float64": contract(step, free, ROUNDING, envelope=ENVELOPE)}, PLANTS, EXACT)


def distance_to_limit(state: Arrays) -> np.ndarray:
    """How far each lane is from the nearest threshold of falling."""
    z, angle = state["qpos"][:, 1], state["qpos"][:, 2]
    numbers = np.concatenate([state["qpos"][:, 2:], state["qvel"]], axis=1)
    near = np.minimum(np.abs(z - HEIGHT), np.abs(np.abs(angle) - ANGLE))
    return np.minimum(near, np.abs(np.abs(numbers) - NUMBER).min(axis=1))
