"""A repro played again on both sides: does it still diverge?"""

import dataclasses
from pathlib import Path
from typing import Any, Literal

import numpy as np

from overclock.backends import Backend
from overclock.verify.compare import judge
from overclock.verify.contract import Mode, Precision, Twin
from overclock.verify.interaction.playback import lane_values
from overclock.verify.repro.arena import Arena, Finding, Moment
from overclock.verify.repro.repro import Repro, parse_repro, shown, strict
from overclock.verify.sides.process import CouldNotVerifyError
from overclock.verify.text import as_kernel
from overclock.verify.tolerance import Tolerance, compare_values
from overclock.verify.twins import find_twin
from overclock.verify.value_text import actions_text, sides_text

SECONDS = 120.0
STEPS_SHOWN = 3  # the divergence and what led to it


@dataclasses.dataclass(frozen=True)
class Replay:
    """A repro played again on both sides."""

    repro: Repro
    finding: Finding | None
    moments: tuple[Moment, ...]

    @property
    def verdict(self) -> str:
        """Whether the two sides still part."""
        return "no longer diverges" if self.finding is None else "still diverges"

    @property
    def sentence(self) -> str:
        """What was seen, in one sentence."""
        found, repro = self.finding, self.repro
        name = repro.twin + as_kernel(repro.backend)
        if found is None:
            return f"{name} no longer diverges: {repro.field} was different after {actions_text(repro.step)}."
        elsewhere = "" if (found.field, found.step) == (repro.field, repro.step) else (
            f", which is not where the repro was recorded ({repro.field} after {actions_text(repro.step)})"
        )  # fmt: skip
        reference, performance = sides_text(found.reference, found.performance)
        return (
            f"{name} still diverges: {found.field} is {performance} after {actions_text(found.step)}, the "
            f"reference says {reference} (error {found.error:.3g}, tolerance {found.tolerance:.3g}){elsewhere}."
        )


def twin_of(repro: Repro, plant: str | None = None) -> Twin:
    """The two sides a repro is about, as they are now; `plant` puts a known bug into the performance side."""
    twin = find_twin(repro.twin).twin
    twin = twin if repro.backend is None else twin.on(repro.backend)
    return twin if plant is None else twin.planted(plant)


def replay(repro: Repro, twin: Twin, timeout: float = SECONDS) -> Replay:
    """Play a repro on both sides, in their processes; raises CouldNotVerifyError where the reference has changed."""
    contract = twin.contracts.get(repro.precision)
    if contract is None or repro.field not in {field.name for field in contract.compared}:
        where = f"{repro.field} in {repro.precision}"
        raise CouldNotVerifyError(f"could not verify: the contract of {twin.name} says nothing about {where}.")
    with Arena(twin, repro.precision, timeout) as arena:
        if not all(map(arena.allows, repro.episode.actions)):
            raise CouldNotVerifyError("could not verify: the reference changed: it no longer has the repro's actions.")
        moments = tuple(arena.record(repro.episode, repro.mode))
    _require_unchanged_reference(repro, twin, moments)
    findings = [finding for moment in moments for finding in moment.findings]
    return Replay(repro, findings[0] if findings else None, moments)


def check_fixed(text: str, timeout: float = SECONDS) -> None:
    """What a repro's own test runs: an AssertionError while it still diverges."""
    repro = parse_repro(text)
    replayed = replay(repro, twin_of(repro), timeout)
    if replayed.finding is not None:
        raise AssertionError(replayed.sentence)


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReplayedField:
    """One field after one step on both sides; `action` is a text in brackets where there was none."""

    step: int
    action: object
    field: str
    reference: object
    performance: object
    error: float
    tolerance: float
    different: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class RecordedDivergence:
    """Where the repro said that the sides part, and the bug that was planted then."""

    field: str
    step: int
    plant: str | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReplayReport:
    """The report of `overclock repro`; `finding` is None where the sides no longer part."""

    schema: Literal["overclock.replay/1"] = "overclock.replay/1"
    folder: str
    twin: str
    precision: Precision
    mode: Mode
    plant: str | None
    backend: Backend | None
    verdict: str
    sentence: str
    recorded: RecordedDivergence
    finding: Finding | None
    steps: list[ReplayedField]


