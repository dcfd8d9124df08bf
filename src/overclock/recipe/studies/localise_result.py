"""What `localise` found: for every mutant and view the code that is left to search, and both summarised."""

import dataclasses
from typing import Literal

from overclock.processor import Processor
from overclock.recipe.studies.localise_facts import Fact
from overclock.results import absent
from overclock.verify.mutation.result import MutantFacts


@dataclasses.dataclass(frozen=True)
class Narrowed:
    """What a view of one mutant leaves: the level and its facts, and the lines and functions that are not cleared.

    `has_line` and `has_function` say whether those of the mistake are among them.
    """

    level: int
    facts: list[Fact]
    broke: str | None
    lines: int
    share: float
    functions: int
    has_line: bool
    has_function: bool


Views = dict[str, Narrowed]
"""Of one mutant, for the views that notice it."""


@dataclasses.dataclass(frozen=True)
class ViewSummary:
    """A view over all mutants that it notices; nothing but their number where there are none."""

    knows: str
    noticed: int
    broke: int | None = absent()
    share_median: float | None = absent()
    share_mean: float | None = absent()
    lines_median: float | None = absent()
    functions_median: float | None = absent()
    has_function: float | None = absent()
    has_line: float | None = absent()
    facts_mean: float | None = absent()


@dataclasses.dataclass(frozen=True)
class PairedViews:
    """A view against the full hierarchy, over the mutants that both notice."""

    mutants: int
    hierarchy_leaves_fewer: int
    the_same: int
    hierarchy_leaves_more: int
    hierarchy_lines_median: float | None
    lines_median: float | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class LocalisedMutant(MutantFacts):
    """A mutant with what each view leaves of the code."""

    views: Views


@dataclasses.dataclass(frozen=True, kw_only=True)
class LocaliseReport:
    """The result of `localise`; `lines` and `functions` are those on which a mistake can be planted."""

    schema: Literal["overclock.localise/1"] = "overclock.localise/1"
    env: str
    mutants: int
    lines: int
    functions: int
    precision: str
    views: dict[str, ViewSummary]
    paired: dict[str, PairedViews]
    each: list[LocalisedMutant]
    episodes: int
    seed: int
    sample: int | None
    command: str
    seconds: float
    date: str
    versions: dict[str, str]
    processor: Processor | None = absent()
