"""A large sample of a candidate's draws beside the distributions that its contract names.

Four facts: how many values lie below each of some points, whether any value cannot come at all, how the numbers of one
event hang together (cards of one deck do, others must not), and how each hangs together with the next event's.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from overclock.recipe.contract.distributions import KnownDistribution
from overclock.recipe.contract.file import ContractFile
from overclock.verify.contract import Precision
from overclock.verify.property.distribution import FALSE_ALARM, KNOWN_SAMPLE
from overclock.verify.property.module import Output

MOST_NUMBERS = 1 << 21  # of a sample in all: draws of many numbers get along with fewer events
LOOKED_AT = 64  # numbers of an event, the first ones
ULPS = 4  # of float32, by which a bound may be missed: it is computed
TINY = 1e-30  # a constant has no correlation: it comes out as none

# Beyond what must be: of two numbers of one event, and of a number and the next event's.
CORRELATIONS = ("correlation within an event", "correlation with the next event")
Place = tuple[str, int]  # a draw, and which of its numbers


@dataclasses.dataclass(frozen=True, eq=False)
class SampleStatistics:
    """Statistics of a large sample of draws, those whose distribution is known (`draws`, by name)."""

    draws: Mapping[str, KnownDistribution]

    @property
    def events(self) -> int:
        """How many events the sample has."""
        return min(KNOWN_SAMPLE, MOST_NUMBERS // max(sum(len(one.points) for one in self.draws.values()), 1))

    def expected(self) -> dict[str, np.ndarray]:
        """The statistics of an infinite sample."""
        none = {_distance(name, one): np.zeros(len(one.points[:LOOKED_AT])) for name, one in self.draws.items()}
        inside = {_inside(name): np.array(True) for name in self.draws}
        return {**none, **inside, **dict.fromkeys(CORRELATIONS, np.array(0.0))}

    def outputs(self, contract: ContractFile) -> dict[Precision, tuple[Output, ...]]:
        """The statistics as outputs of level 1, with tolerances that chance exceeds once in a million times."""
        numbers, varying = sum(min(len(one.points), LOOKED_AT) for one in self.draws.values()), len(self._varying())
        # Dvoretzky, Kiefer, Wolfowitz and Massart; and the tail of a normal distribution.
        shares = math.sqrt(math.log(2 * numbers / FALSE_ALARM) / (2 * self.events))
        pairs = max(varying * (varying + 1) // 2, 1)
        together = math.sqrt(2 * math.log(2 * pairs / FALSE_ALARM) / self.events)
        reason = f"a sample of {self.events:,} stays this close but once in {1 / FALSE_ALARM:.0e} times"
        found = [Output(_distance(name, one), absolute=shares, reason=reason) for name, one in self.draws.items()]
        found += [Output(_inside(name)) for name in self.draws]
        found += [Output(name, absolute=together, reason=reason) for name in CORRELATIONS]
        return dict.fromkeys(contract.precisions, tuple(found))

    def of(self, xp: Any, sample: Mapping[str, Any]) -> dict[str, Any]:
        """The statistics of a sample, whose draws have a row per event; `xp` is NumPy or its twin in JAX."""
        told: dict[str, Any] = {}
        columns: dict[Place, Any] = {}
        for name, one in self.draws.items():
            values = xp.reshape(xp.asarray(sample[name]), (self.events, -1))[:, :LOOKED_AT] * 1.0
            columns |= {(name, place): values[:, place] for place in range(values.shape[1])}
            apart = [
                xp.searchsorted(xp.sort(columns[name, place]), xp.asarray(points).astype(values.dtype)) / self.events
                - xp.asarray(shares)
                for place, (points, shares) in enumerate(zip(one.points[:LOOKED_AT], one.shares, strict=False))
            ]
            told[_distance(name, one)] = xp.max(xp.abs(xp.stack(apart)), axis=1)
            told[_inside(name)] = self._all_can_come(xp, values, one)
        scaled = [_scaled(xp, columns[place]) for place in self._varying()]
        stacked = xp.stack(scaled) if scaled else xp.zeros((0, self.events))
        pairs = (stacked @ stacked.T / self.events)[np.triu_indices(len(scaled), 1)] - self._together()
        following = xp.mean(stacked[:, :-1] * stacked[:, 1:], axis=1)
        for name, found in zip(CORRELATIONS, (pairs, following), strict=True):
            told[name] = xp.max(xp.abs(found), initial=0.0)
        return told

    def _together(self) -> np.ndarray:
        """The correlation of any two numbers of an event."""
        varying = self._varying()
        return np.array(
            [
                self.draws[one].together if one == other else 0.0
                for number, (one, _) in enumerate(varying)
                for other, _ in varying[number + 1 :]
            ]
        )

    def _all_can_come(self, xp: Any, values: Any, one: KnownDistribution) -> Any:
        low, high = one.low[:LOOKED_AT], one.high[:LOOKED_AT]
        slack = ULPS * np.finfo(np.float32).eps * np.maximum(np.abs(low), np.abs(high))
        slack = np.where(np.isfinite(slack), slack, 0.0)
        inside = xp.all((values >= low - slack) & (values <= high + slack))
        if one.distinct:
            inside = inside & xp.all(xp.diff(xp.sort(values, axis=1), axis=1) > 0)
        return inside

    def _varying(self) -> list[Place]:
        """Numbers that are no constants, so that they have correlations."""
        places = [(name, place) for name, one in self.draws.items() for place in np.flatnonzero(one.varies).tolist()]
        return [(name, place) for name, place in places if place < LOOKED_AT][:LOOKED_AT]


def _distance(name: str, one: KnownDistribution) -> str:
    """The name of the Kolmogorov-Smirnov distance: the largest of shares of values below points."""
    return f"distance of {name} from {one.call}"


def _inside(name: str) -> str:
    return f"{name} gives only what can come"


def _scaled(xp: Any, column: Any) -> Any:
    return (column - xp.mean(column)) / xp.maximum(xp.std(column), TINY)
