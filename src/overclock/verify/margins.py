"""How many times as much every tolerance allows as was seen: one far too wide would let a mistake of its size pass.

A tolerance of the contract is used by levels 2 and 3 alike, so its margin is the smaller of what both saw. Outputs of
level 1 and the checks of level 2 have tolerances of their own. Distributions have none: a distance is allowed, which
follows from the size of the sample.
"""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from overclock.results import absent
from overclock.verify.contract import Contract, Mode, Precision

if TYPE_CHECKING:
    from overclock.verify.result import LevelResult

WIDE = 100.0  # times what was seen: beyond that a tolerance needs another reason than what was seen
MOST_LINES = 5  # of warnings in the terminal


@dataclasses.dataclass(frozen=True, kw_only=True)
class ToleranceMargin:
    """One tolerance: `margin` times as much is allowed as was seen; null where no difference was seen.

    `name` is a field of the contract, 'module.output' of level 1, or a check of level 2. `reason` says why it may be
    wide; without one a wide tolerance is warned of.
    """

    name: str
    levels: list[int]
    precision: str
    mode: Mode | None = absent()
    margin: float | None
    reason: str | None = absent()

    @property
    def wide(self) -> bool:
        """Whether it allows so much more than was seen that a mistake could hide in it, and nothing says why."""
        return self.margin is not None and self.margin > WIDE and not self.reason


BOUND = "a bound of so many roundings, whatever two programs of one source happen to show"
Key = tuple[str, str, Mode | None]  # name, precision, mode
Seen = tuple[Key, int, float]  # with the level, and the margin: infinite where no difference was seen


def margins_in(
    levels: "Iterable[LevelResult]", contracts: Mapping[Precision, Contract] = MappingProxyType({})
) -> list[ToleranceMargin]:
    """The margin of every tolerance that levels 1 to 3 compared with, in the order in which they met it.

    `contracts` say why tolerances of theirs may be wide.
    """
    smallest: dict[Key, float] = {}
    at: dict[Key, list[int]] = {}
    levels = list(levels)
    reasons = _reasons(levels)
    fields: dict[tuple[str, str], str | None] = {
        (one.name, precision): one.wide for precision, made in contracts.items() for one in made.fields
    }
    for level in levels:
        for key, number, margin in _seen(level):
            smallest[key] = min(margin, smallest.get(key, math.inf))
            at[key] = [*at.get(key, []), *([] if number in at.get(key, []) else [number])]
    return [
        ToleranceMargin(
            name=name, levels=at[name, precision, mode], precision=precision, mode=mode,
            margin=margin if math.isfinite(margin) else None, reason=reasons.get(name) or fields.get((name, precision)),
        )
        for (name, precision, mode), margin in smallest.items()
    ]  # fmt: skip


def _seen(level: "LevelResult") -> Iterator[Seen]:
    if level.verdict == "not run":
        return
    if level.level == 1:
        for module in level.modules:
            for comparison in module.comparisons:
                for one in comparison.fields:
                    if not one.is_distribution and (one.tolerance or one.relative_tolerance):
                        yield (f"{module.name}.{one.name}", comparison.precision, None), 1, _or_infinite(one.margin)
    elif level.level == 2:
        for run in (run for scenario in level.scenarios for run in scenario.runs):
            for name, margin in (run.margins or {}).items():
                yield (name, run.precision, run.mode), 2, _or_infinite(margin)
        for check in level.metamorphic:
            if check.tolerance:
                ratio = check.tolerance / check.largest_error if check.largest_error else math.inf
                yield (check.name, check.precision or "both", None), 2, ratio
    elif level.level == 3:
        for one in level.comparisons:
            for field in one.fields:
                if field.tolerance or field.relative_tolerance:
                    yield (field.name, one.precision, one.mode), 3, _or_infinite(field.margin)


def _reasons(levels: "Iterable[LevelResult]") -> dict[str, str]:
    """By name: why a tolerance may be wide. The checks of level 2 count roundings of a side's own programs."""
    reasons = {}
    for level in levels:
        if level.verdict == "not run":
            continue
        if level.level == 1:
            outputs = [(module, one) for module in level.modules for made in module.comparisons for one in made.fields]
            reasons |= {f"{module.name}.{one.name}": one.wide for module, one in outputs if one.wide}
        elif level.level == 2:
            reasons |= {check.name: BOUND for check in level.metamorphic if check.unit == "ulp"}
    return reasons


def _or_infinite(margin: float | None) -> float:
    return math.inf if margin is None or math.isnan(margin) else margin


def margin_text(margin: float | None) -> str:
    """A margin in a table; a tolerance of which nothing was used says so."""
    if margin is None:
        return "unused"
    return f"{margin:,.0f}" if margin >= 10 else f"{margin:.2g}"


def margin_rows(margins: Sequence[ToleranceMargin]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a table: one row per name, with what each precision (and way to synchronise) has left."""
    names = list(dict.fromkeys((one.name, tuple(one.levels)) for one in margins))
    columns = list(dict.fromkeys((one.precision, one.mode) for one in margins))
    known = {(one.name, one.precision, one.mode): one for one in margins}
    titles = [precision + ("" if mode is None else f", {mode.replace('_', ' ')}") for precision, mode in columns]
    rows = []
    for name, levels in names:
        found = [known.get((name, *column)) for column in columns]
        cells = ["" if one is None else margin_text(one.margin) + (" !" if one.wide else "") for one in found]
        rows.append([name, " and ".join(map(str, levels)), *cells])
    return ["value", "level", *titles], rows


def warnings_of(margins: Sequence[ToleranceMargin]) -> list[str]:
    """A sentence for each tolerance that is too wide for what was seen, the widest first."""
    wide = sorted((one for one in margins if one.wide), key=lambda one: -(one.margin or 0.0))
    return [f"warning: {_where(one)}: the tolerance is {margin_text(one.margin)} times what was seen" for one in wide]


def _where(one: ToleranceMargin) -> str:
    mode = "" if one.mode is None else f", {one.mode.replace('_', ' ')}"
    number = " and ".join(map(str, one.levels))
    return f"{one.name} in {one.precision}{mode} (level{'s' if len(one.levels) > 1 else ''} {number})"


def warning_lines(margins: Sequence[ToleranceMargin]) -> list[str]:
    """The first of these warnings, and how many more there are, for the terminal."""
    found = warnings_of(margins)
    more = len(found) - MOST_LINES
    return found[:MOST_LINES] + ([f"... and {more} more tolerances as wide; the page lists them"] if more > 0 else [])
