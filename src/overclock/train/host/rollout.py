"""Acting on environments that live outside JAX: what `step` of `make_train` is to a JAX environment.

Several runs (seeds) side by side, `num_envs` lanes each, in one batch of host lanes; the networks of all of them decide
in one call. Everything here has the axes (seed, lane).
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env.overflow import OVERFLOW
from overclock.env.rng import Rng, Section
from overclock.train.host.lanes import HostLanes
from overclock.train.networks.agent import Agent, AgentParams
from overclock.train.ppo import Experience, PPOConfig, explore


class HostRollout:
    """The lanes of all seeds on their way; a batch of its own begins with every `HostRollout`."""

    def __init__(self, lanes: HostLanes, agent: Agent, config: PPOConfig, keys: jax.Array) -> None:
        """`keys`: one per seed; they decide the exploration, and the seeds from which the lanes start."""
        self._lanes, self._steps = lanes, config.num_steps
        count, self._shape = config.num_envs, (len(keys), config.num_envs)
        # As in a JAX batch that was reset with this key: its reset was the first event of the streams.
        self._rng = jax.vmap(lambda key: Rng.of(key).lanes(count).advance().of_section(Section.ACTION))(keys)
        words = np.asarray(jax.random.key_data(keys))
        seeds = np.concatenate([np.random.default_rng(row).integers(0, 1 << 31, count) for row in words])
        self._obs = self._split(lanes.reset(seeds.tolist()))
        self._start = np.ones(self._shape, np.bool_)
        self.memory = jax.vmap(lambda _: agent.first_memory(count))(jnp.arange(len(keys)))
        self._returns, self._lengths = np.zeros(self._shape, np.float32), np.zeros(self._shape, np.int32)
        self._explore = jax.jit(jax.vmap(functools.partial(explore, agent)))
        self._playable = jax.jit(agent.distribution.playable)

    def collect(self, params: AgentParams) -> tuple[Experience, dict[str, Any]]:
        """One update's experience of every seed and the episodes in it, both (seed, time, lane)."""
        steps, episodes = [], []
        for _ in range(self._steps):
            before, memory, action = self._decide(params)
            played = np.asarray(self._playable(action))
            step = self._lanes.step(played.reshape(-1, *played.shape[2:]))
            after: tuple[Any, ...] = self._split((step.reward, step.terminated, step.truncated, step.final_obs))
            steps.append(Experience(*before, *after))
            reward, ended, obs = after[0], self._split(step.ended), self._split(step.obs)
            self._returns, self._lengths = self._returns + reward, self._lengths + 1
            episodes.append({"return": self._returns, "length": self._lengths, "ended": ended})
            if step.overflow is not None:
                episodes[-1][OVERFLOW] = self._split(step.overflow)
            self._returns = np.where(ended, 0, self._returns).astype(np.float32)
            self._lengths = np.where(ended, 0, self._lengths)
            self._obs, self._start, self.memory, self._rng = obs, ended, memory, self._rng.advance()
        return _in_time(steps), _in_time(episodes)

    def rehearse(self, params: AgentParams) -> Experience:
        """An update's worth of standing still: compiles what acting needs, and learning can be compiled with it."""
        before, _, action = self._decide(params)
        self._playable(action)
        never = np.zeros(self._shape, np.bool_)
        after: tuple[Any, ...] = (np.zeros(self._shape, np.float32), never, never, self._obs)
        return _in_time([Experience(*before, *after)] * self._steps)

    def _decide(self, params: AgentParams) -> tuple[tuple[Any, ...], Any, Any]:
        """What a step's experience has before the environment answers; the new memory; the actions."""
        mask = self._lanes.action_mask()
        mask = None if mask is None else self._split(mask)
        memory, action, log_prob = self._explore(params, self.memory, self._obs, self._start, mask, self._rng)
        return (self._obs, self._start, mask, action, log_prob), memory, action

    def _split(self, tree: Any) -> Any:
        """Lanes of all seeds as (seed, lane)."""
        return jax.tree.map(lambda leaf: leaf.reshape(*self._shape, *leaf.shape[1:]), tree)


def _in_time(steps: list[Any]) -> Any:
    """Steps of (seed, lane) as (seed, time, lane); NumPy, because stacking small arrays one by one in JAX is slow."""
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves], axis=1), *steps)
