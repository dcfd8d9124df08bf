"""Levels 1 to 3 as tables and sentences for the page."""

from typing import Any

from overclock.report.figures import inline
from overclock.report.pictures import draw_envelope
from overclock.report.table import Kind, Table, shown, small
from overclock.report.walk import seen_text, walk_text
from overclock.verify.text import divergence_text, worst_text

Level = dict[str, Any]


def overview(verify: dict[str, Any] | None) -> Table:
    """One line per level that was asked for."""
    found = [] if verify is None else verify["levels"]
    rows = [[f"{level['level']} {level['name']}", level["verdict"], seen_text(level)] for level in found]
    return Table({"level": "text", "verdict": "verdict", "what was seen": "words"}, rows)


def property_section(level: Level) -> dict[str, Any]:
    """Level 1: modules, the gate, coverage, and every compared value."""
    widths = list(dict.fromkeys(c["precision"] for module in level["modules"] for c in module["comparisons"]))
    modules = Table(
        {
            "module": "code", "recorded": "number", "boundary": "number", "calls seen": "number",
            **{f"largest error, {width}": "words" for width in widths}, "verdict": "verdict",
        },
        [
            [
                module["name"], *(f"{module[key]:,}" for key in ("recorded", "boundary", "calls")),
                *(_worst(module, width) for width in widths),
                _equal(all(c["passed"] for c in module["comparisons"])),
            ]
            for module in level["modules"]
        ],
    )  # fmt: skip
    exercised = Table(
        {"module": "code", "in the reference": "code", "runs on the performance side": "code"},
        [[m["name"], _names(m["reference"]), _names(m["exercises"])] for m in level["modules"]],
    )
    first = level["first_failure"]
    return {
        "modules": modules,
        "by_xla": [(m["name"], m["by_xla"]) for m in level["modules"] if m.get("by_xla")],
        "exercised": exercised,
        "gate": _gate(level["gate"]),
        "coverage": _coverage(level["coverage"]),
        "missed": _missed(level["coverage"]),
        "values": _values(level),
        "relative": any(_relative(f) for m in level["modules"] for c in m["comparisons"] for f in c["fields"]),
        "first": None if first is None else _case(first),
    }


def _worst(module: dict[str, Any], width: str) -> str:
    """The largest error of a module's values and the largest distance of its distributions, with what is allowed."""
    fields = [field for c in module["comparisons"] if c["precision"] == width for field in c["fields"]]
    values = [field for field in fields if not _is_distribution(field)]
    samples = [field for field in fields if _is_distribution(field)]
    said = []
    if values:
        worst = max(values, key=lambda field: (not field["passed"], _or_infinite(field["largest_error"])))
        exact = worst["largest_error"] == 0
        said.append("0" if exact else f"{small(worst['largest_error'])} ({worst['name']}), allowed {_tolerance(worst)}")
    if samples:
        worst = max(samples, key=lambda field: _or_infinite(field["largest_error"]) - field["tolerance"])
        distance, allowed = small(worst["largest_error"]), small(worst["tolerance"])
        said.append(f"distance of distributions {distance} ({worst['name']}), allowed {allowed}")
    return "; ".join(said) or "-"


def _is_distribution(field: dict[str, Any]) -> bool:
    """Samples are compared as a whole, by a distance between distributions, which has no relative tolerance."""
    return "relative_tolerance" not in field


def _or_infinite(error: float | None) -> float:
    """JSON has no infinity, so a report that was read from a file has None there."""
    return float("inf") if error is None else error


def _names(functions: list[str]) -> str:
    return ", ".join(name.rpartition(":")[2] for name in functions) or "-"


def _gate(gate: dict[str, Any]) -> dict[str, Any]:
    if gate["passed"]:
        said = f"All {len(gate['exported'])} public functions of the performance side were run by these cases."
    else:
        missed = ", ".join(gate["not_exercised"] + gate["declared_but_not_run"]) or "every function: none is exported"
        said = f"Not run by any case: {missed}."
    return {"passed": gate["passed"], "text": said}


