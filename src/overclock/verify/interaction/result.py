"""What level 2 shows: every scenario in every precision and mode, and the checks of the environment against itself."""

import dataclasses
from typing import Literal

from overclock.results import Values, absent
from overclock.verify.contract import Mode, Precision


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mismatch:
    """The first step of a scenario (0: its setup) after which a field leaves its tolerance."""

    step: int
    field: str
    reference: object
    performance: object
    error: float
    tolerance: float
    state_before: Values
    action: object


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Played:
    precision: Precision
    mode: Mode


@dataclasses.dataclass(frozen=True, kw_only=True)
class FirstMismatch(Mismatch, _Played):
    """The earliest mismatch of a scenario over all its runs."""


@dataclasses.dataclass(kw_only=True)
class ScenarioRun:
    """One scenario as the performance side played it once; `compare_playbacks` fills it step by step.

    `excused_flags` differed within the contract's margin of a threshold; steps `beyond_horizon` were not compared.
    `rare_steps` were further off, as rare events may be; those of all scenarios count together.
    `margins` by field: how many times as much is allowed as was seen, null for no difference; exact fields have none.
    """

    precision: Precision
    mode: Mode
    passed: bool = True
    largest_errors: dict[str, float] = dataclasses.field(default_factory=dict)
    margins: dict[str, float | None] | None = absent()
    excused_flags: int = 0
    beyond_horizon: int = 0
    rare_steps: int | None = absent()
    first_mismatch: Mismatch | None = None

    def keep_share(self, name: str, share: float) -> None:
        """Keep the margin of a field of which this share of its tolerance was used, if it is the smallest so far."""
        known = {} if self.margins is None else self.margins
        before, now = known.get(name), 1.0 / share if share else None
        smallest = min((one for one in (before, now) if one is not None), default=None)
        self.margins = {**known, name: smallest}


@dataclasses.dataclass(frozen=True, kw_only=True)
class ScenarioResult:
    """One scenario; `stale` says where its file and the reference disagree, None where they agree."""

    name: str
    why: str
    verdict: Literal["pass", "fail", "could not verify"]
    stale: str | None
    steps: int
    fields: list[str]
    deviations: list[str]
    first_mismatch: FirstMismatch | None
    runs: list[ScenarioRun]


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfCheck:
    """One property of the performance side alone: how often it was looked at and the largest error, in `unit`s."""

    name: str
    tolerance: float
    reason: str
    compared: int
    largest_error: float
    worst_field: str
    unit: str
    passed: bool
    precision: str | None = absent()
    excused_flags: int | None = absent()


@dataclasses.dataclass(frozen=True, kw_only=True)
class InteractionLevel:
    """The result of level 2; `notes` say which checks were not made."""

    level: Literal[2] = 2
    name: Literal["interaction"] = "interaction"
    verdict: Literal["pass", "fail", "could not verify"]
    scenarios: list[ScenarioResult]
    metamorphic: list[SelfCheck]
    notes: list[str] = dataclasses.field(default_factory=list)
