"""The report of `verify`: the result of every level, and what follows from them together."""

import dataclasses
from typing import Literal

from overclock.backends import Backend
from overclock.processor import Processor
from overclock.results import absent
from overclock.verify.contract import Field, Precision
from overclock.verify.interaction.result import InteractionLevel
from overclock.verify.margins import ToleranceMargin
from overclock.verify.mutation.result import MutationReport
from overclock.verify.property.result import PropertyLevel
from overclock.verify.repro.result import ReproSummary
from overclock.verify.rollout.result import ComparisonResult, RolloutLevel
from overclock.verify.sides.selfcheck import ReferenceCheck
from overclock.verify.transfer.result import ReturnsAlone, TransferLevel

Verdict = Literal["pass", "fail", "inconclusive", "could not verify"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class NotRun:
    """A level that was asked for and not run, and why."""

    level: int
    name: str
    verdict: Literal["not run"] = "not run"
    reason: str


RunLevel = PropertyLevel | InteractionLevel | RolloutLevel | TransferLevel
LevelResult = NotRun | RunLevel


@dataclasses.dataclass(frozen=True, kw_only=True)
class VerifyReport:
    """What `verify` found.

    `repro`, `returns_alone` and `unexplained` are None unless a level found a difference: the shortest episode that
    shows it, what returns say of it, and why no episode could be found. `tests` are the pytest files that were written,
    `adequacy` the last result of `mutate`, `planted` a bug that was put into the performance side. `margins` have every
    tolerance of levels 1 to 3; `processor` is what computed it. Older reports lack both.
    """

    schema: Literal["overclock.verify/1"] = "overclock.verify/1"
    env: str
    reference: str | None
    contract: dict[Precision, list[Field]]
    verdict: Verdict
    self_check: ReferenceCheck
    levels: list[LevelResult]
    margins: list[ToleranceMargin] | None = absent()
    repro: ReproSummary | None
    returns_alone: ReturnsAlone | None
    unexplained: str | None = None
    tests: list[str] | None = None
    adequacy: MutationReport | None
    planted: str | None
    backend: Backend | None = None
    seed: int
    command: str
    date: str
    versions: dict[str, str]
    processor: Processor | None = absent()

    @property
    def run(self) -> list[RunLevel]:
        """The results of the levels that were run."""
        return [level for level in self.levels if not isinstance(level, NotRun)]

    @property
    def rollouts(self) -> RolloutLevel | None:
        """The result of level 3, if that was run."""
        return next((level for level in self.levels if isinstance(level, RolloutLevel)), None)

    @property
    def comparisons(self) -> list[ComparisonResult]:
        """The comparisons of level 3; empty where that was not run."""
        return [] if self.rollouts is None else self.rollouts.comparisons


@dataclasses.dataclass(frozen=True, kw_only=True)
class NoVerdict:
    """What `overclock verify --json` prints where nothing could be compared, and the reason."""

    schema: Literal["overclock.verify/1"] = "overclock.verify/1"
    env: str
    backend: Backend | None
    verdict: Literal["could not verify"] = "could not verify"
    reason: str