def _coverage(coverage: dict[str, Any]) -> Table:
    rows = []
    for side, found in coverage.items():
        unmeasured = "" if found is None else ", ".join(found["unmeasured"])
        shares = ["-", "-"] if found is None else [_share(found[what]) for what in ("lines", "branches")]
        # Lines can be counted in files only.
        why = f"not measured: {unmeasured} was changed in memory to plant a bug" if unmeasured else ""
        rows.append([side, *shares, why])
    return Table({"side": "text", "lines run": "number", "branches taken": "number", "": "words"}, rows)


def _share(counts: dict[str, Any]) -> str:
    if not counts["total"]:
        return "-"
    return f"{counts['covered']} of {counts['total']} ({counts['percent']:g} %)"


def _missed(coverage: dict[str, Any]) -> list[str]:
    found = [side for side in coverage.values() if side is not None]
    return [place for side in found for place in (*side["missing_lines"], *side["missing_branches"])]


def _values(level: Level) -> Table:
    columns: dict[str, Kind] = {
        "value": "code", "precision": "text", "compared": "number", "largest error": "number", "tolerance": "number",
        "why not zero": "words",
    }  # fmt: skip
    rows, marked = [], set()
    for module in level["modules"]:
        for comparison in module["comparisons"]:
            for field in comparison["fields"]:
                if not field["passed"]:
                    marked.add(len(rows))
                rows.append(
                    [
                        f"{module['name']}.{field['name']}" + (" (distribution)" if _is_distribution(field) else ""),
                        comparison["precision"], f"{field['compared']:,}",
                        small(field["largest_error"]), _tolerance(field), field["reason"] or "equal bit for bit",
                    ]
                )  # fmt: skip
    return Table(columns, rows, frozenset(marked))


def _tolerance(field: dict[str, Any]) -> str:
    parts = [] if _relative(field) and not field["tolerance"] else [small(field["tolerance"])]
    parts += [f"{small(_relative(field))} of the value"] if _relative(field) else []
    return " + ".join(parts)


def _relative(field: dict[str, Any]) -> float:
    """How much of the tolerance grows with the value."""
    return field.get("relative_tolerance", 0.0)


def _case(first: dict[str, Any]) -> dict[str, Any]:
    """The first wrong case of level 1; a distribution has no inputs to show."""
    where = f"{first['module']}.{first['field']} in {first['precision']}"
    if first["case"] is None:
        said = f"distance {small(first['error'])}, allowed {small(first['tolerance'])}"
        return {"where": where, "text": said, "inputs": []}
    return {
        "where": where,
        "text": f"{first['wrong']:,} of {first['compared']:,} cases are wrong; the first one is {first['origin']}",
        "inputs": [(name, shown(value)) for name, value in first["inputs"].items()],
        "reference": shown(first["reference"]),
        "performance": shown(first["performance"]),
        "error": f"{small(first['error'])} (tolerance {_tolerance(first)})",
    }


def interaction_section(level: Level) -> dict[str, Any]:
    """Level 2: scenarios with their documented deviations, and the metamorphic checks."""
    scenarios, checks = level["scenarios"], level["metamorphic"]
    holding = sum(check["passed"] for check in checks)
    return {
        "passed": sum(scenario["verdict"] == "pass" for scenario in scenarios),
        "total": len(scenarios),
        "scenarios": Table(
            {"scenario": "code", "why": "words", "steps": "number", "verdict": "verdict"},
            [[s["name"], s["why"], f"{s['steps']:,}", s["verdict"]] for s in scenarios],
        ),
        "deviations": [(s["name"], reason) for s in scenarios for reason in s["deviations"]],
        "wrong": [(s["name"], _mismatch(s)) for s in scenarios if s["verdict"] != "pass"],
        "holding": holding,
        "checks": Table(
            {
                "check": "text", "precision": "text", "compared": "number", "largest error": "number",
                "allowed": "words", "verdict": "verdict", "why not zero": "words",
            },
            [
                [
                    c["name"], c["precision"], f"{c['compared']:,}",
                    small(c["largest_error"]) + (f" ({c['worst_field']})" if c["worst_field"] else ""),
                    f"{small(c['tolerance'])} {c['unit']}", "holds" if c["passed"] else "fail", c["reason"],
                ]
                for c in checks
            ],
        ),
        "all_hold": holding == len(checks),
    }  # fmt: skip


