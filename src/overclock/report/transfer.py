"""Level 4 as tables for the page: the groups of policies, the controls, the visited states, the plan."""

import dataclasses
from collections.abc import Sequence

from overclock.report.figures import Chart, Intervals, curves, equivalence
from overclock.report.table import Kind, Table, signed
from overclock.verify.transfer.result import BugControl, Controls, GroupResult, TransferLevel


@dataclasses.dataclass(frozen=True, kw_only=True)
class TransferSection:
    """Level 4 as the page's template shows it."""

    groups: Table
    tost: Intervals
    curves: list[Chart]
    band: list[float] | None
    controls: Table
    unseen: str | None
    visited: Table
    details: Table
    plan: list[tuple[str, str]]


def transfer_section(level: TransferLevel) -> TransferSection:
    """Level 4: groups, intervals, curves, controls, visited states, the plan."""
    return TransferSection(
        groups=groups_table(level),
        tost=equivalence(level),
        curves=curves(level.curves),
        band=next((curve.band for curve in level.curves.values()), None),
        controls=_controls(level.controls),
        unseen=_unseen(level.controls.unseen),
        visited=_visited(level),
        details=_details(level),
        plan=_plan(level),
    )


def groups_table(level: TransferLevel) -> Table:
    """What decides: the paired TOST of every group."""
    columns: dict[str, Kind] = {
        "trained on": "text", "strength": "text", "policies": "number", "mean on reference": "number",
        "on performance": "number", "difference": "number", f"{_confidence(level)} % interval": "number",
        "margin": "number", "verdict": "verdict", "policies needed": "number",
    }  # fmt: skip
    return Table(columns, [_group(group) for group in level.groups])


def _group(group: GroupResult) -> list[str]:
    low, high = group.tost.interval
    return [
        group.trained_on, group.strength, str(group.policies), f"{group.reference.mean:.2f}",
        f"{group.performance.mean:.2f}", signed(group.tost.difference), f"{signed(low)} .. {signed(high)}",
        f"{group.margin:g}", group.verdict, _needed(group),
    ]  # fmt: skip


def _needed(group: GroupResult) -> str:
    if group.verdict != "inconclusive":
        return "-"
    return f"{group.n_needed:,}" if group.n_needed else "no practical number"


def _confidence(level: TransferLevel) -> str:
    return f"{100 * (1 - 2 * level.alpha):.3g}"


def _controls(controls: Controls) -> Table:
    """Whether the evaluation can be believed."""
    itself, planted = controls.a_a, controls.planted
    apart = [group.title for group in itself.groups if group.verdict == "different"]
    rows = [
        [
            "A/A: the reference against itself, other episodes", "no group differs",
            f"differs: {', '.join(apart)}" if apart else f"{len(itself.groups)} groups, none differs",
            "passed" if itself.passed else "failed",
        ]
    ]  # fmt: skip
    if planted is None:
        rows.append(["planted bug", "it is seen", "no bug was planted", "not run"])
    else:
        seen = [group.title for group in planted.groups if group.verdict == "different"]
        what = f"seen in {', '.join(seen)}" if seen else planted.result
        rows.append([f"planted bug: {planted.bug}", "it is seen", what, "passed" if planted.seen else "failed"])
    return Table({"control": "words", "must show": "text", "showed": "words", "verdict": "verdict"}, rows)


def _unseen(unseen: BugControl | None) -> str | None:
    """Whether returns hid the bug that they are known to hide."""
    if unseen is None:
        return None
    if unseen.seen:
        return f"The bug '{unseen.bug}', which returns were thought to hide, was seen by transfer this time."
    states = "; only the states they visit give it away" if unseen.states_differ else ""
    return (
        f"Returns hide errors: with the bug '{unseen.bug}' planted, no group of policies is shown to score "
        f"differently{states}. Levels 1 to 3 exist because of bugs like this."
    )


def _visited(level: TransferLevel) -> Table:
    """Jensen-Shannon divergence of the visited states, between the sides and as chance would have it."""
    columns: dict[str, Kind] = {
        "policies": "words", "between the sides": "number", "if only chance differs": "number",
        "reference, other episodes": "number", "smallest p": "number", "differing policies": "number",
        "verdict": "verdict",
    }  # fmt: skip
    rows = []
    for group in level.groups:
        found = group.visited
        bits = (found.mean_bits, found.null_mean_bits, found.reference_against_itself_bits)
        rows.append(
            [
                group.title, *(f"{value:.2g} bits" for value in bits), f"{found.worst.p:.2g}",
                f"{found.policies_different} of {found.policies}", found.verdict,
            ]
        )  # fmt: skip
    return Table(columns, rows)


def _details(level: TransferLevel) -> Table:
    """Every test that was made, with its power; the controls too."""
    columns: dict[str, Kind] = {
        "what": "text", "policies": "text", "result": "words", "same return": "number", "power": "number",
        "policies for 90 %": "number",
    }  # fmt: skip
    controls = level.controls
    parts: list[tuple[str, Sequence[GroupResult]]] = [
        ("the two sides", level.groups), ("A/A control", controls.a_a.groups),
        *((f"with {one.bug}", one.groups) for one in (controls.planted, controls.unseen) if one is not None),
    ]  # fmt: skip
    rows = [
        [
            what, group.title, group.sentence, f"{group.identical_episodes:.0%}",
            f"{group.power.to_show_equivalence:.1%}", _count(group.power.policies_for_90_percent),
        ]
        for what, groups in parts
        for group in groups
    ]  # fmt: skip
    return Table(columns, rows)


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"


def _plan(level: TransferLevel) -> list[tuple[str, str]]:
    """What was fixed before anything ran."""
    plan, margins = level.plan, level.margins
    training = ", ".join(f"{name} {value}" for name, value in plan.training.items()) or "the defaults"
    values = ", ".join(f"{name} {value:g}" for name, value in margins.values.items())
    spent = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in level.seconds.items())
    return [
        ("fingerprint", f"sha256 {plan.sha256}"),
        ("margins", f"{values} ({margins.reason})"),
        ("looks", f"up to {plan.looks}, {plan.seeds} seeds each, alpha {level.alpha:g} at every look"),
        ("episodes", f"{plan.episodes} per policy and side, the same randomness on both"),
        ("training", f"{training}; the performance side in {plan.precision}"),
        ("seed", str(plan.seed)),
        ("time", spent),
    ]
