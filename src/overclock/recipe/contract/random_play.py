"""Random play: what a reference draws in its steps, as often as it draws it, with the state that each step began in.

Level 1 keeps no two recorded calls that are equal, which is right for rules and wrong for distributions. Here
random legal actions are played, one episode after the other, and every step counts once. Used in the reference's
process.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.verify.sides.subject import Arrays

PLAYED = 2048  # steps; as many as there are resets whose draws are compared
STATES = 16  # of them, from which a distribution is looked at
DRAWN = f"{__name__}:drawn"  # as a recorder wants it

Recording = Callable[[int | None], contextlib.AbstractContextManager[Any]]  # around a reset (with its seed) or a step


def drawn(number: int, state: Arrays, step: Callable[[], None]) -> None:
    """A step of random play: a recorder that watches this function sees what was drawn, and in which state."""
    step()


class RandomPlayer:
    """Plays one instance with random legal actions, one episode after the other."""

    def __init__(self, read: Callable[[Any], Arrays], recording: Recording) -> None:
        self._read, self._recording = read, recording
        self._ended, self._info = True, dict[str, Any]()
        self._states: list[Arrays] = []

    def step(self, instance: Any, number: int) -> None:
        if self._ended:
            instance.action_space.seed(number)
            with self._recording(number):
                _, self._info = instance.reset(seed=number)
        state = self._read(instance)
        self._states.append(state)
        mask = self._info.get("action_mask")
        action = instance.action_space.sample(None if mask is None else np.asarray(mask, np.int8))

        def step() -> None:
            with self._recording(None):
                _, _, terminated, truncated, self._info = instance.step(action)
            self._ended = bool(terminated) or bool(truncated)

        drawn(number, state, step)

    def visited(self) -> Arrays:
        """Some of the states that steps began in, stacked."""
        chosen = [self._states[place % len(self._states)] for place in range(0, PLAYED, PLAYED // STATES)]
        return {name: np.stack([state[name] for state in chosen]) for name in chosen[0]}
