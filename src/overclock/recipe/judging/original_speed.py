"""How much a translation gains: the original and a candidate timed by turns, in the same minutes on the same machine.

The original is stepped as people step it, one instance in a Python loop, in a process of its own. Drawing an action
takes Gymnasium longer than some environments take for a step. A candidate draws its actions while it is timed, so the
original may do so as well (`sampled`); by default its actions are drawn beforehand and cost nothing, which tells a
gain too small rather than too large.
"""

import dataclasses
import itertools
import statistics
from collections.abc import Iterator
from typing import Any

import gymnasium

from overclock.recipe.judging.speed import PAIRS, Stopwatch, timed
from overclock.recipe.references.reference import registered
from overclock.verify.contract import Twin
from overclock.verify.sides.process import ProcessSubject

BATCH = 4096
ACTIONS = 4096  # of the original, again and again


@dataclasses.dataclass(frozen=True)
class SpeedUp:
    """Steps per second of both in the middle of all pairs, and how many times as fast the candidate was, by pair."""

    original: float
    candidate: float
    gains: tuple[float, ...]

    @property
    def gain(self) -> float:
        """The gain of the pair in the middle."""
        return statistics.median(self.gains)


def beside_original(twin: Twin, batch: int = BATCH, timeout: float = 120.0, sampled: bool = False) -> SpeedUp:
    """The candidate of a project's twin at a batch, beside one instance of the original.

    Both reset by themselves and act at random; the candidate uses all cores. Afterwards it must still step as the
    reference does. `sampled`: drawing actions counts for the original, too.
    """
    spec = twin.reference.with_worker(OriginalStepper, **dict(twin.reference.options), sampled=sampled)
    with ProcessSubject(spec, 1, "the reference", timeout) as original, timed(twin, timeout) as candidate:
        return speed_up(original, candidate, batch)


def speed_up(original: ProcessSubject, candidate: ProcessSubject, batch: int) -> SpeedUp:
    """Two running workers by turns, and who begins changes as well."""
    watches = Stopwatch(original, 1), Stopwatch(candidate, batch)
    pairs = []
    for pair in range(PAIRS):
        found = {place: watches[place].sps() for place in ((0, 1) if pair % 2 else (1, 0))}
        pairs.append((found[0], found[1]))
    slow, fast = (round(statistics.median(one), 1) for one in zip(*pairs, strict=True))
    return SpeedUp(slow, fast, tuple(round(b / a, 2) for a, b in pairs))


class OriginalStepper:
    """Runs in the worker: an instance as Gymnasium makes it, with nothing recorded."""

    def __init__(self, num_envs: int, make: dict[str, Any], contract: str, sampled: bool = False) -> None:
        """Takes the options of `recipe.references.reference:reference`; the contract has no say in this."""
        self._env = gymnasium.make(registered(**make))
        self._env.reset(seed=0)
        space = self._env.action_space
        space.seed(0)
        self._actions: Iterator[Any] = (
            (space.sample() for _ in itertools.count())
            if sampled
            else itertools.cycle([space.sample() for _ in range(ACTIONS)])
        )

    def describe(self) -> dict[str, Any]:
        """The calls that this worker answers."""
        return {"calls": ["run"]}

    def run(self, batch: int, steps: int) -> float:
        """As a candidate's `run`, of one instance."""
        env, total = self._env, 0.0
        for action in itertools.islice(self._actions, steps):
            _, reward, terminated, truncated, _ = env.step(action)
            total += float(reward)
            if terminated or truncated:
                env.reset()
        return total
