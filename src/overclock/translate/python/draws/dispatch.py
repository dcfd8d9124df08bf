"""Calls of random number generators: which rule a method has."""

import ast
import random
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.values import Known, Value
from overclock.translate.python.draws.choices import draw_choice, draw_permutation, draw_sample, draw_shuffle
from overclock.translate.python.draws.numbers import draw_integers, draw_normal, draw_uniform, draw_unit, dtype_of
from overclock.translate.python.draws.sites import Draw
from overclock.translate.python.machine import Machine

METHODS = {
    **dict.fromkeys(("random", "random_sample", "rand"), draw_unit),
    "uniform": draw_uniform,
    **dict.fromkeys(("normal", "gauss", "normalvariate", "standard_normal", "randn"), draw_normal),
    **dict.fromkeys(("integers", "randint", "randrange", "random_integers"), draw_integers),
    **dict.fromkeys(("choice", "choices"), draw_choice),
    "shuffle": draw_shuffle,
    "permutation": draw_permutation,
    "sample": draw_sample,
}
NOT_DRAWING = ("seed", "setstate", "set_state", "getstate", "get_state")


def draw_from(
    machine: Machine, inner: Any, owner: Any, args: list[Value], keywords: dict[str, Value], node: ast.Call
) -> Value:
    """The value of a call of `inner`, a method of the generator `owner`."""
    method = inner.__name__
    if method in NOT_DRAWING:
        return Known(None)
    if method not in METHODS:
        raise UnsupportedError(f"random draws by '{method}'")
    own = owner is machine.own_generator and dtype_of(machine, keywords) in ("int64", "float64")
    args = [machine.present(one) for one in args]
    return METHODS[method](machine, Draw(method, _source(owner), own, args, keywords, node))


def _source(owner: Any) -> str:
    if isinstance(owner, np.random.Generator):
        return "Generator"
    if isinstance(owner, np.random.RandomState):
        return "numpy.random" if owner is np.random.mtrand._rand else "RandomState"  # pyright: ignore[reportAttributeAccessIssue]
    return "random" if owner is random._inst else "Random"  # pyright: ignore[reportAttributeAccessIssue]
