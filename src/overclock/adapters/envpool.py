"""EnvPool's way of driving a batch: `send` / `recv`, lanes by `env_id`, and `xla()` for loops inside `jax.jit`.

Everything follows EnvPool's Gymnasium interface in its synchronous mode (`batch_size == num_envs`): an ended lane
shows its last observation and restarts at its next step, whose action is ignored.
"""

import collections
import dataclasses
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.adapters.envpool_xla import Batch, XlaFunctions, with_ids, xla_functions
from overclock.adapters.gymnasium_spaces import to_gymnasium_space
from overclock.adapters.host_border import (
    batch_actions,
    build_host,
    copied,
    lane_seeds,
    require_one_player,
    require_room,
    rows,
)
from overclock.backends import HostBackend
from overclock.env.autoreset import select
from overclock.env.overflow import OnOverflow, checked_on_overflow
from overclock.env.spaces import structure
from overclock.errors import UsageError
from overclock.vector.host import HostStep, HostVector, JaxHostVector
from overclock.vector.resets import Fresh
from overclock.vector.vectorize import VectorState

DEFAULT_SEED = 42  # EnvPool's


@dataclasses.dataclass(frozen=True)
class EnvPoolSpec:
    """What EnvPool calls the spec: the configuration and the spaces of one member."""

    config: Any
    observation_space: Any
    action_space: Any
    reward_threshold: float | None = None

    @property
    def gymnasium_observation_space(self) -> Any:
        return self.observation_space

    @property
    def gymnasium_action_space(self) -> Any:
        return self.action_space


class EnvPool:
    """A `HostVector`, JAX or Rust, behind EnvPool's interface. `make` builds one from an id.

    - `step(actions, env_id)` steps only the lanes named, in that order; without `env_id`, all of them.
    - `send` and `async_reset` queue a batch, `recv` returns the oldest one.
    - `info` has `env_id`, `players.env_id`, `elapsed_step`, the environment's own facts, and `action_mask` if any.
    - A lane that runs out of room (`info["overflow"]`) is an OverflowedError unless `overflow` is "info".
    - Seeds are fixed at construction, as in EnvPool: lane i starts from `seed + i`, later resets go on from there.
    """

    def __init__(
        self,
        host: HostVector,
        seed: int | list[int] = DEFAULT_SEED,
        options: Mapping[str, Any] | None = None,
        overflow: OnOverflow = "error",
    ) -> None:
        """`options` only appear in `config`."""
        require_one_player(host)
        if host.autoreset != "next_step":
            raise UsageError(f"EnvPool restarts lanes at the next step; the batch has autoreset='{host.autoreset}'.")
        self.host, self.num_envs = host, host.num_envs
        self._overflow: OnOverflow = checked_on_overflow(overflow)
        self.all_env_ids = np.arange(self.num_envs, dtype=np.int32)
        self.config = {
            "num_envs": self.num_envs,
            "batch_size": self.num_envs,
            "num_threads": 0,
            "max_num_players": 1,
            "seed": seed,
            "gym_reset_return_info": True,
            "max_episode_steps": host.max_steps,
            **(options or {}),
        }
        self.observation_space = self.single_observation_space = to_gymnasium_space(host.observation_space)
        self.action_space = self.single_action_space = to_gymnasium_space(host.action_space)
        config = collections.namedtuple("Config", self.config)(**self.config)
        self.spec = EnvPoolSpec(config, self.observation_space, self.action_space)
        self.is_async = False
        self._has_masks = host.action_mask() is not None
        self._seeds = lane_seeds(seed, self.num_envs) or []
        self._elapsed = np.zeros(self.num_envs, np.int32)
        self._over = np.zeros(self.num_envs, np.bool_)
        self._unstarted = np.ones(self.num_envs, np.bool_)
        self._queue: collections.deque[Batch] = collections.deque()

    def __len__(self) -> int:
        return self.num_envs

    def reset(self, env_id: Any = None) -> tuple[Any, dict[str, Any]]:
        """Restart the lanes named (all, if None): (obs, info)."""
        obs, _, _, _, info = self._reset(self._ids(env_id))
        return obs, info

    def async_reset(self) -> None:
        """Restart every lane; `recv` returns the result."""
        self._queue.append(self._reset(self.all_env_ids))

    def send(self, action: Any, env_id: Any = None) -> None:
        """Step the lanes named (all, if None); `recv` returns the result."""
        self._queue.append(self._step(action, self._ids(env_id)))

    def recv(self) -> Batch:
        """The oldest batch not yet received."""
        if not self._queue:
            raise UsageError("There is nothing to receive; call async_reset or send first.")
        return self._queue.popleft()

    def step(self, action: Any, env_id: Any = None) -> Batch:
        """`send` and `recv` in one."""
        self.send(action, env_id)
        return self.recv()

    def xla(self) -> XlaFunctions:
        """`(handle, recv, send, step)`: pure functions for `jax.jit` and `lax.scan`, starting where the pool is now.

        EnvPool's handle points at the pool; this one holds the state, so the pool itself stays where it is.
        """
        host = self.host
        if not isinstance(host, JaxHostVector):
            raise UsageError("xla() needs a JAX environment; Rust environments run on the host (use send and recv).")
        if self._unstarted.any():
            self._reset(np.flatnonzero(self._unstarted))
        return xla_functions(host, self._elapsed)

    def close(self, **kwargs: Any) -> None:
        """Nothing to release; here because callers call it."""

    def _reset(self, ids: np.ndarray) -> Batch:
        mask = np.zeros(self.num_envs, np.bool_)
        mask[ids] = True
        seeds = [seed if new else None for seed, new in zip(self._seeds, self._unstarted, strict=True)]
        obs = self.host.reset(seeds if self._unstarted.any() else None, mask)
        self._unstarted &= ~mask
        self._over &= ~mask
        self._elapsed[mask] = 0
        nothing = np.zeros(self.num_envs, np.bool_)
        return self._batch(HostStep(obs, np.zeros(self.num_envs, np.float32), nothing, nothing, obs, {}), ids)

    def _step(self, action: Any, ids: np.ndarray) -> Batch:
        if self._unstarted[ids].any():
            raise UsageError("Call reset or async_reset before stepping.")
        actions = batch_actions(self.host.action_space, action, len(ids))
        if len(ids) == self.num_envs:
            out = self.host.step(rows(actions, np.argsort(ids)))
        else:
            out = _step_some(self.host, actions, ids)
        require_room(self.host, out, self._overflow, ids)
        self._elapsed[ids] = np.where(self._over[ids], 0, self._elapsed[ids] + 1)
        self._over[ids] = (out.terminated | out.truncated)[ids]
        return self._batch(out, ids)

    def _batch(self, out: HostStep, ids: np.ndarray) -> Batch:
        """The rows of the lanes named, in the order they were named; the caller's to keep."""
        info = {**rows(out.info, ids), "elapsed_step": self._elapsed[ids]}
        if self._has_masks:
            info["action_mask"] = rows(self.host.action_mask(), ids)
        batch = (rows(out.obs, ids), out.reward[ids], out.terminated[ids], out.truncated[ids], info)
        return with_ids(batch, ids.copy())

    def _ids(self, env_id: Any) -> np.ndarray:
        if env_id is None:
            return self.all_env_ids
        ids = np.atleast_1d(np.asarray(env_id, np.int32))
        if ids.size == 0 or len(set(ids.tolist())) != ids.size or ids.min() < 0 or ids.max() >= self.num_envs:
            raise UsageError(f"env_id must name distinct lanes between 0 and {self.num_envs - 1}, got {ids.tolist()}.")
        return ids


