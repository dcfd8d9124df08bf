"""One lane's function through a kernel, and what it must equal: the same function in JAX, operation by operation.

`OVERCLOCK_TEST_KERNEL=cuda` runs the same tests on a GPU. For a processor there are two dialects of the same kernel:
vectors of lanes, and one lane after the other, which is what programs with arrays get.
"""

import dataclasses
import functools
import itertools
import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from probes import Countdown, CountdownParams, CountdownState

from overclock.errors import MissingError
from overclock.vector.fused import lane_map, scan
from overclock.vector.fused.c_compiler import VECTOR_LANES, c_library
from overclock.vector.fused.compiled_files import needed_c_compiler
from overclock.vector.fused.cuda_compiler import needed_cuda_compiler

KERNEL: Any = os.environ.get("OVERCLOCK_TEST_KERNEL", "c")
DIALECTS = {"c": {"vector": VECTOR_LANES, "scalar": 1}, "cuda": {"cuda": None}}[KERNEL]
LANES = (1, 15, 17, 100)


def needs_kernel() -> None:
    """Skip where kernels cannot be made, with the reason."""
    try:
        needed_c_compiler()
        if KERNEL == "cuda":
            needed_cuda_compiler()
    except MissingError as error:
        pytest.skip(str(error))


def speak(monkeypatch: Any, dialect: str) -> None:
    """Kernels are written in this dialect, whatever the program would get by itself."""
    if KERNEL == "c":
        monkeypatch.setattr(scan, "c_library", functools.partial(c_library, lanes=DIALECTS[dialect]))


def as_on_a_processor() -> Any:
    """Where JAX computes what a kernel must equal: on a GPU XLA's own division and root are not rounded exactly."""
    return jax.default_device(jax.devices("cpu")[0])


def through_kernel(function: Callable[..., Any], *inputs: Any) -> Any:
    """`function` of one lane over inputs whose first axis is the lanes, by one kernel; as NumPy arrays."""
    return jax.tree.map(np.asarray, lane_map(function, *inputs, backend=KERNEL))


def lane_by_lane(function: Callable[..., Any], *inputs: Any) -> Any:
    """What JAX gives, one operation at a time: nothing is fused, so every product and every sum is rounded."""
    with as_on_a_processor():
        return jax.tree.map(np.asarray, jax.vmap(function)(*inputs))


def batched(function: Callable[..., Any], *inputs: Any) -> Any:
    """What JAX gives in one compiled program for the whole batch; it may fuse a product and a sum."""
    with as_on_a_processor():
        return jax.tree.map(np.asarray, jax.jit(jax.vmap(function))(*inputs))


def compiled(function: Callable[..., Any], *inputs: Any) -> Any:
    """What JAX gives in one compiled program, lane after lane: a branch that a lane does not take is not computed."""
    with as_on_a_processor():
        return jax.tree.map(np.asarray, jax.jit(lambda given: jax.lax.map(lambda lane: function(*lane), given))(inputs))


def ordered(numbers: np.ndarray) -> np.ndarray:
    """Floats as whole numbers in the same order, neighbours one apart; -0 and 0 are one number."""
    bits = numbers.view(f"i{numbers.itemsize}").astype(object if numbers.itemsize == 8 else np.int64)
    return np.where(bits < 0, -(bits + 2 ** (8 * numbers.itemsize - 1)), bits)


def ulps(actual: np.ndarray, expected: np.ndarray) -> int:
    """The largest distance between two arrays of floats, in units of the last place; NaN is NaN's neighbour only."""
    if not expected.size:
        return 0
    lost = np.isnan(actual) != np.isnan(expected)
    distance = np.where(np.isnan(actual) & np.isnan(expected), 0, np.abs(ordered(actual) - ordered(expected)))
    return 2**62 if lost.any() else int(distance.max())


def assert_same(actual: Any, expected: Any, bounds: dict[str, int] | None = None, inputs: Any = ()) -> None:
    """Same structure, shapes and dtypes; same bits, except for NaN's payload and where a bound in ulp is given.

    `bounds` are by names in the tree.
    """
    here, there = (jax.tree_util.tree_flatten_with_path(tree)[0] for tree in (actual, expected))
    assert [path for path, _ in here] == [path for path, _ in there]
    wrong = [
        line
        for (path, a), (_, b) in zip(here, there, strict=True)
        for line in _difference(jax.tree_util.keystr(path), np.asarray(a), np.asarray(b), bounds or {}, inputs)
    ]
    assert not wrong, "\n".join(wrong)


def _difference(name: str, a: np.ndarray, b: np.ndarray, bounds: dict[str, int], inputs: Any) -> list[str]:
    if (a.shape, a.dtype) != (b.shape, b.dtype):
        return [f"{name}: {a.dtype}{a.shape} is not {b.dtype}{b.shape}"]
    bound = next((bounds[key] for key in bounds if f"'{key}'" in name), 0)
    if a.dtype.kind == "f" and bound:
        found = ulps(a, b)
        return [f"{name}: {found} ulp"] if found > bound else []
    bad = a != b if a.dtype.kind != "f" else ~((np.isnan(a) & np.isnan(b)) | (_bits(a) == _bits(b)))
    if not bad.any():
        return []
    first = tuple(int(i) for i in np.argwhere(bad)[0])
    given = [np.asarray(leaf)[first[0]] for leaf in jax.tree.leaves(inputs)] if first else []
    return [f"{name}{list(first)}: {a[first]!r} is not {b[first]!r}, {int(bad.sum())} wrong, from {given}"]


def _bits(numbers: np.ndarray) -> np.ndarray:
    """A denormal counts as the zero of its sign: XLA takes it for one, and where nothing is computed it may stay."""
    small = np.abs(numbers) < np.finfo(numbers.dtype).tiny
    return np.where(small, np.copysign(numbers.dtype.type(0), numbers), numbers).view(f"u{numbers.itemsize}")


def nasty(dtype: Any) -> np.ndarray:
    """Numbers at which arithmetic goes wrong first."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind == "f":
        info = np.finfo(dtype)
        plain = [0.0, 0.5, 1.0, 1.5, 2.5, 3.0, 1e-3, 0.1, 7.7, 1e6, 255.5, 2.0**31, 2.0**63, 1e19, info.max, info.tiny]
        denormal = [] if KERNEL == "cuda" else [info.smallest_subnormal, info.tiny / 4]  # zero for a processor's XLA
        few = [*plain, *denormal, np.inf, np.nan]
        return np.array([*few, *(-x for x in few)], dtype)
    info = np.iinfo(dtype)
    wanted = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, info.max, info.max - 1, info.max // 2]
    signed = [-1, -2, -3, -7, -8, -32, -64, info.min, info.min + 1, info.min // 2]
    return np.array([*wanted, *(signed if dtype.kind == "i" else [])], dtype)


def pairs(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Every nasty number with every other."""
    numbers = nasty(dtype)
    both = np.array(list(itertools.product(numbers, numbers)), dtype)
    return both[:, 0].copy(), both[:, 1].copy()


@dataclasses.dataclass(frozen=True)
class Tabled(Countdown):
    """Its observation is looked up."""

    def observe(self, state: CountdownState, params: CountdownParams):
        table = jnp.arange(40, dtype=jnp.float32) ** 2
        return {name: table[leaf] for name, leaf in vars(state).items() if leaf.dtype == jnp.int32}
