"""Distributions that a contract names: of `uniform(-1.0, 1.0)` everything is known, so a very large sample is compared.

Beside it, what two samples of some thousand say is coarse: limits that are off by a tenth pass. Where the arguments of
a draw are constants, or a site says what is drawn, a candidate's own draws are compared with that distribution
(contract/sample_statistics.py).
"""

import ast
import dataclasses
import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from overclock.recipe.contract.codec import site_of
from overclock.recipe.contract.fields import DrawField
from overclock.recipe.syntax import read_expression
from overclock.verify.property.distribution import EVEN_SHARES, POINTS

# Where a continuous distribution is looked at: evenly, and further out, where a range that is too short shows.
FAR_OUT = np.array([2.5e-4, 5e-4, 1e-3, 2e-3])
LOOKED_AT_SHARES = np.sort(np.concatenate([FAR_OUT, EVEN_SHARES, 1 - FAR_OUT]))

# How NumPy's generator takes what is given without a name.
SIGNATURES = {
    "uniform": ("low", "high", "size"), "random": ("size",), "normal": ("loc", "scale", "size"),
    "standard_normal": ("size",), "integers": ("low", "high", "size", "dtype", "endpoint"),
    "choice": ("a", "size", "replace", "p"), "permutation": ("x",),
}  # fmt: skip


@dataclasses.dataclass(frozen=True, eq=False)
class KnownDistribution:
    """The distribution of one draw; arrays have a row per number of it.

    `shares` of the values lie below `points`, none below `low` or above `high`. Any two numbers of a draw correlate by
    `together`, and with `distinct` no two are equal. With `continuous` any number between two can come.
    """

    points: np.ndarray
    shares: np.ndarray
    low: np.ndarray
    high: np.ndarray
    varies: np.ndarray  # whether the number is more than one constant
    together: float = 0.0
    distinct: bool = False
    continuous: bool = False
    call: str = ""  # as a person knows it


def known_draws(draws: Sequence[DrawField]) -> dict[str, KnownDistribution]:
    """The draws whose distribution the contract states, by name."""
    found = {draw.name: known(draw) for draw in draws}
    return {name: one for name, one in found.items() if one is not None}


def known(draw: DrawField) -> KnownDistribution | None:
    """The distribution of a draw; None where its arguments vary, or its method is none that is known here."""
    try:
        if draw.site is not None:
            site = site_of(draw)
            call, one = _of_site(site.form, site.method, dict(site.arguments)), site.shape
        else:
            call, one = (draw.method, _given(draw)), draw.shape
        found = _known(*call, draw.shape, one)
        arguments = ", ".join(f"{name}={value}" for name, value in call[1].items() if value is not None)
        return None if found is None else dataclasses.replace(found, call=f"{call[0]}({arguments})")
    except (SyntaxError, ValueError, KeyError):  # cut short, no constants, or called in another way
        return None


def _given(draw: DrawField) -> dict[str, Any]:
    """The arguments of a call by name; a ValueError where they are not all constants."""
    call = read_expression(f"f({draw.arguments})")
    names = SIGNATURES[draw.method]
    if not isinstance(call, ast.Call) or len(call.args) > len(names):
        raise ValueError(draw.arguments)
    given = {name: ast.literal_eval(value) for name, value in zip(names, call.args, strict=False)}
    given |= {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    if given.keys() - {*names, "dtype"} or any(value is ... for value in given.values()):
        raise ValueError(draw.arguments)
    return given


def _of_site(form: str, method: str, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The call whose distribution is that of what is recorded at a site."""
    match form:
        case "index":
            return "choice", {"a": given["n"], "p": given.get("p")}
        case "unit":
            return "random", {}
        case "normal":
            return "standard_normal", {}
        case "permutation":
            return "choice", {"a": given["n"], "replace": False, "p": given.get("p")}
        case _:
            return {"gauss": "normal", "normalvariate": "normal", "rand": "random"}.get(method, method), given


def _known(
    method: str, given: dict[str, Any], shape: tuple[int, ...], one: tuple[int, ...]
) -> KnownDistribution | None:
    """The distribution of a call; `one` is the shape of each of several records in `shape`."""
    count = math.prod(shape)
    match method:
        case "uniform" | "random":
            low, high = (0.0, 1.0) if method == "random" else (given.get("low", 0.0), given.get("high", 1.0))
            return _between(_wide(low, shape, one), _wide(high, shape, one))
        case "normal" | "standard_normal":
            loc, scale = (0.0, 1.0) if method != "normal" else (given.get("loc", 0.0), given.get("scale", 1.0))
            return _bell(_wide(loc, shape, one), _wide(scale, shape, one))
        case "integers":
            low, high = (0, given["low"]) if given.get("high") is None else (given["low"], given["high"])
            if np.ndim(low) or np.ndim(high):
                return None
            return _among(np.arange(low, high + bool(given.get("endpoint", False))), None, count)
        case "choice" | "permutation":
            items = given["a" if method == "choice" else "x"]
            items = np.arange(items) if isinstance(items, int) else np.asarray(items)
            if items.ndim != 1 or items.dtype.kind not in "iuf":
                return None
            whole = method == "permutation" or (given.get("replace") is False and bool(one))
            if whole and (given.get("p") is not None or len(one) != 1 or shape != one):
                return None  # chances without replacement, or several orders at once: two samples have to do
            return _among(items, given.get("p"), count, whole)
        case _:
            return None


def _wide(value: Any, shape: tuple[int, ...], one: tuple[int, ...]) -> np.ndarray:
    return np.broadcast_to(np.broadcast_to(np.asarray(value, np.float64), one), shape).reshape(-1)


def _between(low: np.ndarray, high: np.ndarray) -> KnownDistribution | None:
    if not (high > low).all():
        return None
    points = low[:, None] + (high - low)[:, None] * LOOKED_AT_SHARES
    return KnownDistribution(
        points, np.broadcast_to(LOOKED_AT_SHARES, points.shape), low, high, high > low, continuous=True
    )


def _bell(loc: np.ndarray, scale: np.ndarray) -> KnownDistribution | None:
    if not (scale > 0).all():
        return None
    quantiles = np.array([NormalDist().inv_cdf(share) for share in LOOKED_AT_SHARES])
    points = loc[:, None] + scale[:, None] * quantiles
    far = np.full(len(loc), np.inf)
    return KnownDistribution(
        points, np.broadcast_to(LOOKED_AT_SHARES, points.shape), -far, far, scale > 0, continuous=True
    )


def _among(items: np.ndarray, chances: Any, count: int, whole: bool = False) -> KnownDistribution | None:
    """The distribution of one of some numbers; `whole`: of an order of them, or a part of one."""
    values, which = np.unique(np.asarray(items, np.float64), return_inverse=True)
    if not len(values):
        return None
    weight = np.full(len(items), 1 / len(items)) if chances is None else np.asarray(chances, np.float64)
    below = np.cumsum(np.bincount(which, weight, len(values)))
    # Between two numbers that can come, and behind the last.
    points = np.append((values[:-1] + values[1:]) / 2, values[-1] + 1)
    chosen = np.unique(np.linspace(0, len(values) - 1, min(POINTS, len(values))).astype(int))
    together = -1 / (len(items) - 1) if whole and len(items) > 1 else 0.0
    shape = count, len(chosen)
    return KnownDistribution(
        points=np.broadcast_to(points[chosen], shape),
        shares=np.broadcast_to(below[chosen], shape),
        low=np.full(count, values[0]),
        high=np.full(count, values[-1]),
        varies=np.full(count, len(values) > 1),
        together=together,
        distinct=whole and len(values) == len(items),
    )
