"""Gymnasium's CartPole-v1 as a verify Subject."""

import math
from typing import Any

import gymnasium
import numpy as np
from gymnasium.wrappers import TimeLimit

from overclock.verify.sides.gymnasium_reference import GymnasiumSubject, no_draws
from overclock.verify.sides.subject import Arrays

FARTHEST, STEEPEST = 2.4, 12 * 2 * math.pi / 360  # the original's limits
FIELDS = ("x", "x_dot", "theta", "theta_dot")


def reference(num_envs: int, **make_arguments: Any) -> GymnasiumSubject:
    """`num_envs` instances of the original."""
    return GymnasiumSubject(
        "CartPole-v1",
        num_envs,
        read_state=read_state,
        write_state=write_state,
        name_reset_draws=name_reset_draws,
        name_step_draws=no_draws,
        goes_on=stands,
        **make_arguments,
    )


def read_state(env: gymnasium.Env) -> Arrays:
    """The four numbers of the rules and the time limit's counter."""
    values = dict(zip(FIELDS, np.array(env.unwrapped.state), strict=True))  # pyright: ignore[reportAttributeAccessIssue]
    return {**values, "steps": np.array(_time_limit(env)._elapsed_steps or 0, np.int32)}


def write_state(env: gymnasium.Env, values: Arrays) -> None:
    """Put an instance into a state that `read_state` returned."""
    env.unwrapped.state = np.array([values[name] for name in FIELDS], np.float64)  # pyright: ignore[reportAttributeAccessIssue]
    env.unwrapped.steps_beyond_terminated = None  # pyright: ignore[reportAttributeAccessIssue]
    _time_limit(env)._elapsed_steps = int(values["steps"])


def stands(values: Arrays) -> bool:
    """Whether cart and pole are within the limits; beyond them the original also counts the steps since."""
    return bool(abs(values["x"]) <= FARTHEST and abs(values["theta"]) <= STEEPEST)


def name_reset_draws(calls: list[tuple[str, Any]]) -> Arrays:
    """A reset draws once: four uniform numbers, which are the first state."""
    ((name, values),) = calls
    assert name == "uniform", f"Gymnasium drew by {name}"
    return dict(zip(FIELDS, values, strict=True))


def _time_limit(env: gymnasium.Env) -> TimeLimit:
    while not isinstance(env, TimeLimit):
        assert isinstance(env, gymnasium.Wrapper), "the reference has no time limit"
        env = env.env
    return env
