"""Gymnasium's robots in MuJoCo as verify Subjects.

MuJoCo starts its solver from the last accelerations, so a step follows from them and the state together. They are a
field of the reference's state, which no contract compares: of where a search ends they change what lies below its
tolerance.
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium.envs.mujoco import MujocoEnv
from gymnasium.wrappers import TimeLimit

from overclock.planar.original import mujoco
from overclock.verify.property.calls import read_by
from overclock.verify.sides.gymnasium_reference import GymnasiumSubject, no_draws
from overclock.verify.sides.subject import Arrays

GUESS = "qacc_warmstart"
MUJOCO = "gymnasium.envs.mujoco.mujoco_env:MujocoEnv"
DRAWN_BY = {"uniform", "standard_normal"}  # both numbers that are used as they are drawn


def reference(
    num_envs: int, env_id: str, rules: str, tolerance: float | None = None, **make_arguments: Any
) -> GymnasiumSubject:
    """`num_envs` instances of the original, written in the class `rules`; `tolerance` is its solver's."""
    mujoco()  # before Gymnasium loads a file that it warns of
    read_by(physics, *(f"{MUJOCO}.{method}" for method in ("reset", "do_simulation")))
    read_by(physics, *(f"{rules}.{method}" for method in ("step", "_get_obs", "healthy_reward")))
    subject = GymnasiumSubject(
        env_id,
        num_envs,
        read_state=read_state,
        write_state=write_state,
        name_reset_draws=name_reset_draws,
        name_step_draws=no_draws,
        **make_arguments,
    )
    for env in subject.instances:
        if tolerance is not None:
            _robot(env).model.opt.tolerance = tolerance
    return subject


def physics(env: MujocoEnv) -> Arrays:
    """Positions, velocities and the solver's last accelerations."""
    return {name: getattr(env.data, name).copy() for name in ("qpos", "qvel", GUESS)}


def read_state(env: gymnasium.Env) -> Arrays:
    """Everything that decides the next step, and the time limit's counter."""
    return {**physics(_robot(env)), "steps": np.array(_time_limit(env)._elapsed_steps or 0, np.int32)}


def write_state(env: gymnasium.Env, values: Arrays) -> None:
    """The inverse of `read_state`; without solver values the solver starts from zero."""
    robot = _robot(env)
    robot.set_state(values["qpos"], values["qvel"])
    getattr(robot.data, GUESS)[:] = values.get(GUESS, 0.0)
    _time_limit(env)._elapsed_steps = int(values["steps"])


def name_reset_draws(calls: list[tuple[str, Any]]) -> Arrays:
    """A reset draws twice: noise of the positions, then of the velocities."""
    (first, qpos), (second, qvel) = calls
    assert {first, second} <= DRAWN_BY, f"Gymnasium drew by {first} and {second}"
    return {"qpos": qpos, "qvel": qvel}


def _robot(env: gymnasium.Env) -> MujocoEnv:
    robot = env.unwrapped
    assert isinstance(robot, MujocoEnv), "the reference is none of MuJoCo's"
    return robot


def _time_limit(env: gymnasium.Env) -> TimeLimit:
    while not isinstance(env, TimeLimit):
        assert isinstance(env, gymnasium.Wrapper), "the reference has no time limit"
        env = env.env
    return env
