"""Branches and loops of one lane: those of a lane that takes one, and nothing of those of a lane that does not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from vector.fused.programs import LANES, assert_same, compiled, through_kernel

pytestmark = pytest.mark.usefixtures("few_optimisations")

LONG = np.arange(40, dtype=np.float32) / 7


def collatz(n):
    """Lane-dependent trip count; never ends for 0."""
    return lax.while_loop(
        lambda c: c[0] != 1, lambda c: (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1), c[1] + 1), (n, 0)
    )[1]


def branches(i, x):
    big = jnp.arange(20, dtype=jnp.float32) * x
    return {
        "cond": lax.cond(x > 0, lambda: x * 2, lambda: x - 1),
        "switch": lax.switch(i, [lambda: x, lambda: -x, lambda: x * x, lambda: x + 100.0]),
        "one branch": lax.switch(i, [lambda: x + 1]),
        "nested": lax.cond(
            x > 0, lambda: lax.cond(i > 1, lambda: x, lambda: x + i), lambda: lax.cond(i < 0, lambda: -x, lambda: x / 3)
        ),
        "arrays": lax.cond(i > 1, lambda: big + 1, lambda: big[::-1]),
        "same result twice": lax.cond(i > 1, lambda: (x, x, i), lambda: (x + 1, x, i * 2)),
        "loop in a branch": lax.cond(i > 0, lambda: collatz(i), lambda: -1),
        "branch in a loop in a branch": lax.cond(
            i > 0,
            lambda: lax.fori_loop(
                0, jnp.abs(i), lambda k, s: lax.cond(k % 2 == 0, lambda: s + collatz(k + i), lambda: s), 0
            ),
            lambda: lax.cond(i < -1, lambda: 5, lambda: collatz(2 - i)),
        ),
    }


def loops(i, x):
    swap = lax.fori_loop(0, i, lambda k, c: (c[1], c[0] + k, c[2] * 2), (1, 2, x))
    arrays = lax.fori_loop(0, 9, lambda k, c: (c[1], c[0] * 2 + k), (jnp.arange(20.0) * x, jnp.ones(20) + i))
    return {
        "collatz": collatz(jnp.abs(i) + 1),
        "while, several carries": swap,
        "fori, known bounds": lax.fori_loop(0, 10, lambda k, s: s * 2 + k, i),
        "fori, long": lax.fori_loop(0, 100, lambda k, s: s + k * i, 0),
        "arrays change places": arrays,
        "arrays in a while": lax.while_loop(
            lambda c: c[0] < i, lambda c: (c[0] + 1, c[1][::-1] + 1), (0, jnp.arange(20) * i)
        ),
        "few in a while": lax.while_loop(
            lambda c: c[0] < i, lambda c: (c[0] + 1, c[1][::-1] + 1), (0, jnp.arange(3) * i)
        ),
        "scan": lax.scan(lambda c, t: (c + t, c * t), x, jnp.asarray(LONG)),
        "scan, reverse": lax.scan(lambda c, t: (c * 2 + t, c - t), x, jnp.asarray(LONG[:9]), reverse=True),
        "scan, short": lax.scan(lambda c, t: (c + t, c * t), x, jnp.asarray(LONG[:3])),
        "scan, short, reverse": lax.scan(lambda c, t: (c * 2 + t, c - t), x, jnp.asarray(LONG[:3]), reverse=True),
        "scan over a lane's own": lax.scan(lambda c, t: (c + t, c * t), x, x * jnp.arange(6.0)),
        "scan over a lane's own, long, reverse": lax.scan(
            lambda c, t: (c + t, c * t), x, x * jnp.arange(40.0), reverse=True
        ),
        "scan of rows": lax.scan(lambda c, t: (c + t.sum(), t[::-1]), x, x * jnp.arange(24.0).reshape(8, 3)),
        "scan of long rows": lax.scan(lambda c, t: (c + t[3], t + c), x, x * jnp.arange(60.0).reshape(3, 20)),
        "scan of bools": lax.scan(lambda c, t: (c ^ t, c & t), i > 0, jnp.asarray(np.arange(50) % 3 == 0)),
        "scan of bools that decide": lax.scan(
            lambda c, t: (jnp.where(t, c + 1, c * 2), None), x, jnp.asarray(np.arange(50) % 7 == 0)
        )[0],
        "scan of nothing": lax.scan(lambda c, t: (c + 1, t), x, jnp.zeros((0, 2))),
        "scan without xs": lax.scan(lambda c, _: (c * 3 + 1, None), i, None, 7)[0],
        "nested scans": lax.scan(
            lambda c, t: lax.scan(lambda d, u: (d + t * u, d), c, jnp.arange(5)), i, jnp.arange(6)
        ),
        "array state": lax.scan(lambda c, t: (c.at[t].add(t + i), c[t]), jnp.zeros(40, jnp.int32), jnp.arange(36)),
    }


def calls(i, x):
    return {
        "relu": jax.nn.relu(x),
        "jit": jax.jit(lambda a: a * 2 + i)(x),
        "checkpoint": jax.checkpoint(lambda a: a * a)(x),
        "softplus": jnp.where(x > 0, lax.stop_gradient(x), x * 2),
        "select of cases": lax.select_n(jnp.clip(i, 0, 2), x, -x, x * 3),
        "moved between ends": (jnp.clip(i, 0, 2) == 2, jnp.clip(i, 0, 2) == 0, jnp.minimum(jnp.maximum(i, -1), 3) >= 3),
        "moved by where": jnp.where(i < 0, 0, jnp.where(i > 2, 2, i)) == 2,
        "where": jnp.where(i > 1, x, jnp.where(x > 0, 1.0, -1.0)),
    }


def whole(i, x):
    return {"branches": branches(i, x), "loops": loops(i, x), "calls": calls(i, x)}


NUMBERS = np.array([0, 1, 2, 3, 4, -1, -2, -7, 7], np.int32)
X = np.array([0.5, -1.5, 2.0, -0.25, 0.0, -3.0, 8.0], np.float32)


@pytest.fixture(scope="module")
def expected():
    """Of 100 lanes; a lane knows nothing of the others. Products and sums here are exact, so XLA may fuse them."""
    return compiled(whole, np.resize(NUMBERS, 100), np.resize(X, 100))


@pytest.mark.parametrize("lanes", LANES)
def test_branches_and_loops_are_those_of_jax(dialect, lanes, expected):
    inputs = np.resize(NUMBERS, lanes), np.resize(X, lanes)
    wanted = jax.tree.map(lambda leaf: leaf[:lanes], expected)
    assert_same(through_kernel(whole, *inputs), wanted, inputs=inputs)
