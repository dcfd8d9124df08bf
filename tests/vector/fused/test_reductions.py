"""Many numbers of a lane made few, and in order: compiled as users have it, since XLA chooses the order of a sum."""

import jax.numpy as jnp
from jax import lax
from quick_compile import in_force
from vector.fused.arrays import assert_those_of_jax

# Sums and products of many floats may be taken in another order by XLA: within a few ulp, as of float arithmetic.
BOUNDS = {"sum": 4, "cumsum": 4, "dot": 4, "norm": 2, "mean": 4, "prod": 6, "einsum": 4}


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


def test_reductions_are_those_of_jax(dialect):
    assert not in_force(), "XLA compiles quickly, as no user has it: the bounds are of what users have"
    assert_those_of_jax(reductions, BOUNDS)
