"""Every reachable state and every action of a small finite environment: a proof of equality, where it completes.

Breadth first from the reset: both sides are put into the same state, take the same action, and every contracted field
of the outcome is compared. If all are equal and no state is left, then by induction every episode of any length is
equal; no sampling is involved. It needs discrete actions, a state that is all there is to know (the reference's
`set_state` must restore everything), and few enough states. Nothing is walked beyond an end.

Where a reset or a step draws one number and both sides only compare it, every number that could be drawn is covered,
cell by cell (`cells.py`). Other random steps are taken several times from every state, with draws of the reference's
own: no proof, but no state is left out.

A result calls itself a proof only if the induction holds: the contract compares every state field and every output
exactly, no flag was excused, and the first states are complete. Where cells do not cover a random reset, its outcomes
are those that `reset_seeds` seeds give; they are complete if there are as many as the caller knows there must be. Which
of them the performance side draws how often, when left to itself, is no part of it.
"""

import collections
import dataclasses
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.verify.cells import CellSubject, drawable, ends
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

    def add(self, state: State, origin: tuple[int, int] | None) -> bool:
        """Remember a state if it is new; without counting, every state is taken at step 0. Whether it is."""
        if not self.counted:
            state = {**state, "steps": np.zeros_like(state["steps"])}
        key = b"".join(np.ascontiguousarray(state[name]).tobytes() for name in sorted(state))
        if key in self._numbers:
            return False
        self._numbers[key] = len(self.states)
        self.states.append(state)
        self.came_from.append(origin)
        return True

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

    def explored(search: _Search) -> dict[str, Any]:
        search.reset(reset_seeds)
        return search.result(search.walk(max_states), reset_states, max_states)

    uncovered = ""
    if all("cells" in side.describe().get("calls", ()) for side in (reference, performance)):
        try:
            return explored(_CellSearch(twin, precision, reference, performance, count_steps, 1))
        except _UncoveredError as error:
            uncovered = str(error)
    found = explored(_Search(twin, precision, reference, performance, count_steps, repeats))
    return {**found, "notes": [*found["notes"], *([uncovered] if uncovered else [])]}


class _UncoveredError(Exception):
    """A number is used in a way that does not show for which others the outcome is the same."""


@dataclasses.dataclass(frozen=True)
class _Try:
    """A step to be taken: the number of a state, an action, and the number that is drawn where one is chosen."""

    state: int
    action: int
    value: float = 0.0


