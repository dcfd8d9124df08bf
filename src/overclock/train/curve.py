"""The learning curve of a run: metrics of every update against environment steps and against seconds."""

import dataclasses
import math
from typing import Any

import numpy as np

OVERFLOWED = "overflowed"  # the metric that counts steps without room


@dataclasses.dataclass(frozen=True, eq=False)
class Curve:
    """One entry per finished update; metrics have one column per seed."""

    steps: np.ndarray
    """Environment steps of one seed so far."""
    seconds: np.ndarray
    """Since training began, compiling left out; all seeds train in the same seconds."""
    metrics: dict[str, np.ndarray]
    """`return`, `length` and `episodes` of the episodes that ended in the update, and PPO's own numbers.

    Where room can run out (`overflow` in the environment's info), `overflowed` counts the steps in which it had.
    """

    def recent_return(self, seed: int, updates: int = 10) -> float | None:
        """Mean return of the episodes that ended in the last updates of a seed; None where none did."""
        weight = self.metrics["episodes"][-updates:, seed]
        total = np.nansum(self.metrics["return"][-updates:, seed] * weight)
        return float(total / weight.sum()) if weight.sum() > 0 else None

    @property
    def overflowed(self) -> int | None:
        """In how many steps of all seeds room had run out; None where the environment has no such flag."""
        counts = self.metrics.get(OVERFLOWED)
        return None if counts is None else int(np.nansum(counts))

    def to_json(self, seed: int) -> dict[str, Any]:
        """One seed's curve from JSON's own types; a mean over no episodes is null."""
        columns = {name: _numbers(values[:, seed]) for name, values in sorted(self.metrics.items())}
        return {"steps": self.steps.tolist(), "seconds": _numbers(self.seconds), **columns}


def _numbers(values: np.ndarray) -> list[float | None]:
    return [float(f"{value:.6g}") if math.isfinite(value) else None for value in values.tolist()]
