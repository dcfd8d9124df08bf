"""PufferLib's Pong as a batch for training: the reference at its own speed, on one core, restarting by itself."""

from typing import Any

import numpy as np

from overclock.envs.pong.env import Pong, PongParams
from overclock.envs.pong.library import AS_PUFFERLIB, Pointer, at, compiled, constants_array
from overclock.vector.host import HostStep


class PufferLibVector:
    """What `HostVector` promises of stepping; it has no states to save and takes no seeds.

    The reference restarts a finished game inside the step, so the game's last observation is not to be had:
    `final_obs` is the first of the next one. Whoever learns from a terminated step does not look at it.
    """

    num_players = 1
    autoreset = "same_step"
    max_steps = None

    def __init__(self, num_envs: int, frameskip: int = 1, continuous: bool = False) -> None:
        env, params = Pong(frameskip, continuous), PongParams()
        self.num_envs = num_envs
        self.observation_space, self.action_space = env.observation_space(params), env.action_space(params)
        self._obs, self._reward = np.zeros((num_envs, 8), np.float32), np.zeros(num_envs, np.float32)
        self._actions, self._terminal = np.zeros(num_envs, np.float32), np.zeros(num_envs, np.uint8)
        self._library: Any = compiled("vector", AS_PUFFERLIB)
        self._library.vector_new.restype = Pointer
        made = self._library.vector_new(
            num_envs, constants_array(), frameskip, int(continuous),
            at(self._obs), at(self._actions), at(self._reward), at(self._terminal),
        )  # fmt: skip
        if not made:
            raise MemoryError(f"no room for {num_envs} environments of the reference")
        self._block = Pointer(made)

    def __del__(self) -> None:
        if hasattr(self, "_block"):
            self._library.vector_free(self._block)

    def reset(self) -> np.ndarray:
        """Start every game anew."""
        self._library.vector_reset(self._block, self.num_envs)
        return self._obs

    def step(self, actions: np.ndarray) -> HostStep:
        """`c_step` of every environment; the arrays are overwritten by the next one."""
        np.copyto(self._actions, np.asarray(actions).reshape(self.num_envs), casting="unsafe")
        self._library.vector_step(self._block, self.num_envs)
        never = np.zeros(self.num_envs, np.bool_)
        return HostStep(self._obs, self._reward, self._terminal.astype(np.bool_), never, self._obs, {})

    def action_mask(self) -> None:
        """Every action is always legal."""
        return
