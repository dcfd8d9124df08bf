"""Gymnasium's two faces of an environment: `VectorEnv` in all three auto-reset modes, and single `Env`.

Both follow what Gymnasium's own `SyncVectorEnv` does (seeds, masks, info keys, dtypes), so its wrappers and the
training code written for it run unchanged. The one difference: `info["final_obs"]` is a dense array.
"""

from typing import Any

import numpy as np

from overclock.adapters.gymnasium_plugin import gymnasium_spec, register_all
from overclock.adapters.gymnasium_reset import reset_arguments, reset_mask
from overclock.adapters.gymnasium_spaces import batched, from_gymnasium_space, in_space, to_gymnasium_space
from overclock.adapters.host_border import (
    NO_LIMIT,
    Renderer,
    Seeds,
    batch_actions,
    build_host,
    lane_seeds,
    render_lanes,
    renderer_of,
    require_one_player,
    require_room,
    rows,
)
from overclock.backends import HostBackend
from overclock.env.autoreset import Autoreset
from overclock.env.environment import Environment
from overclock.env.overflow import OnOverflow, checked_on_overflow
from overclock.errors import MissingError, UsageError
from overclock.vector.host import HostStep, HostVector, Randomness

try:
    import gymnasium
    from gymnasium.envs.registration import EnvSpec
    from gymnasium.error import ResetNeeded
    from gymnasium.vector import AutoresetMode
except ImportError as error:
    raise MissingError("This adapter needs Gymnasium 1.1 or newer; run: pip install 'overclock[gymnasium]'.") from error

__all__ = [
    "GymnasiumEnv", "GymnasiumVectorEnv", "UnlimitedGymnasiumEnv", "from_gymnasium_space", "make_vec",
    "to_gymnasium_space",
]  # fmt: skip

MODES: dict[Autoreset, AutoresetMode] = {
    "same_step": AutoresetMode.SAME_STEP,
    "next_step": AutoresetMode.NEXT_STEP,
    "off": AutoresetMode.DISABLED,
}
RENDER_FPS = 50  # how fast Gymnasium's HumanRendering and RecordVideo play the frames


