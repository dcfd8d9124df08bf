"""Do policies visit the same states on both sides? Jensen-Shannon divergence per dimension, against a null of its own.

The divergence of two samples of the same thing is not zero, and states within an episode are not independent; so the
null is made by permuting whole episodes between the sides. This can show a difference; it cannot show equality.
"""

import dataclasses
import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from overclock.errors import UsageError

RESOLUTION = 2.0**-20  # of a dimension's range: finer differences are rounding, which level 3 measures


@dataclasses.dataclass(frozen=True)
class DimensionDivergence:
    """One dimension of the state; divergences are in bits, from 0 (same) to 1 (nothing shared)."""

    name: str
    bins: int
    value: float
    null_mean: float
    null_limit: float
    """The null's (1 - alpha) percentile, raised so that looking at every dimension costs alpha in all."""
    p: float
    """Corrected for the number of dimensions in the same way."""


@dataclasses.dataclass(frozen=True)
class Visitation:
    """The worst dimension and all of them."""

    verdict: Literal["different", "consistent"]
    """`consistent` is absence of evidence: the divergence is one that equal implementations also show."""
    worst: str
    value: float
    null_mean: float
    null_limit: float
    p: float
    alpha: float
    episodes: tuple[int, int]
    states: tuple[int, int]
    dimensions: tuple[DimensionDivergence, ...]


def divergence_bits(counts_a: np.ndarray, counts_b: np.ndarray) -> np.ndarray:
    """Jensen-Shannon divergence (not its square root) of histograms along the last axis."""
    a = counts_a / counts_a.sum(axis=-1, keepdims=True)
    b = counts_b / counts_b.sum(axis=-1, keepdims=True)
    middle = (a + b) / 2.0
    value = (_plogp(a) + _plogp(b)) / 2.0 - _plogp(middle)
    return np.maximum(value.sum(axis=-1), 0.0)  # equal histograms may come out at -1e-17


def compare_visitation(
    reference: Sequence[ArrayLike],
    performance: Sequence[ArrayLike],
    *,
    names: Sequence[str] | None = None,
    bins: int = 50,
    permutations: int = 999,
    alpha: float = 0.05,
    paired: bool = False,
    seed: int = 0,
) -> Visitation:
    """Compare the states of whole episodes, each an array (steps, dimensions).

    `paired` says that episode i had the same randomness on both sides; then only partners are exchanged, which sees
    smaller differences. A dimension with at most `bins` distinct values has one bin each; others have equally filled
    bins of both sides pooled, because bins that know the sides would make the permutation test inexact.
    """
    sides = [_episodes(reference, "reference"), _episodes(performance, "performance")]
    first, second = len(sides[0]), len(sides[1])
    if paired and first != second:
        raise UsageError(f"Paired episodes must be equally many, got {first} and {second}.")
    _check_reach(first, second, paired, permutations, alpha)
    episodes = [*sides[0], *sides[1]]
    if len({episode.shape[1] for episode in episodes}) > 1:
        raise UsageError("Every episode must have the same number of state dimensions.")
    names = [f"dimension {index}" for index in range(episodes[0].shape[1])] if names is None else list(names)
    pooled, owner = np.concatenate(episodes), np.repeat(np.arange(len(episodes)), [len(e) for e in episodes])
    if len(names) != pooled.shape[1]:
        raise UsageError(f"There are {pooled.shape[1]} state dimensions and {len(names)} names for them.")
    _check_finite(pooled, names)

    labels = _labels(first, second, permutations, paired, np.random.default_rng(seed))
    used, values = [], np.empty((len(names), permutations + 1))
    for dimension in range(len(names)):
        counts = _histograms(pooled[:, dimension], owner, len(episodes), bins)
        in_first = labels @ counts
        values[dimension] = divergence_bits(in_first, counts.sum(axis=0) - in_first)
        used.append(counts.shape[1])
    return _judge(values, names, used, alpha, (first, second), (sum(map(len, sides[0])), sum(map(len, sides[1]))))


