"""Cells: what a drawn number decides, for every number that could be drawn.

A side that only compares its number does the same for all numbers between two limits. Such a stretch is a cell. A sweep
begins at 0, asks a side for the limits that it met, and goes on where the cell ends, until it comes to 1: then no
number is left out, and nothing is left to chance. Numbers are those that NumPy, Python and `overclock.env.Rng` draw in
[0, 1): multiples of 2**-53.
"""

import dataclasses
from typing import Protocol

import numpy as np

from overclock.verify.sides.subject import Observed, Subject

STEP = 2.0**-53  # from one number that can be drawn to the next


@dataclasses.dataclass
class Cells:
    """What a side shows after a reset or a step with given numbers, and where it would be the same."""

    observed: Observed
    limits: np.ndarray  # [lane, ...] that the numbers were compared with: all of them, or the next at or above each
    only_compared: np.ndarray  # [lane] nothing else was done with the number


class CellSubject(Subject, Protocol):
    """A subject that offers `cells`: its resets and steps draw at most one number in [0, 1) each."""

    def cells(self, values: np.ndarray, actions: np.ndarray | None) -> Cells:
        """A reset of every lane (without actions) or a step in which these numbers are drawn."""
        ...


def ends(values: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """For every number, the next one for which a comparison with one of its limits may come out otherwise."""
    above = np.where(limits > values[:, None], limits, np.inf).min(axis=1)
    return np.where((limits == values[:, None]).any(axis=1), values + STEP, drawable(above))


def drawable(limits: np.ndarray) -> np.ndarray:
    """The first number at or above a limit that can be drawn."""
    return np.ceil(limits / STEP) * STEP
