"""Implementations that play by themselves: Rust's own loop, and PufferLib's C on every core.

Their timed call is one request for so many steps; drawing actions, or reading them from a table, is inside, and so is
writing every observation.
"""

import contextlib
import importlib.metadata
import multiprocessing
import signal
import threading
from collections.abc import Iterator
from typing import Any, Protocol

from overclock.bench import machine
from overclock.bench.config import NATIVE, NATIVE_PLAY, PUFFERLIB
from overclock.bench.results import Facts
from overclock.bench.runners import Identity, units_lasting
from overclock.vector import host_vector

EPISODES_PER_LANE = 10  # lanes that began together may end together: a bias of at most 5 % with so many


class Loop(Protocol):
    """An implementation that plays many steps by itself."""

    def play(self, steps: int) -> float:
        """So many steps in every lane; returns how many episodes ended."""
        ...


class LoopRunner:
    """A `Loop` behind the interface of a runner."""

    unroll = None

    def __init__(self, identity: Identity, loop: Loop, actions: str) -> None:
        self.identity, self.actions, self._loop = identity, actions, loop

    def plan(self, seconds: float) -> int:
        return units_lasting(seconds, self._loop.play)

    def prepare(self, steps: int) -> None:
        self._steps, self._counted, self._games = steps, 0, 0.0

    def stored_bytes(self) -> int:
        return 0

    def call(self) -> None:
        self._games += self._loop.play(self._steps)
        self._counted += self._steps

    def facts(self) -> Facts:
        """As `Runner.facts`; its outputs are written to memory, and there is no checksum of them.

        Lanes go on from call to call, and the ends of episodes in all of them are counted.
        """
        enough = self._games >= EPISODES_PER_LANE * self.identity.batch
        length = self._counted * self.identity.batch / self._games if enough else None
        return Facts(checksum=None, mean_episode_length=length, program_bytes=None)


class _RustLoop:
    def __init__(self, env_id: str, batch: int, seed: int, static: dict[str, Any]) -> None:
        self._vector: Any = host_vector(env_id, batch, seed=seed, backend="native", **static)

    def play(self, steps: int) -> float:
        return float(self._vector.play(steps)[1])


def rust_runner(env_id: str, batch: int, seed: int, static: dict[str, Any]) -> LoopRunner:
    """The Rust implementation's own loop."""
    identity = Identity(NATIVE_PLAY, importlib.metadata.version(NATIVE), batch, "cpu", "same_step")
    return LoopRunner(identity, _RustLoop(env_id, batch, seed, static), "drawn inside the timed loop")


class PufferLibLoop:
    """PufferLib's C on `processes` processes, which share the batch and play at the same time."""

    def __init__(self, batch: int, processes: int, static: dict[str, Any]) -> None:
        spawn = multiprocessing.get_context("spawn")  # a fork of a process that runs JAX may hang
        self._pipes = []
        with ignored_by_children():
            for i in range(processes):
                ours, theirs = spawn.Pipe()
                lanes = batch * (i + 1) // processes - batch * i // processes
                spawn.Process(target=_play_pufferlib, args=(theirs, lanes, static), daemon=True).start()
                self._pipes.append(ours)
        self.play(1)

    def play(self, steps: int) -> float:
        for pipe in self._pipes:
            pipe.send(steps)
        return sum(pipe.recv() for pipe in self._pipes)


@contextlib.contextmanager
def ignored_by_children() -> Iterator[None]:
    """Processes that are started meanwhile leave Ctrl-C to this one, from their first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are set by the main thread alone
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _play_pufferlib(pipe: Any, lanes: int, static: dict[str, Any]) -> None:
    from overclock.envs.pong.vector import PufferLibVector

    vector = PufferLibVector(lanes, **static)
    with contextlib.suppress(EOFError, OSError):  # whoever asked is gone
        while True:
            pipe.send(vector.play(pipe.recv()))


def pufferlib_runner(batch: int, static: dict[str, Any]) -> LoopRunner:
    """PufferLib's C Pong as its own vector steps it, one process per core."""
    from overclock.envs.pong.library import AS_PUFFERLIB, compiled
    from overclock.envs.pong.obtain import VERSION

    compiled("vector", AS_PUFFERLIB)  # before any process is started, so that a reason why not is said once
    processes = max(1, min(machine.cores(), batch))
    note = f"{processes} processes, which share the batch"
    identity = Identity(PUFFERLIB, VERSION, batch, "cpu", "same_step", note)
    return LoopRunner(identity, PufferLibLoop(batch, processes, static), "from a table drawn beforehand")
