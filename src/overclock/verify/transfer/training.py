"""The training workers of level 4: several seeds side by side, in the process of the side they train on.

A worker never sees the other side and hands back weights and curves only. On the performance side a run is PPO's own
compiled update; on a reference it is the host loop of `overclock.train`, on one batch of Gymnasium environments; on a
Rust batch it is the same loop.
"""

import functools
import time
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock import compile_cache
from overclock.backends import BatchBackend
from overclock.entry_point import EntryPoint
from overclock.env.registry import load
from overclock.errors import UsageError
from overclock.train.host.lanes import HostLanes
from overclock.train.host.training import HostRuns, gymnasium_batch
from overclock.train.networks.agent import Agent
from overclock.train.policy import space_to_json
from overclock.train.ppo import PPOConfig, make_agent, make_train
from overclock.vector.fused import fastest_backend
from overclock.vector.host import flatten_state
from overclock.vector.vectorize import vectorize
from overclock.verify.contract import Twin
from overclock.verify.sides.jax_subject import JaxSubject
from overclock.verify.sides.patched import Patch, load_patched
from overclock.verify.sides.subject import TRAINER, Arrays, SubjectSpec
from overclock.verify.transfer.plan import TransferPlan

SHOWN = ("return", "episodes")  # of an update, one value per seed


def performance_trainer(twin: Twin, plan: TransferPlan) -> SubjectSpec:
    """The spec of a worker that trains on the performance side, bugs planted in it included."""
    # Rust computes as it was written, whatever JAX does; its networks are trained in float32.
    spec = twin.performance_in(twin.usual if twin.performance.trainer == TRAINER else "float32")
    return spec.wrapped_by(spec.trainer, config=dict(plan.training), **{"kernel": True} if plan.kernel else {})


def reference_trainer(plan: TransferPlan) -> SubjectSpec:
    """The spec of a worker that trains on the reference."""
    assert plan.reference_env is not None
    one = plan.reference_env
    spec = one.with_worker(ReferenceTrainer, env=one.subject.as_json(), config=dict(plan.training))
    return spec.with_environment(JAX_PLATFORMS="cpu", JAX_ENABLE_X64="0")


class _Trainer:
    """The calls both workers answer. `advance` compiles before it counts seconds; who never trains never waits."""

    agent: Agent
    config: PPOConfig
    _compiled = False

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
        if not self._compiled:
            self._compile()
            self._compiled = True
        rows, seconds = [], []
        for _ in range(updates):
            started = time.perf_counter()
            metrics = jax.block_until_ready(self._update())
            seconds.append(time.perf_counter() - started)
            rows.append({name: np.asarray(metrics[name], np.float64) for name in SHOWN})
        return {"seconds": np.array(seconds), **{name: np.stack([row[name] for row in rows]) for name in SHOWN}}

    def begin(self, seeds: np.ndarray) -> None:
        """Start a new training run for every seed."""
        raise NotImplementedError

    def weights(self) -> Arrays:
        """What acting needs, by name, with the seeds as leading axis."""
        raise NotImplementedError

    def _compile(self) -> None:
        raise NotImplementedError

    def _update(self) -> dict[str, Any]:
        raise NotImplementedError


class PerformanceTrainer(_Trainer):
    """Trains on the environment behind a performance subject, stepped by XLA or by the fastest `kernel` there is."""

    def __init__(self, num_envs: int, subject: dict[str, Any], config: dict[str, Any], kernel: bool = False) -> None:
        compile_cache.enable()
        entry_point = EntryPoint.from_json(subject)
        inner = entry_point.call(1)
        if not hasattr(inner, "rules"):
            raise UsageError(f"{entry_point} has no JAX environment behind it that could be trained on (no `rules`)")
        env, params = inner.rules
        self.config = PPOConfig(**config)
        told = inner.backend if isinstance(inner, JaxSubject) else None
        backend: BatchBackend = told or (fastest_backend(vectorize(env, self.config.num_envs)) if kernel else "auto")
        trainer = make_train(env, params, self.config, backend=backend)
        self.agent = trainer.agent
        self._init, self._jit_update = jax.jit(jax.vmap(trainer.init)), jax.jit(jax.vmap(trainer.update))

    def begin(self, seeds: np.ndarray) -> None:
        self._state, self._compiled = self._init(_keys(seeds)), False

    def weights(self) -> Arrays:
        return flatten_state(self._state.learner.params)

    def _compile(self) -> None:
        self._updated = self._jit_update.lower(self._state).compile()

    def _update(self) -> dict[str, Any]:
        self._state, metrics = self._updated(self._state)
        return metrics


class ReferenceTrainer(_Trainer):
    """Trains on Gymnasium environments: `num_envs` of the configuration for every seed, stepped one after the other."""

    def __init__(self, num_envs: int, env: dict[str, Any], config: dict[str, Any]) -> None:
        compile_cache.enable()
        self._make_env = EntryPoint.from_json(env).call
        self.config = PPOConfig(**config)
        one = self._lanes(1)
        self.agent = make_agent(one.observation_space, one.action_space, self.config)

    def begin(self, seeds: np.ndarray) -> None:
        lanes = self._lanes(len(seeds) * self.config.num_envs)
        self._runs, self._compiled = HostRuns(lanes, self.agent, self.config, seeds.tolist()), False

    def weights(self) -> Arrays:
        return flatten_state(self._runs.learner.params)

    def _compile(self) -> None:
        self._runs.compile()

    def _update(self) -> dict[str, Any]:
        return self._runs.update()

    def _lanes(self, count: int) -> HostLanes:
        return HostLanes(gymnasium_batch(self._make_env, count))


class NativeTrainer(ReferenceTrainer):
    """As the trainer on a reference, on one Rust batch that restarts by itself."""

    def __init__(self, num_envs: int, subject: dict[str, Any], config: dict[str, Any]) -> None:
        """`subject` has the options of a `NativeSubject`."""
        compile_cache.enable()
        options = subject["arguments"]
        load_patched([Patch(**patch) for patch in options.get("patches") or []])
        self._make_batch = functools.partial(load(options["batch"]), **options["options"])
        self.config = PPOConfig(**config)
        one = self._lanes(1)
        self.agent = make_agent(one.observation_space, one.action_space, self.config)

    def _lanes(self, count: int) -> HostLanes:
        return HostLanes(self._make_batch(count))


def _keys(seeds: np.ndarray) -> jax.Array:
    return jnp.stack([jax.random.key(int(seed)) for seed in seeds])
