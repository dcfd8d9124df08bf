"""Trained policies as things of their own: act with one, save it, load it. Nothing here knows how it was trained.

policy = load_policy("runs/cartpole/seed-0")
memory, actions = policy.act(policy.first_memory(n), obs, start)
"""

import dataclasses
import math
import os
from pathlib import Path
from typing import Any

import jax
import numpy as np

from overclock.env.rng import Rng
from overclock.env.spaces import Box, Dict, Discrete, MultiDiscrete, Space
from overclock.errors import UsageError
from overclock.train.files import read_json, write_json
from overclock.train.networks.agent import Agent, AgentParams
from overclock.train.networks.network import NetworkConfig
from overclock.vector.snapshot import load_state, save_state

SCHEMA = "overclock.policy/1"
SETTINGS, WEIGHTS = "policy.json", "policy.safetensors"


@dataclasses.dataclass(frozen=True, eq=False)
class Policy:
    """An agent with its parameters."""

    agent: Agent
    params: AgentParams

    def first_memory(self, lanes: int) -> Any:
        """What `act` needs as memory at the very beginning."""
        return self.agent.first_memory(lanes)

    def act(self, memory: Any, obs: Any, start: Any, mask: Any = None, rng: Rng | None = None) -> tuple[Any, Any]:
        """(memory, actions) for N lanes.

        `start` says which lanes see an episode's first observation (their memory is wiped), `mask` which actions are
        legal. Without `rng` the likeliest action is taken; with one stream per lane it is sampled.
        """
        return self.agent.act(self.params, memory, obs, start, mask, rng)


def save_policy(folder: str | os.PathLike[str], policy: Policy, about: dict[str, Any] | None = None) -> None:
    """Write `policy.safetensors` and `policy.json` into a folder, which is made if need be.

    `about` is kept in the JSON file for people and programs; loading ignores it.
    """
    folder = Path(folder)
    settings = {
        "schema": SCHEMA,
        "observation_space": space_to_json(policy.agent.observation_space),
        "action_space": space_to_json(policy.agent.action_space),
        "network": dataclasses.asdict(policy.agent.network),
        "normalise": policy.agent.normalise,
        "about": about or {},
    }
    write_json(folder / SETTINGS, settings)
    save_state(folder / WEIGHTS, policy.params)


def load_policy(folder: str | os.PathLike[str]) -> Policy:
    """Read a policy that `save_policy` wrote."""
    folder = Path(folder)
    settings = read_json(folder / SETTINGS, "saved policy")
    if settings.get("schema") != SCHEMA:
        raise UsageError(f"'{folder / SETTINGS}' has the schema {settings.get('schema')!r}, expected '{SCHEMA}'.")
    try:
        agent = Agent(
            space_from_json(settings["observation_space"]),
            space_from_json(settings["action_space"]),
            NetworkConfig(**settings["network"]),
            bool(settings["normalise"]),
        )
    except (KeyError, TypeError) as error:
        raise UsageError(f"'{folder / SETTINGS}' is not a complete policy ({error}).") from error
    return Policy(agent, load_state(folder / WEIGHTS, jax.eval_shape(agent.init, jax.random.key(0))))


def space_to_json(space: Space) -> dict[str, Any]:
    """A space from JSON's own types; an infinite bound is null."""
    if isinstance(space, Dict):
        return {"kind": "Dict", "spaces": {name: space_to_json(inner) for name, inner in space.spaces}}
    assert isinstance(space, Discrete | MultiDiscrete | Box)
    fields = {"kind": type(space).__name__, "dtype": space.dtype.name}
    if isinstance(space, Discrete):
        return fields | {"n": space.n}
    if isinstance(space, MultiDiscrete):
        return fields | {"nvec": list(space.nvec)}
    bounds = {name: _finite_or_null(getattr(space, name)) for name in ("low", "high")}
    return fields | {"shape": list(space.shape), **bounds}


def space_from_json(fields: dict[str, Any]) -> Space:
    """The inverse of `space_to_json`; an unknown kind raises UsageError."""
    kind = fields["kind"]
    if kind == "Dict":
        return Dict({name: space_from_json(inner) for name, inner in fields["spaces"].items()})
    dtype = np.dtype(fields["dtype"])
    if kind == "Discrete":
        return Discrete(fields["n"], dtype)
    if kind == "MultiDiscrete":
        return MultiDiscrete(tuple(fields["nvec"]), dtype)
    if kind == "Box":
        low, high = _null_to(fields["low"], -math.inf), _null_to(fields["high"], math.inf)
        return Box(low, high, tuple(fields["shape"]), dtype)
    raise UsageError(f"No space is called {kind!r}.")


def _finite_or_null(bound: Any) -> Any:
    if isinstance(bound, tuple):
        return [_finite_or_null(number) for number in bound]
    return bound if math.isfinite(bound) else None


def _null_to(bound: Any, infinity: float) -> Any:
    if isinstance(bound, list):
        return tuple(_null_to(number, infinity) for number in bound)
    return infinity if bound is None else bound
