"""A reference whose draws can be chosen, and which tells for which other numbers it would have done the same."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from overclock.translate.site_chosen import Compared
from overclock.translate.sites import SiteRecorder
from overclock.verify.cells import Cells
from overclock.verify.gymnasium_reference import GymnasiumSubject
from overclock.verify.soundness import named
from overclock.verify.subject import Arrays, Observed


class ChoosableReference(GymnasiumSubject):
    """One whose resets and steps draw at most one number in [0, 1) each."""

    def __init__(self, env_id: str, num_envs: int, recorder: SiteRecorder, **more: Any) -> None:
        self._numbers: list[Compared] | list[float] | None = None
        self._sites = recorder
        super().__init__(env_id, num_envs, recorder=recorder, **more)

    def describe(self) -> dict[str, Any]:
        """As `Subject.describe`."""
        known = super().describe()
        return {**known, "calls": [*known["calls"], "cells"]}

    def cells(self, values: np.ndarray, actions: np.ndarray | None) -> Cells:
        """A reset of every lane (without actions) or a step, in which these are drawn.

        It happens twice: with numbers that note what they are compared with, then with plain ones.
        """
        before, numbers = self._state(), [Compared(float(value)) for value in values]
        try:
            noting = self._with(numbers, actions)
        except Exception:  # whatever a program raises to whom a number is no number: it does more than comparing it
            noting = None
        if actions is not None:
            self.set_state(before)
        plain = self._with(values.tolist(), actions)
        if noting is None:
            return Cells(plain, np.full((self.num_envs, 1), np.inf), np.zeros(self.num_envs, np.bool_))
        noted = [Compared.noted(number) for number in numbers]
        limits = np.full((self.num_envs, max(1, *(len(found) for found, _ in noted))), np.inf)
        for lane, (found, _) in enumerate(noted):
            limits[lane, : len(found)] = found
        same = _equal_lanes(noting, plain, self.num_envs)
        return Cells(plain, limits, same & [only_compared for _, only_compared in noted])

    def _with(self, numbers: list[Compared] | list[float], actions: np.ndarray | None) -> Observed:
        self._numbers = numbers
        try:
            if actions is not None:
                return self.step(actions)
            return self.reset(np.ones(self.num_envs, np.bool_), np.zeros(self.num_envs, np.int64))
        finally:
            self._numbers = None

    @contextlib.contextmanager
    def _recording(self, lane: int, seed: int | None = None) -> Iterator[Arrays]:
        chosen = contextlib.nullcontext() if self._numbers is None else self._sites.choosing(self._numbers[lane])
        with chosen, super()._recording(lane, seed) as drawn:
            yield drawn


def _equal_lanes(one: Observed, other: Observed, lanes: int) -> np.ndarray:
    """The lanes in which both show the same."""
    second, same = dict(named(other)), np.ones(lanes, np.bool_)
    for name, values in named(one):
        same &= (values == second[name]).reshape(lanes, -1).all(axis=1)
    return same
