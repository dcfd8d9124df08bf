"""The training workers of level 4: several seeds side by side, in the process of the side they train on.

A worker never sees the other side and hands back weights and curves only. On the performance side a run is PPO's own
compiled update; on a reference the same `learn` gets its experience from one batch of Gymnasium environments.
"""

import dataclasses
import functools
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock import compile_cache
from overclock.env.registry import load
from overclock.env.rng import Rng, Section
from overclock.errors import MissingError, UsageError
from overclock.train.agent import Agent
from overclock.train.host_lanes import HostLanes
from overclock.train.policy import space_to_json
from overclock.train.ppo import Experience, PPOConfig, explore, learn, make_agent, make_learner, make_train, summarise
from overclock.vector.host import flatten_state
from overclock.verify.contract import Twin
from overclock.verify.subject import Arrays, SubjectSpec
from overclock.verify.transfer_plan import TransferPlan

HERE = "overclock.verify.transfer_training"
SHOWN = ("return", "episodes")  # of an update, one value per seed


def performance_trainer(twin: Twin, plan: TransferPlan) -> SubjectSpec:
    """The spec of a worker that trains on the performance side, bugs planted in it included."""
    spec = twin.performance.with_environment(JAX_PLATFORMS="cpu", JAX_ENABLE_X64="0")
    options = (("subject", [spec.entry_point, dict(spec.options)]), ("config", dict(plan.training)))
    return dataclasses.replace(spec, entry_point=f"{HERE}:PerformanceTrainer", options=options)


def reference_trainer(plan: TransferPlan) -> SubjectSpec:
    """The spec of a worker that trains on the reference."""
    assert plan.reference_env is not None
    spec = plan.reference_env.with_environment(JAX_PLATFORMS="cpu", JAX_ENABLE_X64="0")
    return SubjectSpec(
        f"{HERE}:ReferenceTrainer",
        (("env", [spec.entry_point, dict(spec.options)]), ("config", dict(plan.training))),
        spec.environment,
    )


class _Trainer:
    """The calls both workers answer. `begin` compiles, so that the seconds of `advance` are training alone."""

    agent: Agent
    config: PPOConfig

    def describe(self) -> dict[str, Any]:
        """What the policies are, and how long a run is."""
        return {
            "calls": ["begin", "advance", "weights"],
            "observation_space": space_to_json(self.agent.observation_space),
            "action_space": space_to_json(self.agent.action_space),
            "updates": self.config.num_updates,
            "steps_per_update": self.config.steps_per_update,
        }

    def advance(self, updates: int) -> dict[str, Any]:
        """So many more updates of every seed: their curves (update, seed) and seconds."""
        rows, seconds = [], []
        for _ in range(updates):
            started = time.perf_counter()
            metrics = jax.block_until_ready(self._update())
            seconds.append(time.perf_counter() - started)
            rows.append({name: np.asarray(metrics[name], np.float64) for name in SHOWN})
        return {"seconds": np.array(seconds), **{name: np.stack([row[name] for row in rows]) for name in SHOWN}}

    def begin(self, seeds: np.ndarray) -> None:
        """Start new runs."""
        raise NotImplementedError

    def weights(self) -> Arrays:
        """What acting needs, by name, with the seeds as leading axis."""
        raise NotImplementedError

    def _update(self) -> dict[str, Any]:
        raise NotImplementedError


class PerformanceTrainer(_Trainer):
    """Trains on the environment behind a performance subject."""

    def __init__(self, num_envs: int, subject: tuple[str, dict[str, Any]], config: dict[str, Any]) -> None:
        compile_cache.enable()
        entry_point, options = subject
        inner = load(entry_point)(1, **options)
        if not hasattr(inner, "rules"):
            raise UsageError(f"{entry_point} has no JAX environment behind it that could be trained on (no `rules`)")
        env, params = inner.rules
        self.config = PPOConfig(**config)
        trainer = make_train(env, params, self.config)
        self.agent = trainer.agent
        self._init, self._jit_update = jax.jit(jax.vmap(trainer.init)), jax.jit(jax.vmap(trainer.update))

    def begin(self, seeds: np.ndarray) -> None:
        """As `_Trainer.begin`."""
        self._state = self._init(_keys(seeds))
        self._compiled = self._jit_update.lower(self._state).compile()

    def weights(self) -> Arrays:
        """As `_Trainer.weights`."""
        return flatten_state(self._state.learner.params)

    def _update(self) -> dict[str, Any]:
        self._state, metrics = self._compiled(self._state)
        return metrics


