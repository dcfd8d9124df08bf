"""Levels 1 to 3 as tables and sentences for the page."""

import dataclasses
import math

from overclock.report.figures import inline
from overclock.report.pictures import draw_envelope
from overclock.report.table import Kind, Table, shown, small, tolerance_text
from overclock.report.walk import seen_text, walk_text
from overclock.verify.compare import ComparedField
from overclock.verify.exhaustive.result import WalkResult
from overclock.verify.interaction.result import InteractionLevel, ScenarioResult
from overclock.verify.margins import margin_text
from overclock.verify.property.result import (
    BothCoverages,
    Coverage,
    FirstFailure,
    Gate,
    ModuleResult,
    PropertyLevel,
    Share,
    WrongDistribution,
)
from overclock.verify.reach.reached import Reached
from overclock.verify.result import VerifyReport
from overclock.verify.rollout.outcome_result import OutcomeResult
from overclock.verify.rollout.result import Branches, ComparisonResult, EnvelopeResult, RolloutLevel
from overclock.verify.text import divergence_text, worst_text
from overclock.verify.tolerance import Tolerance


def overview(verify: VerifyReport | None) -> Table:
    """One line per level that was asked for."""
    found = [] if verify is None else verify.levels
    rows = [[f"{level.level} {level.name}", level.verdict, seen_text(level)] for level in found]
    return Table({"level": "text", "verdict": "verdict", "what was seen": "words"}, rows)


@dataclasses.dataclass(frozen=True, kw_only=True)
class WrongCaseSection:
    """The first wrong case of level 1; a distribution has no inputs and no values to show."""

    where: str
    text: str
    inputs: list[tuple[str, str]]
    reference: str = ""
    performance: str = ""
    error: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True)
class PropertySection:
    """Level 1 as the page's template shows it."""

    modules: Table
    by_xla: list[tuple[str, str]]
    exercised: Table
    gate_passed: bool
    gate: str
    coverage: Table
    missed: list[str]
    compared: Table
    relative: bool
    first: WrongCaseSection | None


def property_section(level: PropertyLevel) -> PropertySection:
    """Level 1: modules, the gate, coverage, and every compared value."""
    widths = list(dict.fromkeys(c.precision for module in level.modules for c in module.comparisons))
    modules = Table(
        {
            "module": "code", "recorded": "number", "boundary": "number", "calls seen": "number",
            **{f"largest error, {width}": "words" for width in widths}, "verdict": "verdict",
        },
        [
            [
                module.name, *(f"{count:,}" for count in (module.recorded, module.boundary, module.calls)),
                *(_worst(module, width) for width in widths), _equal(all(c.passed for c in module.comparisons)),
            ]
            for module in level.modules
        ],
    )  # fmt: skip
    exercised = Table(
        {"module": "code", "in the reference": "code", "runs on the performance side": "code"},
        [[m.name, _names(m.reference), _names(m.exercises)] for m in level.modules],
    )
    return PropertySection(
        modules=modules,
        by_xla=[(module.name, module.by_xla) for module in level.modules if module.by_xla],
        exercised=exercised,
        gate_passed=level.gate.passed,
        gate=_gate(level.gate),
        coverage=_coverage(level.coverage),
        missed=_missed(level.coverage),
        compared=_compared(level),
        relative=any(f.relative_tolerance for m in level.modules for c in m.comparisons for f in c.fields),
        first=None if level.first_failure is None else _case(level.first_failure),
    )


def _worst(module: ModuleResult, width: str) -> str:
    """The largest error of a module's values and the largest distance of its distributions, with what is allowed."""
    fields = [field for c in module.comparisons if c.precision == width for field in c.fields]
    values = [field for field in fields if not field.is_distribution]
    samples = [field for field in fields if field.is_distribution]
    said = []
    if values:
        worst = max(values, key=lambda field: (not field.passed, _or_infinite(field.largest_error)))
        exact = worst.largest_error == 0
        said.append("0" if exact else f"{small(worst.largest_error)} ({worst.name}), allowed {_tolerance(worst)}")
    if samples:
        worst = max(samples, key=lambda field: _or_infinite(field.largest_error) - field.tolerance)
        distance, allowed = small(worst.largest_error), small(worst.tolerance)
        said.append(f"distance of distributions {distance} ({worst.name}), allowed {allowed}")
    return "; ".join(said) or "-"


def _or_infinite(error: float) -> float:
    """JSON has no infinity, so a report that was read from a file has not-a-number there."""
    return math.inf if math.isnan(error) else error


def _names(functions: list[str]) -> str:
    return ", ".join(name.rpartition(":")[2] for name in functions) or "-"


