"""The reference of a project as a verify Subject: any Gymnasium environment, read as its contract.toml says."""

import functools
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.wrappers import TimeLimit

from overclock.env.registry import load
from overclock.recipe.contract_file import ContractFile, DrawField, load_contract
from overclock.recipe.survey import paths
from overclock.verify.gymnasium_reference import DrawNamer, GymnasiumSubject
from overclock.verify.subject import Arrays

ID = "overclock/reference-v0"
NO_LIMIT = 2**31 - 1  # steps are counted even where nothing ends an episode by time
PLAIN = (type(None), bool, int, float, str)


def reference(num_envs: int, make: dict[str, Any], contract: str) -> GymnasiumSubject:
    """`num_envs` instances; `make` is what `make_env` takes, `contract` the path of a contract.toml."""
    known = load_contract(Path(contract))
    env_id, arguments = registered(**make)
    reader = StateReader(known, env_id, arguments)
    return GymnasiumSubject(
        env_id,
        num_envs,
        read_state=reader.read,
        write_state=reader.write,
        name_reset_draws=named(known.reset_draws, "A reset"),
        name_step_draws=named(known.step_draws, "A step"),
        **arguments,
    )


def make_env(**make: Any) -> gymnasium.Env:
    """One instance, as level 4 trains on it."""
    env_id, arguments = registered(**make)
    return gymnasium.make(env_id, **arguments)


def registered(
    id: str | None = None,
    entry_point: str | None = None,
    arguments: dict[str, Any] | None = None,
    max_steps: int | None = None,
) -> tuple[str, dict[str, Any]]:
    """A Gymnasium id and what to make it with; a class is registered first. `max_steps` replaces the id's own limit."""
    chosen = dict(arguments or {})
    if id is not None:
        limit = max_steps or gymnasium.spec(id).max_episode_steps or NO_LIMIT
        return id, {**chosen, "max_episode_steps": limit}
    assert entry_point is not None
    gymnasium.registry.pop(ID, None)  # of another class, or with another limit
    gymnasium.register(ID, entry_point=load(entry_point), max_episode_steps=max_steps or NO_LIMIT)
    return ID, chosen


class StateReader:
    """Reads and writes the state fields of an instance."""

    def __init__(self, contract: ContractFile, env_id: str, arguments: dict[str, Any]) -> None:
        self._contract, self._env_id, self._arguments = contract, env_id, arguments

    @functools.cached_property
    def _fresh(self) -> dict[str, Any]:
        """Plain attributes after a reset: what is no state must not remember the episode that a state replaces."""
        some = gymnasium.make(self._env_id, **self._arguments)
        some.reset(seed=0)
        bases = {paths.parse(field.read)[0] for field in self._contract.state}
        return {k: v for k, v in vars(some.unwrapped).items() if isinstance(v, PLAIN) and k not in bases}

    def read(self, env: gymnasium.Env) -> Arrays:
        """Every field, and the number of steps."""
        values = {f.name: np.array(paths.read(env.unwrapped, f.read), f.dtype) for f in self._contract.state}
        return {**values, "steps": np.array(time_limit(env)._elapsed_steps or 0, np.int32)}

    def write(self, env: gymnasium.Env, values: Arrays) -> None:
        """The inverse of `read`."""
        if not self._contract.set_state:
            raise NotImplementedError("the contract says that the reference cannot be put into a given state")
        vars(env.unwrapped).update(self._fresh)
        paths.write(env.unwrapped, {field.read: values[field.name] for field in self._contract.state})
        time_limit(env)._elapsed_steps = int(values["steps"])


def named(fields: tuple[DrawField, ...], when: str) -> DrawNamer:
    """Recorded generator calls by the names of the contract."""

    def name(calls: list[tuple[str, Any]]) -> Arrays:
        drawn, known = [method for method, _ in calls], [field.method for field in fields]
        if drawn != known:
            raise ValueError(f"{when} drew {drawn or 'nothing'}; the contract knows {known or 'nothing'}")
        return {field.name: np.asarray(value) for field, (_, value) in zip(fields, calls, strict=True)}

    return name


def time_limit(env: gymnasium.Env) -> TimeLimit:
    """The wrapper that counts steps."""
    while not isinstance(env, TimeLimit):
        assert isinstance(env, gymnasium.Wrapper), "the reference has no time limit"
        env = env.env
    return env
