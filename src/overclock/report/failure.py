"""A difference as the page shows it: the shortest episode, and both sides before and after, side by side."""

import dataclasses
from typing import Any

from overclock.report.table import FEW_VALUES, Kind, Table, flattened, shown, small
from overclock.verify.repro.result import ReproSummary, StatesAround
from overclock.verify.result import VerifyReport

FEW_ACTIONS = 40  # more are cut: the repro folder has them all


@dataclasses.dataclass(frozen=True)
class FailureSection:
    """A difference as the page's template shows it."""

    sentence: str
    command: str | None
    facts: list[tuple[str, str]]
    states: Table
    at_reset: bool


def failure_section(verify: VerifyReport) -> FailureSection | None:
    """What there is to see of a difference; None where none was found."""
    repro = verify.repro
    if repro is None:
        return None
    rest = len(repro.actions) - FEW_ACTIONS
    return FailureSection(
        sentence=repro.sentence,
        command=repro.command,
        facts=[
            ("field", repro.field + (f" (also {', '.join(repro.also_wrong)})" if repro.also_wrong else "")),
            ("reference", shown(repro.reference)),
            ("performance", shown(repro.performance)),
            ("error", f"{small(repro.error)}, tolerance {small(repro.tolerance)}"),
            ("step", f"{repro.step}, {repro.precision}, {repro.mode.replace('_', ' ')}"),
            ("actions", _words(repro.actions[:FEW_ACTIONS]) + (f" and {rest:,} more" if rest > 0 else "")),
            ("length", _length(repro)),
        ],
        states=states_table(repro.states, {repro.field, *repro.also_wrong}),
        at_reset=repro.states.before is None,
    )


def _words(actions: list[Any]) -> str:
    return f"[{', '.join(map(str, actions))}]"


def _length(repro: ReproSummary) -> str:
    """How much was taken away, and whether more could be."""
    proven = "nothing more can be left out" if repro.minimal else "the search was cut short, it may get shorter"
    return f"shrunk from {repro.found_after:,} to {len(repro.actions):,}; {proven}"


def states_table(states: StatesAround, wrong: set[str]) -> Table:
    """Both sides before and after, value by value; those that differ in a field outside its tolerance come first."""
    moments = {"after": states.after} if states.before is None else {"before": states.before, "after": states.after}
    columns: dict[str, Kind] = {"field": "code"}
    columns |= {f"{side} {moment}": "number" for moment in moments for side in ("reference", "performance")}
    columns["difference"] = "text"
    sides = [side for both in moments.values() for side in (both.reference, both.performance)]
    seen = [{name: _parts(name, values) for name, values in side.items()} for side in sides]
    differing, others = [], []
    for field in dict.fromkeys(name for one in seen for name in one):
        for part in dict.fromkeys(part for one in seen for part in one.get(field, {})):
            cells = [shown(one[field][part]) if part in one.get(field, {}) else "-" for one in seen]
            if cells[-1] != cells[-2] and field in wrong:
                differing.append([part, *cells, "differs"])
            else:
                others.append([part, *cells, "within tolerance" if cells[-1] != cells[-2] else ""])
    return Table(columns, differing + others, frozenset(range(len(differing))))


def _parts(name: str, value: Any) -> dict[str, Any]:
    """A short array value by value; a long one stays whole."""
    if not isinstance(value, list) or len(flattened(value)) > FEW_VALUES:
        return {name: value}
    return {part: number for i, inner in enumerate(value) for part, number in _parts(f"{name}[{i}]", inner).items()}
