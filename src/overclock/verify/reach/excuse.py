"""Excuses: branch outcomes of a reference that a contract says no comparison can take, each with its reason.

They are part of the twin or of a project's contract.toml, which no candidate can write. The place is told by file,
function and condition rather than by its line alone, so that an excuse survives another version of the reference.
"""

import dataclasses

from overclock.errors import UsageError
from overclock.verify.reach.ledger import Outcome


@dataclasses.dataclass(frozen=True, kw_only=True)
class Excuse:
    """One outcome, as reports show it, and why it cannot be compared.

    `line` is needed only where one function tests the same condition in several places.
    """

    file: str
    function: str
    condition: str
    outcome: str
    reason: str
    line: int | None = None

    def __post_init__(self) -> None:
        for name in ("file", "function", "condition", "outcome"):
            if not isinstance(given := getattr(self, name), str) or not given.strip():
                raise UsageError(f"An excuse for a branch that is not reached needs its {name}.")
        if not isinstance(self.reason, str) or not self.reason.strip():
            raise UsageError(f"The excuse for {self} needs a reason.")

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place} `{self.condition}` {self.outcome} in {self.function}"

    def fits(self, outcome: Outcome) -> bool:
        """Whether it speaks of this outcome."""
        same = (self.file, self.function, _plain(self.condition), self.outcome)
        return self.line in (None, outcome.line) and same == (
            outcome.file, outcome.function, _plain(outcome.condition), outcome.outcome,
        )  # fmt: skip


def _plain(condition: str) -> str:
    return " ".join(condition.split())
