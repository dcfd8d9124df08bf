"""What the arguments of a draw come to, in the same words for every generator: how many, how low, by which chances.

`randint(1, 6)` of Python and `integers(1, 7)` of NumPy both draw one of n = 6 whole numbers from low = 1.
"""

import enum
from typing import Any

import numpy as np

from overclock.recording.sites.hooks import Drawing

Facts = dict[str, Any]


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
    """The kind of a draw."""
    found = FAMILIES.get(drawing.method, Family.OTHER)
    arguments = drawing.arguments
    if found is Family.CHOICE and arguments.get("replace") is False and arguments.get("size") is not None:
        return Family.PERMUTATION
    if drawing.method in ("shuffle", "permutation") and arguments.get("axis", 0) != 0:
        return Family.OTHER
    if drawing.method == "sample" and arguments.get("counts") is not None:
        return Family.OTHER
    return found


def facts_of(drawing: Drawing) -> Facts:
    """The arguments of a draw as its family says them; of other draws, as they were given."""
    given = drawing.arguments
    match family(drawing):
        case Family.WHOLE:
            return _whole(drawing)
        case Family.CHOICE:
            return _choice(given)
        case Family.UNIFORM:
            return {"low": given.get("low", given.get("a")), "high": given.get("high", given.get("b"))}
        case Family.UNIT:
            return {}
        case Family.NORMAL:
            return {"loc": given.get("loc", given.get("mu")), "scale": given.get("scale", given.get("sigma"))}
        case Family.PERMUTATION if drawing.method == "choice":
            return {**_choice(given), "k": given["size"]}
        case Family.PERMUTATION if drawing.method == "sample":
            return {"n": len(given["population"]), "k": given["k"]}
        case Family.PERMUTATION:
            count = given["x"] if isinstance(given["x"], int | np.integer) else len(given["x"])
            return {"n": int(count), "k": int(count)}
        case _:
            return dict(drawing.given)


def _whole(drawing: Drawing) -> Facts:
    """Lowest number, how many there are, and how far apart."""
    given, step = drawing.arguments, 1
    if drawing.method == "randrange":
        start, stop, step = given["start"], given["stop"], int(given["step"] if given["step"] is not None else 1)
        low, end = (0, start) if stop is None else (start, stop)
        return {"low": int(low), "n": len(range(int(low), int(end), step)), "step": step}
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
    return {"low": int(low) if plain else np.asarray(low), "n": int(count) if plain else count, "step": step}


def _choice(given: Facts) -> Facts:
    items = next(given[name] for name in ("a", "seq", "population") if name in given)
    count = int(items) if isinstance(items, int | np.integer) else len(items)
    chances = given.get("p", given.get("weights"))
    if given.get("cum_weights") is not None:
        chances = np.diff(given["cum_weights"], prepend=0)
    if chances is None:
        return {"n": count}
    total = float(np.sum(chances))
    return {"n": count, "p": tuple(float(one) / total for one in chances)}
