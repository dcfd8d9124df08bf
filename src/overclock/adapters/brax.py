"""Our environments as Brax environments: `State` in, `State` out, so that Brax's and Playground's trainers run them.

Conventions of Brax that decide how this adapter behaves:

* A Brax environment's `done` means *terminated*. Time limits belong to the trainer: `EpisodeWrapper` counts steps up to
  `episode_length`, then sets `done` and `info["truncation"]`, overwriting what the environment reported. So
  `BraxEnv` never sets `done` at its own time limit; pass `episode_length=env.episode_length` to the trainer.
  `BraxEnv(..., time_limit="own")` is the other convention Brax's PPO knows (`bootstrap_on_timeout=True`): `done` at
  the environment's own limit, with `info["time_out"]` = 1 there.
* Brax's `AutoResetWrapper` restarts every episode from the one state its lane was first reset to. Randomness of the
  steps still differs between episodes, because it lives in `info["rng"]`, which that wrapper leaves alone. `wrap`
  below restarts from fresh states instead: `ppo.train(environment=env, wrap_env_fn=wrap, ...)`.
* Brax's policies are continuous, in [-1, 1]. A bounded `Box` is scaled to that range. `Discrete(n)` takes n numbers
  and acts by the largest (among legal actions, where there is a mask); `MultiDiscrete` one such group per entry.
* Observations are flat float32 vectors (or a dict of them).

Brax 0.14.2's trainers call `jax.device_put_replicated`, which JAX 0.10 removed, so there they fail on every
environment until it is put back; tests/adapters/test_brax.py shows the three lines that do.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from overclock.env.environment import Environment, Obs, Params
from overclock.env.overflow import OVERFLOW, OnOverflow, checked_on_overflow, refuse_overflow, room_of
from overclock.env.rng import Rng, Section
from overclock.env.spaces import Box, Discrete, MultiDiscrete, structure
from overclock.errors import MissingError, UsageError

try:
    from brax.envs.base import Env, State, Wrapper
    from brax.envs.wrappers import training
except ImportError as error:
    raise MissingError("The Brax adapter needs Brax; install it with `pip install brax`.") from error


class BraxEnv(Env):
    """One of our environments, as `brax.envs.Env`."""

    def __init__(
        self,
        env: Environment[Any, Any],
        params: Params | None = None,
        time_limit: Literal["trainer", "own"] = "trainer",
        overflow: OnOverflow = "error",
    ) -> None:
        if env.num_players > 1:
            raise UsageError(
                f"{type(env).__name__} has {env.num_players} players and Brax knows one; "
                "pass `overclock.adapters.against.against(env)`."
            )
        if time_limit not in ("trainer", "own"):
            raise UsageError(f"time_limit must be 'trainer' or 'own', got {time_limit!r}.")
        self.env, self._overflow = env, checked_on_overflow(overflow)
        # Brax's word for the numbers of the rules; its domain randomisation replaces this attribute.
        self.sys = env.default_params() if params is None else params
        self.time_limit = time_limit
        space = env.action_space(self.sys)
        if not isinstance(space, Discrete | MultiDiscrete | Box):
            raise UsageError(f"Brax takes one action vector; {type(env).__name__} has {space}.")
        self._action_space: Discrete | MultiDiscrete | Box = space

    def reset(self, rng: jax.Array | Rng) -> State:
        """Start an episode from a jax key."""
        stream = Rng.of(rng)
        obs, state = self.env.reset(stream, self.sys)
        zero = jnp.float32(0)
        info = {
            **self.env.facts(state.rules, self.sys), "rng": stream.advance(), "truncation": zero, **self._time_out(zero)
        }  # fmt: skip
        return State(pipeline_state=state, obs=_flat(obs), reward=zero, done=zero, metrics={}, info=info)

    def step(self, state: State, action: Float[Array, " size"]) -> State:
        """One step of the rules; never resets."""
        stream = state.info["rng"]
        chosen = self.native_action(state, action)
        obs, after, reward, terminated, truncated, info = self.env.step_env(
            stream, state.pipeline_state, chosen, self.sys
        )
        if self._overflow == "error":  # outside of `jit`; a trainer finds it in `info`
            refuse_overflow(info.get(OVERFLOW), "this environment", room_of(self.env))
        done = terminated | truncated if self.time_limit == "own" else terminated
        cut_off = (truncated & ~terminated).astype(jnp.float32)
        info = {**state.info, **info, "rng": stream.advance(), "truncation": cut_off, **self._time_out(cut_off)}
        return dataclasses.replace(
            state,
            pipeline_state=after,
            obs=_flat(obs),
            reward=reward.astype(jnp.float32),
            done=done.astype(jnp.float32),
            info=info,
        )

    def native_action(self, state: Any, action: Float[Array, " size"]) -> Any:
        """The environment's own action for a Brax action vector."""
        space = self._action_space
        if isinstance(space, Box):
            low, high = space.bounds()
            bounded = np.isfinite(low) & np.isfinite(high)
            action = action.reshape(space.shape)
            share = (jnp.clip(action, -1, 1) + 1) / 2
            scaled = np.where(bounded, low, 0) + share * np.where(bounded, high - low, 0)
            return jnp.where(bounded, scaled, action).astype(space.dtype)
        mask = self.env.action_mask(state.pipeline_state.rules, self.sys)
        scores = action if mask is None else jnp.where(mask, action, -jnp.inf)
        if isinstance(space, Discrete):
            return jnp.argmax(scores).astype(space.dtype)
        groups = jnp.split(scores, np.cumsum(space.nvec)[:-1])
        return jnp.stack([jnp.argmax(group) for group in groups]).astype(space.dtype)

    @property
    def observation_size(self) -> Any:
        """Length of the observation vector, or of each where there are several."""
        return jax.tree.map(lambda leaf: int(np.prod(leaf.shape)), structure(self.env.observation_space(self.sys)))

    @property
    def action_size(self) -> int:
        """How many numbers an action is: one per choice of a discrete action, one per element of a Box."""
        space = self._action_space
        if isinstance(space, Discrete):
            return space.n
        return sum(space.nvec) if isinstance(space, MultiDiscrete) else int(np.prod(space.shape))

    @property
    def episode_length(self) -> int:
        """The environment's own time limit, to be given to the trainer."""
        if self.sys.max_steps is None:
            raise UsageError(f"{type(self.env).__name__} has no time limit; pass episode_length.")
        return int(self.sys.max_steps)

    @property
    def backend(self) -> str:
        """There is no physics pipeline behind it."""
        return "overclock"

    def _time_out(self, flag: Float[Array, ""]) -> dict[str, Any]:
        return {"time_out": flag} if self.time_limit == "own" else {}


