"""Batches of PyBoys in threads and in processes, as fast as possible: the peers of our benchmark.

Everything favours PyBoy: no window, no sound, one call of `tick` per step of which the last frame alone is drawn,
episodes that begin by loading a state, pictures reduced by the cheapest NumPy there is, and arrays that processes
share instead of sending them. Seeds are drawn as ours are, so both play the same episodes.
"""

import contextlib
import multiprocessing
import signal
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.sharedctypes import RawArray
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.gameboy.game import Game, load_game
from overclock.gameboy.pyboy.console import PyBoyConsole
from overclock.gameboy.pyboy.game import seen_as
from overclock.gameboy.vector import seed_keys
from overclock.vector.host import HostStep

READY, GONE = "ready", "gone"
Arrays = dict[str, np.ndarray]


class PyBoyLane:
    """One PyBoy that plays a described game."""

    def __init__(self, game: Game) -> None:
        self.game, self._picture = game, game.description.observation != "ram"
        self._console = PyBoyConsole(game.rom, cgb=game.cgb, boot=game.boot)
        self._console.tick(game.description.reset.boot_frames, self._picture)
        self._booted = self._console.save()

    def begin(self, seed: int, obs: np.ndarray, ram: np.ndarray) -> None:
        """Begin an episode, and write what is seen of it."""
        game = self.game
        self._console.load(self._booted)
        for address, byte in zip(game.seed_addresses, game.seed_bytes(np.array([seed]))[0].tolist(), strict=True):
            self._console.write(address, byte)
        self._console.tick(game.description.reset.settle_frames, self._picture)
        self._look(obs, ram)

    def step(self, action: int, obs: np.ndarray, ram: np.ndarray) -> None:
        """A step of the description's frames, with its buttons held for some of them."""
        actions, pyboy = self.game.description.actions, self._console.pyboy
        for button in actions.buttons[action]:
            pyboy.button(button, actions.press)
        pyboy.tick(actions.frames, self._picture, False)
        self._look(obs, ram)

    def _look(self, obs: np.ndarray, ram: np.ndarray) -> None:
        memory = self._console.pyboy.memory
        ram[:] = [memory[address] for address in self.game.readings.addresses]
        if self._picture:
            obs[:] = reduced(self.game, self._console.pyboy.screen.ndarray)

    def close(self) -> None:
        self._console.close()


def reduced(game: Game, rgba: np.ndarray) -> np.ndarray:
    """A picture as the agent sees it; a Game Boy's grays need no luminance."""
    if game.cgb or game.description.observation != "gray_2x2":
        return seen_as(game.description.observation, rgba)
    gray = rgba[:, :, 0].astype(np.uint16)
    rows = gray[0::2] + gray[1::2]
    return (rows[:, 0::2] + rows[:, 1::2]) >> 2


class PyBoyGroup:
    """Some lanes of a batch, one after the other: what a thread or a process does of a step."""

    def __init__(self, game: Game, obs: np.ndarray, ram: np.ndarray) -> None:
        self._lanes = [PyBoyLane(game) for _ in obs]
        self._obs, self._ram = obs, ram

    def begin(self, mask: np.ndarray, seeds: np.ndarray) -> None:
        """New episodes in some lanes."""
        for lane in np.flatnonzero(mask):
            self._lanes[lane].begin(int(seeds[lane]), self._obs[lane], self._ram[lane])

    def step(self, actions: np.ndarray) -> None:
        for lane, action, obs, ram in zip(self._lanes, actions.tolist(), self._obs, self._ram, strict=True):
            lane.step(action, obs, ram)

    def close(self) -> None:
        for lane in self._lanes:
            lane.close()


