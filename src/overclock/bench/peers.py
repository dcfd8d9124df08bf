"""The same environments in other libraries, measured in the same run; a library is imported only when asked for.

Where a choice had to be made, it favours the peer: see each class.
"""

import importlib.metadata
import importlib.util
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.bench import machine
from overclock.bench.config import PYBOYS
from overclock.bench.program import Outputs
from overclock.bench.runners import HostRunner, Identity, JaxRunner, Runner
from overclock.errors import UsageError

# our id -> each peer's id of the same environment
COUNTERPARTS = {
    "cartpole-v1": {"gymnasium": "CartPole-v1", "gymnax": "CartPole-v1", "envpool": "CartPole-v1"},
    "pong-v1": {"pufferlib": "pong"},
    **{f"gameboy-{game}-v1": dict.fromkeys(PYBOYS, game) for game in ("maze", "paddle")},
    **{
        f"{name.lower()}-v5": {
            **dict.fromkeys(("gymnasium", "envpool"), f"{name}-v5"),
            **dict.fromkeys(("mujoco", "mjx", "warp", "brax"), name.lower()),
        }
        for name in ("HalfCheetah", "Walker2d", "Hopper")
    },
}
WITH_VECTOR_ENTRY_POINT = ("CartPole-v1",)  # where Gymnasium has its own NumPy vectorisation
MOST_SYNC_ENVS = 64  # a SyncVectorEnv steps one environment after the other: more of them change nothing per step
TRIAL_SECONDS, TRIAL_ROUNDS = 0.05, 3  # of stepping per number of threads, when EnvPool's best is looked for
TRIAL_LANES, MAKING_SECONDS = 64, 2.0  # of a pool that shows how long making one takes, and the longest it may take


def counterpart(env_id: str, peer: str) -> str:
    """The peer's id of our environment."""
    theirs = COUNTERPARTS.get(env_id, {}).get(peer)
    if theirs is None:
        raise UsageError(f"{peer} has no counterpart of '{env_id}'; leave it out of --peers.")
    return theirs


def gymnax_runner(env_id: str, batch: int, platform: str, seed: int, unroll: int, store: bool) -> JaxRunner:
    """gymnax as its documentation runs it: vmapped `step` in a scan, keys split per step.

    It gets our loop, unroll and checksum. Actions come from one `randint` for the whole batch, which is cheaper
    than a vmapped `action_space.sample`.
    """
    import gymnax
    import jax

    env, params = gymnax.make(counterpart(env_id, "gymnax"))
    num_actions = env.action_space(params).n

    def start() -> Any:
        key, first = jax.random.split(jax.random.key(seed))
        _, state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(first, batch), params)
        return key, state

    def step(carry: Any) -> tuple[Any, Outputs]:
        key, state = carry
        key, for_action, for_step = jax.random.split(key, 3)
        action = jax.random.randint(for_action, (batch,), 0, num_actions)
        obs, state, reward, terminated, truncated, _ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            jax.random.split(for_step, batch), state, action, params
        )
        return (key, state), Outputs(obs, action, reward, terminated, truncated)

    identity = Identity("gymnax", importlib.metadata.version("gymnax"), batch, platform, "same_step")
    return JaxRunner(identity, start, step, unroll, store)


