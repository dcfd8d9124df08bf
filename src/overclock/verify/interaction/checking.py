"""How two results of one environment are compared: in ulp of the largest value that an element has on the way.

Other elements and fields do not count, however large. Where a contract lets an element stray in one step (`strays`, see
`Tolerance.as_json`), a unit is at least a 64th of that: two programs of one source may use up an eighth of it.
"""

import dataclasses
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.verify.interaction.metamorphic_rules import STRAYED_UNITS, verdict
from overclock.verify.interaction.result import SelfCheck
from overclock.verify.tolerance import EXACT, tolerances_of

Strays = Mapping[str, Mapping[str, Any]]
Scales = Mapping[str, np.ndarray]
NOTHING: Mapping[str, Any] = MappingProxyType({})
# What checks call a field that a contract has under another name: by the beginning of its name.
ALSO_CALLED = {
    "info.final_observation": "obs",
    "lanes.rules.": "state.",
    "store.episodes.rules.": "state.",
    "statistics.returns": "reward",
    "info.episode.return": "reward",
}


@dataclasses.dataclass
class Check:
    """One property: how many times it was looked at, the largest error (in ulp) and the field that has it."""

    name: str
    compared: int = 0
    largest_error: float = 0.0
    worst_field: str = ""

    @property
    def passed(self) -> bool:
        """Whether it was looked at often enough, and held."""
        return self.result().passed

    def compare(self, a: Any, b: Any, scales: Scales = NOTHING) -> None:
        """Two trees that must agree."""
        self.compared += 1
        for field, error in distances(a, b, scales):
            if error > self.largest_error:
                self.largest_error, self.worst_field = error, field

    def result(self) -> SelfCheck:
        """The numbers with what the check's rule requires of them."""
        return verdict(self.name, self.compared, self.largest_error, self.worst_field)


def scales(tree: Any, strays: Strays = NOTHING) -> dict[str, np.ndarray]:
    """By float field of a batch: every element's largest value, or the one whose ulp is a unit of what it may stray.

    The first axis of every leaf is left out: it has the lanes, or the moments.
    """
    found, tolerances = {}, tolerances_of(strays)
    for field, values in _leaves(tree):
        if jnp.issubdtype(values.dtype, np.floating):
            wide = np.abs(values.astype(np.float64))
            largest = np.where(np.isfinite(wide), wide, 0.0).max(axis=0, initial=0.0)
            stray = tolerances.get(contract_name(field), EXACT).allowed(largest.reshape(1, -1))
            strayed = stray.reshape(largest.shape) / (STRAYED_UNITS * float(jnp.finfo(values.dtype).eps))
            found[field] = np.maximum(largest, strayed)
    return found


def contract_name(field: str) -> str:
    """What a contract calls a field of a batch or of an outcome."""
    found = next((begin for begin in ALSO_CALLED if field.startswith(begin)), None)
    return field if found is None else ALSO_CALLED[found] + field.removeprefix(found)


def distances(a: Any, b: Any, scales: Scales) -> Iterator[tuple[str, float]]:
    """Per leaf of two trees: 0 where equal; floats in ulp of the largest value of their element; infinite otherwise."""
    left, right = _leaves(a), _leaves(b)
    if [field for field, _ in left] != [field for field, _ in right]:
        yield "structure", np.inf
        return
    for (field, first), (_, second) in zip(left, right, strict=True):
        yield field, _distance(first, second, scales.get(field, np.zeros(())))


def _distance(a: np.ndarray, b: np.ndarray, scale: np.ndarray) -> float:
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    if not jnp.issubdtype(a.dtype, np.floating):
        return 0.0 if np.array_equal(a, b) else np.inf
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    same = (wide_a == wide_b) | (np.isnan(wide_a) & np.isnan(wide_b))
    if same.all():
        return 0.0
    finite = np.isfinite(wide_a) & np.isfinite(wide_b)
    if not (same | finite).all():
        return np.inf
    left, right = (np.where(finite, side, 0.0) for side in (wide_a, wide_b))
    gap, largest = np.abs(left - right), np.maximum(scale, np.maximum(np.abs(left), np.abs(right)))
    unit = np.maximum(float(jnp.finfo(a.dtype).eps) * largest, float(jnp.finfo(a.dtype).tiny))
    return float((gap / unit).max())


def _leaves(tree: Any) -> list[tuple[str, np.ndarray]]:
    paths, _ = jax.tree_util.tree_flatten_with_path(tree)
    return [(jax.tree_util.keystr(path, simple=True, separator="."), np.asarray(leaf)) for path, leaf in paths]
