"""Our own rows of a benchmark that are stepped one by one: under XLA, and in Rust where there is such a twin."""

import importlib.metadata
from typing import Any

import jax
import numpy as np

import overclock
from overclock.bench.config import NATIVE, XLA, split_resets
from overclock.bench.program import Outputs
from overclock.bench.runners import HostRunner, Identity, JaxRunner
from overclock.env.environment import Environment
from overclock.env.overflow import OVERFLOW
from overclock.env.rng import Rng, Section
from overclock.vector import Fresh, HostVector, Optimistic, Pool, VectorEnv, host_vector, random_policy, vectorize
from overclock.vector.resets import Resets

ACTIONS = 1 << 22  # drawn beforehand for a batch that is stepped from Python, beyond its first step's


def strategy(text: str) -> Resets:
    """The reset strategy behind 'fresh', 'optimistic:RATIO' or 'pool:SIZE'."""
    name, number = split_resets(text)
    return {"fresh": Fresh, "optimistic": lambda: Optimistic(number), "pool": lambda: Pool(number)}[name]()


def xla_runner(
    venv: VectorEnv, params: Any, platform: str, seed: int = 0, unroll: int = 1, store: bool = False, name: str = XLA
) -> JaxRunner:
    """A vector environment under uniformly random play, with actions from the lanes' own streams."""

    def start() -> Any:
        return venv.reset(Rng.of(seed), params)[1]

    def step(state: Any) -> tuple[Any, Outputs]:
        action = venv.sample_actions(state, params)
        obs, state, reward, terminated, truncated, info = venv.step(state, action, params)
        return state, Outputs(obs, action, reward, terminated, truncated, info.get(OVERFLOW))

    identity = Identity(name, overclock.__version__, venv.num_envs, platform, venv.autoreset)
    return JaxRunner(identity, start, step, unroll, store)


def native_runner(
    env_id: str, batch: int, actions: np.ndarray, seed: int, store: bool, static: dict[str, Any]
) -> HostRunner:
    """The Rust implementation; raises MissingError or ImportError where it is not installed."""
    vector = host_vector(env_id, batch, seed=seed, backend="native", **static)
    identity = Identity(NATIVE, importlib.metadata.version(NATIVE), batch, "cpu", vector.autoreset)
    return HostRunner(identity, NativeBatch(vector, seed), actions, store)


class NativeBatch:
    """A `HostVector` as a host runner drives it."""

    def __init__(self, vector: HostVector, seed: int) -> None:
        self._vector, self._seed = vector, seed

    def reset(self) -> None:
        self._vector.reset([self._seed + lane for lane in range(self._vector.num_envs)])

    def step(self, actions: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        result = self._vector.step(actions)
        return result.obs, result.reward, result.terminated, result.truncated


def random_actions(env: Environment[Any, Any], params: Any, batch: int, seed: int) -> np.ndarray:
    """One long row of uniformly random actions, for implementations that are stepped from Python."""
    venv = vectorize(env, batch + ACTIONS)

    def draw(rng: Rng) -> Any:
        return random_policy(venv, rng.lanes(venv.num_envs).of_section(Section.ACTION), None, None, params)

    return np.asarray(jax.jit(draw)(Rng.of(seed)))  # the stream as an argument: XLA would compute a constant one slowly
