"""Thresholds that a contract names: next to them rounding decides `terminated`, and with it often the reward.

A flag that turned there is excused and counted, and more than a few are a failure (verify/compare.py). One that turns
anywhere else is simply wrong: a contract that does not name a threshold does not excuse it.
"""

import dataclasses
import re
from collections.abc import Mapping

import numpy as np

from overclock.errors import UsageError
from overclock.verify.sides.subject import Arrays
from overclock.verify.tolerance import require_tolerances

PLACE = re.compile(r"(\w+)((?:\[\d+\])*)")
FIELDS = ("terminated", "reward")  # what follows from a threshold


@dataclasses.dataclass(frozen=True)
class Limits:
    """Thresholds `at` by state field ('x', or 'state[0]' for a number of an array), and how near counts as next to."""

    at: Mapping[str, tuple[float, ...]]
    margin: float
    reason: str

    def __post_init__(self) -> None:
        require_tolerances("flags next to a threshold (limits.margin)", self.margin)
        for place, values in self.at.items():
            if PLACE.fullmatch(place) is None or not values or not np.isfinite(values).all():
                raise UsageError(f"its limits name '{place} = {list(values)}'; write x = [-2.4, 2.4], or 'state[0]'")
        if not self.reason:
            raise UsageError("its limits need a reason")

    @property
    def fields(self) -> list[str]:
        return list(dict.fromkeys(_parsed(place)[0] for place in self.at))

    def renamed(self, names: Mapping[str, str]) -> "Limits":
        at = {
            names[name] + place.removeprefix(name): self.at[place] for place in self.at for name in [_parsed(place)[0]]
        }
        return dataclasses.replace(self, at=at)

    def distance(self, state: Arrays) -> np.ndarray:
        """How far the state of every lane is from its nearest threshold."""
        found = []
        for place, values in self.at.items():
            name, index = _parsed(place)
            numbers = np.asarray(state[name], np.float64)[(slice(None), *index)]
            found += [np.abs(numbers - value) for value in values]
        return np.min(found, axis=0)

    def distance_after(self, inputs: Arrays, expected: Arrays) -> np.ndarray:
        """The same for cases of level 1: of the state after the step."""
        return self.distance(expected)


def _parsed(place: str) -> tuple[str, tuple[int, ...]]:
    matched = PLACE.fullmatch(place)
    assert matched is not None
    return matched[1], tuple(map(int, re.findall(r"\d+", matched[2])))
