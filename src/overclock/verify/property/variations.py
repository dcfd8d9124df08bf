"""Further boundary inputs, made from those that a module names: where programs differ that are right in all of play.

- A counter is put at the numbers at which counters fail: small ones one by one (a rule that changes with the N-th
  event), round ones, and those at which a narrower type wraps or stops (2^8, 2^15, 2^16, 2^24, 2^31).
- A compared number is put on every constant that the reference compares with, and one ulp beside it.

Everything else stays as it is in the input that is varied, so a difference is blamed on the number alone.
"""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from overclock.verify.sides.subject import Arrays

DENSE = 64  # counters below are tried one by one
WIDTHS = (7, 8, 9, 10, 11, 12, 15, 16, 20, 24, 31, 32, 53, 63)  # powers of two: limits of types, sizes of buffers
ROUND = (100, 200, 250, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000, 10_000_000)
TINY = float(np.finfo(np.float32).tiny)
COUNTING, OTHER = 10, 2  # inputs that are varied: those in whose steps the counter changes, and some in which it stays
MOST_STILL = 4  # inputs whose compared numbers are varied, one by one


def counts(dtype: np.dtype | type = np.int32, most: int | None = None) -> np.ndarray:
    """The numbers at which a counter of this type is tried; it can still count one further from each of them."""
    most = np.iinfo(dtype).max - 1 if most is None else min(most, np.iinfo(dtype).max - 1)
    beside = {middle + by for middle in (*ROUND, *(2**width for width in WIDTHS)) for by in (-1, 0, 1)}
    return np.array(sorted(one for one in beside | {*range(DENSE), most} if one <= most), dtype)


def beside(value: float, dtype: np.dtype | type = np.float64) -> list[float]:
    """A finite number, and the next ones to both sides of it, in float32 and (unless `dtype` is narrower) in float64.

    Beside zero lie the smallest normal numbers of float32: programs may take smaller ones for zero.
    """
    if not math.isfinite(value):
        return []
    if abs(value) < TINY:
        return [-TINY, 0.0, TINY]
    single = np.float32(value)
    found = [float(single), *(float(np.nextafter(single, np.float32(end))) for end in (-np.inf, np.inf))]
    if np.dtype(dtype) == np.float64:
        found += [value, math.nextafter(value, -math.inf), math.nextafter(value, math.inf)]
    return sorted({*found})


def counted(inputs: Arrays, name: str, changes: Sequence[bool]) -> Arrays:
    """Inputs with a counter at all of `counts`; `changes` says in which of the inputs' steps it changes."""
    rows = [*_spread(np.flatnonzero(changes), COUNTING), *_spread(np.flatnonzero(~np.asarray(changes)), OTHER)]
    values = counts(inputs[name].dtype)
    varied = {field: np.repeat(column[rows], len(values), axis=0) for field, column in inputs.items()}
    return {**varied, name: np.tile(values, len(rows))}


def compared(inputs: Arrays, names: Sequence[str], constants: Iterable[float], least: int = MOST_STILL) -> Arrays:
    """The first inputs, with every number of every named one on each constant, on its negative, and beside them."""
    rows = range(min(least, len(inputs[names[0]])))
    made: dict[str, list[np.ndarray]] = {name: [] for name in inputs}
    signed = sorted({sign * abs(one) for one in constants for sign in (-1.0, 1.0)})
    for row in rows:
        for name in names:
            column = inputs[name]
            for value in sorted({near for one in signed for near in beside(one, column.dtype)}):
                for place in range(column[row].size):
                    changed = np.array(column[row])
                    changed.flat[place] = value
                    for field, values in inputs.items():
                        made[field].append(changed if field == name else values[row])
    return {name: np.stack(values) if values else inputs[name][:0] for name, values in made.items()}


def together(*parts: Arrays) -> Arrays:
    """Inputs one after the other."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _spread(rows: np.ndarray, most: int) -> list[int]:
    """Up to so many of them, evenly spread."""
    return [int(part[0]) for part in np.array_split(rows, min(most, len(rows)))] if len(rows) else []