class ReferenceTrainer(_Trainer):
    """Trains on Gymnasium environments: `num_envs` of the configuration for every seed, stepped one after the other."""

    def __init__(self, num_envs: int, env: tuple[str, dict[str, Any]], config: dict[str, Any]) -> None:
        compile_cache.enable()
        entry_point, options = env
        self._make_env = functools.partial(load(entry_point), **options)
        self.config = PPOConfig(**config)
        one = _batch(self._make_env, 1)
        self.agent = make_agent(one.observation_space, one.action_space, self.config)
        lanes = functools.partial(explore, self.agent)
        self._explore = jax.jit(jax.vmap(lanes))
        self._learn = jax.jit(jax.vmap(functools.partial(learn, self.agent, self.config)))
        self._playable = jax.jit(self.agent.distribution.playable)

    def begin(self, seeds: np.ndarray) -> None:
        """As `_Trainer.begin`."""
        count, self._shape = self.config.num_envs, (len(seeds), self.config.num_envs)
        keys = jax.vmap(jax.random.split)(_keys(seeds))
        env_keys, learner_keys = keys[:, 0], keys[:, 1]
        self._learner = jax.vmap(lambda key: make_learner(self.agent, self.config, key))(learner_keys)
        # As in a JAX batch that was reset with this key: its reset was the first event of the streams.
        self._rng = jax.vmap(lambda key: Rng.of(key).lanes(count).advance().of_section(Section.ACTION))(env_keys)
        words = np.asarray(jax.random.key_data(env_keys))
        env_seeds = np.concatenate([np.random.default_rng(row).integers(0, 1 << 31, count) for row in words])
        self._lanes = _batch(self._make_env, len(env_seeds))
        self._obs = self._split(self._lanes.reset(env_seeds.tolist()))
        self._start = np.ones(self._shape, np.bool_)
        self._memory = jax.vmap(lambda _: self.agent.first_memory(count))(jnp.arange(len(seeds)))
        self._returns, self._lengths = np.zeros(self._shape, np.float32), np.zeros(self._shape, np.int32)
        self._compile()

    def weights(self) -> Arrays:
        """As `_Trainer.weights`."""
        return flatten_state(self._learner.params)

    def _compile(self) -> None:
        """Learn from an update's worth of nothing, and forget it."""
        mask = self._mask()
        memory, action, log_prob, value = self._explore(
            self._learner.params, self._memory, self._obs, self._start, mask, self._rng
        )
        self._playable(action)
        before: tuple[Any, ...] = (self._obs, self._start, mask, action, log_prob, value, memory)
        ended = np.zeros(self._shape, np.bool_)
        after: tuple[Any, ...] = (np.zeros(self._shape, np.float32), ended, ended, self._obs)
        step = Experience(*before, *after)
        jax.block_until_ready(self._learn(self._learner, self._memory, _in_time([step] * self.config.num_steps)))

    def _update(self) -> dict[str, Any]:
        first_memory, steps, episodes = self._memory, [], []
        for _ in range(self.config.num_steps):
            mask = self._mask()
            memory, action, log_prob, value = self._explore(
                self._learner.params, self._memory, self._obs, self._start, mask, self._rng
            )
            played = np.asarray(self._playable(action))
            step = self._lanes.step(played.reshape(-1, *played.shape[2:]))
            reward, terminated, truncated, final_obs, obs = self._split(
                (step.reward, step.terminated, step.truncated, step.final_obs, step.obs)
            )
            before: tuple[Any, ...] = (self._obs, self._start, mask, action, log_prob, value, memory)
            after: tuple[Any, ...] = (reward, terminated, truncated, final_obs)
            steps.append(Experience(*before, *after))
            ended = terminated | truncated
            self._returns, self._lengths = self._returns + reward, self._lengths + 1
            episodes.append({"return": self._returns, "length": self._lengths, "ended": ended})
            self._returns = np.where(ended, 0, self._returns).astype(np.float32)
            self._lengths = np.where(ended, 0, self._lengths)
            self._obs, self._start, self._memory, self._rng = obs, ended, memory, self._rng.advance()
        self._learner, metrics = self._learn(self._learner, first_memory, _in_time(steps))
        return {**jax.vmap(summarise)(_in_time(episodes)), **metrics}

    def _mask(self) -> Any:
        mask = self._lanes.action_mask()
        return None if mask is None else self._split(mask)

    def _split(self, tree: Any) -> Any:
        """Lanes of all seeds as (seed, lane)."""
        return jax.tree.map(lambda leaf: leaf.reshape(*self._shape, *leaf.shape[1:]), tree)


def _batch(make_env: Any, lanes: int) -> HostLanes:
    try:
        from gymnasium.vector import AutoresetMode, SyncVectorEnv
    except ImportError as error:
        raise MissingError("A Gymnasium reference needs: pip install 'overclock[gymnasium]'.") from error
    return HostLanes(SyncVectorEnv([make_env] * lanes, autoreset_mode=AutoresetMode.SAME_STEP))


def _keys(seeds: np.ndarray) -> jax.Array:
    return jnp.stack([jax.random.key(int(seed)) for seed in seeds])


def _in_time(steps: list[Any]) -> Any:
    """Steps of (seed, lane) as (seed, time, lane); NumPy, because stacking small arrays one by one in JAX is slow."""
    return jax.tree.map(lambda *leaves: np.stack([np.asarray(leaf) for leaf in leaves], axis=1), *steps)
