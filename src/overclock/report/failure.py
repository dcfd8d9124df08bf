"""A difference as the page shows it: the shortest episode, and both sides before and after, side by side."""

from typing import Any

from overclock.report.table import FEW_VALUES, Kind, Table, flattened, shown, small

SIDES = ("reference", "performance")
FEW_ACTIONS = 40  # more are cut: the repro folder has them all


def failure_section(verify: dict[str, Any]) -> dict[str, Any] | None:
    """What there is to see of a difference; None where none was found."""
    repro = verify["repro"]
    if repro is None:
        return None
    wrong = {repro["field"], *repro["also_wrong"]}
    actions = repro["actions"]
    rest = len(actions) - FEW_ACTIONS
    return {
        "sentence": repro["sentence"],
        "command": repro["command"],
        "facts": [
            ("field", repro["field"] + (f" (also {', '.join(repro['also_wrong'])})" if repro["also_wrong"] else "")),
            ("reference", shown(repro["reference"])),
            ("performance", shown(repro["performance"])),
            ("error", f"{small(repro['error'])}, tolerance {small(repro['tolerance'])}"),
            ("step", f"{repro['step']}, {repro['precision']}, {repro['mode'].replace('_', ' ')}"),
            ("actions", _words(actions[:FEW_ACTIONS]) + (f" and {rest:,} more" if rest > 0 else "")),
            ("length", _length(repro)),
        ],
        "states": states_table(repro["states"], wrong),
        "at_reset": repro["states"]["before"] is None,
    }


def _words(actions: list[Any]) -> str:
    return f"[{', '.join(map(str, actions))}]"


def _length(repro: dict[str, Any]) -> str:
    """How much was taken away, and whether more could be."""
    proven = "nothing more can be left out" if repro["minimal"] else "the search was cut short, it may get shorter"
    return f"shrunk from {repro['found_after']:,} to {len(repro['actions']):,}; {proven}"


def states_table(states: dict[str, Any], wrong: set[str]) -> Table:
    """Both sides before and after, value by value; those that differ in a field outside its tolerance come first."""
    moments = [moment for moment in ("before", "after") if states[moment] is not None]
    columns: dict[str, Kind] = {"field": "code"}
    columns |= {f"{side} {moment}": "number" for moment in moments for side in SIDES}
    columns["difference"] = "text"
    seen = [{name: _parts(name, values) for name, values in states[m][side].items()} for m in moments for side in SIDES]
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
