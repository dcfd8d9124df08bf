"""PufferLib's Pong as a batch for training and for benchmarks: the reference at its own speed, restarting by itself."""

import concurrent.futures
import ctypes
import itertools
from typing import Any

import numpy as np

from overclock.envs.pong.env import Pong, PongParams
from overclock.envs.pong.library import AS_PUFFERLIB, Pointer, at, compiled, constants_array
from overclock.vector.host import HostStep

DRAWN, LEAST_ROWS = 1 << 20, 64  # actions that are drawn beforehand; few rows again and again would be a way to play


class PufferLibVector:
    """The stepping part of `HostVector`, without saved states and seeds.

    `threads` share the lanes of a step; C runs outside of Python's lock.

    The reference restarts a finished game inside the step, so the game's last observation is not to be had:
    `final_obs` is the first of the next one. Whoever learns from a terminated step does not look at it.
    """

    num_players = 1
    autoreset = "same_step"
    max_steps = None

    def __init__(self, num_envs: int, frameskip: int = 1, continuous: bool = False, threads: int = 1) -> None:
        env, params = Pong(frameskip, continuous), PongParams()
        self.num_envs, self._continuous = num_envs, continuous
        self.observation_space, self.action_space = env.observation_space(params), env.action_space(params)
        self._obs, self._reward = np.zeros((num_envs, 8), np.float32), np.zeros(num_envs, np.float32)
        self._actions, self._terminal = np.zeros(num_envs, np.float32), np.zeros(num_envs, np.uint8)
        self._library: Any = compiled("vector", AS_PUFFERLIB)
        self._library.vector_new.restype, self._library.vector_games.restype = Pointer, ctypes.c_double
        made = self._library.vector_new(
            num_envs, constants_array(), frameskip, int(continuous),
            at(self._obs), at(self._actions), at(self._reward), at(self._terminal),
        )  # fmt: skip
        if not made:
            raise MemoryError(f"no room for {num_envs} environments of the reference")
        self._block, self._played, self._table = Pointer(made), 0, np.zeros((0, num_envs), np.float32)
        threads = max(1, min(threads, num_envs))
        ends = [num_envs * i // threads for i in range(threads + 1)]
        self._slices = [(first, end - first) for first, end in itertools.pairwise(ends)]
        self._pool = concurrent.futures.ThreadPoolExecutor(threads) if threads > 1 else None

    def __del__(self) -> None:
        if hasattr(self, "_block"):
            self._library.vector_free(self._block, self.num_envs)

    def reset(self) -> np.ndarray:
        self._library.vector_reset(self._block, self.num_envs)
        return self._obs

    def step(self, actions: np.ndarray) -> HostStep:
        """`c_step` of every environment; the arrays are overwritten by the next one."""
        np.copyto(self._actions, np.asarray(actions).reshape(self.num_envs), casting="unsafe")
        if self._pool is None:
            self._library.vector_step(self._block, 0, self.num_envs)
        else:
            list(self._pool.map(lambda part: self._library.vector_step(self._block, *part), self._slices))
        never = np.zeros(self.num_envs, np.bool_)
        return HostStep(self._obs, self._reward, self._terminal.astype(np.bool_), never, self._obs, {})

    def play(self, steps: int) -> int:
        """So many steps with random actions, in C alone and on one thread; returns how many games were finished.

        Rows of actions are drawn the first time, and played in turn from call to call.
        """
        if not len(self._table):
            rows = max(LEAST_ROWS, DRAWN // self.num_envs)
            drawn = np.random.default_rng(0).random((rows, self.num_envs), np.float32)
            self._table = drawn * 2 - 1 if self._continuous else np.floor(drawn * 3)
            self.reset()
        before = self._games()
        self._library.vector_play(
            self._block, self.num_envs, ctypes.c_long(steps), at(self._table), ctypes.c_long(len(self._table)),
            ctypes.c_long(self._played), at(self._actions),
        )  # fmt: skip
        self._played += steps
        return self._games() - before

    def _games(self) -> int:
        return int(self._library.vector_games(self._block, self.num_envs))

    def action_mask(self) -> None:
        """Every action is always legal."""
        return