def _gate(gate: Gate) -> str:
    if gate.passed:
        return f"All {len(gate.exported)} public functions of the performance side were run by these cases."
    missed = ", ".join(gate.not_exercised + gate.declared_but_not_run) or "every function: none is exported"
    return f"Not run by any case: {missed}."


def _sides(coverage: BothCoverages) -> dict[str, Coverage | None]:
    return {"reference": coverage.reference, "performance": coverage.performance}


def _coverage(coverage: BothCoverages) -> Table:
    rows = []
    for side, found in _sides(coverage).items():
        unmeasured = "" if found is None else ", ".join(found.unmeasured)
        shares = ["-", "-"] if found is None else [_share(found.lines), _share(found.branches)]
        # Lines can be counted in files only.
        why = f"not measured: {unmeasured} was changed in memory to plant a bug" if unmeasured else ""
        rows.append([side, *shares, why])
    return Table({"side": "text", "lines run": "number", "branches taken": "number", "": "words"}, rows)


def _share(counts: Share) -> str:
    return f"{counts.covered} of {counts.total} ({counts.percent:g} %)" if counts.total else "-"


def _missed(coverage: BothCoverages) -> list[str]:
    found = [side for side in _sides(coverage).values() if side is not None]
    return [place for side in found for place in (*side.missing_lines, *side.missing_branches)]


def _compared(level: PropertyLevel) -> Table:
    columns: dict[str, Kind] = {
        "value": "code", "precision": "text", "compared": "number", "largest error": "number", "tolerance": "number",
        "margin": "number", "why not zero": "words",
    }  # fmt: skip
    found = [(module, c, field) for module in level.modules for c in module.comparisons for field in c.fields]
    rows = [
        [
            f"{module.name}.{field.name}" + (" (distribution)" if field.is_distribution else ""), comparison.precision,
            f"{field.compared:,}", small(field.largest_error), _tolerance(field), _margin(field),
            field.reason or "equal bit for bit",
        ]
        for module, comparison, field in found
    ]  # fmt: skip
    return Table(columns, rows, frozenset(i for i, (_, _, field) in enumerate(found) if not field.passed))


def _tolerance(found: ComparedField) -> str:
    return tolerance_text(Tolerance(found.tolerance, found.relative_tolerance or 0.0))


def _margin(found: ComparedField) -> str:
    loose = found.relative_tolerance is not None and (found.tolerance or found.relative_tolerance)
    return margin_text(found.margin) if loose else "-"


def _case(first: FirstFailure) -> WrongCaseSection:
    where = f"{first.module}.{first.field} in {first.precision}"
    if isinstance(first, WrongDistribution):
        said = f"distance {small(first.error)}, allowed {small(first.tolerance)}"
        return WrongCaseSection(where=where, text=said, inputs=[])
    return WrongCaseSection(
        where=where,
        text=f"{first.wrong:,} of {first.compared:,} cases are wrong; the first one is {first.origin}",
        inputs=[(name, shown(value)) for name, value in first.inputs.items()],
        reference=shown(first.reference),
        performance=shown(first.performance),
        error=f"{small(first.error)} (allowed {small(first.tolerance)})",
    )


@dataclasses.dataclass(frozen=True, kw_only=True)
class InteractionSection:
    """Level 2 as the page's template shows it."""

    passed: int
    total: int
    scenarios: Table
    deviations: list[tuple[str, str]]
    wrong: list[tuple[str, str]]
    holding: int
    checks: Table
    all_hold: bool


def interaction_section(level: InteractionLevel) -> InteractionSection:
    """Level 2: scenarios with their documented deviations, and the metamorphic checks."""
    scenarios, checks = level.scenarios, level.metamorphic
    holding = sum(check.passed for check in checks)
    return InteractionSection(
        passed=sum(scenario.verdict == "pass" for scenario in scenarios),
        total=len(scenarios),
        scenarios=Table(
            {"scenario": "code", "why": "words", "steps": "number", "verdict": "verdict"},
            [[s.name, s.why, f"{s.steps:,}", s.verdict] for s in scenarios],
        ),
        deviations=[(s.name, reason) for s in scenarios for reason in s.deviations],
        wrong=[(s.name, _mismatch(s)) for s in scenarios if s.verdict != "pass"],
        holding=holding,
        checks=Table(
            {
                "check": "text", "precision": "text", "compared": "number", "largest error": "number",
                "allowed": "words", "verdict": "verdict", "why not zero": "words",
            },
            [
                [
                    c.name, c.precision or "-", f"{c.compared:,}",
                    small(c.largest_error) + (f" ({c.worst_field})" if c.worst_field else ""),
                    f"{small(c.tolerance)} {c.unit}", "holds" if c.passed else "fail", c.reason,
                ]
                for c in checks
            ],
        ),
        all_hold=holding == len(checks),
    )  # fmt: skip


