"""Where episodes are tried on both sides, many at a time as the lanes of one batch: do they leave the contract?"""

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from overclock.verify.compare import judge, steering
from overclock.verify.contract import MASK, Mode, Precision, Twin
from overclock.verify.repro.episode import Episode
from overclock.verify.rollout.actions import legal
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.subject import Arrays, Observed

LANES = 32
MAX_RESTARTS = 8  # crashes that made-up episodes may cause before batches that crash are given up whole


@dataclasses.dataclass(frozen=True)
class Finding:
    """A field that left its tolerance; `step` counts the actions before it, 0 is the reset."""

    field: str
    step: int
    reference: Any
    performance: Any
    error: float
    tolerance: float


@dataclasses.dataclass(frozen=True)
class Moment:
    """Both sides after the reset or after one action: batches of a single lane."""

    reference: Observed
    performance: Observed
    findings: tuple[Finding, ...]  # every field that is wrong here, in the order of `causes_first`


class Arena:
    """Both sides of a twin in their processes. Use it as a context manager."""

    def __init__(self, twin: Twin, precision: Precision, timeout: float = 120.0, lanes: int = LANES) -> None:
        self.contract, self.lanes = twin.contracts[precision], lanes
        self.restarts, self.complete = 0, True  # not complete: episodes were given up without a look at each
        self.masked = False  # whether it is known which actions are legal
        self._sides, self._timeout = (twin.reference, twin.performance_in(precision)), timeout
        self._processes = contextlib.ExitStack()

    def __enter__(self) -> "Arena":
        try:
            self._open()
            # What the sides can do is found out by trying; a side that refuses has to be started again.
            self.replays = self._survives(self._probe_draws)
            self.forces = self._survives(lambda: self._performance.set_state(self._first_reset.state))
            self.sets_state = self.forces and self._survives(lambda: self._reference.set_state(self._first_reset.state))
        except BaseException:
            self._processes.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.close()

    def find(self, episodes: Sequence[Episode], mode: Mode) -> list[Finding | None]:
        """Where each episode first leaves the contract (at a step, the first field by `causes_first`)."""
        found: list[Finding | None] = []
        for start in range(0, len(episodes), self.lanes):
            found += self._find(episodes[start : start + self.lanes], mode)
        return found

    def attempt(self, episodes: Sequence[Episode], mode: Mode) -> list[Finding | None]:
        """As `find`, for episodes made up by a search: one that a side cannot play counts as showing nothing."""
        found: list[Finding | None] = []
        for start in range(0, len(episodes), self.lanes):
            found += self._attempt(episodes[start : start + self.lanes], mode)
        return found

    def record(self, episode: Episode, mode: Mode) -> list[Moment]:
        """Everything both sides show in one episode: after its reset, then after every action."""
        return [
            Moment(_only(ref), _only(perf), tuple(finding for _, finding in self._wrong(number, ref, perf, live, mode)))
            for number, ref, perf, live in self._play([episode], mode)
        ]

    def allows(self, action: Any) -> bool:
        """Whether an action lies in the action space."""
        space, value = self._reference.description, np.asarray(action)
        if space["kind"] == "discrete":
            return bool(np.all((value >= 0) & (value < space["n"])))
        return bool(np.all((value >= space["low"]) & (value <= space["high"])))

    def some_action(self, moment: Moment) -> Any:
        """An action that may be taken at a moment: the first legal one, or the one closest to zero."""
        space = self._reference.description
        shown = steering(self.contract, moment.reference, moment.performance)
        if MASK.name in shown.outputs:
            return np.argmax(shown.outputs[MASK.name][0], axis=-1).tolist()
        none = 0 if space["kind"] == "discrete" else np.clip(0.0, space["low"], space["high"])
        return np.broadcast_to(none, (*((space["players"],) if "players" in space else ()), *np.shape(none))).tolist()

    def restart(self) -> None:
        """Start both sides anew after one of them was lost."""
        self._processes.close()
        self._open()

    def _open(self) -> None:
        self._reference, self._performance = (
            self._processes.enter_context(ProcessSubject(spec, self.lanes, name, self._timeout))
            for spec, name in zip(self._sides, ("the reference", "the performance side"), strict=True)
        )
        everyone, seeds = np.ones(self.lanes, np.bool_), np.arange(self.lanes, dtype=np.int64)
        ref = self._first_reset = self._reference.reset(everyone, seeds)
        perf = self._performance.reset(everyone, seeds, ref.draws)
        self.masked = MASK.name in steering(self.contract, ref, perf).outputs

    def _survives(self, capability: Any) -> bool:
        try:
            return capability() is not False
        except CouldNotVerifyError:
            self.restart()
            return False

    def _probe_draws(self) -> bool:
        """Whether the reference starts from given randomness: it then reports these draws instead of its seeds'."""
        everyone, seeds = np.ones(self.lanes, np.bool_), np.arange(self.lanes, dtype=np.int64)
        given = self._first_reset.draws
        if not given or _same(given, self._reference.reset(everyone, seeds + self.lanes).draws):
            return False
        return _same(given, self._reference.reset(everyone, seeds + self.lanes, given).draws)

    def _attempt(self, episodes: Sequence[Episode], mode: Mode) -> list[Finding | None]:
        try:
            return self._find(episodes, mode)
        except CouldNotVerifyError:
            self.restarts += 1
            self.restart()
        if len(episodes) == 1 or self.restarts >= MAX_RESTARTS:
            self.complete = self.complete and len(episodes) == 1
            return [None] * len(episodes)
        middle = len(episodes) // 2
        return self._attempt(episodes[:middle], mode) + self._attempt(episodes[middle:], mode)

    def _find(self, episodes: Sequence[Episode], mode: Mode) -> list[Finding | None]:
        found: list[Finding | None] = [None] * len(episodes)
        for number, ref, perf, live in self._play(episodes, mode):
            for lane, finding in self._wrong(number, ref, perf, live, mode):
                found[lane] = found[lane] or finding
            if all(finding is not None for finding in found):
                break
        return found

    def _wrong(
        self, number: int, ref: Observed, perf: Observed, live: np.ndarray, mode: Mode
    ) -> Iterator[tuple[int, Finding]]:
        """Every wrong field of the live lanes, in the order of `causes_first`."""
        horizon = self.contract.free_running_steps
        if mode == "free_running" and horizon is not None and number > 0:
            live = live & (ref.state["steps"] <= horizon)
        for field in self.contract.compared:
            tolerance = field.tolerance(mode)
            judged = judge(self.contract, field, tolerance, ref, perf)
            for lane in [] if judged is None else np.flatnonzero(judged.wrong & live):
                assert judged is not None
                values = judged.reference[lane].tolist(), judged.performance[lane].tolist()
                yield int(lane), Finding(field.name, number, *values, *judged.worst(lane))

    def _play(self, episodes: Sequence[Episode], mode: Mode) -> Iterator[tuple[int, Observed, Observed, np.ndarray]]:
        """Both sides after the reset (0) and after every action, and the lanes whose episode is still under way."""
        padded = [*episodes, *[episodes[0]] * (self.lanes - len(episodes))]
        lengths = np.array([len(episode.actions) for episode in padded])
        seeds = np.array([episode.seed for episode in padded], np.int64)
        asked = np.arange(self.lanes) < len(episodes)  # the others play along
        running = np.ones(self.lanes, np.bool_)
        everyone, first_draws = np.ones(self.lanes, np.bool_), self._given(padded, 0)
        ref = self._reference.reset(everyone, seeds, first_draws)
        perf = self._performance.reset(everyone, seeds, ref.draws)
        if padded[0].state is not None:
            states = _stacked([episode.state or {} for episode in padded], ref.state)
            self._reference.set_state(states)
            self._performance.set_state(states)
            # Nothing is observed after a state was set, and so there is nothing to compare before the first action.
            ref = perf = Observed({}, states, ref.draws)
        yield 0, ref, perf, asked
        ended = np.zeros(self.lanes, np.bool_)
        for number in range(int(lengths.max())):
            # Lanes that are through wait in fresh episodes: no side is ever stepped beyond an end.
            through = ended | (lengths == number)
            running &= ~through
            if number and through.any():
                ref = self._reference.reset(through, seeds, first_draws)
                perf = self._performance.reset(through, seeds, ref.draws)
            actions, possible = self._actions(padded, number, ref, perf)
            running &= possible
            if not (running & asked).any():
                return
            if mode == "per_step":
                self._performance.set_state(ref.state)
            ref = self._reference.step(actions, self._given(padded, number + 1))
            perf = self._performance.step(actions, ref.draws)
            yield number + 1, ref, perf, running & asked
            ended = ref.outputs["terminated"] | ref.outputs["truncated"]

    def _actions(
        self, episodes: Sequence[Episode], number: int, ref: Observed, perf: Observed
    ) -> tuple[np.ndarray, np.ndarray]:
        """The lanes' actions, and which lanes may take theirs; the others do something legal."""
        space = self._reference.description
        discrete = space["kind"] == "discrete"
        longest = max(episodes, key=lambda episode: len(episode.actions))
        rows = [(e if len(e.actions) > number else longest).actions[number] for e in episodes]
        actions = np.array(rows, np.int32 if discrete else space["low"].dtype)
        shown = steering(self.contract, ref, perf)
        if MASK.name not in shown.outputs:
            return actions, np.ones(len(actions), np.bool_)
        mask = shown.outputs[MASK.name]
        allowed = legal(actions, shown) | ~mask.any(axis=-1)  # a player without any legal action does not move
        possible = np.asarray(allowed.reshape(len(actions), -1).all(axis=1))
        return np.where(allowed, actions, np.argmax(mask, axis=-1)).astype(actions.dtype), possible

    def _given(self, episodes: Sequence[Episode], index: int) -> Arrays | None:
        """The lanes' recorded randomness, for a reference that can start from it."""
        if not self.replays:
            return None
        known = next((episode.draws[index] for episode in episodes if len(episode.draws) > index), None)
        if known is None:
            return None
        rows = [episode.draws[index] if len(episode.draws) > index else known for episode in episodes]
        return {name: np.array([row[name] for row in rows]) for name in known}


def _only(observed: Observed) -> Observed:
    """What a subject shows of its first lane alone, as a batch of one."""
    parts = (observed.outputs, observed.state, observed.draws)
    return Observed(*({name: values[:1] for name, values in part.items()} for part in parts))


def _stacked(states: Sequence[dict[str, Any]], like: Arrays) -> Arrays:
    missing = [name for name in like if name not in states[0]]
    if missing:
        raise CouldNotVerifyError(f"could not verify: the state to start from does not say {', '.join(missing)}.")
    return {name: np.array([state[name] for state in states], values.dtype) for name, values in like.items()}


def _same(one: Arrays, other: Arrays) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)