class GymnasiumVectorEnv(gymnasium.vector.VectorEnv[Any, Any, Any]):
    """A `HostVector`, JAX or Rust, as a Gymnasium vector environment. `make_vec` builds one from an id.

    - `reset(seed=s)` starts lane i from seed s + i; a list gives one seed per lane (None: its stream goes on).
    - `reset(options={"reset_mask": mask})` restarts only the lanes in the mask; `"low"` and `"high"` bound what this
      one reset draws, in environments that have such bounds (CartPole).
    - `metadata["autoreset_mode"]` says what happens to ended lanes. In SAME_STEP, a step in which lanes end has
      `info["final_obs"]` (dense: row i is what lane i's step led to) and `info["final_info"]`, each with its mask.
    - `info["action_mask"]` (int8, one row per lane) is there where the environment has masks.
    - A lane that runs out of room (`info["overflow"]`) is an OverflowedError unless `overflow` is "info".
    """

    def __init__(
        self,
        host: HostVector,
        *,
        renderer: Renderer | None = None,
        render_mode: str | None = None,
        spec: EnvSpec | None = None,
        overflow: OnOverflow = "error",
    ) -> None:
        require_one_player(host)
        self.host = host
        self._overflow: OnOverflow = checked_on_overflow(overflow)
        self.num_envs = host.num_envs
        self.metadata = {
            "render_modes": [] if renderer is None else ["rgb_array"],
            "render_fps": RENDER_FPS,
            "autoreset_mode": MODES[host.autoreset],
        }
        self.spec = spec  # pyright: ignore[reportIncompatibleVariableOverride]
        self.render_mode = _checked_render_mode(render_mode)
        self.single_observation_space = to_gymnasium_space(host.observation_space)
        self.single_action_space = to_gymnasium_space(host.action_space)
        self.observation_space = batched(self.single_observation_space, self.num_envs)
        self.action_space = batched(self.single_action_space, self.num_envs)
        self._renderer = renderer
        self._has_masks = host.action_mask() is not None
        self._started = False
        self._ended = np.zeros(self.num_envs, np.bool_)

    def reset(self, *, seed: Seeds = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Restart every lane, or those in `options["reset_mask"]`; returns every lane's observation."""
        seeds = lane_seeds(seed, self.num_envs)
        mask = reset_mask(options, self.num_envs)
        arguments = reset_arguments(self.host, options, also=("reset_mask",))
        self._seed_np_random(seed, seeds)
        obs = self.host.reset(seeds, mask, **arguments)
        self._started = True
        self._ended = np.zeros(self.num_envs, np.bool_) if mask is None else self._ended & ~mask
        return in_space(self.observation_space, obs), self._with_action_mask({})

    def step(self, actions: Any) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step every lane: (obs, rewards, terminations, truncations, info)."""
        if not self._started:
            raise ResetNeeded("Call reset before step.")
        if self.host.autoreset == "off" and self._ended.any():
            lanes = ", ".join(map(str, np.flatnonzero(self._ended)[:5]))
            raise UsageError(
                f"Lanes {lanes} have ended and auto-reset is off; "
                "restart them with reset(options={'reset_mask': mask})."
            )
        out = self.host.step(batch_actions(self.host.action_space, actions, self.num_envs))
        require_room(self.host, out, self._overflow)
        self._ended = out.terminated | out.truncated
        return (
            in_space(self.observation_space, out.obs),
            out.reward.astype(np.float64),  # as SyncVectorEnv's, whatever the environment computes in
            np.array(out.terminated),
            np.array(out.truncated),
            self._with_action_mask(self._info(out, self._ended)),
        )

    def render(self) -> tuple[np.ndarray, ...] | None:
        """One RGB picture per lane; None without a render mode or a registered renderer."""
        if self.render_mode is None or self._renderer is None:
            return None
        return tuple(render_lanes(self.host, self._renderer))

    @property
    def spec(self) -> EnvSpec | None:
        """Gymnasium's description; its `max_episode_steps` is the limit that this batch really has."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        if spec is not None:  # gymnasium.make_vec assigns one that has the registered limit, whatever was asked for
            spec.max_episode_steps = self.host.max_steps
        self._spec = spec

    def _info(self, out: HostStep, ended: np.ndarray) -> dict[str, Any]:
        """Gymnasium's layout: every key has a mask `_key` of the lanes it is about."""
        if self.host.autoreset != "same_step":
            return _masked(out.info, np.ones_like(ended))
        # The facts of an ended episode belong to `final_info`; its successor, like any reset, has none yet.
        info = _masked(out.info, ~ended)
        if ended.any():
            info["final_obs"], info["_final_obs"] = in_space(self.observation_space, out.final_obs), ended.copy()
            info["final_info"], info["_final_info"] = _masked(out.info, ended), ended.copy()
        return info

    def _with_action_mask(self, info: dict[str, Any]) -> dict[str, Any]:
        if self._has_masks:
            info["action_mask"] = np.array(self.host.action_mask(), np.int8)
            info["_action_mask"] = np.ones(self.num_envs, np.bool_)
        return info

    def _seed_np_random(self, seed: Seeds, seeds: list[int | None] | None) -> None:
        """`np_random` is the caller's to use (the lanes have streams of their own), but it follows the seed."""
        if isinstance(seed, int | np.integer):
            super().reset(seed=int(seed))
        elif seeds is not None:
            self.np_random = np.random.default_rng([one for one in seeds if one is not None])


class GymnasiumEnv(gymnasium.Env[Any, Any]):
    """One instance as a Gymnasium environment: an id with its options, an `Environment`, or a `HostVector` of one lane.

    The environment truncates itself (at `max_episode_steps`, where given; -1: never), so it needs no `TimeLimit`.
    Running out of room (`info["overflow"]`) is an OverflowedError unless `overflow` is "info".
    Seed s gives the episode that lane i of a vector environment plays from seed s; with `rng="numpy"` (translated
    environments, see docs/translator.md) the one that the reference itself plays from seed s.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": RENDER_FPS}  # noqa: RUF012 (as Gymnasium declares it)

    def __init__(
        self,
        env: str | Environment[Any, Any] | HostVector,
        *,
        backend: HostBackend = "auto",
        rng: Randomness = "overclock",
        max_episode_steps: int | None = None,
        render_mode: str | None = None,
        overflow: OnOverflow = "error",
        **static: Any,
    ) -> None:
        self._overflow: OnOverflow = checked_on_overflow(overflow)
        if isinstance(env, str | Environment):
            self.host = build_host(env, 1, "off", backend, max_episode_steps, rng, **static)
        else:
            self.host = env
        if self.host.num_envs != 1 or self.host.autoreset != "off":
            raise UsageError("A single environment needs a HostVector with num_envs=1 and autoreset='off'.")
        require_one_player(self.host)
        self.render_mode = _checked_render_mode(render_mode)
        self._renderer = renderer_of(env, self.host)
        if self._renderer is None:
            self.metadata = {**self.metadata, "render_modes": []}
        if isinstance(env, str):
            spec = gymnasium_spec(env, backend=backend, render_mode=render_mode, **static)
            spec.max_episode_steps = self.host.max_steps
            self.spec = spec
        self.observation_space = to_gymnasium_space(self.host.observation_space)
        self.action_space = to_gymnasium_space(self.host.action_space)
        self._has_masks = self.host.action_mask() is not None
        self._started = self._ended = self._warned = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode; without a seed, the stream goes on. Options: `low` and `high`, as in the vector's reset."""
        seeds, arguments = lane_seeds(seed, 1), reset_arguments(self.host, options)
        super().reset(seed=seed)
        obs = self.host.reset(seeds, **arguments)
        self._started, self._ended, self._warned = True, False, False
        return in_space(self.observation_space, rows(obs, 0)), self._with_action_mask({})

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One step: (obs, reward, terminated, truncated, info)."""
        if not self._started:
            raise ResetNeeded("Call reset before step.")
        actions = batch_actions(self.host.action_space, _batch_of_one(action), 1)
        if self._ended and not self._warned:
            self._warned = True
            gymnasium.logger.warn("The episode has ended: call reset(); what further steps return means nothing.")
        out = self.host.step(actions)
        require_room(self.host, out, self._overflow)
        self._ended |= bool(out.terminated[0] | out.truncated[0])
        obs, info = in_space(self.observation_space, rows(out.obs, 0)), self._with_action_mask(rows(out.info, 0))
        return obs, float(out.reward[0]), bool(out.terminated[0]), bool(out.truncated[0]), info

    def render(self) -> np.ndarray | None:
        """An RGB picture; None without a render mode or a registered renderer."""
        if self.render_mode is None or self._renderer is None:
            return None
        return next(render_lanes(self.host, self._renderer))

    def _with_action_mask(self, info: dict[str, Any]) -> dict[str, Any]:
        if self._has_masks:
            info["action_mask"] = np.array(self.host.action_mask(), np.int8)[0]
        return info


class UnlimitedGymnasiumEnv(GymnasiumEnv):
    """What `gymnasium.make` builds: no time limit of its own, because `make` puts a `TimeLimit` around it."""

    def __init__(self, env: str | Environment[Any, Any], **options: Any) -> None:
        super().__init__(env, max_episode_steps=NO_LIMIT, **options)


def make_vec(
    env: str | Environment[Any, Any],
    num_envs: int = 1,
    autoreset: Autoreset | AutoresetMode | str = "next_step",
    backend: HostBackend = "auto",
    *,
    rng: Randomness = "overclock",
    max_episode_steps: int | None = None,
    render_mode: str | None = None,
    overflow: OnOverflow = "error",
    **static: Any,
) -> GymnasiumVectorEnv:
    """A Gymnasium vector environment of an id or an `Environment`; NEXT_STEP is Gymnasium's own default.

    `max_episode_steps` replaces the environment's own time limit; -1 means none, as in Gymnasium. `rng="numpy"` draws
    the reference's own random numbers, where that is possible.

    >>> envs = make_vec("cartpole", 8, autoreset="same_step")
    """
    mode = _autoreset(autoreset)
    host = build_host(env, num_envs, mode, backend, max_episode_steps, rng, **static)
    options = {"autoreset": mode, "backend": backend, "max_episode_steps": max_episode_steps, **static}
    spec = gymnasium_spec(env, num_envs=num_envs, **options) if isinstance(env, str) else None
    return GymnasiumVectorEnv(
        host, renderer=renderer_of(env, host), render_mode=render_mode, spec=spec, overflow=overflow
    )


def _autoreset(mode: Autoreset | AutoresetMode | str) -> Autoreset:
    """Our word for an auto-reset mode given in ours or in Gymnasium's."""
    for ours, theirs in MODES.items():
        if mode in (ours, theirs, theirs.value):
            return ours
    raise UsageError(f"autoreset must be 'same_step', 'next_step', 'off' or a gymnasium AutoresetMode, got {mode!r}.")


def _masked(info: dict[str, Any], lanes: np.ndarray) -> dict[str, Any]:
    """Every entry with its mask; lanes outside it read zero, and nothing is said where the mask is empty."""
    if not lanes.any():
        return {}
    out: dict[str, Any] = {}
    for key, value in info.items():
        if isinstance(value, dict):
            out[key] = _masked(value, lanes)
        else:
            out[key] = np.where(lanes.reshape(lanes.shape + (1,) * (value.ndim - 1)), value, np.zeros_like(value))
        out[f"_{key}"] = lanes.copy()
    return out


def _batch_of_one(action: Any) -> Any:
    if isinstance(action, dict):
        return {name: _batch_of_one(value) for name, value in action.items()}
    return np.asarray(action)[None]


def _checked_render_mode(render_mode: str | None) -> str | None:
    if render_mode not in (None, "rgb_array"):
        raise UsageError(f"render_mode must be None or 'rgb_array', got {render_mode!r}.")
    return render_mode


register_all()