def step_table(replayed: Replay, twin: Twin) -> list[ReplayedField]:
    """Every field of both sides at the divergence (or where it was) and at the steps that led to it."""
    repro, rows = replayed.repro, []
    contract = twin.contracts[repro.precision]
    last = repro.step if replayed.finding is None else replayed.finding.step
    for number in range(max(0, last + 1 - STEPS_SHOWN), last + 1):
        moment = replayed.moments[number]
        start = "(reset)" if repro.episode.state is None else "(given state)"
        for field in contract.compared:
            tolerance = field.tolerance(repro.mode)
            judged = judge(contract, field, tolerance, moment.reference, moment.performance)
            if judged is None:
                continue
            rows.append(
                ReplayedField(
                    step=number,
                    action=repro.episode.actions[number - 1] if number else start,
                    field=field.name,
                    reference=judged.reference[0].tolist(),
                    performance=judged.performance[0].tolist(),
                    error=judged.worst(0)[0],
                    tolerance=judged.worst(0)[1],
                    different=field.name in {finding.field for finding in moment.findings},
                )
            )
    return rows


def describe(folder: Path, replayed: Replay, twin: Twin, plant: str | None) -> ReplayReport:
    """The report of a replay from a folder, with the bug that was planted for it."""
    repro = replayed.repro
    return ReplayReport(
        folder=str(folder),
        twin=repro.twin,
        precision=repro.precision,
        mode=repro.mode,
        plant=plant,
        backend=repro.backend,
        verdict=replayed.verdict,
        sentence=replayed.sentence,
        recorded=RecordedDivergence(field=repro.field, step=repro.step, plant=repro.plant),
        finding=replayed.finding,
        steps=step_table(replayed, twin),
    )


def _require_unchanged_reference(repro: Repro, twin: Twin, moments: tuple[Moment, ...]) -> None:
    """The reference must do what it did when the repro was recorded, else the repro says nothing about the other side.

    Values may differ by the free-running tolerance of the strictest contract: NumPy's own sine differs by an ulp
    between processors, and the file is from one of them.
    """
    if len(moments) != len(repro.expected):
        raise CouldNotVerifyError(
            f"could not verify: the reference changed: its episode ends after {actions_text(len(moments) - 1)}, "
            f"the repro has {actions_text(len(repro.expected) - 1)}."
        )
    tolerances = {field.name: field.tolerance("free_running") for field in twin.contracts[twin.strictest].fields}
    for number, (moment, recorded) in enumerate(zip(moments, repro.expected, strict=True)):
        now = shown(moment, twin)
        drawn = lane_values(moment.reference.draws, 0)
        if repro.episode.draws[number] != strict(drawn) and (number > 0 or repro.episode.state is None):
            changed, before, after = "its draws", repro.episode.draws[number], drawn
        else:
            known = [name for name in recorded if name in tolerances]
            changed = next((name for name in known if _differs(recorded[name], now.get(name), tolerances[name])), None)
            if changed is None:
                continue
            before, after = recorded[changed], now.get(changed)
        raise CouldNotVerifyError(
            f"could not verify: the reference changed: after {actions_text(number)} {changed} used to be {before} "
            f"and is {after} now; compare the two sides anew."
        )


def _differs(recorded: Any, now: Any, tolerance: Tolerance) -> bool:
    one, other = (np.asarray(value)[None] for value in (recorded, now))
    if now is None or one.shape != other.shape:
        return True
    return bool(compare_values(one.astype(np.float64), other.astype(np.float64), tolerance).wrong[0])