class PyBoyVector:
    """The part that both kinds of batches share: seeds, rewards, ends; a `HostVector` for training."""

    num_players = 1
    autoreset = "same_step"

    def __init__(self, game: Game, num_envs: int, workers: int) -> None:
        if game.start is not None:
            raise UsageError("PyBoy cannot load a state of ours: leave [reset] state out of the description.")
        self.loaded, self.num_envs, self.max_steps = game, num_envs, game.description.max_steps
        self.observation_space, self.action_space = game.observation_space, game.action_space
        self.slices = [
            slice(num_envs * i // workers, num_envs * (i + 1) // workers) for i in range(min(workers, num_envs))
        ]
        self._counter, self._steps = np.zeros(num_envs, np.uint32), np.zeros(num_envs, np.int32)

    def reset(self, seeds: Sequence[int] | None = None, mask: np.ndarray | None = None) -> np.ndarray:
        """As `HostVector.reset`, of all lanes and with a seed for each."""
        assert seeds is not None
        assert mask is None
        (self._k0, self._k1), self._counter[:] = seed_keys(seeds), 0
        self._begin(np.ones(self.num_envs, np.bool_))
        self._counter += np.uint32(1)
        return self._observed()

    def step(self, actions: Any) -> HostStep:
        readings, before = self.loaded.readings, self._values
        self._step(np.asarray(actions))
        self._values = readings.values(self.arrays["ram"])
        self._steps += 1
        terminated = readings.terminated(self._values)
        truncated = np.zeros_like(terminated) if self.max_steps is None else self._steps >= self.max_steps
        reward, over = readings.rewards(before, self._values), terminated | truncated
        obs = final = self._observed()
        if over.any():
            final = final.copy()
            self._begin(over)
            obs = self._observed()
        self._counter += np.uint32(1)
        return HostStep(obs, reward, terminated, truncated, final, {})

    def action_mask(self) -> None:
        """As `HostVector.action_mask`: every action is always legal."""

    def _begin(self, mask: np.ndarray) -> None:
        self._begin_lanes(mask, self.loaded.draw(self._k0, self._k1, self._counter))
        self._values, self._steps[mask] = self.loaded.readings.values(self.arrays["ram"]), 0

    def _observed(self) -> np.ndarray:
        ram = self.loaded.description.observation == "ram"
        return self.loaded.readings.observed(self._values) if ram else self.arrays["obs"]

    arrays: Arrays

    def _begin_lanes(self, mask: np.ndarray, seeds: np.ndarray) -> None:
        raise NotImplementedError

    def _step(self, actions: np.ndarray) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


def kinds(game: Game, num_envs: int) -> dict[str, tuple[tuple[int, ...], Any]]:
    """Shapes and dtypes of the arrays that PyBoys write into."""
    seen: Any = game.observation_space
    picture = (0,) if game.description.observation == "ram" else seen.shape
    return {
        "obs": ((num_envs, *picture), np.uint8), "ram": ((num_envs, len(game.readings.addresses)), np.uint8),
        "mask": ((num_envs,), np.bool_), "numbers": ((num_envs,), np.int32),
    }  # fmt: skip


class PyBoyThreads(PyBoyVector):
    """PyBoys in one process, shared by as many threads as there are cores: a tick lets go of the interpreter."""

    def __init__(self, num_envs: int, workers: int, **options: Any) -> None:
        super().__init__(load_game(**options), num_envs, workers)
        self.arrays = {name: np.zeros(*kind) for name, kind in kinds(self.loaded, num_envs).items()}
        obs, ram = self.arrays["obs"], self.arrays["ram"]
        self._groups = [PyBoyGroup(self.loaded, obs[part], ram[part]) for part in self.slices]
        self._pool = ThreadPoolExecutor(len(self.slices))

    def _begin_lanes(self, mask: np.ndarray, seeds: np.ndarray) -> None:
        parts = zip(self._groups, self.slices, strict=True)
        list(self._pool.map(lambda pair: pair[0].begin(mask[pair[1]], seeds[pair[1]]), parts))

    def _step(self, actions: np.ndarray) -> None:
        parts = zip(self._groups, self.slices, strict=True)
        list(self._pool.map(lambda pair: pair[0].step(actions[pair[1]]), parts))

    def close(self) -> None:
        self._pool.shutdown()
        for group in self._groups:
            group.close()


class PyBoyProcesses(PyBoyVector):
    """PyBoys in as many processes as there are cores, which write into shared memory."""

    def __init__(self, num_envs: int, workers: int, **options: Any) -> None:
        super().__init__(load_game(**options), num_envs, workers)
        shared = {
            name: RawArray("B", max(1, int(np.prod(shape)) * np.dtype(dtype).itemsize))
            for name, (shape, dtype) in kinds(self.loaded, num_envs).items()
        }
        self.arrays = views(shared, self.loaded, num_envs)
        spawn = multiprocessing.get_context("spawn")  # a fork of a process that runs JAX may hang
        self._pipes, self._processes = [], []
        for part in self.slices:
            ours, theirs = spawn.Pipe()
            process = spawn.Process(target=_work, args=(theirs, shared, num_envs, part, options), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)
        self._all_ready()

    def _begin_lanes(self, mask: np.ndarray, seeds: np.ndarray) -> None:
        self.arrays["mask"][:], self.arrays["numbers"][:] = mask, seeds
        self._ask("begin")

    def _step(self, actions: np.ndarray) -> None:
        self.arrays["numbers"][:] = actions
        self._ask("step")

    def _ask(self, what: str) -> None:
        for pipe in self._pipes:
            pipe.send(what)
        self._all_ready()

    def _all_ready(self) -> None:
        for pipe in self._pipes:
            assert pipe.recv() == READY

    def close(self) -> None:
        for pipe, process in zip(self._pipes, self._processes, strict=True):
            with contextlib.suppress(OSError):
                pipe.send(GONE)
            process.join()


def views(shared: dict[str, Any], game: Game, num_envs: int) -> Arrays:
    """Named arrays over shared memory, in the shapes and dtypes of `kinds`."""
    return {
        name: np.frombuffer(shared[name], dtype, int(np.prod(shape))).reshape(shape)
        for name, (shape, dtype) in kinds(game, num_envs).items()
    }


def _work(pipe: Any, shared: dict[str, Any], num_envs: int, part: slice, options: dict[str, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever asked, whose end is seen at the pipe
    game = load_game(**options)
    arrays = {name: array[part] for name, array in views(shared, game, num_envs).items()}
    group = PyBoyGroup(game, arrays["obs"], arrays["ram"])
    pipe.send(READY)
    with contextlib.suppress(EOFError, OSError):  # whoever asked is gone
        while (asked := pipe.recv()) != GONE:
            if asked == "begin":
                group.begin(arrays["mask"], arrays["numbers"])
            else:
                group.step(arrays["numbers"])
            pipe.send(READY)
    group.close()
