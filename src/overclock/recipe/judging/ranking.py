"""Which of several candidates is kept: the one that came furthest, then with more tests passing, then the faster."""

import dataclasses
from collections.abc import Mapping, Sequence

from overclock.recipe.judging.speed import geomean


@dataclasses.dataclass(frozen=True)
class Placing:
    """How far one candidate came: `passed` of the `asked` levels, from the bottom up, and the tests it passed there."""

    candidate: str
    passed: int
    asked: int
    tests: int
    sps: Mapping[str, float] = dataclasses.field(default_factory=dict)  # measured only where nothing else decides

    @property
    def holds(self) -> bool:
        """Whether it passed every level."""
        return self.passed == self.asked

    @property
    def rank(self) -> tuple[int, int, float]:
        """What it is compared by; one that could not be timed is the slowest."""
        return self.passed, self.tests, geomean(self.sps) if self.sps else 0.0


def undecided(placings: Sequence[Placing]) -> set[str]:
    """The candidates between which only speed can decide; nobody asks how fast a wrong one is."""
    best = max((one.passed, one.tests) for one in placings)
    tied = {one.candidate for one in placings if (one.passed, one.tests) == best and one.holds}
    return tied if len(tied) > 1 else set()


def best(placings: Sequence[Placing]) -> tuple[int, str]:
    """The place of the best one and why it is; of equals the first, whoever was quicker."""
    index = max(range(len(placings)), key=lambda one: (*placings[one].rank, -one))
    chosen = placings[index]
    others = [one for one in placings if one.candidate != chosen.candidate]
    levels = f"{chosen.passed} of {chosen.asked} levels"
    if not others:
        return index, f"All are the same, and pass {levels}."
    if all(one.passed < chosen.passed for one in others):
        return index, f"It passes {levels}, and no other as many."
    if all((one.passed, one.tests) < (chosen.passed, chosen.tests) for one in others):
        return index, f"Of those that pass {levels} it passes the most tests."
    if all(one.rank < chosen.rank for one in others):
        return index, f"Of those that pass {levels} and as many tests it is the fastest."
    return index, f"It is the first of those that pass {levels} and as many tests."
