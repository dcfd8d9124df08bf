"""Every reachable state and every action of a small finite environment: a proof of equality, where it completes.

Breadth first from the reset: both sides are put into the same state, take the same action, and every contracted field
of the outcome is compared. If all are equal and no state is left, then by induction every episode of any length is
equal; no sampling is involved. It needs discrete actions, steps without randomness, a state that is all there is to
know (the reference's `set_state` must restore everything), and few enough states. Nothing is walked beyond an end.
Random steps are taken several times from every state, with draws of the reference's own: no proof, but no state is left
out.

A result calls itself a proof only if the induction holds: the contract compares every state field and every output
exactly, no flag was excused, and the first states are complete. The reference resets from seeds, so the outcomes of a
random reset are those that `reset_seeds` seeds give; they are complete if there are as many as the caller knows there
must be. Which of them the performance side draws how often, when left to itself, is no part of it.
"""

import dataclasses
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.verify.compare import judge, too_many_excused
from overclock.verify.contract import OUTPUTS, Precision, Twin
from overclock.verify.process import ProcessSubject
from overclock.verify.soundness import Form
from overclock.verify.subject import Arrays, Observed, Subject

State = dict[str, np.ndarray]  # of one lane


@dataclasses.dataclass
class _Known:
    """The states found so far, each with the (state, action) that first led to it."""

    counted: bool
    states: list[State] = dataclasses.field(default_factory=list)
    came_from: list[tuple[int, int] | None] = dataclasses.field(default_factory=list)
    _numbers: dict[bytes, int] = dataclasses.field(default_factory=dict)

    def add(self, state: State, origin: tuple[int, int] | None) -> None:
        """Remember a state if it is new; without counting, every state is taken at step 0."""
        if not self.counted:
            state = {**state, "steps": np.zeros_like(state["steps"])}
        key = b"".join(np.ascontiguousarray(state[name]).tobytes() for name in sorted(state))
        if key not in self._numbers:
            self._numbers[key] = len(self.states)
            self.states.append(state)
            self.came_from.append(origin)

    def path(self, number: int) -> list[int]:
        """The shortest sequence of actions from a reset to a state."""
        origin, actions = self.came_from[number], list[int]()
        while origin is not None:
            number, action = origin
            actions.append(action)
            origin = self.came_from[number]
        return actions[::-1]


def check_exhaustively(
    twin: Twin,
    precision: Precision | None = None,
    num_lanes: int = 256,
    timeout: float = 120.0,
    required: bool = True,
    **limits: Any,
) -> dict[str, Any] | None:
    """Compare every reachable state and action, both sides in their processes; `limits` as in `explore`.

    None, where it is not `required`: there are too many of them after all.
    """
    precision = twin.strictest if precision is None else precision
    with (
        ProcessSubject(twin.reference, num_lanes, "the reference", timeout) as reference,
        ProcessSubject(twin.performance_in(precision), num_lanes, "the performance side", timeout) as performance,
    ):
        if not required and reference.describe()["kind"] != "discrete":
            return None
        found = explore(twin, precision, reference, performance, **limits)
    return None if not required and found["verdict"] == "could not verify" else found


def explore(
    twin: Twin,
    precision: Precision,
    reference: Subject,
    performance: Subject,
    max_states: int = 100_000,
    count_steps: bool = False,
    reset_seeds: int = 256,
    reset_states: int | None = None,
    repeats: int = 1,
) -> dict[str, Any]:
    """Compare two subjects of as many lanes in every reachable state; returns a JSON-able result of level 3.

    With `count_steps` the step counter is part of the state and the time limit part of the proof; without it every
    state is taken at step 0. `reset_states` says how many outcomes a random reset has, `repeats` how often a step is
    taken where steps are random. Verdicts: `pass`, `fail`, and
    `could not verify` if there are more than `max_states` states or if too many flags were excused near a threshold.
    """
    description = reference.describe()
    if description["kind"] != "discrete" or "players" in description:
        raise UsageError(f"{twin.name} cannot be compared exhaustively: it needs one player and discrete actions.")
    search = _Search(twin, precision, reference, performance, count_steps, repeats)
    search.reset(reset_seeds)
    finished = search.walk(max_states)
    return search.result(finished, reset_states, max_states)