def _judge(
    values: np.ndarray,
    names: list[str],
    bins: list[int],
    alpha: float,
    episodes: tuple[int, int],
    states: tuple[int, int],
) -> Visitation:
    """`values[dimension, arrangement]`, the observed arrangement first.

    Dimensions are made comparable by dividing by their own null percentile; the largest quotient of each arrangement
    is the null of "the worst dimension" (Westfall and Young). Every step treats the observed arrangement like the
    others, which is what keeps the test exact.
    """
    usual = np.quantile(values, 1.0 - alpha, axis=1)
    largest = values.max(axis=1)
    scale = np.where(usual > 0.0, usual, np.where(largest > 0.0, largest, 1.0))
    scores = values / scale[:, None]
    worst_scores = scores.max(axis=0)
    limit = np.quantile(worst_scores, 1.0 - alpha)
    slack = 1e-12  # equal arrangements summed in another order count as equal
    p = (worst_scores[None, :] >= scores[:, :1] - slack).mean(axis=1)
    dimensions = tuple(
        DimensionDivergence(
            name, count, float(values[i, 0]), float(values[i].mean()), float(limit * scale[i]), float(p[i])
        )
        for i, (name, count) in enumerate(zip(names, bins, strict=True))
    )
    worst = dimensions[int(scores[:, 0].argmax())]
    verdict = "different" if worst.p <= alpha else "consistent"
    return Visitation(
        verdict,
        worst.name,
        worst.value,
        worst.null_mean,
        worst.null_limit,
        worst.p,
        alpha,
        episodes,
        states,
        dimensions,
    )


def _histograms(values: np.ndarray, owner: np.ndarray, episodes: int, bins: int) -> np.ndarray:
    low, span = values.min(), np.ptp(values)
    grid = np.round((values - low) / (span * RESOLUTION)) if span > 0.0 else np.zeros_like(values)
    distinct, where = np.unique(grid, return_inverse=True)
    if len(distinct) > bins:
        inner = np.quantile(grid, np.arange(1, bins) / bins, method="inverted_cdf")
        edges = np.unique(inner[inner < distinct[-1]])
        where = np.searchsorted(edges, grid)
        count = len(edges) + 1
    else:
        count = len(distinct)
    return np.bincount(owner * count + where, minlength=episodes * count).reshape(episodes, count).astype(np.float64)


def _labels(first: int, second: int, permutations: int, paired: bool, generator: np.random.Generator) -> np.ndarray:
    """Row = arrangement, 1 where the episode plays the reference; the observed arrangement is row 0."""
    observed = np.repeat([1.0, 0.0], [first, second])[None]
    if paired:
        kept = generator.integers(0, 2, (permutations, first)).astype(np.float64)
        return np.concatenate([observed, np.concatenate([kept, 1.0 - kept], axis=1)])
    return np.concatenate([observed, generator.permuted(np.repeat(observed, permutations, axis=0), axis=1)])


def _episodes(side: Sequence[ArrayLike], name: str) -> list[np.ndarray]:
    episodes = [np.asarray(episode, np.float64) for episode in side]
    episodes = [episode[:, None] if episode.ndim == 1 else episode for episode in episodes]
    if not episodes or any(episode.ndim != 2 or episode.size == 0 for episode in episodes):
        raise UsageError(f"The {name} needs episodes that are non-empty arrays (steps, dimensions).")
    return episodes


def _check_reach(first: int, second: int, paired: bool, permutations: int, alpha: float) -> None:
    first, second = min(first, 30), min(second, 30)  # from there on arrangements abound, and their number overflows
    arrangements = 2**first if paired else math.comb(first + second, first)
    # Exchanging the sides altogether gives the same divergence, so the smallest p is two arrangements' worth.
    if 2.0 / arrangements > alpha or 1.0 / (permutations + 1) > alpha:
        raise UsageError(
            f"{arrangements} arrangements of the episodes and {permutations} permutations can never give p <= {alpha}; "
            "compare more episodes (10 on each side are enough), with 999 permutations."
        )


def _check_finite(pooled: np.ndarray, names: list[str]) -> None:
    bad = ~np.isfinite(pooled).all(axis=0)
    if bad.any():
        raise UsageError(
            f"The state {names[int(bad.argmax())]} holds a value that is not finite; compare it at level 3."
        )


def _plogp(p: np.ndarray) -> np.ndarray:
    return p * np.log2(np.where(p > 0.0, p, 1.0))
