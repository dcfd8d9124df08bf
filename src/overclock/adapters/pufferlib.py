"""PufferLib's way of driving a batch: flat buffers that every step fills in place.

`PufferVec` follows the buffer conventions of PufferLib 3.0's native environments. It was not run against PufferLib
itself, which needs torch. Where PufferLib is installed it also derives from its `PufferEnv`, which is what
`pufferlib.vector.make(PufferVec, env_args=["cartpole"], env_kwargs={"num_envs": 1024})` asks for; where it is not,
everything works the same without it. Randomness moves on with every step and reset, and truncations are never
reported as terminals.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from overclock.adapters.gymnasium_spaces import batched, to_gymnasium_space
from overclock.adapters.host_border import (
    Seeds,
    batch_actions,
    build_host,
    lane_seeds,
    require_one_player,
    require_room,
)
from overclock.backends import HostBackend
from overclock.env.environment import Environment
from overclock.env.overflow import OnOverflow, checked_on_overflow
from overclock.env.spaces import Box, Discrete, MultiDiscrete
from overclock.errors import UsageError
from overclock.vector.host import HostVector

try:
    from pufferlib import PufferEnv as _Base  # pyright: ignore[reportMissingImports]
except ImportError:
    _Base = object


class PufferVec(_Base):  # pyright: ignore[reportGeneralTypeIssues]
    """A batch, JAX or Rust, behind PufferLib's buffers: an id with its options, an `Environment`, or a `HostVector`.

    - `buf` maps `observations`, `rewards`, `terminals`, `truncations`, `masks` and `actions` to arrays to be filled, of
      the dtypes PufferLib gives them; without it they are allocated. `reset` and `step` return these very arrays.
    - An ended lane restarts in the same step: `observations` has its new episode's first observation and
      `final_observations` what the step led to (to bootstrap from, where it was truncated).
    - `infos` has one dict per episode that ended: `episode_return` and `episode_length`.
    - `reset(seed=s)` starts lane i from seed s + i.
    - A lane that runs out of room is an OverflowedError unless `overflow` is "info".
    """

    emulated = False  # the next three are what PufferLib asks native environments for
    done = False
    render_mode = None

    def __init__(
        self,
        env: str | Environment[Any, Any] | HostVector,
        num_envs: int = 1,
        *,
        buf: Mapping[str, np.ndarray] | None = None,
        seed: int | None = None,
        backend: HostBackend = "auto",
        max_episode_steps: int | None = None,
        overflow: OnOverflow = "error",
        **static: Any,
    ) -> None:
        self._overflow: OnOverflow = checked_on_overflow(overflow)
        if isinstance(env, str | Environment):
            self.host = build_host(env, num_envs, "same_step", backend, max_episode_steps, **static)
        else:
            self.host = env
        require_one_player(self.host)
        if self.host.autoreset != "same_step":
            raise UsageError(f"PufferLib restarts lanes in the same step; got autoreset='{self.host.autoreset}'.")
        observation, action = self.host.observation_space, self.host.action_space
        if not isinstance(observation, Box):
            raise UsageError("PufferLib's buffers hold Box observations; this environment's observation is not one.")
        if not isinstance(action, Discrete | MultiDiscrete | Box):
            raise UsageError("PufferLib's buffers hold Discrete, MultiDiscrete or Box actions; this one's are others.")
        self._observation, self._action = observation, action
        self.num_agents = self.num_envs = self.host.num_envs
        self.single_observation_space = to_gymnasium_space(observation)
        self.single_action_space = to_gymnasium_space(action)
        self.observation_space = batched(self.single_observation_space, self.num_agents)
        self.action_space = batched(self.single_action_space, self.num_agents)
        self.agent_ids = np.arange(self.num_agents)
        self._set_buffers(buf)
        self.final_observations = np.zeros_like(self.observations)
        self.infos: list[dict[str, Any]] = []
        self._seed, self._started = seed, False
        self._returns = np.zeros(self.num_agents, np.float64)
        self._lengths = np.zeros(self.num_agents, np.int64)

    @property
    def agents_per_batch(self) -> int:
        """Every `recv` returns all agents."""
        return self.num_agents

    @property
    def driver_env(self) -> "PufferVec":
        """What PufferLib asks about spaces."""
        return self

    def reset(self, seed: Seeds = None) -> tuple[np.ndarray, list[dict[str, Any]]]:
        """Restart every lane: (observations, infos). Without a seed, streams go on (at first the constructor's)."""
        if seed is None and not self._started:
            seed = self._seed
        self.observations[:] = self.host.reset(lane_seeds(seed, self.num_agents))
        for buffer in (self.rewards, self.terminals, self.truncations, self._returns, self._lengths):
            buffer[:] = 0
        self.masks[:] = True
        self.infos, self._started = [], True
        return self.observations, self.infos

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Step every lane: (observations, rewards, terminals, truncations, infos)."""
        if not self._started:
            raise UsageError("Call reset or async_reset before stepping.")
        chosen = batch_actions(self._action, actions, self.num_agents)
        self.actions[:] = chosen
        out = self.host.step(chosen)
        require_room(self.host, out, self._overflow)
        self.observations[:] = out.obs
        self.final_observations[:] = out.final_obs
        self.rewards[:] = out.reward
        self.terminals[:] = out.terminated
        self.truncations[:] = out.truncated
        self._returns += out.reward
        self._lengths += 1
        ended = out.terminated | out.truncated
        self.infos = [
            {"episode_return": float(self._returns[lane]), "episode_length": int(self._lengths[lane])}
            for lane in np.flatnonzero(ended)
        ]
        self._returns[ended] = 0
        self._lengths[ended] = 0
        return self.observations, self.rewards, self.terminals, self.truncations, self.infos

    def async_reset(self, seed: Seeds = None) -> None:
        """`reset` whose result `recv` returns."""
        self.reset(seed)

    def send(self, actions: Any) -> None:
        """`step` whose result `recv` returns."""
        self.step(actions)

    def recv(self) -> tuple[Any, ...]:
        """(observations, rewards, terminals, truncations, infos, agent_ids, masks) of the last reset or step."""
        if not self._started:
            raise UsageError("Call async_reset before recv.")
        return (
            self.observations, self.rewards, self.terminals, self.truncations, self.infos, self.agent_ids, self.masks
        )  # fmt: skip

    def close(self) -> None:
        """Nothing to release; here because PufferLib calls it."""

    def _set_buffers(self, buf: Mapping[str, np.ndarray] | None) -> None:
        """Take the caller's arrays, or allocate them as PufferLib does (discrete actions are int32 there)."""
        observation, action = self._observation, self._action
        n, action_dtype = self.num_agents, action.dtype if isinstance(action, Box) else np.dtype(np.int32)
        wanted = {
            "observations": ((n, *observation.shape), observation.dtype),
            "rewards": ((n,), np.float32),
            "terminals": ((n,), np.bool_),
            "truncations": ((n,), np.bool_),
            "masks": ((n,), np.bool_),
            "actions": ((n, *action.shape), action_dtype),
        }
        arrays = {name: np.zeros(shape, dtype) for name, (shape, dtype) in wanted.items()} if buf is None else buf
        for name, (shape, dtype) in wanted.items():
            if name not in arrays:
                raise UsageError(f"buf has no '{name}'; it needs {', '.join(wanted)}.")
            if arrays[name].shape != shape:
                raise UsageError(f"buf['{name}'] must have shape {shape}, got {arrays[name].shape}.")
            # PufferLib's Multiprocessing shares discrete actions in the space's int64, its own allocation is int32.
            if name == "actions" and not isinstance(action, Box) and arrays[name].dtype.kind in "iu":
                continue
            if arrays[name].dtype != dtype:
                raise UsageError(f"buf['{name}'] must be of {np.dtype(dtype)}, got {arrays[name].dtype}.")
        self.observations, self.actions, self.masks = arrays["observations"], arrays["actions"], arrays["masks"]
        self.rewards, self.terminals, self.truncations = arrays["rewards"], arrays["terminals"], arrays["truncations"]
        self.masks[:] = True
