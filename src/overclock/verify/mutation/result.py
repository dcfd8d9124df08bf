"""What `mutate` found: every mutant with what each level said of it, and the shares of those that were found."""

import dataclasses
from typing import Literal

from overclock.processor import Processor
from overclock.results import absent

How = Literal["difference", "crash", "timeout"]


@dataclasses.dataclass(frozen=True)
class Outcome:
    """Whether a level noticed a mutant, by what, and the first place where it did."""

    killed: bool
    how: How | None = None
    where: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class MutantFacts:
    """A mutant without its source: where it is, and the statement (or its first line) before and after."""

    id: str
    operator: str
    line: int
    function: str
    before: str
    after: str
    file: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class EquivalentMutant(MutantFacts):
    """A mutant that is no mistake, and why."""

    reason: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class ExaminedMutant(MutantFacts):
    """A mutant with what each level said of it."""

    levels: dict[int, Outcome]


@dataclasses.dataclass(frozen=True, kw_only=True)
class LevelScore:
    """The mutants that one level kills alone: in all, before every lower level, and as the only one.

    `shown` is how many it was shown, where that is not all, and `only` is then unknown.
    """

    name: str
    killed: int
    share: float
    first: int
    only: int | None
    crashes: int
    timeouts: int
    shown: int | None = absent()


@dataclasses.dataclass(frozen=True, kw_only=True)
class KilledShare:
    """The mutants that any level kills."""

    killed: int
    share: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class OperatorScore:
    """The mutants that one operator made."""

    total: int
    killed: int


@dataclasses.dataclass(frozen=True, kw_only=True)
class MutationReport:
    """The result of `mutate`; `sources` and `state` are hashes of what it depends on (see state.py).

    `stale` names those that have changed since. `threshold` and `verdict` are the command's. `not_run` counts mutants
    of code that this environment shares with others and does not run; they were not planted.
    """

    schema: Literal["overclock.mutate/1"] = "overclock.mutate/1"
    env: str
    planted: int
    total: int
    killed: int
    score: float
    per_level: dict[int, LevelScore]
    together: KilledShare
    per_operator: dict[str, OperatorScore]
    survivors: list[MutantFacts]
    equivalent: list[EquivalentMutant]
    mutants: list[ExaminedMutant] | None = absent()
    sources: dict[str, str]
    state: dict[str, str] | None = absent()
    episodes: int
    seed: int
    sample: int | None
    until_found: bool | None = absent()
    not_run: int | None = absent()
    timeout: float
    command: str
    seconds: float
    date: str
    versions: dict[str, str]
    processor: Processor | None = absent()
    stale: list[str] | None = absent()
    threshold: float | None = absent()
    verdict: Literal["pass", "fail"] | None = absent()


@dataclasses.dataclass(frozen=True, kw_only=True)
class MutantList:
    """The mutants of an environment, not examined."""

    schema: Literal["overclock.mutants/1"] = "overclock.mutants/1"
    env: str
    mutants: list[MutantFacts]
