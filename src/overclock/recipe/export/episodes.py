"""Records episodes of a reference with their draws, so that an exported environment can be compared without it.

The comparison is that of level 3: `rollout.compare_sides` plays a recording as it plays a reference, so fields,
tolerances, horizons and excuses are the contract's own.
"""

import dataclasses
import io
from typing import Any, cast

import numpy as np

from overclock.errors import UsageError
from overclock.verify.contract import Mode, Precision, Twin
from overclock.verify.rollout.actions import ActionSource, random_legal
from overclock.verify.rollout.lockstep import compare_sides
from overclock.verify.rollout.result import UNIFORM, RolloutResult
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import Arrays, Observed

EPISODES, LANES = 16, 8
STEP_LIMIT = 200  # of one recorded episode: a package is no place for long films
MODES: tuple[Mode, ...] = ("per_step", "free_running")
PARTS = ("outputs", "state", "draws")


def record_episodes(
    twin: Twin, reference: ProcessSubject, performance: ProcessSubject, seed: int
) -> tuple["Recording", RolloutResult]:
    """Play both sides by random legal actions; returns the reference's recording and the comparison."""
    recorder = _Recorder(reference)
    result = compare_sides(
        cast(ProcessSubject, recorder), performance, cut(twin, STEP_LIMIT), EPISODES, "per_step", twin.strictest,
        UNIFORM, random_legal, seed,
    )  # fmt: skip
    return Recording(EPISODES, STEP_LIMIT, recorder.moments), result


def replay(
    twin: Twin, recording: "Recording", performance: ProcessSubject, mode: Mode, precision: Precision
) -> RolloutResult:
    """Compare the performance side with a recording instead of the reference."""
    played = _Played(recording, performance.describe())
    return compare_sides(
        cast(ProcessSubject, played), performance, cut(twin, recording.step_limit), recording.episodes, mode,
        precision, "recorded", played.source,
    )  # fmt: skip


def cut(twin: Twin, steps: int) -> Twin:
    """The same twin, whose episodes end after so many steps."""
    contracts = {name: dataclasses.replace(one, step_limit=steps) for name, one in twin.contracts.items()}
    return dataclasses.replace(twin, contracts=contracts)


@dataclasses.dataclass(frozen=True)
class Moment:
    """What a reference showed after a step, or after a reset (which has no action)."""

    action: np.ndarray | None
    shown: Observed


@dataclasses.dataclass(frozen=True)
class Recording:
    """Resets and steps of all lanes, in the order in which they were asked for."""

    episodes: int
    step_limit: int
    moments: list[Moment]

    @property
    def lanes(self) -> int:
        """How many episodes ran side by side."""
        return len(self.moments[0].shown.state["steps"])

    def to_bytes(self) -> bytes:
        """As a compressed .npz: one array per value, all resets of it or all steps."""
        arrays: Arrays = {"steps": np.array([moment.action is not None for moment in self.moments])}
        arrays["episodes"], arrays["step_limit"] = np.array(self.episodes), np.array(self.step_limit)
        arrays["actions"] = np.stack([moment.action for moment in self.moments if moment.action is not None])
        for kind in ("reset", "step"):
            rows = [moment.shown for moment in self.moments if (moment.action is not None) == (kind == "step")]
            for part in PARTS:
                for name in getattr(rows[0], part):
                    arrays[f"{kind}.{part}.{name}"] = np.stack([getattr(row, part)[name] for row in rows])
        file = io.BytesIO()
        np.savez_compressed(file, allow_pickle=False, **arrays)
        return file.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Recording":
        """The recording of which `to_bytes` made `content`."""
        with np.load(io.BytesIO(content), allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        counts, moments = {"reset": 0, "step": 0}, []
        for stepped in arrays["steps"]:
            kind = "step" if stepped else "reset"
            row = counts[kind]
            counts[kind] += 1
            shown = Observed(*(_row(arrays, f"{kind}.{part}.", row) for part in PARTS))
            moments.append(Moment(arrays["actions"][row] if stepped else None, shown))
        return cls(int(arrays["episodes"]), int(arrays["step_limit"]), moments)


def _row(arrays: Arrays, prefix: str, row: int) -> Arrays:
    return {name.removeprefix(prefix): values[row] for name, values in arrays.items() if name.startswith(prefix)}


class _Recorder:
    """A reference that also keeps every observation it returns."""

    def __init__(self, reference: ProcessSubject) -> None:
        self.num_envs, self.description, self._reference = reference.num_envs, reference.description, reference
        self.moments: list[Moment] = []

    def describe(self) -> dict[str, Any]:
        return self._reference.describe()

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        shown = self._reference.reset(mask, seeds, draws)
        self.moments.append(Moment(None, shown))
        return shown

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        shown = self._reference.step(actions, draws)
        self.moments.append(Moment(actions, shown))
        return shown


class _Played:
    """A recording in the place of a reference: it returns the next observation, whatever the action.

    It knows only the actions that were taken, so its description is that of the other side, which was compared with the
    reference when it was recorded.
    """

    def __init__(self, recording: Recording, description: dict[str, Any]) -> None:
        self._moments, self._next = recording.moments, 0
        self.num_envs, self.description = recording.lanes, description

    def describe(self) -> dict[str, Any]:
        return self.description

    def source(self, description: dict[str, Any]) -> ActionSource:
        """The actions that were taken."""

        def act(generator: np.random.Generator, observed: Observed) -> np.ndarray:
            action = self._moments[self._next].action
            if action is None:
                raise UsageError("The recorded episodes are not whole; export the environment again.")
            return action

        return act

    def reset(self, mask: np.ndarray, seeds: np.ndarray, draws: Arrays | None = None) -> Observed:
        return self._take()

    def step(self, actions: np.ndarray, draws: Arrays | None = None) -> Observed:
        return self._take()

    def _take(self) -> Observed:
        self._next += 1
        return self._moments[self._next - 1].shown
