"""Cells: between a number and the next limit, a function that only compares it does the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.verify.exhaustive.cells import STEP, drawable, ends
from overclock.verify.exhaustive.jax_cells import MOST_TURNS, next_limit

TABLE = [0.1, 0.25, 0.25, 0.7, 0.9999999999999998]


@pytest.fixture(autouse=True)
def wide():
    with jax.enable_x64(True):
        yield


def in_turns(u, turns):
    def turn(count, limit):
        return count + (limit < u), limit > u

    return jax.lax.scan(turn, 0, np.linspace(0.0, 1.0, turns))


ONLY_COMPARED = {
    "less": lambda u: u < 0.3,
    "first above": lambda u: jnp.argmax(jnp.array(TABLE) > u),
    "searchsorted": lambda u: jnp.searchsorted(jnp.array(TABLE), u, side="right", method="scan_unrolled"),
    "selected": lambda u: jnp.where(u < 0.5, u, 2.0) < 0.2,
    "nested": lambda u: jax.jit(lambda v: jnp.where(v > 0.4, v <= 0.6, v == 0.125))(u),
    "backwards": lambda u: jax.lax.scan(lambda c, x: (c + (x < u), c), 0, jnp.array(TABLE), reverse=True),
    "turns": lambda u: in_turns(u, 8),
    "limits that depend on it": lambda u: u > jnp.where(u < 0.5, 0.25, 0.75),
    "as rows": lambda u: (jnp.broadcast_to(u, (2, 3)).reshape(6) >= np.arange(6) / 6).sum(),
    "nothing": lambda u: jnp.ones(()),
    "not a number": lambda u: jnp.isnan(u),
}
MORE = {
    "shown": lambda u: u,
    "shown in part": lambda u: jnp.where(u < 0.5, u, 0.0),
    "sum": lambda u: u + 1.0 < 1.5,
    "narrow": lambda u: u.astype(jnp.float32) < 0.5,
    "rounding": lambda u: jnp.floor(u * 4),
    "a branch": lambda u: jax.lax.cond(u < 0.5, lambda v: v, lambda v: -v, u),
    "more turns than are followed": lambda u: in_turns(u, MOST_TURNS + 1),
    "turns inside turns": lambda u: jax.lax.scan(lambda c, x: (c, in_turns(u, 32)), 0, np.arange(32)),
    "no turn": lambda u: in_turns(u, 0),
    "told": lambda u: jax.debug.print("{}", u),
    "a limit that is computed": lambda u: u < jnp.asarray(0.1) * 3,
    "a limit chosen by what is computed": lambda u: u < jnp.where(jnp.asarray(0.1) * 3 > 0.3, 0.25, 0.75),
    "a limit from a loop": lambda u: u < jax.lax.fori_loop(0, 3, lambda i, x: x * 0.5, 1.0),
    "a loop with computed limits": lambda u: jax.lax.scan(lambda k, x: (k * 0.3, u < k), 1.0, np.arange(3.0)),
}


@pytest.mark.parametrize("name", ONLY_COMPARED)
def test_a_function_is_constant_in_a_cell(name):
    """By brute force: many numbers, among them every limit and its neighbours."""
    function, limit = jax.jit(jax.vmap(ONLY_COMPARED[name])), jax.jit(jax.vmap(next_limit(ONLY_COMPARED[name])))
    special = np.array([0.0, *TABLE, *np.arange(9) / 8, 0.2, 0.3, 0.4, 0.6, 1 / 6, 2 / 6, 5 / 6, *np.linspace(0, 1, 8)])
    near = [drawable(special) + way * STEP for way in (-1, 0, 1)]
    numbers = np.unique(np.concatenate([*near, np.random.default_rng(0).random(500)]))
    numbers = numbers[(numbers >= 0) & (numbers < 1)]
    limits, only_compared = map(np.asarray, limit(numbers))
    assert only_compared.all()
    after = ends(numbers, limits[:, None])
    assert (after > numbers).all()
    found = [np.asarray(leaf) for leaf in jax.tree.leaves(function(numbers))]
    for place, end in enumerate(after):
        inside = (numbers >= numbers[place]) & (numbers < end)
        assert all((leaf[inside] == leaf[place]).all() for leaf in found)


def test_limits_are_found_where_they_are_and_nowhere_else():
    assert np.asarray(next_limit(ONLY_COMPARED["first above"])(jnp.asarray(0.1))[0]) == 0.1
    assert np.asarray(next_limit(ONLY_COMPARED["first above"])(jnp.asarray(0.2))[0]) == 0.25
    assert np.asarray(next_limit(ONLY_COMPARED["less"])(jnp.asarray(0.4))[0]) == np.inf
    # The number itself is no limit of a selected value that is another one.
    assert np.asarray(next_limit(ONLY_COMPARED["selected"])(jnp.asarray(0.3))[0]) == 0.5


@pytest.mark.parametrize("name", MORE)
def test_whatever_else_is_done_with_a_number_is_noticed(name):
    assert not next_limit(MORE[name])(jnp.asarray(0.3))[1]


def test_a_cell_ends_at_the_next_limit_or_right_after_one():
    values = np.array([0.0, 0.5, 0.6])
    limits = np.array([[0.5, 0.25], [0.5, 0.75], [0.1, np.inf]])
    assert ends(values, limits).tolist() == [0.25, 0.5 + STEP, np.inf]
    assert drawable(np.array([0.5, 0.5 - STEP / 2, STEP * 1.25])).tolist() == [0.5, 0.5, 2 * STEP]
