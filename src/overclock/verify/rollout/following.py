"""A side beside the reference, lane by lane: where do flags, rewards or whole numbers begin to differ?

Flags count at every step, and so do rewards of a few sizes. Other rewards, and whole numbers of state and observation,
count as long as the sides are comparable. All other floats may drift.
"""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from overclock.verify.contract import FLAGS, Contract
from overclock.verify.repro.episode import Episode
from overclock.verify.sides.subject import Observed
from overclock.verify.tolerance import EXACT, compare_values

# Sides are comparable while every float used up no more of its tolerance. From there to beyond it in one step is a
# jump: a threshold was crossed on one side. Errors that grow by themselves take more steps for that.
QUIET = 1 / 16
KINDS = 32  # rewards of so few different sizes are compared even where the rest has drifted apart


@dataclasses.dataclass(frozen=True)
class Parting:
    """Where an episode began to differ. `late`: -1 ended too soon, 1 too late; `gain`: sign of a reward."""

    field: str
    step: int
    reference: Any
    performance: Any
    late: int = 0
    gain: int = 0
    episode: Episode = Episode(0)


class Following:
    """A side beside the reference, lane by lane: up to where does every episode come out the same?"""

    def __init__(self, contract: Contract, lanes: int) -> None:
        self._contract, self.contents = contract, [one for one in contract.compared if one.name not in FLAGS]
        self._rewards: set[float] = set()  # of the reference; more than KINDS are of any size
        self._same, self._quiet = np.ones(lanes, np.bool_), np.ones(lanes, np.bool_)
        self._gap, self._room = np.zeros(lanes), np.zeros(lanes)  # of returns, and what rounding alone may add up to

    def begin(self, mask: np.ndarray) -> None:
        """New episodes began in these lanes."""
        self._same, self._quiet = self._same | mask, self._quiet | mask
        self._gap, self._room = (np.where(mask, 0.0, one) for one in (self._gap, self._room))

    def drifted(self) -> np.ndarray:
        """The difference of returns of the running episodes; NaN where the sides stayed comparable, or came apart.

        Zero where the roundings of the rewards explain it: those may well have one sign.
        """
        gap = np.where(np.abs(self._gap) <= self._room, 0.0, self._gap)
        return np.where(self._same & ~self._quiet, gap, np.nan)

    def step(self, ref: Observed, seen: Observed, counted: np.ndarray) -> Iterator[tuple[int, Parting]]:
        """Compare a step; yields the counted lanes whose episode differs from here on."""
        steps, quiet, few = ref.state["steps"], self._quiet.copy(), self._few_kinds(ref.outputs["reward"])
        looked = counted & self._same
        over = [np.logical_or.reduce([_flag(side, name, ref) for name in FLAGS]) for side in (ref, seen)]
        late = over[0].astype(int) - over[1].astype(int)
        for name in FLAGS:
            wrong = compare_values(ref.outputs[name], _shown(seen, name, ref.outputs[name]), EXACT).wrong & looked
            for lane in np.flatnonzero(wrong & self._same):
                yield int(lane), _parting(name, ref, seen, int(lane), int(steps[lane]), late=int(late[lane]))
            self._same &= ~wrong
        gain = _total(seen.outputs.get("reward"), ref.outputs["reward"]) - _total(ref.outputs["reward"])
        self._gap = self._gap + np.where(counted, np.nan_to_num(gain), 0.0)
        for field in self.contents:
            reference = field.of(ref)
            if reference is None:
                continue
            tolerance = field.tolerance("free_running")
            compared = compare_values(reference, _shown(seen, field.name, reference), tolerance)
            self._quiet &= ~(compared.shares > QUIET).any(axis=1)
            if field.name == "reward":
                self._room = self._room + np.where(counted, compared.allowed.sum(axis=1), 0.0)
                wrong = compared.wrong & looked & (quiet | few)
            elif reference.dtype.kind == "f":  # it may drift, unless the contract knows it for a whole number
                wrong = np.isinf(compared.shares).any(axis=1) & looked & quiet
            else:
                wrong = compared.wrong & looked & quiet
            for lane in np.flatnonzero(wrong & self._same):
                sign = int(np.sign(gain[lane])) if field.name == "reward" else 0
                yield int(lane), _parting(field.name, ref, seen, int(lane), int(steps[lane]), gain=sign)
            self._same &= ~wrong

    def _few_kinds(self, rewards: np.ndarray) -> np.bool_:
        if len(self._rewards) <= KINDS:
            self._rewards.update(np.unique(rewards)[: KINDS + 1].tolist())
        return np.bool_(len(self._rewards) <= KINDS)


def _parting(name: str, ref: Observed, seen: Observed, lane: int, step: int, late: int = 0, gain: int = 0) -> Parting:
    reference = _value(ref, name)
    shown = _value(seen, name)
    values = [None if side is None or len(side) <= lane else side[lane].tolist() for side in (reference, shown)]
    return Parting(name, step, values[0], values[1], late, gain)


def _value(side: Observed, name: str) -> np.ndarray | None:
    return side.state.get(name.removeprefix("state.")) if name.startswith("state.") else side.outputs.get(name)


def _shown(side: Observed, name: str, reference: np.ndarray) -> np.ndarray:
    """What a side shows of a field, or something that is different from everything."""
    values = _value(side, name)
    if values is None or values.shape[:1] != reference.shape[:1]:
        return np.empty((len(reference), 0))
    return values


def _flag(side: Observed, name: str, ref: Observed) -> np.ndarray:
    shown = _shown(side, name, ref.outputs[name])
    return np.asarray(shown.astype(np.bool_).reshape(len(shown), -1).any(axis=1))


def _total(rewards: np.ndarray | None, like: np.ndarray | None = None) -> np.ndarray:
    """The rewards of a step per lane, of all players together."""
    if rewards is None or (like is not None and rewards.shape != like.shape):
        assert like is not None
        return np.full(len(like), np.nan)
    return np.asarray(rewards, np.float64).reshape(len(rewards), -1).sum(axis=1)
