"""`EpisodeStatistics`: a vector environment that also knows the return and length of every finished episode."""

import dataclasses
import functools
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from overclock.env.autoreset import expand
from overclock.env.environment import Key, Obs
from overclock.env.rng import Rng
from overclock.env.struct import Struct
from overclock.vector.vectorize import VectorEnv, VectorState


class StatisticsState(Struct):
    """The wrapped state, the running episode's sums, and how many episodes each lane has finished."""

    inner: VectorState
    returns: Float[Array, "n *players"]
    lengths: Int[Array, " n"]
    episodes: Int[Array, " n"]

    @property
    def rng(self) -> Any:
        """The wrapped state's generator, where policies look for it."""
        return self.inner.rng


@dataclasses.dataclass(frozen=True)
class EpisodeStatistics:
    """Wraps a `VectorEnv`; steps add `info["episode"]` = `return`, `length` (of the episode so far) and `ended`.

    Where `ended` is True the two numbers are those of the finished episode. A step of a lane whose episode is over
    and not restarted (`next_step`'s restarting step, `off` until `reset_lanes`) belongs to no episode: all zero.
    """

    venv: VectorEnv

    def __getattr__(self, name: str) -> Any:
        # Copying and unpickling ask a blank object for special names, before there is a `venv` to ask.
        if name.startswith("__") or name == "venv":
            raise AttributeError(name)
        return getattr(self.venv, name)

    @functools.partial(jax.jit, static_argnames="self", inline=True)
    def reset(self, key: Key, params: Any = None) -> tuple[Obs, StatisticsState]:
        obs, inner = self.venv.reset(key, params)
        n, players = self.venv.num_envs, self.venv.env.num_players
        return obs, StatisticsState(
            inner=inner,
            returns=jnp.zeros((n,) if players == 1 else (n, players), jnp.float32),
            lengths=jnp.zeros(n, jnp.int32),
            episodes=jnp.zeros(n, jnp.int32),
        )

    @functools.partial(jax.jit, static_argnames="self", inline=True)
    def step(
        self, state: StatisticsState, actions: Any, params: Any = None
    ) -> tuple[Obs, StatisticsState, Float[Array, "n *players"], Bool[Array, " n"], Bool[Array, " n"], dict[str, Any]]:
        """Step as `VectorEnv.step` does, with the episode's sums in `info["episode"]`."""
        idle = state.inner.ended
        obs, inner, reward, terminated, truncated, info = self.venv.step(state.inner, actions, params)
        returns = (state.returns + jnp.where(expand(idle, reward), 0, reward)).astype(state.returns.dtype)
        lengths = state.lengths + ~idle
        ended = (terminated | truncated) & ~idle
        state = StatisticsState(
            inner=inner,
            returns=jnp.where(expand(ended, returns), jnp.zeros_like(returns), returns),
            lengths=jnp.where(ended, 0, lengths),
            episodes=state.episodes + ended,
        )
        episode = {"return": returns, "length": lengths, "ended": ended}
        return obs, state, reward, terminated, truncated, {**info, "episode": episode}

    @functools.partial(jax.jit, static_argnames="self", inline=True)
    def reset_lanes(
        self, state: StatisticsState, mask: Bool[Array, " n"], rng: Rng | None = None, params: Any = None
    ) -> tuple[Obs, StatisticsState]:
        """As `VectorEnv.reset_lanes`; an unfinished episode of a restarted lane is forgotten."""
        obs, inner = self.venv.reset_lanes(state.inner, mask, rng, params)
        returns = jnp.where(expand(mask, state.returns), 0, state.returns)
        return obs, state.replace(inner=inner, returns=returns, lengths=jnp.where(mask, 0, state.lengths))

    def observe(self, state: StatisticsState, params: Any = None) -> Obs:
        return self.venv.observe(state.inner, params)

    def action_mask(self, state: StatisticsState, params: Any = None) -> Any:
        return self.venv.action_mask(state.inner, params)

    def sample_actions(self, state: StatisticsState, params: Any = None) -> Any:
        return self.venv.sample_actions(state.inner, params)
