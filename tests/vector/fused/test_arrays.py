"""Arrays of a lane, few numbers and many: shapes, indices that are only known while the kernel runs, reductions."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from vector.fused.programs import KERNEL, assert_same, batched, through_kernel

from overclock.vector.fused import lane_scan
from overclock.vector.fused.values import MOST_FEW

pytestmark = pytest.mark.usefixtures("few_optimisations")

TABLE = (np.arange(60) * 7 % 31 - 9).astype(np.int32)
FLAGS = np.arange(40) % 3 == 0
HALVES = (np.arange(42) - 7).astype(np.float32).reshape(6, 7) / 2
# Sums and products of many floats may be taken in another order by XLA: within a few ulp, as of float arithmetic.
BOUNDS = {"sum": 4, "cumsum": 4, "dot": 4, "norm": 2, "mean": 4, "prod": 6, "matmul": 4, "einsum": 4}


def shapes(i, x, few, many):
    board = many.reshape(7, 6)
    return {
        "broadcast": jnp.broadcast_to(few, (4, 3)),
        "broadcast to many": jnp.broadcast_to(few, (12, 3)) + x,
        "reshape": (
            few[:, None].reshape(1, 3),
            board.reshape(14, 3),
            board.T.reshape(6, 7),
            board[None, :, None].squeeze(),
        ),
        "transpose": (board.T, few[:, None].T, board.reshape(7, 2, 3).transpose(2, 0, 1)),
        "slice": (many[3:20:4], many[3:40], few[1:], board[1:4, ::2], board[:, 5], many[::-2]),
        "split": (jnp.split(few, 3), jnp.split(many, 3), jnp.split(board, [1, 4])),
        "rev": (few[::-1], board[::-1, ::-1], jnp.flip(board, 1)),
        "concatenate": (
            jnp.concatenate([few, few * 2]),
            jnp.concatenate([many, few, many]),
            jnp.concatenate([board, board], 1),
        ),
        "stack": (jnp.stack([few, few + 1]), jnp.stack([many, many * 2], 1), jnp.stack([x, x + 1])),
        "pad": (
            jnp.pad(few, 2, constant_values=7),
            jnp.pad(board, 1),
            lax.pad(few, x, [(-1, 2, 1)]),
            lax.pad(many, x, [(2, -3, 1)]),
        ),
        "iota": (jnp.arange(5) + i, jnp.arange(40) * i, lax.broadcasted_iota(jnp.int32, (3, 4), 1) + i),
        "nothing": (
            jnp.zeros((0, 3)) + x,
            few[:0],
            jnp.concatenate([few[:0], few]),
            board[:, :0],
            jnp.ones((40, 0)).sum(1),
        ),
        "size one": (few[:1] + x, board[:1, :1] * 2, jnp.ones(1) * x),
        "roll": (jnp.roll(few, 1), jnp.roll(board, 2, 0), jnp.roll(few, i)),
        "tile": jnp.tile(few, 3),
        "repeat": jnp.repeat(few, 12),
        "axes of one": (
            few[:, None] * few,
            board[:, :1] + board,
            few[None] + board[:, :3],
            jnp.where(few[:, None] > 0, few, x),
        ),
        "unstack": (jnp.unstack(few), jnp.unstack(board, axis=1)),
    }


def lookups(i, j, few, many):
    table, flags, halves, board = jnp.asarray(TABLE), jnp.asarray(FLAGS), jnp.asarray(HALVES), many.reshape(7, 6)
    ij = jnp.stack([i, j])
    return {
        "few": few[i],
        "many": many[i],
        "table": table[i],
        "flags": flags[i],
        "two": halves[i, j],
        "row": halves[i],
        "column": board[:, j],
        "clip": jnp.take(many, i, mode="clip"),
        "fill": jnp.take(many, i, mode="fill", fill_value=-5.0),
        "wrap": jnp.take(many, i, mode="wrap"),
        "get": (
            few.at[i].get(mode="fill", fill_value=3.0),
            table.at[i].get(mode="drop"),
            flags.at[i].get(mode="fill"),
            many.at[i].get(mode="promise_in_bounds"),
        ),
        "several": (
            few[ij],
            table[ij],
            board[ij],
            board[ij, ij],
            many[jnp.arange(36) + i],
            few[jnp.asarray([2, 0, 1])],
            many[TABLE % 42],
        ),
        "small types": (
            many[i.astype(jnp.int8)],
            table[j.astype(jnp.uint8)],
            few[j.astype(jnp.uint32)],
            many[j.astype(jnp.int16)],
        ),
        "dynamic_slice": (
            lax.dynamic_slice(few, (i,), (2,)),
            lax.dynamic_slice(many, (i,), (36,)),
            lax.dynamic_slice(board, (i, j), (2, 3)),
            lax.dynamic_slice(halves, (i, 0), (1, 7)),
            lax.dynamic_slice(many, (i.astype(jnp.uint8),), (2,)),
        ),
        "dynamic_index": lax.dynamic_index_in_dim(board, i, 1),
        "along": jnp.take_along_axis(board, ij[None] % 6, 1),
        "each row its own": jax.vmap(lambda row, k: row[k])(board, jnp.arange(7) + i),
        "rows": jax.vmap(lambda k: few[k])(ij),
    }


def updates(i, j, x, few, many):
    board, ij = many.reshape(7, 6), jnp.stack([i, j, i])
    return {
        "set": (
            few.at[i].set(x),
            many.at[i].set(x),
            board.at[i, j].set(x),
            board.at[i].set(x),
            board.at[:, j].set(few[0]),
            few.at[1].set(x),
        ),
        "add": (few.at[i].add(x), many.at[ij].add(x), board.at[ij, ij].add(x), few.at[ij].add(1.0)),
        "other": (
            few.at[i].multiply(x),
            many.at[i].min(x),
            few.at[i].max(x),
            many.at[i].subtract(x),
            few.at[i].divide(2.0),
            many.at[i].power(2),
        ),
        "apply": (few.at[i].apply(jnp.abs), many.at[i].apply(lambda v: v * 2)),
        "modes": (
            few.at[i].set(x, mode="drop"),
            many.at[i].set(x, mode="clip"),
            board.at[i, j].add(x, mode="clip"),
            few.at[i].set(x, mode="promise_in_bounds")[1:2] * 0,
        ),
        "bools": (
            jnp.asarray(FLAGS).at[i].set(True),
            jnp.zeros(4, bool).at[i].set(True),
            jnp.asarray(FLAGS).at[ij].max(True),
        ),
        "many at once": (
            many.at[jnp.arange(36)].set(x),
            many.at[jnp.arange(36) + i].add(x),
            jnp.zeros(40).at[TABLE + 9].add(many[0]),
        ),
        "dynamic_update_slice": (
            lax.dynamic_update_slice(few, few[:2] * 2, (i,)),
            lax.dynamic_update_slice(many, few, (i,)),
            lax.dynamic_update_slice(board, board[:2, :3] * 2, (i, j)),
            lax.dynamic_update_slice(many, many[:36] + 1, (j,)),
        ),
        "each row its own": jax.vmap(lambda row, k: row.at[k].set(x))(board, jnp.arange(7) + i),
        "bincount": jnp.bincount(jnp.clip(jnp.stack([i, j, i]), 0, 3), length=4),
    }


def reductions(i, few, many, whole):
    board, numbers = many.reshape(7, 6), whole.reshape(6, 6)
    flags = many > 0
    return {
        "sum": (few.sum(), many.sum(), board.sum(0), board.sum(1), jnp.sum(few[:0]), jnp.tile(many, 3).sum()),
        "integer": numbers.sum(1),
        "prod": (few.prod(), (many / 8).prod()),
        "max": (few.max(), many.max(), jnp.nan_to_num(board).max(0), numbers.max()),
        "min": (few.min(), many.min(), jnp.nan_to_num(board).min(1), numbers.min(0)),
        "bools": (flags.any(), flags.all(), (few > 0).any(), flags.sum(), flags.max()),
        "bits": (lax.reduce_xor(numbers, (0,)), lax.reduce_and(numbers, (1,)), lax.reduce_or(whole, (0,))),
        "mean": many.mean(),
        "argmax": (
            few.argmax(),
            many.argmax(),
            board.argmax(0),
            board.argmax(1),
            flags.argmax(),
            numbers.argmax(1),
            (few > 0).argmax(),
        ),
        "argmin": (few.argmin(), many.argmin(), board.argmin(0), flags.argmin(), whole.argmin()),
        "cumsum": (
            jnp.cumsum(few),
            jnp.cumsum(many),
            jnp.cumsum(board, 1),
            lax.cumsum(board, 0, reverse=True),
            lax.cumsum(few, reverse=True),
        ),
        "running": (
            jnp.cumsum(numbers, 0),
            lax.cummax(numbers, 1),
            lax.cummin(many),
            lax.cumprod(jnp.where(flags, 2.0, 1.0)),
            lax.cummax(few, reverse=True),
        ),
        "dot": (few @ few, board @ board.T, board @ many[:6], few @ board[:3, :3]),
        "integer dot": (numbers @ numbers.T, numbers[0] @ numbers[1]),
        "einsum": jnp.einsum("ij,kj->ik", board[:2], board[2:]),
        "norm": (jnp.linalg.norm(few), jnp.linalg.norm(board, axis=1)),
        "batched matmul": jnp.matmul(numbers.reshape(2, 3, 6), numbers.reshape(2, 6, 3)),
        "sort": (
            jnp.sort(few),
            jnp.sort(many),
            jnp.sort(board, 0),
            jnp.sort(numbers, 1),
            jnp.sort(few, descending=True),
            jnp.sort(flags),
        ),
        "argsort": (jnp.argsort(few), jnp.argsort(many), jnp.argsort(numbers, 0), jnp.lexsort((few, few > 0))),
        "nonzero": jnp.nonzero(flags, size=5, fill_value=-1),
        "searchsorted": jnp.searchsorted(jnp.asarray([1.0, 2.0, 5.0]), few[0]),
        "unique": jnp.unique(numbers[0], size=4),
    }


TOGETHER = 5  # in a kernel: C compilers take much longer for one large function than for several small ones
# Of the arrays below: few numbers are variables of a kernel, and many (more than MOST_FEW) an array.
PLACES = np.array([0, 1, 2, 3, 4, 5, 6, -1, -2, -3, -4, 41, 42, 43, -42, -43, 127, 2**31 - 1, -(2**31)], np.int32)


@pytest.fixture(scope="module")
def lanes():
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


@pytest.mark.parametrize("function", [shapes, lookups, updates, reductions], ids=lambda f: f.__name__)
def test_arrays_are_those_of_jax(dialect, function, lanes):
    inputs = [lanes[name] for name in function.__code__.co_varnames[: function.__code__.co_argcount]]
    expected = batched(function, *inputs)
    names = sorted(expected)
    for begin in range(0, len(names), TOGETHER):
        some = names[begin : begin + TOGETHER]

        def chosen(*given, some=some):
            every = function(*given)
            return {name: every[name] for name in some}

        due = {name: expected[name] for name in some}
        assert_same(through_kernel(chosen, *inputs), due, BOUNDS, inputs)


@pytest.mark.skipif(KERNEL == "cuda", reason="a thread of a GPU has no room for it")
@pytest.mark.parametrize("lanes", [1, 3, 200])
def test_arrays_may_be_larger_than_the_stack_of_the_thread_that_calls(lanes):
    """Of 8 megabytes, which is all that a thread has."""

    def last(x):
        many = jnp.broadcast_to(x, (2**21,)).at[jnp.int32(x)].set(-1.0)
        return many[jnp.int32(x)], many[-1], many[jnp.int32(x) + 1]

    x = np.arange(lanes, dtype=np.float32)
    assert_same(through_kernel(last, x), (np.full_like(x, -1), x, x))


@pytest.mark.skipif(KERNEL == "cuda", reason="a thread of a GPU has no room for it")
def test_several_threads_have_room_for_large_arrays(monkeypatch):
    """130 lanes are taken by three threads at most, 256 steps of them are work enough for two."""
    monkeypatch.setenv("OVERCLOCK_THREADS", "2")
    x = np.arange(130, dtype=np.float32)

    def body(total, _, __, ___):
        many = jnp.broadcast_to(total, (40_000,)).at[jnp.int32(total)].set(-1.0)
        return many[-1] + 1 + many[jnp.int32(total)] + 1, ()

    after, _ = lane_scan(body, x, None, 256, backend=KERNEL)
    assert after.tolist() == (x + 256).tolist()
