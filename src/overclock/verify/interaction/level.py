"""Level 2, interaction: scenarios that cross modules, and the performance side checked against itself.

The reference plays every scenario again before anything is compared, so a file that no longer says what the reference
does is reported as stale (no verdict) and can never drift. The performance side then plays all scenarios as one batch,
twice per precision: free running, and with every step taken from the reference's own state.
"""

import contextlib
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from overclock.env.registry import load
from overclock.errors import UsageError
from overclock.results import extended
from overclock.verify.compare import RareEvents, judge, too_many_rare
from overclock.verify.contract import MASK, OVERFLOWED, Contract, Mode, Precision, Twin
from overclock.verify.interaction.metamorphic_rules import VECTOR_RULES, Rule, judge_checks
from overclock.verify.interaction.playback import Playback, lane_values, play, play_reference, stale_sentence
from overclock.verify.interaction.precisions import check_precisions
from overclock.verify.interaction.result import (
    FirstMismatch,
    InteractionLevel,
    Mismatch,
    ScenarioResult,
    ScenarioRun,
    SelfCheck,
)
from overclock.verify.interaction.scenario import Scenario, load_scenarios
from overclock.verify.reach.ledger import Ledger
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import Observed

MODES: tuple[Mode, ...] = ("free_running", "per_step")
METAMORPHIC = "metamorphic"  # the call of a subject that can check itself


def check_interactions(
    twin: Twin,
    timeout: float = 120.0,
    scenarios: Sequence[Scenario] | None = None,
    recorded: Playback | None = None,
    metamorphic: bool = True,
    ledger: Ledger | None = None,
) -> InteractionLevel:
    """Play every scenario on both sides, then the metamorphic checks; returns the level's result.

    `scenarios` replaces those of the twin. `recorded` is what `play_reference` returned for them, for callers that
    compare many performance sides (mutants) with one reference. The `ledger` hears which branches of it were taken.
    """
    if scenarios is None:
        scenarios = [] if twin.scenarios is None else load_scenarios(twin.scenarios)
    ledger, twin = (ledger, twin) if twin.scripted_as is None else (None, twin.scripted_as)  # of another reference
    _require_usable(twin, scenarios)
    if recorded is None:
        recorded = play_reference(twin, scenarios, timeout, ledger)
    stale = [stale_sentence(twin, scenario, recorded, lane) for lane, scenario in enumerate(scenarios)]
    runs: list[list[ScenarioRun]] = [[] for _ in scenarios]
    checks: list[SelfCheck] = []
    notes: list[str] = [] if metamorphic else ["checks of the performance side against itself were not asked for"]
    with contextlib.ExitStack() as processes:
        sides: dict[Precision, ProcessSubject] = {}
        for precision, contract in twin.contracts.items():
            spec, side = twin.performance_in(precision), f"the performance side in {precision}"
            subject = ProcessSubject(spec, max(1, len(scenarios)), side, timeout)
            sides[precision] = processes.enter_context(subject)
            for mode in MODES if scenarios else ():
                played = play(subject, scenarios, recorded, forced=mode == "per_step")
                compared = compare_playbacks(contract, precision, mode, scenarios, recorded, played)
                for run, found in zip(runs, compared, strict=True):
                    run.append(found)
            if metamorphic and METAMORPHIC in subject.description.get("calls", ()):
                rules = _rules_of(twin, precision)  # asked for one by one: each has the time of a call
                shown = [subject.ask(METAMORPHIC, check=name, strays=contract.strays) for name in rules]
                checks += [dataclasses.replace(check, precision=precision) for check in judge_checks(shown, rules)]
            elif metamorphic:
                notes.append(f"{side} offers no checks of itself, so none were made")
        if metamorphic and checks and {"float64", "float32"} <= sides.keys():
            checks.append(check_precisions(twin, sides["float64"], sides["float32"]))
    described = [_describe(*row) for row in zip(scenarios, stale, runs, strict=True)]
    return InteractionLevel(verdict=_verdict(described, checks), scenarios=described, metamorphic=checks, notes=notes)


def _rules_of(twin: Twin, precision: Precision) -> Mapping[str, Rule]:
    """The checks of a side in one precision; those of batches are made in float32, which users run, if it is there."""
    rules: Mapping[str, Rule] = load(twin.self_checks)
    if precision == "float32" or "float32" not in twin.contracts:
        return rules
    return {name: rule for name, rule in rules.items() if name not in VECTOR_RULES}


