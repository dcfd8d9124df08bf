"""Lanes with arrays of few and of many numbers, and the comparison of whole families of functions of them."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from vector.fused.programs import assert_same, batched, through_kernel

from overclock.vector.fused.values import MOST_FEW

TOGETHER = 5  # in a kernel: C compilers take much longer for one large function than for several small ones
# Of the arrays below: few numbers are variables of a kernel, and many (more than MOST_FEW) an array.
PLACES = np.array([0, 1, 2, 3, 4, 5, 6, -1, -2, -3, -4, 41, 42, 43, -42, -43, 127, 2**31 - 1, -(2**31)], np.int32)


@functools.cache
def lanes() -> dict[str, np.ndarray]:
    """Inputs by name: two places, a number, few numbers, many, and whole ones; their first axis is the lanes."""
    rng, places = np.random.default_rng(7), np.array(np.meshgrid(PLACES, PLACES), np.int32).reshape(2, -1)
    count = places.shape[1]
    few, many = (rng.integers(-40, 40, (count, n)).astype(np.float32) / 8 for n in (3, 42))
    assert few.shape[1] <= MOST_FEW < many.shape[1]
    many[5::9, 7] = np.nan
    many[6::9, 3] = many[6::9, 9] = -np.inf
    few[3::7, 1], few[4::11] = np.nan, -0.0
    return {
        "i": places[0],
        "j": places[1],
        "x": rng.integers(-9, 9, count).astype(np.float32),
        "few": few,
        "many": many,
        "whole": rng.integers(-(2**31), 2**31, (count, 36)).astype(np.int32),
    }


def assert_those_of_jax(function: Callable[..., dict[str, Any]], bounds: dict[str, int] | None = None) -> None:
    """What `function` gives by name, of the inputs that its arguments name: from kernels as from JAX.

    `bounds` are in ulp, by name.
    """
    inputs = [lanes()[name] for name in function.__code__.co_varnames[: function.__code__.co_argcount]]
    expected = batched(function, *inputs)
    names = sorted(expected)
    for begin in range(0, len(names), TOGETHER):
        some = names[begin : begin + TOGETHER]

        def chosen(*given: Any, some: list[str] = some) -> dict[str, Any]:
            every = function(*given)
            return {name: every[name] for name in some}

        assert_same(through_kernel(chosen, *inputs), {name: expected[name] for name in some}, bounds, inputs)
