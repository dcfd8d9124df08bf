"""PyBoy as a verify Subject: every step's outputs, and the memory and cycles of the consoles."""

from typing import Any

import numpy as np

from overclock.gameboy.batch_subject import SHOWN
from overclock.gameboy.game import load_game
from overclock.gameboy.pyboy.game import PyBoyGame
from overclock.verify.sides.subject import Arrays, Observed


class PyBoyReference:
    """`num_envs` games on PyBoy; an episode's seed is the subject's own, drawn from the lane's.

    With `memory=False` its state is the described values alone: that is half the work, and a few numbers.
    """

    def __init__(self, num_envs: int, game: str, observation: str | None = None, memory: bool = True) -> None:
        self.num_envs, self._memory = num_envs, memory
        self._loaded = load_game(game, observation=observation)
        self._games = [PyBoyGame(self._loaded) for _ in range(num_envs)]
        self._seeds = np.ones(num_envs, np.int32)
        self._steps = np.zeros(num_envs, np.int32)
        self._values = np.zeros((num_envs, len(self._loaded.readings.names)), np.int64)

    @property
    def instances(self) -> list[PyBoyGame]:
        """The games, one per lane; level 1 plays short games on the first."""
        return self._games

    def describe(self) -> dict[str, Any]:
        return {"kind": "discrete", "n": len(self._loaded.buttons)}

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        for lane in np.flatnonzero(mask):
            drawn = int(np.random.default_rng(int(seeds[lane])).integers(1, self._loaded.seeds + 1))
            self._seeds[lane] = drawn if draws is None else draws["seed"][lane]
            self._games[lane].reset(int(self._seeds[lane]))
            self._values[lane] = self._games[lane].values()
        self._steps[mask] = 0
        return Observed({"obs": self._obs()}, self._state(), {"seed": self._seeds.copy()})

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        description, names, before = self._loaded.description, self._loaded.readings.names, self._values.copy()
        for lane, game in enumerate(self._games):
            game.step(int(actions[lane]))
            self._values[lane] = game.values()
        self._steps += 1
        was, now = ([dict(zip(names, row, strict=True)) for row in side.tolist()] for side in (before, self._values))
        limit = description.max_steps
        outputs = {
            "obs": self._obs(),
            "reward": np.array([description.reward(*pair) for pair in zip(was, now, strict=True)], np.float32),
            "terminated": np.array([description.terminated(values) for values in now]),
            "truncated": np.zeros(self.num_envs, np.bool_) if limit is None else self._steps >= limit,
        }
        return Observed(outputs, self._state(), {})

    def set_state(self, state: Arrays) -> None:
        """As `Subject.set_state`; PyBoy's states say more than the fields shown."""
        raise NotImplementedError

    def _obs(self) -> np.ndarray:
        return np.stack([game.observe() for game in self._games])

    def _state(self) -> Arrays:
        values = {name: self._values[:, column].copy() for column, name in enumerate(self._loaded.readings.names)}
        if not self._memory:
            return {**values, "steps": self._steps.copy()}
        snapshots = [game.console.snapshot(False) for game in self._games if game.console is not None]
        memory = {name: np.stack([shown.memory[name] for shown in snapshots]) for name in SHOWN}
        cycles = np.array([shown.cycles for shown in snapshots], np.int64)
        return {**memory, **values, "cycles": cycles, "steps": self._steps.copy()}
