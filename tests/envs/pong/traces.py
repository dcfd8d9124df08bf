"""Recordings of play on the reference, small enough to be kept beside tests: what was done, and digests of the outcome.

A trace has the actions and serves of some lanes, a digest of everything that was shown in every `BLOCK` steps, and all
of it in full every `KEPT` steps, so that a difference can be found without the reference.
"""

import dataclasses
import hashlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from overclock.envs.pong.library import SHOWN, STATE, Lanes

BLOCK, KEPT = 8, 250  # steps
COMPARED = (*STATE, "obs", "reward", "terminal")
STEPS_OF_DIRECTION = 100  # continuous actions are hundredths, kept as whole numbers; some lie beyond the limits

Shown = Mapping[str, np.ndarray]  # by name, (steps, lanes, ...)
Player = Callable[[np.random.Generator, np.ndarray], np.ndarray]  # observations of all lanes -> directions


@dataclasses.dataclass(frozen=True)
class Trace:
    """Play of several lanes. A lane whose game has ended begins another with the serve of the step that ended it."""

    frameskip: int
    continuous: bool
    actions: np.ndarray  # (steps, lanes): discrete actions, or hundredths of a direction
    serves: np.ndarray  # (1 + steps, lanes): of the first reset, then of every step
    digests: np.ndarray  # one number per block
    kept: np.ndarray  # (steps / KEPT, lanes) of SHOWN
    games: int

    def taken(self) -> np.ndarray:
        """The actions as an environment takes them: (steps, lanes) or (steps, lanes, 1)."""
        if not self.continuous:
            return self.actions.astype(np.int32)
        return (self.actions.astype(np.float32) / np.float32(STEPS_OF_DIRECTION))[..., None]

    def first_difference(self, shown: Shown) -> str | None:
        """Where play of the same actions and serves first shows something else, in words; None where nowhere."""
        for number, (ours, theirs) in enumerate(zip(digests(shown), self.digests, strict=True)):
            if ours != theirs:
                where = f"steps {number * BLOCK + 1} to {(number + 1) * BLOCK}"
                return f"{where} are not those of the reference; {self._field(shown)}"
        return None

    def _field(self, shown: Shown) -> str:
        for row, kept in enumerate(self.kept):
            step = (row + 1) * KEPT
            for name in COMPARED:
                wrong = np.flatnonzero((shown[name][step - 1] != kept[name]).reshape(len(kept), -1).any(axis=1))
                if wrong.size:
                    lane = wrong[0]
                    ours, theirs = shown[name][step - 1][lane], kept[name][lane]
                    return f"at step {step}, lane {lane}, {name} is {ours}, the reference has {theirs}"
        return f"nothing differs every {KEPT} steps"

    def save(self, path: Path) -> None:
        """Write it as a compressed NumPy file."""
        values = dataclasses.asdict(self)
        values["serves"] = np.packbits(self.serves.astype(np.bool_))
        np.savez_compressed(path, **values)

    @classmethod
    def load(cls, path: Path) -> "Trace":
        """Read a recording that `save` wrote."""
        with np.load(path, allow_pickle=False) as file:
            values = {name: file[name] for name in file.files}
        steps, lanes = values["actions"].shape
        serves = np.unpackbits(values["serves"])[: (steps + 1) * lanes].reshape(steps + 1, lanes)
        numbers = {name: values[name].item() for name in ("frameskip", "continuous", "games")}
        return cls(**{**values, **numbers, "serves": serves.astype(np.int32)})


def digests(shown: Shown) -> np.ndarray:
    """One number per block of steps, from every bit of every compared field."""
    columns = [np.ascontiguousarray(shown[name], SHOWN[name].base) for name in COMPARED]
    found = []
    for start in range(0, len(columns[0]), BLOCK):
        text = b"".join(column[start : start + BLOCK].tobytes() for column in columns)
        found.append(int.from_bytes(hashlib.sha256(text).digest()[:8], "little"))
    return np.array(found, np.uint64)


def record(frameskip: int, continuous: bool, lanes: int, steps: int, player: Player, seed: int) -> Trace:
    """Play on the reference: `player` chooses directions from -1 (down) to 1 (up)."""
    generator, games = np.random.default_rng(seed), Lanes(lanes, frameskip, continuous)
    serves = generator.integers(0, 2, (steps + 1, lanes)).astype(np.int32)
    for lane in range(lanes):
        games.reset(lane, int(serves[0, lane]))
    shown, actions, ended = np.empty((steps, lanes), SHOWN), np.empty((steps, lanes), np.int16), 0
    for step in range(steps):
        directions = player(generator, games.get()["obs"])
        if continuous:
            actions[step] = np.round(directions * STEPS_OF_DIRECTION)
            taken = np.clip(actions[step].astype(np.float32) / np.float32(STEPS_OF_DIRECTION), -1, 1)
        else:
            actions[step] = taken = np.where(directions > 0.25, 1, np.where(directions < -0.25, 2, 0))
        games.step_all(taken, serves[step + 1])
        shown[step] = games.get()
        for lane in np.flatnonzero(shown[step]["terminal"]):
            games.reset(int(lane), int(serves[step + 1, lane]))
            ended += 1
    small = actions.astype(np.int8)
    columns = {name: shown[name] for name in COMPARED}
    return Trace(frameskip, continuous, small, serves, digests(columns), shown[KEPT - 1 :: KEPT], ended)