class FreshResetWrapper(Wrapper):
    """Auto-reset to a new random state; the last observation of an episode stays in `info["final_observation"]`.

    Goes where Brax's `AutoResetWrapper` goes: outside `EpisodeWrapper`. It wraps `BraxEnv`s, whose stream it uses.
    """

    def reset(self, rng: jax.Array) -> State:
        """Start every lane; what it sees stands as its last observation until an episode ends."""
        state = self.env.reset(rng)
        state.info["final_observation"] = state.obs
        return state

    def step(self, state: State, action: Float[Array, "*lanes size"]) -> State:
        """Step every lane and restart those that are done."""
        if "steps" in state.info:
            steps = state.info["steps"]
            state.info.update(steps=jnp.where(state.done > 0, jnp.zeros_like(steps), steps))
        state = self.env.step(dataclasses.replace(state, done=jnp.zeros_like(state.done)), action)
        stream = state.info["rng"].of_section(Section.RESET)
        fresh = self.env.reset(jnp.stack([stream.words(0), stream.words(1)], axis=-1))
        state.info["final_observation"] = state.obs

        def where_done(new: Array, old: Array) -> Array:
            done = state.done > 0
            return jnp.where(done.reshape(done.shape + (1,) * (old.ndim - done.ndim)), new, old)

        return dataclasses.replace(
            state,
            pipeline_state=jax.tree.map(where_done, fresh.pipeline_state, state.pipeline_state),
            obs=jax.tree.map(where_done, fresh.obs, state.obs),
        )


def wrap(
    env: BraxEnv,
    episode_length: int | None = None,
    action_repeat: int = 1,
    randomization_fn: Callable[[Any], tuple[Any, Any]] | None = None,
) -> Wrapper:
    """As `brax.envs.training.wrap`, with fresh start states; `wrap_env_fn` of Brax's trainers takes it.

    `randomization_fn(params) -> (params with a leading axis, vmap axes)` gives every lane parameters of its own.
    """
    limit = env.episode_length if episode_length is None else episode_length
    vmapped = (
        training.VmapWrapper(env)
        if randomization_fn is None
        else training.DomainRandomizationVmapWrapper(env, randomization_fn)
    )
    return FreshResetWrapper(training.EpisodeWrapper(vmapped, limit, action_repeat))


def _flat(obs: Obs) -> Any:
    return jax.tree.map(lambda leaf: jnp.ravel(leaf).astype(jnp.float32), obs)
