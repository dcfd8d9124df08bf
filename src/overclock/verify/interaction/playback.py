"""Scenarios played: on the reference (to record or to confirm them) and, with its randomness, on the other side."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.verify.contract import Twin
from overclock.verify.interaction.scenario import Deviation, Scenario, Setup, Step
from overclock.verify.reach.compared import Compared
from overclock.verify.reach.ledger import Ledger
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.soundness import Form
from overclock.verify.sides.subject import Arrays, Observed, Subject
from overclock.verify.tolerance import compare_values

Playback = list[Observed]
"""A batch of scenarios as one side played it: the setup, then one entry per step."""


def record_scenario(
    twin: Twin,
    name: str,
    why: str,
    setup: Mapping[str, Any],
    actions: Sequence[Any],
    deviations: Mapping[int, Deviation] | None = None,
    timeout: float = 120.0,
) -> Scenario:
    """What the reference does, as a scenario; `setup` is `{"seed": 3}` or `{"state": {...}}`, steps count from 1."""
    start = Setup(seed=setup.get("seed", 0), state=setup.get("state", {}))
    steps = tuple(Step(action, {}, deviation=(deviations or {}).get(n)) for n, action in enumerate(actions, start=1))
    (recorded,) = record_scenarios(twin, [Scenario(name, why, start, steps)], timeout)
    return recorded


def record_scenarios(twin: Twin, unrecorded: Sequence[Scenario], timeout: float = 120.0) -> list[Scenario]:
    """Scenarios with what the reference does in them, all played as one batch."""
    fields = [field.name for field in twin.contracts[twin.strictest].fields]
    first, *shown = play_reference(twin, unrecorded, timeout)
    recorded = []
    for lane, scenario in enumerate(unrecorded):
        start = scenario.setup
        if not start.state:
            start = dataclasses.replace(
                start, draws=lane_values(first.draws, lane), expect=_values(first, fields, lane)
            )
        steps = tuple(
            dataclasses.replace(step, expect=_values(after, fields, lane), draws=lane_values(after.draws, lane))
            for step, after in zip(scenario.steps, shown, strict=False)  # others of the batch may be longer
        )
        recorded.append(dataclasses.replace(scenario, setup=start, steps=steps))
    return recorded


def play_reference(
    twin: Twin, scenarios: Sequence[Scenario], timeout: float = 120.0, ledger: Ledger | None = None
) -> Playback:
    """All scenarios on the reference, in a process of its own; what it shows must be sound.

    The `ledger` hears which branches were taken where a scenario expects something.
    """
    if not scenarios:
        return []
    form = Form(len(scenarios))
    with (
        ProcessSubject(twin.reference, len(scenarios), "the reference", timeout) as reference,
        Compared(reference, ledger) as compared,
    ):
        first, *steps = play(reference, scenarios, compared=compared)
    return [form.after_reset(first), *map(form.after_step, steps)]


def play(
    subject: Subject,
    scenarios: Sequence[Scenario],
    recorded: Playback | None = None,
    forced: bool = False,
    compared: Compared | None = None,
) -> Playback:
    """All scenarios as one batch, with the randomness (and, `forced`, from the states) of a `recorded` reference."""
    seeds = np.array([scenario.setup.seed for scenario in scenarios], np.int64)
    lengths = np.array([len(scenario.steps) for scenario in scenarios])
    expecting = np.array([bool(scenario.setup.expect) and not scenario.setup.state for scenario in scenarios])

    def watched(lanes: np.ndarray) -> None:
        if compared is not None:
            compared.lanes(lanes)

    watched(expecting)
    first = subject.reset(np.ones(len(scenarios), np.bool_), seeds, None if recorded is None else recorded[0].draws)
    if any(scenario.setup.state for scenario in scenarios):
        first = dataclasses.replace(first, state=_start_states(scenarios, first.state))
        subject.set_state(first.state)
    shown = [first]
    for number in range(lengths.max()):
        if forced and recorded is not None:
            subject.set_state(recorded[number].state)
        elif (lengths <= number).any():  # lanes that are through wait in fresh episodes, never beyond an end
            watched(np.zeros_like(expecting))
            subject.reset(lengths <= number, seeds, first.draws)
        watched(np.array([_expects(scenario, number) for scenario in scenarios]))
        actions = [s.steps[number if number < len(s.steps) else 0].action for s in scenarios]
        draws = None if recorded is None else recorded[number + 1].draws
        shown.append(subject.step(_actions(subject, actions), draws))
    return shown


def _expects(scenario: Scenario, number: int) -> bool:
    """Whether anything of a step is compared."""
    return number < len(scenario.steps) and bool(scenario.steps[number].expect)


def stale_sentence(twin: Twin, scenario: Scenario, recorded: Playback, lane: int) -> str | None:
    """Where a scenario's file and its reference part, in words; None where they agree.

    They must agree within the free-running tolerance of the strictest contract (exactly, for a discrete environment):
    NumPy's own sine differs by an ulp between processors, and a file is recorded on one of them.
    """
    tolerances = {field.name: field for field in twin.contracts[twin.strictest].fields}
    parts: list[Setup | Step] = [scenario.setup, *scenario.steps]
    for number, (part, shown) in enumerate(zip(parts, recorded, strict=False)):
        for name, value in part.expect.items():
            given = tolerances[name].of(shown)
            given = np.array(None) if given is None else given[lane]
            allowed = tolerances[name].tolerance("free_running")
            if compare_values(_read(value, given), given[None], allowed).wrong[0]:
                return f"step {number}: the file expects {name} = {value}, the reference gives {given.tolist()}"
        drawn = lane_values(shown.draws, lane)
        if part.draws and part.draws != drawn:
            return f"step {number}: the file has the draws {dict(part.draws)}, the reference drew {drawn}"
    return None


def _read(value: Any, like: np.ndarray) -> np.ndarray:
    """A file's value as an array of one lane; who writes 1 for a float means 1.0."""
    read = np.array([value])
    return read.astype(like.dtype) if read.dtype.kind == "i" and like.dtype.kind == "f" else read


def _start_states(scenarios: Sequence[Scenario], reset: Arrays) -> Arrays:
    """The state that each scenario names; what it leaves out stays as the reset made it."""
    states = {name: values.copy() for name, values in reset.items()}
    for lane, scenario in enumerate(scenarios):
        for name, value in scenario.setup.state.items():
            if name not in states:
                raise UsageError(f"The scenario '{scenario.name}' sets '{name}', a field that the state does not have.")
            states[name][lane] = value
    return states


def _actions(subject: Subject, actions: list[Any]) -> np.ndarray:
    description = subject.describe()
    return np.array(actions, np.int32 if description["kind"] == "discrete" else description["low"].dtype)


def _values(observed: Observed, names: Sequence[str], lane: int) -> dict[str, Any]:
    """The named fields of one lane, as JSON values."""
    shown = {**observed.outputs, **{f"state.{name}": values for name, values in observed.state.items()}}
    return {name: shown[name][lane].tolist() for name in names if name in shown}


def lane_values(arrays: Arrays, lane: int) -> dict[str, Any]:
    """One lane's values, as JSON values."""
    return {name: values[lane].tolist() for name, values in arrays.items()}
