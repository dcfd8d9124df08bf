"""What the adapters over `HostVector` share: building one, and checking seeds and actions where they enter."""

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from overclock.backends import HostBackend
from overclock.env import registry
from overclock.env.autoreset import Autoreset
from overclock.env.environment import Environment
from overclock.env.overflow import OVERFLOW, OnOverflow, refuse_overflow, room_of
from overclock.env.spaces import Box, Dict, Discrete, MultiDiscrete, Space
from overclock.errors import UsageError
from overclock.vector.host import HostStep, HostVector, JaxHostVector, Randomness, host_vector, lives_in_rust

Renderer = Callable[..., np.ndarray]  # (env, state, params) -> RGB array
Seeds = int | Sequence[int | None] | None
SEED_LIMIT = 1 << 64
NO_LIMIT = -1  # as `max_episode_steps`, in Gymnasium and here
STEP_LIMIT = 1 << 31  # steps are counted in int32


def build_host(
    env: str | Environment[Any, Any],
    num_envs: int,
    autoreset: Autoreset,
    backend: HostBackend = "auto",
    max_episode_steps: int | None = None,
    rng: Randomness = "overclock",
    **static: Any,
) -> HostVector:
    """A batch of an environment given by id (with its static fields) or as an object.

    `max_episode_steps` replaces the environment's time limit, -1 removes it; a Rust batch gets it as `max_steps`.
    """
    limit = {} if max_episode_steps is None else {"max_steps": _max_steps(max_episode_steps)}
    if "max_steps" in static:
        raise UsageError("The time limit is called max_episode_steps here, not max_steps.")
    if backend == "native" or lives_in_rust(env):
        return host_vector(env, num_envs, autoreset, backend=backend, rng=rng, **limit, **static)
    params = None
    if isinstance(env, str):
        env, params = registry.make(env, **static)
        static = {}
    if limit:
        params = (params or env.default_params()).replace(**limit)
    return host_vector(env, num_envs, autoreset, params=params, backend=backend, rng=rng, **static)


def _max_steps(max_episode_steps: int) -> int | None:
    """Gymnasium's `max_episode_steps` as `Params.max_steps`, where None is no limit."""
    if isinstance(max_episode_steps, int | np.integer):
        if max_episode_steps == NO_LIMIT:
            return None
        if 1 <= max_episode_steps < STEP_LIMIT:
            return int(max_episode_steps)
    raise UsageError(
        f"max_episode_steps must be a whole number from 1 to 2**31 - 1, or -1 for no limit, got {max_episode_steps!r}."
    )


def require_one_player(host: HostVector) -> None:
    """Refuse games: these adapters have one observation and one reward per member."""
    if host.num_players > 1:
        raise UsageError(
            f"This environment has {host.num_players} players; use overclock.adapters.pettingzoo, "
            "or overclock.adapters.against for a single-agent view."
        )


def require_room(host: HostVector, out: HostStep, overflow: OnOverflow, lanes: np.ndarray | None = None) -> None:
    """Refuse a step in which a lane (of these) ran out of room, unless it is only to be told in `info`."""
    flags = out.info.get(OVERFLOW)
    if overflow == "error" and flags is not None:
        flags = np.asarray(flags)
        if lanes is not None:
            flags = flags & np.isin(np.arange(len(flags)), lanes)
        refuse_overflow(flags, room=room_of(getattr(getattr(host, "venv", None), "env", None)))


def lane_seeds(seed: Seeds, num_envs: int) -> list[int | None] | None:
    """One seed per lane: `s` means s, s + 1, ...; a list is taken as it is; None lets every stream go on."""
    if seed is None:
        return None
    try:
        if isinstance(seed, int | np.integer):
            seeds: list[int | None] = [int(seed) + lane for lane in range(num_envs)]
        else:
            seeds = [None if one is None else operator.index(one) for one in seed]
    except TypeError:
        raise UsageError(f"A seed must be a whole number, or a list of them (and None), got {seed!r}.") from None
    if len(seeds) != num_envs:
        raise UsageError(f"Got {len(seeds)} seeds for {num_envs} environments.")
    for one in seeds:
        if one is not None and not 0 <= one < SEED_LIMIT:
            raise UsageError(f"A seed must be between 0 and 2**64 - 1, got {one}.")
    return seeds


def batch_actions(space: Space, actions: Any, num_envs: int) -> Any:
    """Actions of a whole batch in the space's own dtype: one dtype, one compilation."""
    if isinstance(space, Dict):
        names = [name for name, _ in space.spaces]
        if not isinstance(actions, Mapping) or sorted(actions) != names:
            raise UsageError(f"Expected a dict of actions with the keys {', '.join(names)}.")
        return {name: batch_actions(inner, actions[name], num_envs) for name, inner in space.spaces}
    assert isinstance(space, Discrete | MultiDiscrete | Box)
    array = np.asarray(actions)
    if array.shape != (num_envs, *space.shape):
        raise UsageError(f"Expected actions of shape {(num_envs, *space.shape)}, got {array.shape}.")
    if isinstance(space, Box):
        return array.astype(space.dtype, copy=False)
    if not np.issubdtype(array.dtype, np.integer):
        raise UsageError(f"Expected whole numbers as actions, got {array.dtype}.")
    sizes = space.n if isinstance(space, Discrete) else np.array(space.nvec)
    outside = (array < 0) | (array >= sizes)
    if np.any(outside):
        raise UsageError(f"Actions must be at least 0 and below {sizes}, got {array[outside][0]}.")
    return array.astype(space.dtype, copy=False)


def copied(tree: Any) -> Any:
    """Writable arrays of one's own: what a `HostVector` returns is valid only until its next call."""
    if isinstance(tree, dict):
        return {name: copied(value) for name, value in tree.items()}
    return np.array(tree)


def rows(tree: Any, index: Any) -> Any:
    """The same rows of every array in a tree of dicts."""
    if isinstance(tree, dict):
        return {name: rows(value, index) for name, value in tree.items()}
    return tree[index].copy()


def renderer_of(env: Any, host: HostVector) -> Renderer | None:
    """The registered renderer of an id, which draws JAX states; a Rust batch may have pictures of its own."""
    if hasattr(host, "picture"):
        return host.picture  # pyright: ignore[reportAttributeAccessIssue]
    if not isinstance(env, str) or not isinstance(host, JaxHostVector):
        return None
    entry_point = registry.spec(env).renderer
    return None if entry_point is None else registry.load(entry_point)


def render_lanes(host: HostVector, renderer: Renderer) -> Iterator[np.ndarray]:
    """A picture of each lane, in order; the states cross to the host once."""
    if not isinstance(host, JaxHostVector):
        yield from map(renderer, range(host.num_envs))
        return
    lanes, axes = jax.device_get(host.state.lanes), host.venv.params_axes(host.params)
    for lane in range(host.num_envs):
        state = jax.tree.map(lambda leaf, i=lane: leaf[i], lanes)
        params = jax.tree.map(
            lambda axis, leaf, i=lane: leaf if axis is None else leaf[i],
            axes,
            host.params,
            is_leaf=lambda axis: axis is None,
        )
        yield renderer(host.venv.env, state, params)
