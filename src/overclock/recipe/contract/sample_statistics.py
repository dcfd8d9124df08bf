"""A large sample of a candidate's draws beside the distributions that its contract names.

Seven facts: how many values lie below each of some points; how unlikely each of these shares is, and each of those
between two points (what is rare shows there only); whether any value cannot come at all; whether a continuous draw has
few values only; how the numbers of one event hang together (cards of one deck do, others must not), and how their sizes
do; and how each of these hangs together with later events.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from overclock.recipe.contract.distributions import KnownDistribution
from overclock.recipe.contract.file import ContractFile
from overclock.verify.contract import Precision
from overclock.verify.property.distribution import FALSE_ALARM, KNOWN_SAMPLE
from overclock.verify.property.module import Output

MOST_NUMBERS = 1 << 21  # of a sample in all: draws of many numbers get along with fewer events
LOOKED_AT = 64  # numbers of an event, the first ones
FINE = 1 << 20  # steps of a draw between two bounds: our generator has 2**24 in float32
FINE_SHARE = 0.9  # of the values that so many steps give in a sample; chance changes a hundredth of it at most
ULPS = 4  # of float32, by which a bound may be missed: it is computed
LEAST = 1e-12  # a chance that is none, so that its logarithm is a number
TINY = 1e-30  # a constant has no correlation: it comes out as none

# Beyond what must be: of two numbers of one event, of their sizes (how far each is from the middle), and of a number or
# a size and that of a later event.
CORRELATIONS = ("correlation within an event", "correlation of sizes within an event", "correlation with a later event")
LAGS = (*range(1, 9), 13, 16, 32, 64, 128, 256, 512, 1000, 1024)  # how many events later
Place = tuple[str, int]  # a draw, and which of its numbers


@dataclasses.dataclass(frozen=True, eq=False)
class SampleStatistics:
    """Statistics of a large sample of draws, those whose distribution is known (`draws`, by name)."""

    draws: Mapping[str, KnownDistribution]

    @property
    def events(self) -> int:
        """How many events the sample has."""
        return min(KNOWN_SAMPLE, MOST_NUMBERS // max(sum(len(one.points) for one in self.draws.values()), 1))

    def looked_at(self, drawn: Mapping[str, Any]) -> dict[str, Any]:
        """What the statistics need of one event's draws."""
        return {name: drawn[name].reshape(-1)[:LOOKED_AT] for name in self.draws}

    def expected(self) -> dict[str, np.ndarray]:
        """The statistics of an infinite sample."""
        none = {_distance(name, one): np.zeros(len(one.points[:LOOKED_AT])) for name, one in self.draws.items()}
        inside = {_inside(name): np.array(True) for name in self.draws}
        inside |= {_distinct(name): np.array(True) for name, one in self.draws.items() if one.continuous}
        none |= {_surprise(name, one): np.zeros(len(one.points[:LOOKED_AT])) for name, one in self.draws.items()}
        return {**none, **inside, **dict.fromkeys(CORRELATIONS, np.array(0.0))}

    def outputs(self, contract: ContractFile) -> dict[Precision, tuple[Output, ...]]:
        """The statistics as outputs of level 1, with tolerances that chance exceeds once in a million times."""
        numbers, varying = sum(min(len(one.points), LOOKED_AT) for one in self.draws.values()), len(self._varying())
        # Dvoretzky, Kiefer, Wolfowitz and Massart; and the tail of a normal distribution.
        shares = math.sqrt(math.log(2 * numbers / FALSE_ALARM) / (2 * self.events))
        pairs = max(varying * (2 * varying - 1 + 2 * len(LAGS)), 1)
        together = math.sqrt(2 * math.log(2 * pairs / FALSE_ALARM) / self.events)
        reason = f"a sample of {self.events:,} stays this close but once in {1 / FALSE_ALARM:.0e} times"
        found = [Output(_distance(name, one), absolute=shares, reason=reason) for name, one in self.draws.items()]
        found += [Output(_inside(name)) for name in self.draws]
        found += [Output(_distinct(name)) for name, one in self.draws.items() if one.continuous]
        # Chernoff: a share as far from p as s comes exp(-n KL(s, p)) times at most.
        shown = sum(2 * min(len(one.points), LOOKED_AT) * (one.points.shape[1] + 1) for one in self.draws.values())
        most = math.log(2 * shown / FALSE_ALARM) if shown else 0.0
        found += [Output(_surprise(name, one), absolute=most, reason=reason) for name, one in self.draws.items()]
        found += [Output(name, absolute=together, reason=reason) for name in CORRELATIONS]
        return dict.fromkeys(contract.precisions, tuple(found))

    def of(self, xp: Any, sample: Mapping[str, Any]) -> dict[str, Any]:
        """The statistics of a sample, whose draws have a row per event; `xp` is NumPy or its twin in JAX."""
        told: dict[str, Any] = {}
        columns: dict[Place, Any] = {}
        for name, one in self.draws.items():
            values = xp.reshape(xp.asarray(sample[name]), (self.events, -1))[:, :LOOKED_AT] * 1.0
            columns |= {(name, place): values[:, place] for place in range(values.shape[1])}
            points = xp.asarray(one.points[:LOOKED_AT]).astype(values.dtype)
            below, different = _each_row(xp, functools.partial(_below_and_different, xp), values.T, points)
            shares = xp.asarray(one.shares[:LOOKED_AT])
            apart = below / self.events - shares
            told[_distance(name, one)] = xp.max(xp.abs(apart), axis=1)
            told[_surprise(name, one)] = self.events * _most_surprising(xp, apart + shares, shares)
            told[_inside(name)] = self._all_can_come(xp, values, one)
            if one.continuous:
                told[_distinct(name)] = self._seldom_twice(xp, different, one)
        return told | self._correlations(xp, [columns[place] for place in self._varying()])

    def _correlations(self, xp: Any, columns: list[Any]) -> dict[str, Any]:
        """The largest correlations beyond what must be, of the numbers that vary."""
        if not columns:
            return {name: xp.zeros(()) for name in CORRELATIONS}
        count, lags = len(columns), [lag for lag in LAGS if lag < self.events]
        scaled = _scaled(xp, xp.stack(columns))
        both = xp.concatenate([scaled, _scaled(xp, xp.abs(scaled))])

        def of_row(row: Any) -> tuple[Any, Any]:
            return both @ row / self.events, xp.stack([xp.sum(row[:-lag] * row[lag:]) / self.events for lag in lags])

        products, later = _each_row(xp, of_row, both)
        apart = np.triu_indices(count, 1)
        pairs = products[:count, :count][apart] - self._together()
        free = self._together() == 0.0  # sizes of cards of one deck hang together as well, and nobody says how
        mixed = products[:count, count:]
        of_sizes = xp.concatenate(
            [xp.where(free, part[apart], 0.0) for part in (products[count:, count:], mixed, mixed.T)]
        )
        found = zip(CORRELATIONS, (pairs, of_sizes, later), strict=True)
        return {name: xp.max(xp.abs(values), initial=0.0) for name, values in found}

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

    def _seldom_twice(self, xp: Any, different: Any, one: KnownDistribution) -> Any:
        """Whether each number takes as many values as one of FINE equal steps, or of all that float32 has there."""
        points = one.points[:LOOKED_AT]
        spread = points[:, -1] - points[:, 0]
        there = spread / (np.finfo(np.float32).eps * np.maximum(np.abs(points).max(axis=1), TINY))
        steps = np.minimum(FINE, np.maximum(there, 1.0))
        expected = steps * -np.expm1(-self.events / steps)
        return xp.all(different >= FINE_SHARE * expected)

    def _varying(self) -> list[Place]:
        """Numbers that are no constants, so that they have correlations."""
        places = [(name, place) for name, one in self.draws.items() for place in np.flatnonzero(one.varies).tolist()]
        return [(name, place) for name, place in places if place < LOOKED_AT][:LOOKED_AT]


