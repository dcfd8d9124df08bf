"""The ledger of a reference's branches: every outcome that is known, and whether a real comparison took it.

A reference's process reports what it saw (`Seen`) after each comparison; the ledger adds the reports up. An outcome is
*missing* if the code around it ran, the comparison never went that way, and nothing says that it cannot be compared.
What lies behind a missing outcome never ran either. It is not listed again.
"""

import dataclasses
from collections.abc import Iterable
from typing import Literal

Aside = Literal["raises", "rendering", "call", "constructor", "late"]
"""Why an outcome is not asked for; see `ASIDE`."""
ASIDE: dict[Aside, str] = {
    "raises": "it only raises an exception",
    "rendering": "it draws a picture",
    "call": "the arguments `seed` and `options` of a reset decide it",
    "constructor": "the constructor's arguments decide it",
    "late": "only steps after an end take it, by something that is no part of the state",
}
CALLED, ENTERED = "is called", "is entered"  # the single outcome of a function and of an exception handler


@dataclasses.dataclass(frozen=True, order=True)
class Outcome:
    """One way on from a branch: where it stands, what is tested, what that turned out to be.

    A function has the single outcome `is called`, an exception handler `is entered`. `file` is the module's path below
    the folder that it is imported from.
    """

    file: str
    line: int
    condition: str
    outcome: str
    function: str
    column: int = 0

    @property
    def alone(self) -> bool:
        """Whether it is the only outcome of its place."""
        return self.outcome in (CALLED, ENTERED)

    @property
    def place(self) -> tuple[str, int, int, str]:
        """Equal for the outcomes of one branch."""
        return self.file, self.line, self.column, self.condition

    def __str__(self) -> str:
        return f"{self.file}:{self.line} `{self.condition}` {self.outcome}"


@dataclasses.dataclass(frozen=True)
class SeenOutcome:
    """An outcome as one process knows it: whether it was taken there, and why it is not asked for, if it is not."""

    outcome: Outcome
    taken: bool
    aside: Aside | None = None


@dataclasses.dataclass(frozen=True)
class Seen:
    """What a reference's process reports: outcomes of the code that ran, and packages that were not looked into.

    `visible` is false where the reference has no Python code of its own: then there are no branches to be seen.
    """

    outcomes: list[SeenOutcome]
    outside: list[str]
    visible: bool


class Ledger:
    """Every known outcome of a reference's branches, over all comparisons that were reported."""

    def __init__(self) -> None:
        self.visible = False
        self.reports = 0
        self._taken: dict[Outcome, bool] = {}
        self._aside: dict[Outcome, Aside] = {}
        self._asked: set[Outcome] = set()  # by some process: what its play did may show that nothing decides them
        self._outside: set[str] = set()

    def add(self, seen: Seen) -> None:
        """Add what the comparisons of one process took."""
        self.reports += 1
        self.visible |= seen.visible
        self._outside |= {*seen.outside}
        for one in seen.outcomes:
            self._taken[one.outcome] = one.taken or self._taken.get(one.outcome, False)
            if one.aside is None:
                self._asked.add(one.outcome)
            else:
                self._aside.setdefault(one.outcome, one.aside)

    def set_aside(self, outcomes: Iterable[Outcome], why: Aside) -> None:
        """Do not ask for these outcomes, as far as the code around them ran."""
        known = [one for one in outcomes if one in self._taken]
        self._aside.update(dict.fromkeys(known, why))
        self._asked.difference_update(known)

    @property
    def outside(self) -> list[str]:
        """Packages that the rules use and whose code was not looked into."""
        return sorted(self._outside)

    @property
    def taken(self) -> list[Outcome]:
        """Outcomes that some comparison took."""
        return sorted(outcome for outcome, taken in self._taken.items() if taken)

    @property
    def missing(self) -> list[Outcome]:
        """Outcomes that no comparison took, where the comparison came to the branch."""
        reached, aside = {outcome.place for outcome in self.taken}, self.aside
        return [one for one in self._untaken() if one not in aside and (one.alone or one.place in reached)]

    @property
    def aside(self) -> dict[Outcome, Aside]:
        """Outcomes that were not taken and are not asked for, each with the rule that says so."""
        untaken = [one for one in self._untaken() if one not in self._asked]
        return {outcome: self._aside[outcome] for outcome in untaken}

    @property
    def known(self) -> list[Outcome]:
        """Every outcome of the code that ran."""
        return sorted(self._taken)

    def _untaken(self) -> Iterable[Outcome]:
        return sorted(outcome for outcome, taken in self._taken.items() if not taken)