class _Search:
    """The lock-step walk over all states and its bookkeeping."""

    covering = False  # every number that could be drawn
    cells = 0

    def __init__(
        self, twin: Twin, precision: Precision, reference: Subject, performance: Subject, counted: bool, repeats: int
    ) -> None:
        self.twin, self.precision, self.contract = twin, precision, twin.contracts[precision]
        self.reference, self.performance = reference, performance
        self.num_actions = int(reference.describe()["n"])
        self.known = _Known(counted)
        self.todo: collections.deque[_Try] = collections.deque()
        self.chosen: set[_Try] = set()  # beyond the first number of each state and action
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
            self._begun(ref, perf, min(lanes, num_seeds - first))
            drawn = drawn or bool(ref.draws)
            if not drawn:
                break
        self.random_reset = drawn or self.reset_states > 1

    def _begun(self, ref: Observed, perf: Observed, used: int) -> None:
        """Compare what resets led to, and start from there."""
        self._compare(ref, perf, None, used)
        for lane in range(used):
            self._found({name: values[lane] for name, values in ref.state.items()}, None)
        self.reset_states = len(self.known.states)

    def walk(self, max_states: int) -> bool:
        """Walk until no state is left or one mismatch is found; False where there are too many states."""
        while self.mismatch is None and self.todo:
            if len(self.known.states) > max_states:
                return False
            taken = [self.todo.popleft() for _ in range(min(len(self.todo), self.reference.num_envs))]
            idle = self.reference.num_envs - len(taken)  # lanes without work repeat the first one's
            tries = [*taken, *[taken[0]] * idle]
            states = _stack([self.known.states[one.state] for one in tries])
            self.reference.set_state(states)
            self.performance.set_state(states)
            ref, perf = self._step(tries, np.array([one.action for one in tries], np.int32), len(taken))
            self._compare(ref, perf, tries, len(taken))
            self.transitions += len(taken)
            ended = ref.outputs["terminated"] | ref.outputs["truncated"]
            for lane in np.flatnonzero(~ended[: len(taken)]).tolist():
                after = {name: values[lane] for name, values in ref.state.items()}
                self._found(after, (tries[lane].state, tries[lane].action))
        return True

    def _found(self, state: State, origin: tuple[int, int] | None) -> None:
        """A state that was come to: every action is to be tried there, unless it is known already."""
        if self.known.add(state, origin):
            number = len(self.known.states) - 1
            self.todo += [_Try(number, action) for action in range(self.num_actions) for _ in range(self.repeats)]

    def _step(self, tries: list[_Try], actions: np.ndarray, used: int) -> tuple[Observed, Observed]:
        ref = self.form.after_step(self.reference.step(actions))
        self.random_steps = self.random_steps or bool(ref.draws)
        if ref.draws and self.repeats == 1:
            drawn = ", ".join(ref.draws)
            raise UsageError(f"{self.twin.name} cannot be compared exhaustively: its steps are random ({drawn}).")
        return ref, self.performance.step(actions, ref.draws)

    def _compare(self, ref: Observed, perf: Observed, tries: list[_Try] | None, used: int) -> None:
        for field in self.contract.compared:
            judged = judge(self.contract, field, field.tolerance("per_step"), ref, perf)
            if judged is None:
                continue
            self.excused += int(judged.excused[:used].sum())
            self.excusable += used * (field.name in self.contract.limit_fields)
            wrong = np.flatnonzero(judged.wrong[:used])
            if wrong.size and self.mismatch is None:
                lane = int(wrong[0])
                tried = None if tries is None else tries[lane]
                before = {} if tried is None else self.known.states[tried.state]
                self.mismatch = {
                    "field": field.name,
                    "reference": judged.reference[lane].tolist(),
                    "performance": judged.performance[lane].tolist(),
                    "error": float(judged.errors[lane]),
                    "tolerance": field.tolerance("per_step"),
                    "state_before": {name: value.tolist() for name, value in before.items()},
                    "path": [] if tried is None else self.known.path(tried.state),
                    "action": None if tried is None else tried.action,
                    "draws": {name: values[lane].tolist() for name, values in ref.draws.items()},
                }

    def result(self, finished: bool, reset_states: int | None, max_states: int) -> dict[str, Any]:
        """What was shown, also in one sentence."""
        states, actions = len(self.known.states), self.num_actions
        all_resets = not self.random_reset or self.covering or self.reset_states == reset_states
        inexact = self._not_compared_exactly()
        if self.mismatch is not None:
            verdict = "fail"
            drawn = "".join(f", {name} = {value}" for name, value in self.mismatch["draws"].items())
            then = f"{self.mismatch['action']}{drawn}"
            said = f"{self.mismatch['field']} differs after {self.mismatch['path']}, then {then}"
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
        if self.covering:
            notes.append(f"every number from 0 to 1 that could be drawn is covered, by {self.cells} cells")
        elif self.random_steps:
            notes.append(f"steps are random: each was taken {self.repeats} times, with the reference's own draws")
        if inexact:
            notes.append(f"single steps only: the contract does not compare {', '.join(inexact)} exactly")
        return {
            "level": 3,
            "name": "exhaustive",
            "verdict": verdict,
            "proof": verdict == "pass"
            and all_resets
            and not inexact
            and not self.excused
            and (self.covering or not self.random_steps),
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


class _CellSearch(_Search):
    """The walk of two sides that draw one number and only compare it: one number of every cell stands for all."""

    reference: CellSubject
    performance: CellSubject
    covering = True

    def reset(self, num_seeds: int) -> None:
        """Start from every state that a reset can lead to."""
        lanes, values, seen = self.reference.num_envs, [0.0], {0.0}
        while values and self.mismatch is None:
            taken, values = values[:lanes], values[lanes:]
            tried = np.array([*taken, *[taken[0]] * (lanes - len(taken))])
            ref, perf, after = self._chosen(tried, None, len(taken))
            self._begun(self.form.after_reset(ref), perf, len(taken))
            self.random_reset = bool(ref.draws)
            fresh = {value for one in after for value in one} - seen
            seen |= fresh
            values += sorted(fresh)

    def _step(self, tries: list[_Try], actions: np.ndarray, used: int) -> tuple[Observed, Observed]:
        ref, perf, after = self._chosen(np.array([one.value for one in tries]), actions, used)
        for one, values in zip(tries, after, strict=False):
            fresh = {_Try(one.state, one.action, value) for value in values} - self.chosen
            self.chosen |= fresh
            self.todo += sorted(fresh, key=lambda tried: tried.value)
        return self.form.after_step(ref), perf

    def _chosen(
        self, values: np.ndarray, actions: np.ndarray | None, used: int
    ) -> tuple[Observed, Observed, list[list[float]]]:
        """What both sides show with these numbers, and for each of them where further cells begin."""
        ref, perf = (side.cells(values, actions) for side in (self.reference, self.performance))
        for side, found in (("reference", ref), ("performance side", perf)):
            if not found.only_compared[:used].all():
                raise _UncoveredError(f"no proof: the {side} does more with the number it draws than comparing it")
        self.cells += used
        limits = np.concatenate([ref.limits, perf.limits], axis=1)
        further = drawable(np.where(limits > values[:, None], limits, 1.0))
        begins = np.concatenate([ends(values, limits)[:, None], further], axis=1)
        return ref.observed, perf.observed, [row[row < 1.0].tolist() for row in begins[:used]]


def _stack(states: list[State]) -> Arrays:
    return {name: np.stack([state[name] for state in states]) for name in states[0]}