def _mismatch(scenario: ScenarioResult) -> str:
    first = scenario.first_mismatch
    if scenario.stale or first is None:
        return scenario.stale or ""
    return (
        f"{first.field} after step {first.step} ({first.precision}, {first.mode.replace('_', ' ')}): "
        f"reference {shown(first.reference)}, performance {shown(first.performance)}, error "
        f"{small(first.error)}, tolerance {small(first.tolerance)}"
    )


def comparisons_table(comparisons: list[ComparisonResult]) -> Table:
    """Level 3's comparisons, one line each."""
    columns: dict[str, Kind] = {
        "actions": "text", "precision": "text", "synchronised": "text", "episodes": "number", "steps": "number",
        "terminated / truncated": "number", "largest error": "text", "bound": "number",
        "verdict": "verdict",
    }  # fmt: skip
    rows = [
        [
            c.actions, c.precision, c.mode.replace("_", " "),
            f"{c.episodes:,}", f"{c.steps:,}", f"{c.terminated:,} / {c.truncated:,}",
            worst_text(c), "-" if c.divergence_bound is None else f"{c.divergence_bound:.2%}",
            _equal(c.passed),
        ]
        for c in comparisons
    ]  # fmt: skip
    return Table(columns, rows)


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvelopeSection:
    """Free running of a chaotic system beside the reference's own spread: a picture, and when errors reach a size."""

    verdict: str
    said: str
    reason: str
    reached: Table
    picture: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class RolloutSection:
    """Level 3 as the page's template shows it."""

    comparisons: Table
    fields: Table
    branches: Branches | None
    reached: Reached | None
    beyond_end: str | None
    exhaustive: WalkResult | None
    walked: str | None
    mismatch: list[tuple[str, object]]
    envelope: EnvelopeSection | None
    outcomes: OutcomeResult | None
    divergences: list[tuple[str, str]]


def rollout_section(level: RolloutLevel) -> RolloutSection:
    """Level 3: whole episodes, what guided play reached, the exhaustive walk, first divergences."""
    columns: dict[str, Kind] = {
        "field": "code", "actions": "text", "precision": "text", "synchronised": "text", "compared": "number",
        "largest error": "number", "tolerance": "number", "margin": "number",
    }  # fmt: skip
    found = [(c, field) for c in level.comparisons for field in c.fields]
    fields = [
        [
            field.name, c.actions, c.precision, c.mode.replace("_", " "), f"{field.compared:,}",
            small(field.largest_error), _tolerance(field), _margin(field),
        ]
        for c, field in found
    ]  # fmt: skip
    return RolloutSection(
        comparisons=comparisons_table(level.comparisons),
        fields=Table(columns, fields, frozenset(i for i, (_, field) in enumerate(found) if not field.passed)),
        branches=next((c.branches for c in level.comparisons if c.branches is not None), None),
        reached=level.reached,
        beyond_end=level.beyond_end,
        exhaustive=level.exhaustive,
        walked=None if level.exhaustive is None else walk_text(level.exhaustive),
        mismatch=_differing_step(level.exhaustive),
        envelope=None if level.envelope is None else _envelope(level.envelope),
        outcomes=level.outcomes,
        divergences=[
            (c.title, divergence_text(c.first_divergence)) for c in level.comparisons if c.first_divergence is not None
        ],
    )


def _envelope(found: EnvelopeResult) -> EnvelopeSection:
    columns: dict[str, Kind] = {
        "error": "number", "performance side": "number", "copies of the reference": "number"
    }  # fmt: skip
    rows = [[small(one.error), _step(one.performance), _step(one.reference)] for one in found.reached]
    return EnvelopeSection(
        verdict=found.verdict,
        said=f"{found.sentence[0].upper()}{found.sentence[1:]}.",
        reason=found.reason,
        reached=Table(columns, rows),
        picture=inline(draw_envelope(found)),
    )


def _step(number: int | None) -> str:
    return "never" if number is None else f"{number:,}"


def _differing_step(walk: WalkResult | None) -> list[tuple[str, object]]:
    """The step at which a walk over every state stopped."""
    wrong = None if walk is None else walk.first_mismatch
    if wrong is None:
        return []
    return [
        ("reference", wrong.reference),
        ("performance", wrong.performance),
        ("state before", wrong.state_before),
        ("actions from the reset", wrong.path),
        ("action", wrong.action),
        *((f"drawn {name}", value) for name, value in wrong.draws.items()),
    ]


def _equal(passed: bool) -> str:
    return "equal" if passed else "DIFFERENT"
