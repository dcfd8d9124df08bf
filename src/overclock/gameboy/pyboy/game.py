"""A described game on one PyBoy console in plain Python: the reference of our batch.

Nothing of the batch's code is used but the readings of RAM: buttons, frames, pictures and the start of an episode are
written once more, as people write them for PyBoy.
"""

import atexit
import weakref
from typing import Any

import numpy as np

from overclock.gameboy.game import Game
from overclock.gameboy.pyboy.console import PyBoyConsole

LUMINANCE = (299, 587, 114)  # ITU-R BT.601, in thousandths
_open: "weakref.WeakSet[PyBoyGame]" = weakref.WeakSet()


class PyBoyGame:
    """One game. Every episode starts a new PyBoy, because `load_state` does not restore everything."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.console: PyBoyConsole | None = None
        _open.add(self)
        self._picture = game.description.observation != "ram"

    def reset(self, seed: int) -> None:
        self.close()
        game, reset = self.game, self.game.description.reset
        self.console = PyBoyConsole(game.rom, cgb=game.cgb, boot=game.boot)
        self.console.tick(reset.boot_frames, self._picture)
        for address, byte in zip(game.seed_addresses, game.seed_bytes(np.array([seed]))[0].tolist(), strict=True):
            self.console.write(address, byte)
        self.console.tick(reset.settle_frames, self._picture)

    def step(self, action: int) -> None:
        """Hold the action's buttons, let go, and let the rest of the frames pass."""
        assert self.console is not None
        actions = self.game.description.actions
        for button in actions.buttons[action]:
            self.console.press(button)
        self.console.tick(actions.press, self._picture and actions.press == actions.frames)
        for button in actions.buttons[action]:
            self.console.release(button)
        if actions.press < actions.frames:
            self.console.tick(actions.frames - actions.press, self._picture)

    def values(self) -> np.ndarray:
        return np.array(list(self.game.description.read(self.read).values()), np.int64)

    def read(self, address: int, count: int) -> bytes:
        assert self.console is not None
        return bytes(self.console.pyboy.memory[address : address + count])

    def observe(self) -> np.ndarray:
        assert self.console is not None
        if not self._picture:
            return self.game.readings.observed(self.values()[None])[0]
        return seen_as(self.game.description.observation, self.console.pyboy.screen.ndarray)

    def close(self) -> None:
        if self.console is not None:
            self.console.close()
            self.console = None


@atexit.register
def _close_all() -> None:
    """Close all consoles at exit; a PyBoy that is still open when the interpreter ends prints long warnings."""
    for game in list(_open):
        game.close()


def seen_as(kind: str, rgba: np.ndarray) -> np.ndarray:
    """A picture of PyBoy as an observation of a kind."""
    rgb = rgba[:, :, :3]
    if kind == "rgb":
        return rgb.copy()
    gray = (rgb.astype(np.int64) @ np.array(LUMINANCE) // 1000).astype(np.uint8)
    if kind == "gray":
        return gray
    if kind == "gray_2x2":
        return (gray.reshape(72, 2, 80, 2).sum(axis=(1, 3), dtype=np.int64) // 4).astype(np.uint8)
    levels = (gray >> 6).reshape(144, 40, 4)
    return (levels << np.array([6, 4, 2, 0], np.uint8)).sum(axis=2, dtype=np.int64).astype(np.uint8)


def make_pyboy_env(game: str | None = None, **options: Any) -> Any:
    """A Gymnasium environment around PyBoy; options as those of `load_game`."""
    from overclock.gameboy.pyboy.gymnasium_env import PyBoyEnv

    return PyBoyEnv(game, **options)
