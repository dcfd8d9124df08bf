"""Batches that live outside JAX, seen in one way: a `HostVector` or a Gymnasium `VectorEnv`, whatever its auto-reset.

Every step ends as in `same_step`: `obs` is what to act on next, `final_obs` what the step led to. Gymnasium's
`NEXT_STEP` spends a call on restarting a lane; `counted` is False for such a call, which belongs to no episode.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from overclock.env.overflow import OVERFLOW
from overclock.env.spaces import Box, Discrete, MultiDiscrete, Space
from overclock.errors import UsageError
from overclock.vector.host import HostVector


@dataclasses.dataclass
class LaneStep:
    """What one step of a batch produced; the arrays are the caller's own."""

    obs: Any
    reward: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    final_obs: Any
    counted: np.ndarray
    overflow: np.ndarray | None = None  # lanes that ran out of room, where that is possible

    @property
    def ended(self) -> np.ndarray:
        """Lanes whose episode is over."""
        return self.terminated | self.truncated


class HostLanes:
    """Wraps a batch; see the module's first lines."""

    def __init__(self, envs: Any) -> None:
        self._border = _GymnasiumBorder(envs) if hasattr(envs, "single_action_space") else _HostVectorBorder(envs)
        self.num_envs: int = envs.num_envs
        self.autoreset: str = self._border.autoreset
        self.observation_space: Space = self._border.observation_space
        self.action_space: Space = self._border.action_space
        self._idle = np.zeros(self.num_envs, np.bool_)

    def reset(self, seeds: Sequence[int]) -> Any:
        """Restart every lane from its own seed."""
        if len(seeds) != self.num_envs:
            raise UsageError(f"Got {len(seeds)} seeds for {self.num_envs} lanes; give one per lane.")
        self._idle = np.zeros(self.num_envs, np.bool_)
        return _copied(self._border.reset([int(seed) for seed in seeds], None))

    def step(self, actions: Any) -> LaneStep:
        """Step every lane with one action each."""
        obs, reward, terminated, truncated, final_obs, lost = _copied(self._border.step(self._in_space(actions)))
        step = LaneStep(obs, reward.astype(np.float32), terminated, truncated, final_obs, ~self._idle, lost)
        if self.autoreset == "off" and step.ended.any():
            step.obs = _copied(self._border.reset(None, step.ended))
        self._idle = step.ended if self.autoreset == "next_step" else np.zeros_like(step.ended)
        return step

    def _in_space(self, actions: Any) -> np.ndarray:
        assert isinstance(self.action_space, Discrete | MultiDiscrete | Box)
        return np.asarray(actions, self.action_space.dtype)

    def action_mask(self) -> np.ndarray | None:
        """Which actions are legal now; None where all always are."""
        mask = self._border.action_mask()
        return None if mask is None else np.array(mask, np.bool_)


class _HostVectorBorder:
    def __init__(self, host: HostVector) -> None:
        if host.num_players != 1:
            raise UsageError(f"A policy plays for one player, this environment has {host.num_players}.")
        self.host, self.autoreset = host, host.autoreset
        self.observation_space, self.action_space = host.observation_space, host.action_space

    def reset(self, seeds: list[int] | None, mask: np.ndarray | None) -> Any:
        return self.host.reset(seeds, mask)

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        out = self.host.step(actions)
        return out.obs, out.reward, out.terminated, out.truncated, out.final_obs, out.info.get(OVERFLOW)

    def action_mask(self) -> np.ndarray | None:
        return self.host.action_mask()


class _GymnasiumBorder:
    def __init__(self, envs: Any) -> None:
        from overclock.adapters.gymnasium import MODES
        from overclock.adapters.gymnasium_spaces import from_gymnasium_space

        self.envs = envs
        mode = envs.metadata.get("autoreset_mode")
        self.autoreset = next((ours for ours, theirs in MODES.items() if mode in (theirs, theirs.value)), "next_step")
        self.observation_space = from_gymnasium_space(envs.single_observation_space)
        self.action_space = from_gymnasium_space(envs.single_action_space)
        self._mask: np.ndarray | None = None

    def reset(self, seeds: list[int] | None, mask: np.ndarray | None) -> Any:
        obs, info = self.envs.reset(seed=seeds, options=None if mask is None else {"reset_mask": mask})
        self._note_mask(info, mask)
        return obs

    def step(self, actions: np.ndarray) -> tuple[Any, ...]:
        obs, reward, terminated, truncated, info = self.envs.step(actions)
        self._note_mask(info, None)
        final_obs = obs
        if self.autoreset == "same_step" and "final_obs" in info:
            final_obs = _with_rows(obs, info["final_obs"], np.flatnonzero(terminated | truncated))
        return obs, reward, terminated, truncated, final_obs, None  # our own adapter raises

    def action_mask(self) -> np.ndarray | None:
        return self._mask

    def _note_mask(self, info: dict[str, Any], lanes: np.ndarray | None) -> None:
        if "action_mask" not in info:
            return
        if lanes is None or self._mask is None:
            self._mask = np.array(info["action_mask"], np.bool_)
        else:
            self._mask[lanes] = info["action_mask"][lanes]


def _with_rows(obs: Any, final: Any, lanes: np.ndarray) -> Any:
    """A copy of `obs` with some rows taken from `final`: a dense batch, or one observation object per lane."""
    if isinstance(obs, dict):
        if isinstance(final, dict):
            return {name: _with_rows(value, final[name], lanes) for name, value in obs.items()}
        # SyncVectorEnv keeps one dict per lane.
        return {name: _with_rows(value, {i: final[i][name] for i in lanes}, lanes) for name, value in obs.items()}
    rows = np.array(obs)
    for i in lanes:
        rows[i] = final[i]
    return rows


def _copied(tree: Any) -> Any:
    """Arrays that the environment cannot change later: JAX may read a NumPy array after the call that got it."""
    return jax.tree.map(np.array, tree)
