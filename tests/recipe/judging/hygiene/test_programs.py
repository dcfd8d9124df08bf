"""Jaxprs: what is in them, however deep, and when two of them are the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.recipe.judging.hygiene import programs

TABLE = np.arange(1000, dtype=np.float32)


def trace(function, *arguments):
    return jax.make_jaxpr(lambda *given: function(*given))(*arguments)


def host(x):
    return np.asarray(x)


def called(x):
    return jax.pure_callback(host, jax.ShapeDtypeStruct((), jnp.float32), x)


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda x: called(x),
        lambda x: jax.jit(called)(x),
        lambda x: jax.lax.cond(x > 0, called, lambda y: y, x),
        lambda x: jax.lax.scan(lambda carry, _: (called(carry), None), x, None, 3)[0],
        lambda x: jax.lax.while_loop(lambda y: y < 3, called, x),
        lambda x: jax.checkpoint(called)(x),
    ],
)
def test_a_callback_is_found_wherever_it_hides(wrapped):
    assert "pure_callback" in programs.primitives(trace(wrapped, jnp.float32(1)))
    lowered = jax.jit(wrapped).lower(jnp.float32(1)).as_text()
    assert any("callback" in target for target in programs.custom_calls(lowered))


def test_an_ordinary_program_calls_nothing():
    lowered = jax.jit(lambda x: jnp.sin(x) + jnp.sort(jnp.ones(3)).sum()).lower(1.0).as_text()
    assert programs.custom_calls(lowered) == []


def test_data_is_counted_where_it_is_captured_and_once():
    def looked_up(x):
        table = jnp.asarray(TABLE)
        return table[x] + table[x + 1]

    assert 4000 <= programs.constant_bytes(trace(looked_up, 1)) < 4200
    inside = programs.constant_bytes(trace(lambda x: jax.lax.cond(x > 0, looked_up, lambda y: 0.0, x), 1))
    assert inside >= 4000
    assert programs.constant_bytes(trace(lambda x: x + 1, 1)) < 100


def test_two_traces_of_one_function_are_the_same():
    def rules(x):
        return jax.lax.scan(lambda c, _: (jnp.where(c > 0, c * 1.1, jnp.sin(c)), None), x, None, 4)

    assert programs.digest(trace(rules, 1.0)) == programs.digest(trace(rules, 2.0))


@pytest.mark.parametrize(
    "other",
    [
        lambda x: jnp.sin(x) * np.float32(0.1) + TABLE[1],
        lambda x: jnp.cos(x) * np.nextafter(np.float32(0.1), np.float32(1)) + TABLE[1],
        lambda x: jnp.cos(x) * np.float32(0.1) + TABLE[2],
        lambda x: jnp.cos(x + 0) * np.float32(0.1) + TABLE[1],
        lambda x: np.float32(0.1) + jnp.cos(x) * TABLE[1],
    ],
)
def test_the_smallest_change_shows(other):
    same = programs.digest(trace(lambda x: jnp.cos(x) * np.float32(0.1) + TABLE[1], 1.0))
    assert programs.digest(trace(other, 1.0)) != same


def test_captured_arrays_are_part_of_the_digest():
    def with_table(table):
        return programs.digest(trace(lambda i: jnp.asarray(table)[i], 1))

    table = np.arange(5000)  # too long to be written out
    changed = table.copy()
    changed[2500] += 1
    assert with_table(table) == with_table(table.copy()) != with_table(changed)
