"""Actions guided by the reference's branch coverage: what reached something new is kept, changed and tried again.

Random play sees what is likely; a rare rule may need twenty right moves in a row. An episode that was the first to
take some branch of the reference's code is kept with its seed, so that it can be replayed exactly. Further episodes
replay a kept one, changed a little or cut and joined with another, and go on at random where it ends.
"""

import dataclasses
from typing import Any

import numpy as np

from overclock.verify.rollout.actions import ActionSource, SourceMaker, legal, uniform
from overclock.verify.sides.subject import Observed

FRESH_SHARE = 0.25  # of the episodes that owe nothing to the kept ones, so that no part of the game is forgotten
NEWEST = 4  # half of the replays start from one of the last kept: they stand at the edge of what is known
MOST_CHANGES = 3  # actions replaced in one replay


@dataclasses.dataclass(frozen=True)
class Kept:
    """The start of an episode, up to the step that reached something new."""

    seed: int
    actions: tuple[np.ndarray, ...]


Plan = list[np.ndarray | None]  # None: whatever the base source does at this step


class CoverageGuided:
    """A `GuidedSource`; `corpus` holds what it kept, in the order of discovery."""

    def __init__(self, base: ActionSource, legal_only: bool = False) -> None:
        self.corpus: list[Kept] = []
        self._base, self._legal_only = base, legal_only
        self._seeds: dict[int, int] = {}
        self._plans: dict[int, Plan] = {}
        self._taken: dict[int, list[np.ndarray]] = {}

    def begin(self, generator: np.random.Generator, lane: int, seed: int) -> int:
        plan: Plan = []
        if self.corpus and generator.random() >= FRESH_SHARE:
            pool = self.corpus[-NEWEST:] if generator.random() < 0.5 else self.corpus
            kept = pool[generator.integers(len(pool))]
            seed, plan = kept.seed, self._changed(generator, list(kept.actions))
        self._seeds[lane], self._plans[lane], self._taken[lane] = seed, plan, []
        return seed

    def __call__(self, generator: np.random.Generator, observed: Observed) -> np.ndarray:
        """Planned actions where a lane still has some, else those of the base source."""
        actions = self._base(generator, observed)
        planned = actions.copy()
        for lane, plan in self._plans.items():
            step = len(self._taken[lane])
            action = plan[step] if step < len(plan) else None
            if action is not None:
                planned[lane] = action
        if self._legal_only:  # a changed past may forbid what was legal in the kept episode
            planned = np.where(legal(planned, observed), planned, actions)
        for lane, taken in self._taken.items():
            taken.append(planned[lane].copy())
        return planned

    def learn(self, observed: Observed) -> None:
        for lane in np.flatnonzero(observed.outputs["new_branches"]).tolist():
            self.corpus.append(Kept(self._seeds[lane], tuple(self._taken[lane])))

    def _changed(self, generator: np.random.Generator, actions: Plan) -> Plan:
        """As it was (half of the time), with other actions here and there, a piece left out or twice, or spliced."""
        start, stop = sorted(generator.integers(0, len(actions) + 1, 2).tolist())
        other = self.corpus[generator.integers(len(self.corpus))].actions
        match generator.integers(8):
            case 0:
                for _ in range(generator.integers(1, MOST_CHANGES + 1)):
                    actions[generator.integers(len(actions))] = None
                return actions
            case 1:
                return actions[:start] + actions[stop:]
            case 2:
                return actions[:stop] + actions[start:]
            case 3:
                return [*actions[:start], *other[generator.integers(len(other)) :]]
            case _:
                return actions


def coverage_guided(base: SourceMaker = uniform, legal_only: bool = False) -> SourceMaker:
    """Actions that look for branches of the reference not taken so far.

    `base` makes the random ones; `legal_only` keeps replays inside the action mask (with `base=mask_uniform`).
    """

    def make(description: dict[str, Any]) -> CoverageGuided:
        return CoverageGuided(base(description), legal_only)

    return make