def _distance(name: str, one: KnownDistribution) -> str:
    """The name of the Kolmogorov-Smirnov distance: the largest of shares of values below points."""
    return f"distance of {name} from {one.call}"


def _distinct(name: str) -> str:
    return f"{name} is as fine as it can be"


def _surprise(name: str, one: KnownDistribution) -> str:
    """The name of the largest of `n KL(share, chance)`, over shares below points and between them."""
    return f"surprise of {name} as {one.call}"


def _most_surprising(xp: Any, shares: Any, chances: Any) -> Any:
    """The largest Kullback-Leibler divergence of two coins, one for each point and each interval, by row."""

    def coins(below: Any) -> Any:
        none, all_of_it = xp.zeros_like(below[:, :1]), xp.ones_like(below[:, :1])
        between = xp.diff(xp.concatenate([none, below, all_of_it], axis=1), axis=1)
        return xp.clip(xp.concatenate([below, between], axis=1), 0.0, 1.0)

    seen, expected = coins(shares), coins(chances)
    return xp.max(_part(xp, seen, expected) + _part(xp, 1 - seen, 1 - expected), axis=1)


def _part(xp: Any, seen: Any, expected: Any) -> Any:
    """`seen log(seen / expected)`, and 0 for none."""
    return xp.where(seen > 0, seen * xp.log(xp.maximum(seen, LEAST) / xp.maximum(expected, LEAST)), 0.0)


def _inside(name: str) -> str:
    return f"{name} gives only what can come"


def _scaled(xp: Any, rows: Any) -> Any:
    """The rows with mean 0 and standard deviation 1; a constant becomes 0."""
    return (rows - xp.mean(rows, axis=1, keepdims=True)) / xp.maximum(xp.std(rows, axis=1, keepdims=True), TINY)


def _below_and_different(xp: Any, column: Any, points: Any) -> tuple[Any, Any]:
    """How many values of a column lie below each of the points, and how many different values it has."""
    ordered = xp.sort(column)
    return xp.searchsorted(ordered, points), 1 + xp.sum(xp.diff(ordered) > 0)


def _each_row(xp: Any, function: Callable[..., tuple[Any, ...]], *arrays: Any) -> tuple[Any, ...]:
    """The results of `function` for each row of the arrays, one row after the other.

    Under `jit` XLA keeps the intermediates of independent rows in memory at the same time unless a loop separates them.
    """
    if xp is np:
        results = [function(*rows) for rows in zip(*arrays, strict=True)]
        return tuple(np.stack(result) for result in zip(*results, strict=True))
    import jax  # this module is loaded in the verifier and the reference's process as well

    return jax.lax.map(lambda rows: function(*rows), arrays)
