"""Gymnasium's `EnvSpec` of an Overclock id, which asks the environment for its time limit only when someone wants it.

`gymnasium.make` and `make_vec` read the limit from the spec, yet registering an id must not load its rules (or JAX).
"""

from typing import Any

from gymnasium.envs.registration import EnvSpec

from overclock.env import registry

OWN_LIMIT = "own"  # as `max_episode_steps`: whatever the environment, made with its default options, has


class OverclockSpec(EnvSpec):
    """An `EnvSpec` whose `max_episode_steps` may be given as `OWN_LIMIT`; it always reads as a number or None."""

    @property
    def max_episode_steps(self) -> Any:
        if self._limit == OWN_LIMIT:
            _, params = registry.make(self.id.rpartition("/")[2])
            self._limit = None if params.max_steps is None else int(params.max_steps)
        return self._limit

    @max_episode_steps.setter
    def max_episode_steps(self, limit: int | str | None) -> None:  # pyright: ignore[reportIncompatibleVariableOverride]
        self._limit = limit