class _Search:
    """The lock-step walk over all states and its bookkeeping."""

    def __init__(
        self, twin: Twin, precision: Precision, reference: Subject, performance: Subject, counted: bool, repeats: int
    ) -> None:
        self.twin, self.precision, self.contract = twin, precision, twin.contracts[precision]
        self.reference, self.performance = reference, performance
        self.num_actions = int(reference.describe()["n"])
        self.known = _Known(counted)
        self.form = Form(reference.num_envs)
        self.repeats, self.random_steps = repeats, False
        self.random_reset = False
        self.reset_states = 0
        self.transitions = 0
        self.excused = self.excusable = 0
        self.mismatch: dict[str, Any] | None = None

    def reset(self, num_seeds: int) -> None:
        """Compare resets from many seeds and start from their states."""
        lanes = self.reference.num_envs
        drawn = False
        for first in range(0, num_seeds, lanes):
            seeds = np.arange(first, first + lanes, dtype=np.int64)
            ref = self.form.after_reset(self.reference.reset(np.ones(lanes, np.bool_), seeds))
            perf = self.performance.reset(np.ones(lanes, np.bool_), seeds, ref.draws)
            used = min(lanes, num_seeds - first)
            self._compare(ref, perf, None, None, used)
            drawn = drawn or bool(ref.draws)
            for lane in range(used):
                self.known.add({name: values[lane] for name, values in ref.state.items()}, None)
            if not drawn:
                break
        self.reset_states = len(self.known.states)
        self.random_reset = drawn or self.reset_states > 1

    def walk(self, max_states: int) -> bool:
        """Walk until no state is left or one mismatch is found; False where there are too many states."""
        lanes, pair, each = self.reference.num_envs, 0, self.num_actions * self.repeats
        while self.mismatch is None and pair < len(self.known.states) * each:
            if len(self.known.states) > max_states:
                return False
            last = min(pair + lanes, len(self.known.states) * each)
            pairs = np.arange(pair, pair + lanes)
            pairs[last - pair :] = pair  # lanes without work repeat the first one's
            numbers, actions = pairs // each, (pairs // self.repeats % self.num_actions).astype(np.int32)
            states = [self.known.states[number] for number in numbers]
            self._step(numbers, actions, _stack(states), last - pair)
            pair = last
        return True

    def _step(self, numbers: np.ndarray, actions: np.ndarray, states: Arrays, used: int) -> None:
        self.reference.set_state(states)
        self.performance.set_state(states)
        ref = self.form.after_step(self.reference.step(actions))
        self.random_steps = self.random_steps or bool(ref.draws)
        if ref.draws and self.repeats == 1:
            drawn = ", ".join(ref.draws)
            raise UsageError(f"{self.twin.name} cannot be compared exhaustively: its steps are random ({drawn}).")
        perf = self.performance.step(actions, ref.draws)
        self._compare(ref, perf, numbers, actions, used)
        self.transitions += used
        ended = ref.outputs["terminated"] | ref.outputs["truncated"]
        for lane in np.flatnonzero(~ended[:used]).tolist():
            after = {name: values[lane] for name, values in ref.state.items()}
            self.known.add(after, (int(numbers[lane]), int(actions[lane])))

    def _compare(
        self, ref: Observed, perf: Observed, numbers: np.ndarray | None, actions: np.ndarray | None, used: int
    ) -> None:
        for field in self.contract.compared:
            judged = judge(self.contract, field, field.tolerance("per_step"), ref, perf)
            if judged is None:
                continue
            self.excused += int(judged.excused[:used].sum())
            self.excusable += used * (field.name in self.contract.limit_fields)
            wrong = np.flatnonzero(judged.wrong[:used])
            if wrong.size and self.mismatch is None:
                lane = int(wrong[0])
                number = None if numbers is None else int(numbers[lane])
                before = {} if number is None else self.known.states[number]
                self.mismatch = {
                    "field": field.name,
                    "reference": judged.reference[lane].tolist(),
                    "performance": judged.performance[lane].tolist(),
                    "error": float(judged.errors[lane]),
                    "tolerance": field.tolerance("per_step"),
                    "state_before": {name: value.tolist() for name, value in before.items()},
                    "path": [] if number is None else self.known.path(number),
                    "action": None if actions is None else int(actions[lane]),
                }

    def result(self, finished: bool, reset_states: int | None, max_states: int) -> dict[str, Any]:
        """What was shown, also in one sentence."""
        states, actions = len(self.known.states), self.num_actions
        all_resets = not self.random_reset or self.reset_states == reset_states
        inexact = self._not_compared_exactly()
        if self.mismatch is not None:
            verdict = "fail"
            said = f"{self.mismatch['field']} differs after {self.mismatch['path']}, then {self.mismatch['action']}"
        elif not finished:
            verdict, said = "could not verify", f"there are more than {max_states} states"
        elif too_many_excused(self.excused, self.excusable):
            said = f"{self.excused} of {self.excusable} flags differ next to a threshold, more than rounding explains"
            verdict = "could not verify"
        else:
            verdict, said = "pass", f"{states} states x {actions} actions, all equal"
        notes = []
        if not self.known.counted:
            notes.append("the step counter was held at 0: the time limit is not part of this")
        if not all_resets:
            notes.append(f"the reset is random: {self.reset_states} first states were seen, there may be more")
        if self.random_reset:
            notes.append("first states come from the reference's draws: how the performance side draws its own is open")
        if self.random_steps:
            notes.append(f"steps are random: each was taken {self.repeats} times, with the reference's own draws")
        if inexact:
            notes.append(f"single steps only: the contract does not compare {', '.join(inexact)} exactly")
        return {
            "level": 3,
            "name": "exhaustive",
            "verdict": verdict,
            "proof": verdict == "pass" and all_resets and not inexact and not self.excused and not self.random_steps,
            "precision": self.precision,
            "states": states,
            "actions": actions,
            "transitions": self.transitions,
            "reset_states": self.reset_states,
            "excused_flags": self.excused,
            "first_mismatch": self.mismatch,
            "notes": notes,
            "sentence": f"exhaustive: {said}",
        }

    def _not_compared_exactly(self) -> list[str]:
        """Outputs and state fields that the contract does not compare exactly; with any, single steps do not add up."""
        exact = {field.name for field in self.contract.fields if field.tolerance("per_step") == 0.0}
        return sorted({*OUTPUTS, *(f"state.{name}" for name in self.known.states[0])} - exact)


def _stack(states: list[State]) -> Arrays:
    return {name: np.stack([state[name] for state in states]) for name in states[0]}
