"""Gymnasium's wrappers around a reference: those that change nothing are left out, the others are read like the rules.

A time limit is no rule but a number (`time_limit`). Other wrappers must not have state of their own: the state of a
translation is that of the environment inside.
"""

from typing import Any

import gymnasium
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker, TimeLimit

UNLIMITED = 2**31 - 1  # steps: a wrapper that only counts
TRANSPARENT = (OrderEnforcing, PassiveEnvChecker, TimeLimit)


def wrapped(env: Any) -> list[Any]:
    """An environment and everything that it wraps, from the outside to the inside."""
    found = [env]
    while isinstance(found[-1], gymnasium.Wrapper):
        found.append(found[-1].env)
    return found


def outermost(env: Any) -> Any:
    """The outermost object whose `reset` and `step` do more than pass the call on."""
    return next(one for one in wrapped(env) if not isinstance(one, TRANSPARENT))


def time_limit(env: Any) -> int | None:
    """The number of steps after which a wrapper ends an episode, None where none does."""
    limits = [one._max_episode_steps for one in wrapped(env) if isinstance(one, TimeLimit)]
    return min((limit for limit in limits if limit < UNLIMITED), default=None)
