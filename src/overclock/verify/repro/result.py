"""What reports say of a repro: the shortest episode that shows a divergence, and both sides around it."""

import dataclasses
from typing import Any

from overclock.results import Values
from overclock.verify.contract import Mode, Precision


@dataclasses.dataclass(frozen=True, kw_only=True)
class BothSides:
    """Every state field and output of both sides at one moment."""

    reference: Values
    performance: Values


@dataclasses.dataclass(frozen=True, kw_only=True)
class StatesAround:
    """Both sides before and after the last action; `before` is None where the reset itself differs."""

    before: BothSides | None
    after: BothSides


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReproSummary:
    """A repro, its folder and the command that replays it, both None where it was not written.

    `found_after` is how many actions the episode had in which the divergence was found. `minimal` is False where the
    search stopped at its limit.
    """

    folder: str | None
    command: str | None
    precision: Precision
    mode: Mode
    actions: list[Any]
    field: str
    step: int
    reference: object
    performance: object
    error: float
    tolerance: float
    also_wrong: list[str]
    states: StatesAround
    found_after: int
    minimal: bool
    sentence: str