def _mismatch(scenario: dict[str, Any]) -> str:
    if scenario["stale"]:
        return scenario["stale"]
    first = scenario["first_mismatch"]
    return (
        f"{first['field']} after step {first['step']} ({first['precision']}, {first['mode'].replace('_', ' ')}): "
        f"reference {shown(first['reference'])}, performance {shown(first['performance'])}, error "
        f"{small(first['error'])}, tolerance {small(first['tolerance'])}"
    )


def comparisons_table(comparisons: list[dict[str, Any]]) -> Table:
    """Level 3's comparisons, one line each."""
    columns: dict[str, Kind] = {
        "actions": "text", "precision": "text", "synchronised": "text", "episodes": "number", "steps": "number",
        "terminated / truncated": "number", "largest error": "text", "bound": "number",
        "verdict": "verdict",
    }  # fmt: skip
    rows = [
        [
            c["actions"], c["precision"], c["mode"].replace("_", " "),
            f"{c['episodes']:,}", f"{c['steps']:,}", f"{c['terminated']:,} / {c['truncated']:,}",
            worst_text(c), "-" if c["divergence_bound"] is None else f"{c['divergence_bound']:.2%}",
            _equal(c["passed"]),
        ]
        for c in comparisons
    ]  # fmt: skip
    return Table(columns, rows)


def rollout_section(level: Level) -> dict[str, Any]:
    """Level 3: whole episodes, what guided play reached, the exhaustive walk, first divergences."""
    comparisons = level["comparisons"]
    fields, marked = [], set()
    for c in comparisons:
        for field in c["fields"]:
            if not field["passed"]:
                marked.add(len(fields))
            fields.append(
                [
                    field["name"], c["actions"], c["precision"], c["mode"].replace("_", " "),
                    f"{field['compared']:,}", small(field["largest_error"]), small(field["tolerance"]),
                ]
            )  # fmt: skip
    columns: dict[str, Kind] = {
        "field": "code", "actions": "text", "precision": "text", "synchronised": "text", "compared": "number",
        "largest error": "number", "tolerance": "number",
    }  # fmt: skip
    return {
        "comparisons": comparisons_table(comparisons),
        "fields": Table(columns, fields, frozenset(marked)),
        "branches": next((c["branches"] for c in comparisons if c["branches"]), None),
        "exhaustive": level["exhaustive"],
        "walked": None if level["exhaustive"] is None else walk_text(level["exhaustive"]),
        "mismatch": _differing_step(level["exhaustive"]),
        "envelope": _envelope(level.get("envelope")),
        "divergences": [
            (f"{c['actions']} actions, {c['precision']}, {c['mode'].replace('_', ' ')}", _first(c))
            for c in comparisons
            if c["first_divergence"] is not None
        ],
    }


def _envelope(found: dict[str, Any] | None) -> dict[str, Any] | None:
    """Free running of a chaotic system beside the reference's own spread: a picture, and when errors reach a size."""
    if found is None:
        return None
    reached = Table(
        {"error": "number", "performance side": "number", "copies of the reference": "number"},
        [
            [small(one["error"]), *(_step(one[side]) for side in ("performance", "reference"))]
            for one in found["reached"]
        ],
    )
    said = f"{found['sentence'][0].upper()}{found['sentence'][1:]}."
    why, picture = found["reason"], inline(draw_envelope(found))
    return {"verdict": found["verdict"], "said": said, "reason": why, "reached": reached, "picture": picture}


def _step(number: int | None) -> str:
    return "never" if number is None else f"{number:,}"


def _differing_step(walk: dict[str, Any] | None) -> list[tuple[str, Any]]:
    """The step at which a walk over every state stopped; older reports do not say what was drawn there."""
    wrong = None if walk is None else walk["first_mismatch"]
    if wrong is None:
        return []
    drawn = wrong.get("draws") or {}
    return [
        ("reference", wrong["reference"]),
        ("performance", wrong["performance"]),
        ("state before", wrong["state_before"]),
        ("actions from the reset", wrong["path"]),
        ("action", wrong["action"]),
        *((f"drawn {name}", value) for name, value in drawn.items()),
    ]


def _first(comparison: dict[str, Any]) -> str:
    return divergence_text(comparison["first_divergence"])


def _equal(passed: bool) -> str:
    return "equal" if passed else "DIFFERENT"