class GymnasiumBatch:
    """A Gymnasium vector environment, in its default auto-reset mode, in which a restart counts as a step."""

    def __init__(self, env_id: str, batch: int, mode: str, seed: int) -> None:
        import gymnasium

        self._env = gymnasium.make_vec(env_id, num_envs=batch, vectorization_mode=mode)
        self._seed = seed

    def reset(self) -> None:
        self._env.reset(seed=self._seed)

    def step(self, actions: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        return self._env.step(actions)[:4]


def gymnasium_runners(env_id: str, batch: int, actions: np.ndarray, seed: int, store: bool) -> list[Runner]:
    """Gymnasium's SyncVectorEnv and, where it has one, its own NumPy vectorisation."""
    theirs, version = counterpart(env_id, "gymnasium"), importlib.metadata.version("gymnasium")
    if actions.dtype.kind == "i":
        actions = actions.astype(np.int64)  # the dtype of Gymnasium's discrete actions
    small = min(batch, MOST_SYNC_ENVS)
    note = f"SyncVectorEnv measured at {small} environments, which it steps one by one" if small < batch else ""
    sync = Identity("gymnasium-sync", version, small, "cpu", "next_step", note)
    runners: list[Runner] = [HostRunner(sync, GymnasiumBatch(theirs, small, "sync", seed), actions, store)]
    if theirs in WITH_VECTOR_ENTRY_POINT:
        numpy = Identity("gymnasium-vector", version, batch, "cpu", "next_step")
        runners.append(HostRunner(numpy, GymnasiumBatch(theirs, batch, "vector_entry_point", seed), actions, store))
    return runners


class EnvPoolBatch:
    """EnvPool's synchronous mode (`threads=0`: its default number of them); a restart counts as a step."""

    def __init__(self, env_id: str, batch: int, seed: int, threads: int = 0) -> None:
        self._make: Callable[[], Any] = lambda: _envpool(env_id, batch, seed, threads)
        self._env = self._make()

    def reset(self) -> None:
        """As `HostBatch.reset`: only a new pool starts from its seed again."""
        self.close()
        self._env = self._make()

    def step(self, actions: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        return self._env.step(actions)[:4]

    def close(self) -> None:
        """End the threads of the pool."""
        self._env.close()


def _envpool(env_id: str, batch: int, seed: int, threads: int) -> Any:
    import envpool

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its spaces warn about float32 bounds every time one is built
        env = envpool.make(env_id, env_type="gymnasium", num_envs=batch, seed=seed, num_threads=threads)
        env.reset()
        return env


def envpool_runner(env_id: str, batch: int, actions: np.ndarray, seed: int, store: bool) -> HostRunner:
    """EnvPool with the number of threads that is fastest here: its default is often far from it."""
    theirs = counterpart(env_id, "envpool")
    lanes = soon_made(batch, lambda few: EnvPoolBatch(theirs, few, seed))
    choices = thread_choices(lanes, machine.cores())
    best = fastest(choices, lambda threads: EnvPoolBatch(theirs, lanes, seed, threads), actions[:lanes])
    tried = ", ".join(str(threads) for threads in choices if threads)
    note = f"threads: {best or 'default'}, the fastest of {tried} and the default"
    if lanes < batch:
        note += f"; measured at {lanes:,} environments, because it takes long to make more"
    identity = Identity("envpool", importlib.metadata.version("envpool"), lanes, "cpu", "next_step", note)
    return HostRunner(identity, EnvPoolBatch(theirs, lanes, seed, best), actions, store)


def soon_made(batch: int, make: Callable[[int], EnvPoolBatch]) -> int:
    """How many lanes a pool can have and still be made soon: `batch`, or a fraction of it.

    Pools are made some twenty times until the best is found, and one of MuJoCo's reads a file for every lane.
    """
    few = min(batch, TRIAL_LANES)
    make(few).close()  # whatever is slow only the first time
    began = time.perf_counter()
    make(few).close()
    each, lanes = (time.perf_counter() - began) / few, batch
    while lanes > few and lanes * each > MAKING_SECONDS:
        lanes //= 2
    return lanes


def thread_choices(batch: int, cores: int) -> list[int]:
    """Numbers of threads worth trying: 0 (the default), powers of two and all cores, none beyond one per lane."""
    powers = [1 << power for power in range(cores.bit_length())]
    return [0, *sorted({min(threads, batch) for threads in (*powers, cores)})]


def fastest(choices: list[int], make: Callable[[int], EnvPoolBatch], actions: np.ndarray) -> int:
    """The number of threads with the most steps in a short trial; they take turns, and the best turn of each counts."""
    rates = dict.fromkeys(choices, 0.0)
    for _ in range(TRIAL_ROUNDS):
        for threads in choices:
            batch, steps = make(threads), 0
            batch.step(actions)  # whatever is slow only the first time
            began = time.perf_counter()
            while (elapsed := time.perf_counter() - began) < TRIAL_SECONDS:
                batch.step(actions)
                steps += 1
            batch.close()
            rates[threads] = max(rates[threads], steps / elapsed)
    return max(choices, key=rates.__getitem__)
