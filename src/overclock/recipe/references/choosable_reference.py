"""A reference whose draws can be chosen, and which tells for which other numbers it would have done the same."""

import contextlib
import sys
from collections.abc import Collection, Iterator
from types import FrameType
from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec

from overclock.recording.sites.recorder import SiteRecorder
from overclock.recording.sites.tracked_number import TrackedNumber
from overclock.verify.exhaustive.cells import Cells
from overclock.verify.reach.rule_files import rule_files
from overclock.verify.sides.gymnasium_reference import GymnasiumSubject
from overclock.verify.sides.soundness import named
from overclock.verify.sides.subject import Arrays, Observed


class ChoosableReference(GymnasiumSubject):
    """One whose resets and steps draw at most one number in [0, 1) each."""

    def __init__(self, env_id: EnvSpec, num_envs: int, recorder: SiteRecorder, **more: Any) -> None:
        self._numbers: list[TrackedNumber] | list[float] | None = None
        self._sites = recorder
        super().__init__(env_id, num_envs, recorder=recorder, **more)
        self._rules = rule_files(self.instances[0])

    def describe(self) -> dict[str, Any]:
        known = super().describe()
        return {**known, "calls": [*known["calls"], "cells"]}

    def cells(self, values: np.ndarray, actions: np.ndarray | None) -> Cells:
        """A reset of every lane (without actions) or a step, in which these are drawn.

        It happens twice: with numbers that note what they are compared with, then with plain ones. Both times the same
        instructions must run: a program could ask for the type of its number and do something else.
        """
        before, numbers = {} if actions is None else self._state(), [TrackedNumber(float(value)) for value in values]
        try:
            noting, ran = self._with(numbers, actions)
        except Exception:  # whatever a program raises to whom a number is no number: it does more than comparing it
            noting, ran = None, None
        if actions is not None:
            self.set_state(before)
        plain, again = self._with(values.tolist(), actions)
        if noting is None or ran != again:
            return Cells(plain, np.full((self.num_envs, 1), np.inf), np.zeros(self.num_envs, np.bool_))
        noted = [TrackedNumber.noted(number) for number in numbers]
        limits = np.full((self.num_envs, max(1, *(len(found) for found, _ in noted))), np.inf)
        for lane, (found, _) in enumerate(noted):
            limits[lane, : len(found)] = found
        same = _equal_lanes(noting, plain, self.num_envs)
        return Cells(plain, limits, same & [only_compared for _, only_compared in noted])

    def _with(
        self, numbers: list[TrackedNumber] | list[float], actions: np.ndarray | None
    ) -> tuple[Observed, list[Any]]:
        """What is seen with these numbers, and every instruction that ran."""
        self._numbers = numbers
        try:
            with _instructions(self._rules) as ran:
                if actions is not None:
                    return self.step(actions), ran
                return self.reset(np.ones(self.num_envs, np.bool_), np.zeros(self.num_envs, np.int64)), ran
        finally:
            self._numbers = None

    def _traced(self, lane: int) -> contextlib.AbstractContextManager[Any]:
        # Numbers that note what they are compared with are no play, and the instructions are traced already.
        return contextlib.nullcontext() if self._numbers is not None else super()._traced(lane)

    @contextlib.contextmanager
    def _recording(self, lane: int, seed: int | None = None) -> Iterator[Arrays]:
        chosen = contextlib.nullcontext() if self._numbers is None else self._sites.choosing(self._numbers[lane])
        with chosen, super()._recording(lane, seed) as drawn:
            yield drawn


@contextlib.contextmanager
def _instructions(files: Collection[str]) -> Iterator[list[Any]]:
    """Inside, every instruction of the code in these files is noted."""
    ran: list[Any] = []

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename not in files:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            ran.append((frame.f_code, frame.f_lasti))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield ran
    finally:
        sys.settrace(before)


def _equal_lanes(one: Observed, other: Observed, lanes: int) -> np.ndarray:
    """The lanes in which both show the same."""
    second, same = dict(named(other)), np.ones(lanes, np.bool_)
    for name, values in named(one):
        same &= (values == second[name]).reshape(lanes, -1).all(axis=1)
    return same
