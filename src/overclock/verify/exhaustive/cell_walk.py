"""The walk of two sides that draw one number and only compare it: one number of every cell stands for all of it."""

import numpy as np

from overclock.verify.contract import Precision, Twin
from overclock.verify.exhaustive.cells import CellSubject, drawable, ends
from overclock.verify.exhaustive.state_walk import StateWalk, Try
from overclock.verify.sides.subject import Observed

MOST_TRIES = 200_000  # more would take longer than anybody waits


class UncoveredError(Exception):
    """Why not every number that could be drawn is covered."""


class CellWalk(StateWalk):
    """Leaves no number out, or raises UncoveredError."""

    reference: CellSubject
    performance: CellSubject

    def __init__(
        self, twin: Twin, precision: Precision, reference: CellSubject, performance: CellSubject, counted: bool
    ) -> None:
        super().__init__(twin, precision, reference, performance, counted, repeats=1)
        self._tried: set[Try] = set()  # beyond the first number of each state and action
        self._tries = 0

    def reset(self, num_seeds: int) -> None:
        """Start from every state that a reset can lead to; from seeds as well, which must not lead to others."""
        lanes, values, seen = self.reference.num_envs, [0.0], {0.0}
        while values and self.mismatch is None:
            taken, values = values[:lanes], values[lanes:]
            tried = np.array([*taken, *[taken[0]] * (lanes - len(taken))])
            ref, perf, after = self._chosen(tried, None, len(taken))
            self._begun(self.form.after_reset(ref), perf, len(taken))
            fresh = {value for one in after for value in one} - seen
            seen |= fresh
            values += sorted(fresh)
        covered = self.reset_states
        if self.mismatch is None:
            super().reset(num_seeds)
        if self.reset_states > covered:
            raise UncoveredError("where an episode begins depends on its seed, not only on the number it draws")

    def _step(self, tries: list[Try], actions: np.ndarray, used: int) -> tuple[Observed, Observed]:
        ref, perf, after = self._chosen(np.array([one.value for one in tries]), actions, used)
        for one, values in zip(tries, after, strict=False):
            fresh = {Try(one.state, one.action, value) for value in values} - self._tried
            self._tried |= fresh
            self.todo += sorted(fresh, key=lambda tried: tried.value)
        return self.form.after_step(ref), perf

    def _chosen(
        self, values: np.ndarray, actions: np.ndarray | None, used: int
    ) -> tuple[Observed, Observed, list[list[float]]]:
        """What both sides show with these numbers, and for each of them where further cells begin."""
        ref, perf = (side.cells(values, actions) for side in (self.reference, self.performance))
        for side, found in (("reference", ref), ("performance side", perf)):
            if not found.only_compared[:used].all():
                raise UncoveredError(f"the {side} does more with the number it draws than comparing it with fixed ones")
        self._tries += used
        if self._tries > MOST_TRIES:
            raise UncoveredError(f"it would take more than {MOST_TRIES:,} steps to cover what could be drawn")
        limits = np.concatenate([ref.limits, perf.limits], axis=1)
        further = drawable(np.where(limits > values[:, None], limits, 1.0))
        begins = np.concatenate([ends(values, limits)[:, None], further], axis=1)
        return ref.observed, perf.observed, [row[row < 1.0].tolist() for row in begins[:used]]

    def _all_resets(self, reset_states: int | None) -> bool:
        return True

    def _all_steps(self) -> bool:
        return True

    def _about_chance(self, passed: bool) -> list[str]:
        said = ["numbers are given to both sides: how the performance side draws its own is open"]
        if passed:
            said.append(
                f"every number from 0 to 1 that could be drawn is covered: {self._tries:,} numbers stand for all"
            )
        return said
