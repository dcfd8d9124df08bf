"""What level 1 shows: every compared output of every module, the first failure, what ran and what never did."""

import dataclasses
from typing import Literal

from overclock.results import Values, absent
from overclock.verify.compare import ComparedField
from overclock.verify.contract import Precision


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparedOutput(ComparedField):
    """One output of a module in one precision; `relative_tolerance` and `excused` are None for distributions.

    `rare` cases are further off, as rare events may be; `wide` is why much more may be allowed than is seen.
    """

    excused: int | None = absent()
    rare: int | None = absent()
    wide: str | None = absent()

    @property
    def is_distribution(self) -> bool:
        """Samples are compared as a whole, by a distance between distributions, which has no relative tolerance."""
        return self.relative_tolerance is None


@dataclasses.dataclass(frozen=True, kw_only=True)
class WrongDistribution:
    """A sample that is not distributed as the reference's; it is wrong as a whole, so there is no case to show."""

    module: str
    precision: Precision
    field: str
    case: Literal[None] = None
    error: float
    tolerance: float
    compared: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class WrongCase:
    """The first case of a module whose output leaves its tolerance; `performance` is None where it has no such value.

    `wrong` of the `compared` cases are wrong.
    """

    module: str
    precision: Precision
    field: str
    case: int
    origin: Literal["recorded", "boundary"]
    inputs: Values
    reference: object
    performance: object
    error: float
    tolerance: float
    relative_tolerance: float
    wrong: int
    compared: int


FirstFailure = WrongCase | WrongDistribution


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModuleComparison:
    """All outputs of a module in one precision; `first_failure` is None where all are inside their tolerances."""

    precision: Precision
    passed: bool
    fields: list[ComparedOutput]
    first_failure: FirstFailure | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModuleResult:
    """One module: the functions it compares, how many cases it has, and a comparison per precision.

    `by_xla` says why XLA computed it where a kernel was asked for.
    """

    name: str
    reference: list[str]
    exercises: list[str]
    recorded: int
    boundary: int
    calls: int
    comparisons: list[ModuleComparison]
    by_xla: str | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Gate:
    """Whether every exported function of the performance side ran, and every function that a module declares."""

    passed: bool
    exported: list[str]
    not_exercised: list[str]
    declared_but_not_run: list[str]


@dataclasses.dataclass(frozen=True)
class Share:
    """How many lines or branches ran; `percent` is None where there are none."""

    covered: int
    total: int
    percent: float | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Coverage:
    """What ran of the functions of some modules; `unmeasured` modules have no source file."""

    lines: Share
    branches: Share
    missing_lines: list[str]
    missing_branches: list[str]
    functions: list[str]
    unmeasured: list[str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class BothCoverages:
    """The code coverage of both sides; None where nothing was measured."""

    reference: Coverage | None
    performance: Coverage | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class PropertyLevel:
    """The result of level 1."""

    level: Literal[1] = 1
    name: Literal["property"] = "property"
    verdict: Literal["pass", "fail"]
    modules: list[ModuleResult]
    first_failure: FirstFailure | None
    gate: Gate
    coverage: BothCoverages
