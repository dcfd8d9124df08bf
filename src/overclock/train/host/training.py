"""PPO on environments that live outside JAX: a Gymnasium reference, a Rust batch. Same networks, same `learn`.

result = train_on_gymnasium(lambda: gymnasium.make("CartPole-v1"), config, seed=0)
"""

import dataclasses
import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.errors import MissingError, UsageError
from overclock.train.curve import Curve
from overclock.train.host.lanes import HostLanes
from overclock.train.host.rollout import HostRollout
from overclock.train.networks.agent import Agent
from overclock.train.policy import Policy
from overclock.train.ppo import Learner, Metrics, PPOConfig, learn, make_agent, make_learner, summarise


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
    envs = gymnasium_batch(make_env, config.num_envs)
    try:
        return train_on_host(envs, config, seed, progress)
    finally:
        envs.close()


def gymnasium_batch(make_env: Callable[[], Any], count: int) -> Any:
    """`count` copies of a Gymnasium environment as a `VectorEnv` that training can use; close it afterwards."""
    try:
        from gymnasium.vector import AutoresetMode, SyncVectorEnv
    except ImportError as error:
        raise MissingError("A Gymnasium reference needs: pip install 'overclock[gymnasium]'.") from error
    return SyncVectorEnv([make_env] * count, autoreset_mode=AutoresetMode.SAME_STEP)


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
    runs = HostRuns(lanes, agent, config, [seed])
    rows: list[dict[str, float]] = []
    seconds: list[float] = []
    started = time.perf_counter()
    for update in range(config.num_updates):
        rows.append({name: float(value[0]) for name, value in runs.update().items()})
        seconds.append(time.perf_counter() - started)
        if progress is not None:
            progress(update + 1, config.num_updates)
    curve = Curve(
        steps=np.arange(1, config.num_updates + 1, dtype=np.int64) * config.steps_per_update,
        seconds=np.array(seconds),
        metrics={name: np.array([[row[name]] for row in rows], np.float32) for name in rows[0]},
    )
    return HostRun(Policy(agent, jax.tree.map(lambda leaf: leaf[0], runs.learner.params)), curve)


class HostRuns:
    """Runs of several seeds side by side on one batch of lanes, `config.num_envs` of them for every seed."""

    def __init__(self, lanes: HostLanes, agent: Agent, config: PPOConfig, seeds: Sequence[int]) -> None:
        keys = jax.vmap(jax.random.split)(jnp.stack([jax.random.key(int(seed)) for seed in seeds]))
        self.learner: Learner = jax.vmap(functools.partial(make_learner, agent, config))(keys[:, 1])
        """What every seed has learnt so far, the seeds as leading axis."""
        self._rollout = HostRollout(lanes, agent, config, keys[:, 0])
        self._learn = jax.jit(jax.vmap(functools.partial(learn, agent, config)))

    def compile(self) -> None:
        """Learn from nothing and forget it, so that the first update takes no longer than the others."""
        nothing = self._rollout.rehearse(self.learner.params)
        jax.block_until_ready(self._learn(self.learner, self._rollout.memory, self._rollout.memory, nothing))

    def update(self) -> Metrics:
        """One more rollout and what is learned from it; one value per seed."""
        first_memory = self._rollout.memory
        experience, episodes = self._rollout.collect(self.learner.params)
        self.learner, self._rollout.memory, metrics = self._learn(
            self.learner, first_memory, self._rollout.memory, experience
        )
        return {**jax.vmap(summarise)(episodes), **metrics}