def compare_playbacks(
    contract: Contract,
    precision: Precision,
    mode: Mode,
    scenarios: Sequence[Scenario],
    recorded: Playback,
    played: Playback,
) -> list[ScenarioRun]:
    """Compare what the performance side `played` with what was `recorded` of the reference, scenario by scenario."""
    found = [ScenarioRun(precision=precision, mode=mode) for _ in scenarios]
    horizon = contract.free_running_steps if mode == "free_running" else None
    events = RareEvents(mode, len(scenarios))
    rare: dict[int, Mismatch] = {}  # the first of every scenario that has any
    for number, (ref, perf) in enumerate(zip(recorded, played, strict=True)):
        expected = [_expected(scenario, number) for scenario in scenarios]
        if horizon is not None and number > horizon:
            for result, names in zip(found, expected, strict=True):
                result.beyond_horizon += bool(names)
            continue
        wanted = _with_deviations(ref, scenarios, number)
        rarely, worse = np.zeros(len(scenarios), np.bool_), np.zeros(len(scenarios), np.bool_)
        for field in contract.compared:
            tolerance = field.tolerance(mode)
            judged = judge(contract, field, tolerance, wanted, perf)
            if judged is None:
                continue
            for lane, result in enumerate(found):
                if field.name not in expected[lane]:
                    continue
                error = float(judged.errors[lane])
                result.largest_errors[field.name] = max(error, result.largest_errors.get(field.name, 0.0))
                if tolerance and not judged.rare[lane]:
                    result.keep_share(field.name, float(judged.shares[lane].max(initial=0.0)))
                result.excused_flags += int(judged.excused[lane])
                rarely[lane] |= judged.rare[lane]
                worse[lane] |= judged.wrong[lane] and not judged.rare[lane]
                if not judged.wrong[lane] or not result.passed:
                    continue
                mismatch = Mismatch(
                    step=number,
                    field=field.name,
                    reference=judged.reference[lane].tolist(),
                    performance=judged.performance[lane].tolist(),
                    error=judged.worst(lane)[0],
                    tolerance=judged.worst(lane)[1],
                    state_before=lane_values(recorded[number - 1].state, lane) if number else {},
                    action=scenarios[lane].steps[number - 1].action if number else None,
                )
                if judged.rare[lane]:
                    rare.setdefault(lane, mismatch)
                else:
                    result.passed, result.first_mismatch = False, mismatch
        before = events.counts.copy()
        events.add(rarely & ~worse)
        for lane in np.flatnonzero(events.counts > before):
            found[lane].rare_steps = int(events.counts[lane])
    counted = np.array([not scenario.rare for scenario in scenarios], np.bool_)
    steps = sum(len(scenario.steps) for scenario in scenarios if not scenario.rare)
    if too_many_rare(int(events.counts[counted].sum()), steps, contract.rare_share):
        for lane, mismatch in rare.items():
            if counted[lane] and found[lane].passed:
                found[lane].passed, found[lane].first_mismatch = False, mismatch
    return found


def _expected(scenario: Scenario, number: int) -> set[str]:
    """The fields to compare after a step (0: after the setup): those of the file, and the mask where there is one."""
    if number > len(scenario.steps) or (number == 0 and scenario.setup.state):  # nothing is shown of a state given
        return set()
    part = scenario.setup if number == 0 else scenario.steps[number - 1]
    return {*part.expect, MASK.name, OVERFLOWED.name}


def _with_deviations(ref: Observed, scenarios: Sequence[Scenario], number: int) -> Observed:
    """What the performance side shall show: the reference's values, but for the documented deviations of this step."""
    outputs, state = dict(ref.outputs), dict(ref.state)
    for lane, scenario in enumerate(scenarios):
        step = scenario.steps[number - 1] if 0 < number <= len(scenario.steps) else None
        for name, value in {} if step is None or step.deviation is None else step.deviation.fields.items():
            values, key = (state, name.removeprefix("state.")) if name.startswith("state.") else (outputs, name)
            values[key] = values[key].copy()
            values[key][lane] = value
    return Observed(outputs, state, ref.draws)


def _describe(scenario: Scenario, stale: str | None, runs: list[ScenarioRun]) -> ScenarioResult:
    mismatches = [
        extended(FirstMismatch, run.first_mismatch, precision=run.precision, mode=run.mode)
        for run in runs
        if run.first_mismatch is not None
    ]
    return ScenarioResult(
        name=scenario.name,
        why=scenario.why,
        verdict="could not verify" if stale else "pass" if all(run.passed for run in runs) else "fail",
        stale=stale,
        steps=len(scenario.steps),
        fields=scenario.fields,
        deviations=[step.deviation.reason for step in scenario.steps if step.deviation is not None],
        first_mismatch=min(mismatches, key=lambda found: found.step, default=None),
        runs=runs,
    )


def _verdict(scenarios: list[ScenarioResult], checks: list[SelfCheck]) -> Literal["pass", "fail", "could not verify"]:
    """A level without scenarios shows nothing about interaction, so it cannot pass."""
    verdicts = {scenario.verdict for scenario in scenarios}
    if "fail" in verdicts or not all(check.passed for check in checks):
        return "fail"
    return "could not verify" if "could not verify" in verdicts or not scenarios else "pass"


def _require_usable(twin: Twin, scenarios: Sequence[Scenario]) -> None:
    """Refuse scenarios that say nothing, or something about fields that are not compared."""
    known = {field.name for field in twin.contracts[twin.strictest].fields}
    for scenario in scenarios:
        if not any(step.expect for step in scenario.steps):
            raise UsageError(f"The scenario '{scenario.name}' expects nothing of any step; say what must come of them.")
        deviating = {name for step in scenario.steps if step.deviation for name in step.deviation.fields}
        for name in (*scenario.fields, *deviating):
            if name not in known:
                raise UsageError(f"The scenario '{scenario.name}' expects '{name}', which the contract does not name.")
