"""PPO on environments that live outside JAX: a Gymnasium reference, a Rust batch. Same networks, same `learn`.

result = train_on_gymnasium(lambda: gymnasium.make("CartPole-v1"), config, seed=0)
"""

import dataclasses
import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env.rng import Rng, Section
from overclock.errors import MissingError, UsageError
from overclock.train.curve import Curve
from overclock.train.host_lanes import HostLanes
from overclock.train.policy import Policy
from overclock.train.ppo import Experience, Learner, PPOConfig, explore, learn, make_agent, make_learner, summarise


@dataclasses.dataclass(frozen=True, eq=False)
class HostRun:
    """A finished run: its policy, and its curve with one column."""

    policy: Policy
    curve: Curve


def train_on_gymnasium(
    make_env: Callable[[], Any],
    config: PPOConfig,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> HostRun:
    """Train on `config.num_envs` copies of a Gymnasium environment, stepped one after the other in this process."""
    try:
        from gymnasium.vector import AutoresetMode, SyncVectorEnv
    except ImportError as error:
        raise MissingError("A Gymnasium reference needs: pip install 'overclock[gymnasium]'.") from error
    envs = SyncVectorEnv([make_env] * config.num_envs, autoreset_mode=AutoresetMode.SAME_STEP)
    try:
        return train_on_host(envs, config, seed, progress)
    finally:
        envs.close()


def train_on_host(
    envs: Any, config: PPOConfig, seed: int = 0, progress: Callable[[int, int], None] | None = None
) -> HostRun:
    """Train on a `HostVector` or a Gymnasium `VectorEnv` of `config.num_envs` lanes that restarts in the same step.

    Lane i starts from a seed of its own, drawn from `seed`. `progress` is called with (updates done, updates in all).
    """
    lanes = HostLanes(envs)
    if lanes.num_envs != config.num_envs:
        raise UsageError(f"The configuration has num_envs = {config.num_envs}, the batch has {lanes.num_envs} lanes.")
    if lanes.autoreset == "next_step":
        raise UsageError("Training needs a batch that restarts in the same step (autoreset 'same_step', or 'off').")
    agent = make_agent(lanes.observation_space, lanes.action_space, config)
    streams_key, learner_key = jax.random.split(jax.random.key(seed))
    learner = make_learner(agent, config, learner_key)
    rollout = _Rollout(lanes, agent, config, streams_key)
    teach = jax.jit(functools.partial(learn, agent, config))
    rows: list[dict[str, float]] = []
    seconds: list[float] = []
    started = time.perf_counter()
    for update in range(config.num_updates):
        first_memory = rollout.memory
        experience, episodes = rollout.collect(learner)
        learner, metrics = teach(learner, first_memory, experience)
        rows.append({name: float(value) for name, value in {**summarise(episodes), **metrics}.items()})
        seconds.append(time.perf_counter() - started)
        if progress is not None:
            progress(update + 1, config.num_updates)
    curve = Curve(
        steps=np.arange(1, config.num_updates + 1, dtype=np.int64) * config.steps_per_update,
        seconds=np.array(seconds),
        metrics={name: np.array([[row[name]] for row in rows], np.float32) for name in rows[0]},
    )
    return HostRun(Policy(agent, learner.params), curve)


class _Rollout:
    """The acting half of a run: what `step` of `make_train` is to a JAX environment."""

    def __init__(self, lanes: HostLanes, agent: Any, config: PPOConfig, key: Any) -> None:
        self.lanes, self.config = lanes, config
        # The streams of a JAX batch that was reset with this key; its reset was their first event.
        self.rng = Rng.of(key).lanes(config.num_envs).advance().of_section(Section.ACTION)
        seeds = np.random.default_rng(np.asarray(jax.random.key_data(key))).integers(0, 1 << 31, config.num_envs)
        self.obs = lanes.reset(seeds.tolist())
        self.start = np.ones(config.num_envs, np.bool_)
        self.memory = agent.first_memory(config.num_envs)
        self.returns, self.lengths = np.zeros(config.num_envs, np.float32), np.zeros(config.num_envs, np.int32)
        self._explore = jax.jit(functools.partial(explore, agent))
        self._playable = jax.jit(agent.distribution.playable)

    def collect(self, learner: Learner) -> tuple[Experience, dict[str, Any]]:
        """One update's experience and the episodes in it."""
        steps, episodes = [], []
        for _ in range(self.config.num_steps):
            mask = self.lanes.action_mask()
            memory, action, log_prob, value = self._explore(
                learner.params, self.memory, self.obs, self.start, mask, self.rng
            )
            step = self.lanes.step(self._playable(action))
            before: tuple[Any, ...] = (self.obs, self.start, mask, action, log_prob, value, memory)
            after: tuple[Any, ...] = (step.reward, step.terminated, step.truncated, step.final_obs)
            steps.append(Experience(*before, *after))
            self.returns, self.lengths = self.returns + step.reward, self.lengths + 1
            episodes.append({"return": self.returns, "length": self.lengths, "ended": step.ended})
            self.returns = np.where(step.ended, 0, self.returns).astype(np.float32)
            self.lengths = np.where(step.ended, 0, self.lengths)
            self.obs, self.start, self.memory, self.rng = step.obs, step.ended, memory, self.rng.advance()
        stack = functools.partial(jax.tree.map, lambda *leaves: jnp.stack(leaves))
        return stack(*steps), stack(*episodes)
