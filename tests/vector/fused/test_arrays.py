"""Arrays of a lane, few numbers and many: shapes, and indices that are only known while the kernel runs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from vector.fused.arrays import assert_those_of_jax
from vector.fused.programs import KERNEL, assert_same, through_kernel

from overclock.vector.fused import lane_scan

pytestmark = pytest.mark.usefixtures("few_optimisations")

TABLE = (np.arange(60) * 7 % 31 - 9).astype(np.int32)
FLAGS = np.arange(40) % 3 == 0
HALVES = (np.arange(42) - 7).astype(np.float32).reshape(6, 7) / 2


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


@pytest.mark.parametrize("function", [shapes, lookups, updates], ids=lambda f: f.__name__)
def test_arrays_are_those_of_jax(dialect, function):
    assert_those_of_jax(function)


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