def make(
    task_id: str,
    env_type: str = "gymnasium",
    *,
    num_envs: int = 1,
    batch_size: int | None = None,
    seed: int | list[int] = DEFAULT_SEED,
    max_episode_steps: int | None = None,
    backend: HostBackend = "xla",
    overflow: OnOverflow = "error",
    **static: Any,
) -> EnvPool:
    """`envpool.make` for an Overclock id.

    >>> pool = make("cartpole", env_type="gymnasium", num_envs=8)
    """
    if env_type not in ("gym", "gymnasium"):
        raise UsageError(f"env_type must be 'gymnasium', got {env_type!r}.")
    if batch_size not in (None, 0, num_envs):
        raise UsageError(f"Every step takes the whole batch here: batch_size must be num_envs ({num_envs}).")
    host = build_host(task_id, num_envs, "next_step", backend, max_episode_steps, **static)
    return EnvPool(host, seed, static, overflow)


def _step_some(host: HostVector, actions: Any, ids: np.ndarray) -> HostStep:
    """Step a few lanes: all are stepped, then those not named are put back where they were."""

    def spread(leaf: jax.ShapeDtypeStruct, given: np.ndarray) -> np.ndarray:
        full = np.zeros(leaf.shape, leaf.dtype)
        full[ids] = given
        return full

    everyones = jax.tree.map(spread, structure(host.action_space, (host.num_envs,)), actions)
    stepped = np.zeros(host.num_envs, np.bool_)
    stepped[ids] = True
    if isinstance(host, JaxHostVector):
        if not isinstance(host.venv.resets, Fresh):
            raise UsageError(
                "Stepping only some lanes needs resets=Fresh(), because what Pool and Optimistic keep belongs to all "
                "lanes; name every lane, or build the batch with Fresh()."
            )
        before = host.state
        out = host.step(everyones)
        host.state = _put_back(stepped, before, host.state)
        return out
    kept = host.get_state()
    out = HostStep(**{name: copied(value) for name, value in vars(host.step(everyones)).items()})
    after = host.get_state()
    for name in kept:  # in a Rust batch's state every array has one row per lane
        kept[name][stepped] = after[name][stepped]
    host.set_state(kept)
    return out


@jax.jit
def _put_back(stepped: Any, before: VectorState, after: VectorState) -> VectorState:
    return after.replace(
        lanes=select(stepped, after.lanes, before.lanes),
        rng=select(stepped, after.rng, before.rng),
        ended=jnp.where(stepped, after.ended, before.ended),
    )
