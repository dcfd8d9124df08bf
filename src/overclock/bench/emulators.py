"""Rows of environments whose rules are a Game Boy's: our batch in Rust, and PyBoys in threads and in processes.

A step of an emulator takes a millisecond of a peer, so what other rows count and check afterwards is done otherwise:
ends of episodes are counted in the timed calls, and the checksum is that of the first few steps from the seeds. All
rows begin with the same seeds, so equal checksums say that they played the same game, bit for bit.
"""

import functools
import importlib.metadata
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.bench import machine
from overclock.bench.config import NATIVE, PYBOY_PROCESSES, PYBOY_THREADS
from overclock.bench.loops import EPISODES_PER_LANE
from overclock.bench.ours import NativeBatch, random_actions
from overclock.bench.peers import counterpart
from overclock.bench.program import Outputs, absorb, hexadecimal
from overclock.bench.results import Facts, TrainingFacts
from overclock.bench.runners import HostRunner, Identity, Runner, UpdatesRunner, units_lasting
from overclock.env import registry
from overclock.errors import MissingError
from overclock.gameboy.pyboy.console import VERSION, import_pyboy
from overclock.gameboy.pyboy.vector import PyBoyProcesses, PyBoyThreads
from overclock.vector import host_vector

if TYPE_CHECKING:
    from overclock.train.ppo import PPOConfig  # networks are for those who train

CHECKED_STEPS = 8  # in the checksum: 256 PyBoys take a second for them
MakeRow = Callable[[], tuple[Identity, Any]]


class EmulatorRunner(HostRunner):
    """A batch of consoles stepped with random actions."""

    def __init__(self, identity: Identity, vector: Any, actions: np.ndarray, seed: int, store: bool) -> None:
        self._lanes = _Counted(vector, seed)
        super().__init__(identity, self._lanes, actions, store)

    def facts(self) -> Facts:
        """As `Runner.facts`; see the module's first lines."""
        counted, ends = self._lanes.steps * self.identity.batch, self._lanes.ends
        self._lanes.reset()
        fold, checksum = jax.jit(absorb), jnp.zeros(self.identity.batch, jnp.uint32)
        for actions in self._table[:CHECKED_STEPS]:
            obs, *rest = self._lanes.step(actions)
            # Awaited: the next step may write over what JAX would still read.
            checksum = jax.block_until_ready(fold(checksum, Outputs(obs, actions, *map(jnp.asarray, rest))))
        self._lanes.close()
        enough = ends >= EPISODES_PER_LANE * self.identity.batch
        return Facts(hexadecimal(checksum), counted / ends if enough else None, program_bytes=None)


class _Counted(NativeBatch):
    """Counts steps and ends of episodes since the last reset."""

    def reset(self) -> None:
        super().reset()
        self.steps = self.ends = 0

    def step(self, actions: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        found = super().step(actions)
        self.steps, self.ends = self.steps + 1, self.ends + int(np.count_nonzero(found[2] | found[3]))
        return found

    def close(self) -> None:
        """End what holds threads or processes."""
        close(self._vector)


class EmulatorTrainingRunner(UpdatesRunner):
    """Updates of PPO on a batch of consoles: rollouts from Python, learning under XLA, as `train_on_host` does it."""

    def __init__(self, identity: Identity, vector: Any, config: "PPOConfig", seed: int) -> None:
        super().__init__(identity)
        self._vector, self._config, self._seed = vector, config, seed

    def plan(self, seconds: float) -> int:
        """As `Runner.plan`; a call has whole updates."""
        from overclock.train.host.lanes import HostLanes
        from overclock.train.host.training import HostRuns
        from overclock.train.ppo import make_agent

        lanes = HostLanes(self._vector)
        agent = make_agent(lanes.observation_space, lanes.action_space, self._config)
        began = time.perf_counter()
        self._runs = HostRuns(lanes, agent, self._config, [self._seed])
        self._runs.compile()
        self._compile_seconds = time.perf_counter() - began
        return self._config.num_steps * units_lasting(seconds, self._run)

    def prepare(self, steps: int) -> float:
        self._updates = steps // self._config.num_steps
        return self._compile_seconds

    def _run(self, updates: int) -> None:
        for _ in range(updates):
            self._returns.append(float(self._runs.update()["return"][0]))

    def facts(self) -> TrainingFacts:
        close(self._vector)
        return super().facts()


def close(vector: Any) -> None:
    """End what holds threads or processes; ours holds none."""
    if hasattr(vector, "close"):
        vector.close()


Build = dict[str, Callable[[], list[Runner]]]


def emulator_runners(
    env_id: str, peers: Iterable[str], batch: int, static: dict[str, Any], seed: int, store: bool
) -> Build:
    """Random actions: per row, what makes its runner when it is wanted."""
    env, params = registry.make(env_id, **static)
    actions = random_actions(env, params, batch, seed)

    def build(make: MakeRow) -> list[Runner]:
        identity, vector = make()
        return [EmulatorRunner(identity, vector, actions, seed, store)]

    return {name: functools.partial(build, make) for name, make in rows(env_id, peers, batch, static).items()}


def training_runners(
    env_id: str, peers: Iterable[str], lanes: int, static: dict[str, Any], seed: int, config: "PPOConfig"
) -> Build:
    """PPO, in the same way."""

    def build(make: MakeRow) -> list[Runner]:
        return [EmulatorTrainingRunner(*make(), config, seed)]

    return {name: functools.partial(build, make) for name, make in rows(env_id, peers, lanes, static).items()}


def rows(env_id: str, peers: Iterable[str], batch: int, static: dict[str, Any]) -> dict[str, MakeRow]:
    """Ours and the peers asked for: what makes a row's identity and its batch of consoles."""
    env: Any = registry.make(env_id, **static)[0]
    frames = env.loaded.description.actions.frames
    kinds = {PYBOY_THREADS: (PyBoyThreads, "threads"), PYBOY_PROCESSES: (PyBoyProcesses, "processes")}

    def native() -> tuple[Identity, Any]:
        vector = host_vector(env_id, batch, seed=0, backend="native", **static)
        return Identity(NATIVE, importlib.metadata.version(NATIVE), batch, "cpu", "same_step"), vector

    def pyboy(name: str) -> tuple[Identity, Any]:
        import_pyboy()
        if {"compat", "sound"} & set(static):
            raise MissingError("PyBoy is measured without sound and knows no compat; leave these options out.")
        kind, what = kinds[name]
        workers = max(1, min(machine.cores(), batch))
        note = f"{workers} {what}, no window, no sound, the last of {frames} frames drawn where pictures are seen"
        vector = kind(batch, workers, game=counterpart(env_id, name), **static)
        return Identity(name, VERSION, batch, "cpu", "same_step", note), vector

    return {NATIVE: native, **{name: functools.partial(pyboy, name) for name in kinds if name in peers}}
