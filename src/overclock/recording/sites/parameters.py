"""The parameters of the distribution that a draw is made from, in the same words for every generator.

`randint(1, 6)` of Python and `integers(1, 7)` of NumPy both draw one of n = 6 whole numbers from low = 1.
"""

import dataclasses
import enum
from typing import Any

import numpy as np

from overclock.recording.sites.generators import Drawing


@dataclasses.dataclass(frozen=True)
class Parameters:
    """Those that a family of draws has; None where it has none. Arrays of draws may have arrays of parameters."""

    low: Any = None  # of whole numbers and uniform draws
    high: Any = None
    step: int | None = None  # between two whole numbers
    loc: Any = None  # of normal draws
    scale: Any = None
    n: Any = None  # how many whole numbers, or items to choose among, there are
    k: Any = None  # how many items an order has
    p: tuple[float, ...] | None = None  # the chance of each item
    others: tuple[tuple[str, Any], ...] = ()  # the arguments of any other draw, as they were given

    def given(self) -> dict[str, Any]:
        named = {one.name: getattr(self, one.name) for one in dataclasses.fields(self) if one.name != "others"}
        return {name: value for name, value in (*named.items(), *self.others) if value is not None}


class Family(enum.Enum):
    """Kinds of draws that can be recorded in the same ways."""

    WHOLE = enum.auto()  # whole numbers of a range
    CHOICE = enum.auto()  # one of several, or more with replacement
    UNIFORM = enum.auto()  # between two bounds
    NORMAL = enum.auto()
    UNIT = enum.auto()  # in [0, 1)
    PERMUTATION = enum.auto()  # an order, or several without replacement
    OTHER = enum.auto()


FAMILIES = {
    "integers": Family.WHOLE, "randint": Family.WHOLE, "random_integers": Family.WHOLE, "randrange": Family.WHOLE,
    "choice": Family.CHOICE, "choices": Family.CHOICE,
    "uniform": Family.UNIFORM,
    "normal": Family.NORMAL, "gauss": Family.NORMAL, "normalvariate": Family.NORMAL,
    "random": Family.UNIT, "random_sample": Family.UNIT, "rand": Family.UNIT,
    "shuffle": Family.PERMUTATION, "permutation": Family.PERMUTATION, "sample": Family.PERMUTATION,
}  # fmt: skip


def family(drawing: Drawing) -> Family:
    """The family of a call, by its method and the arguments that change what the method means."""
    found = FAMILIES.get(drawing.method, Family.OTHER)
    arguments = drawing.arguments
    if found is Family.CHOICE and arguments.get("replace") is False and arguments.get("size") is not None:
        return Family.PERMUTATION
    if drawing.method in ("shuffle", "permutation") and arguments.get("axis", 0) != 0:
        return Family.OTHER
    if drawing.method == "sample" and arguments.get("counts") is not None:
        return Family.OTHER
    return found


def parameters_of(drawing: Drawing) -> Parameters:
    """The parameters of a call of a generator."""
    given = drawing.arguments
    match family(drawing):
        case Family.WHOLE:
            return _whole(drawing)
        case Family.CHOICE:
            return _choice(given)
        case Family.UNIFORM:
            return Parameters(low=given.get("low", given.get("a")), high=given.get("high", given.get("b")))
        case Family.UNIT:
            return Parameters()
        case Family.NORMAL:
            return Parameters(loc=given.get("loc", given.get("mu")), scale=given.get("scale", given.get("sigma")))
        case Family.PERMUTATION if drawing.method == "choice":
            return dataclasses.replace(_choice(given), k=given["size"])
        case Family.PERMUTATION if drawing.method == "sample":
            return Parameters(n=len(given["population"]), k=given["k"])
        case Family.PERMUTATION:
            count = _count(given["x"])
            return Parameters(n=count, k=count)
        case _:
            return Parameters(others=tuple(drawing.given.items()))


def _whole(drawing: Drawing) -> Parameters:
    given, step = drawing.arguments, 1
    if drawing.method == "randrange":
        start, stop, step = given["start"], given["stop"], int(given["step"] if given["step"] is not None else 1)
        low, end = (0, start) if stop is None else (start, stop)
        return Parameters(low=int(low), n=len(range(int(low), int(end), step)), step=step)
    if "a" in given:  # Python's randint
        low, end = given["a"], given["b"] + 1
    else:
        low, end = (0, given["low"]) if given["high"] is None else (given["low"], given["high"])
        inclusive = given.get("endpoint", False) or drawing.method == "random_integers"
        if drawing.method == "random_integers" and given["high"] is None:
            low = 1
        end = np.add(end, 1) if inclusive else end
    count = np.subtract(end, low)
    plain = np.ndim(low) == 0 and np.ndim(count) == 0
    return Parameters(low=int(low) if plain else np.asarray(low), n=int(count) if plain else count, step=step)


def _count(items: Any) -> int:
    return int(items) if isinstance(items, int | np.integer) else len(items)


def _choice(given: dict[str, Any]) -> Parameters:
    items = next(given[name] for name in ("a", "seq", "population") if name in given)
    chances = given.get("p", given.get("weights"))
    if given.get("cum_weights") is not None:
        chances = np.diff(given["cum_weights"], prepend=0)
    if chances is None:
        return Parameters(n=_count(items))
    total = float(np.sum(chances))
    return Parameters(n=_count(items), p=tuple(float(one) / total for one in chances))
