"""The lock-step walk of two sides over all states and actions, and its bookkeeping."""

import collections
import dataclasses
from typing import Literal

import numpy as np

from overclock.errors import UsageError
from overclock.verify.compare import judge, too_many_excused
from overclock.verify.contract import OUTPUTS, Precision, Twin
from overclock.verify.exhaustive.result import DifferingStep, WalkResult
from overclock.verify.reach.compared import Compared
from overclock.verify.sides.soundness import Form
from overclock.verify.sides.subject import Arrays, Observed, Subject

State = dict[str, np.ndarray]  # of one lane


@dataclasses.dataclass
class Known:
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


@dataclasses.dataclass(frozen=True)
class Try:
    """A step to be taken: the number of a state, an action, and what is drawn where that is chosen."""

    state: int
    action: int
    value: float = 0.0


class StateWalk:
    """From the states that resets lead to, until none is left; random steps are taken several times."""

    def __init__(
        self, twin: Twin, precision: Precision, reference: Subject, performance: Subject, counted: bool, repeats: int
    ) -> None:
        self.twin, self.contract = twin, twin.contracts[precision]
        self.precision: Precision = precision
        self.reference, self.performance = reference, performance
        self.num_actions = int(reference.describe()["n"])
        self.known = Known(counted)
        self.todo: collections.deque[Try] = collections.deque()
        self.form = Form(reference.num_envs)
        self.repeats, self.random_steps = repeats, False
        self.compared: Compared | None = None
        self.random_reset = False
        self.reset_states = 0
        self.transitions = 0
        self.excused = self.excusable = 0
        self.mismatch: DifferingStep | None = None

    def reset(self, num_seeds: int) -> None:
        """Compare resets from many seeds and start from their states."""
        lanes = self.reference.num_envs
        drawn = False
        for first in range(0, num_seeds, lanes):
            seeds = np.arange(first, first + lanes, dtype=np.int64)
            self._watch(min(lanes, num_seeds - first))
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
            self._watch(len(taken))
            ref, perf = self._step(tries, np.array([one.action for one in tries], np.int32), len(taken))
            self._compare(ref, perf, tries, len(taken))
            self.transitions += len(taken)
            ended = ref.outputs["terminated"] | ref.outputs["truncated"]
            for lane in np.flatnonzero(~ended[: len(taken)]).tolist():
                after = {name: values[lane] for name, values in ref.state.items()}
                self._found(after, (tries[lane].state, tries[lane].action))
        return True

    def _watch(self, used: int) -> None:
        """The first lanes are compared, the others have no work."""
        if self.compared is not None:
            self.compared.lanes(np.arange(self.reference.num_envs) < used)

    def _found(self, state: State, origin: tuple[int, int] | None) -> None:
        """A state that was come to: every action is to be tried there, unless it is known already."""
        if self.known.add(state, origin):
            number = len(self.known.states) - 1
            self.todo += [Try(number, action) for action in range(self.num_actions) for _ in range(self.repeats)]

    def _step(self, tries: list[Try], actions: np.ndarray, used: int) -> tuple[Observed, Observed]:
        ref = self.form.after_step(self.reference.step(actions))
        self.random_steps = self.random_steps or bool(ref.draws)
        if ref.draws and self.repeats == 1:
            drawn = ", ".join(ref.draws)
            raise UsageError(f"{self.twin.name} cannot be compared exhaustively: its steps are random ({drawn}).")
        return ref, self.performance.step(actions, ref.draws)

    def _compare(self, ref: Observed, perf: Observed, tries: list[Try] | None, used: int) -> None:
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
                self.mismatch = DifferingStep(
                    field=field.name,
                    reference=judged.reference[lane].tolist(),
                    performance=judged.performance[lane].tolist(),
                    error=judged.worst(lane)[0],
                    tolerance=judged.worst(lane)[1],
                    state_before={name: value.tolist() for name, value in before.items()},
                    path=[] if tried is None else self.known.path(tried.state),
                    action=None if tried is None else tried.action,
                    draws={name: values[lane].tolist() for name, values in ref.draws.items()},
                )

    def result(self, finished: bool, reset_states: int | None, max_states: int) -> WalkResult:
        """What the walk shows; `finished` and `max_states` as `walk` returned and was given them."""
        states, actions = len(self.known.states), self.num_actions
        all_resets, inexact = self._all_resets(reset_states), self._not_compared_exactly()
        verdict: Literal["pass", "fail", "could not verify"]
        if self.mismatch is not None:
            verdict, said = "fail", _said(self.mismatch)
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
        notes += self._about_chance(verdict == "pass")
        if inexact:
            notes.append(f"single steps only: the contract does not compare {', '.join(inexact)} exactly")
        proof = verdict == "pass" and all_resets and self._all_steps() and not inexact and not self.excused
        return WalkResult(
            verdict=verdict,
            proof=proof,
            precision=self.precision,
            states=states,
            actions=actions,
            transitions=self.transitions,
            reset_states=self.reset_states,
            excused_flags=self.excused,
            first_mismatch=self.mismatch,
            notes=notes,
            sentence=f"exhaustive: {said}",
        )

    def _all_resets(self, reset_states: int | None) -> bool:
        """Whether these are all first states there are."""
        return not self.random_reset or self.reset_states == reset_states

    def _all_steps(self) -> bool:
        """Whether nothing else could have come of a step."""
        return not self.random_steps

    def _about_chance(self, passed: bool) -> list[str]:
        said = []
        if self.random_reset:
            said.append("first states come from the reference's draws: how the performance side draws its own is open")
        if self.random_steps:
            said.append(f"steps are random: each was taken {self.repeats} times, with the reference's own draws")
        return said

    def _not_compared_exactly(self) -> list[str]:
        """What the contract does not compare bit for bit; with any, single steps do not add up to episodes.

        A zero equals a negative zero, so a state that is a float may differ and be called equal.
        """
        exact = {field.name for field in self.contract.fields if not field.tolerance("per_step")}
        states = {f"state.{name}": value for name, value in self.known.states[0].items()}
        floats = {name for name, value in states.items() if np.issubdtype(value.dtype, np.inexact)}
        return sorted(({*OUTPUTS, *states} - exact) | floats)


def _said(mismatch: DifferingStep) -> str:
    drawn = " and ".join(f"{name} = {value}" for name, value in mismatch.draws.items())
    if mismatch.action is None:
        return f"{mismatch.field} differs after a reset{f' with {drawn}' if drawn else ''}"
    then = f"{mismatch.action}{f' with {drawn}' if drawn else ''}"
    return f"{mismatch.field} differs after {mismatch.path}, then {then}"


def _stack(states: list[State]) -> Arrays:
    return {name: np.stack([state[name] for state in states]) for name in states[0]}
