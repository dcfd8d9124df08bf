"""Small arrays without scatters, sorts and searches: equal to what JAX and NumPy do, to the last bit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from overclock.env import first_above, order_by, put


@pytest.mark.parametrize(
    ("shape", "index", "value_shape"),
    [((5,), (3,), ()), ((5,), (-1,), ()), ((4, 3), (2, 1), ()), ((4, 3), (2,), (3,)), ((4, 3), (slice(None), 1), (4,)),
     ((2, 3, 4), (1, slice(None), 2), (3,)), ((2, 3, 4), (1,), (3, 4)), ((2, 3, 4), (slice(None), -2), (2, 4)),
     ((2, 3, 4), (slice(None), 0), ())],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "int32", "bool"])
def test_what_is_put_is_where_at_puts_it(shape, index, value_shape, dtype):
    generator = np.random.default_rng(0)
    array, value = (jnp.asarray(generator.integers(0, 9, size).astype(dtype)) for size in (shape, value_shape))
    expected = array.at[index].set(value)
    for places in (index, tuple(jnp.asarray(one) if isinstance(one, int) else one for one in index)):
        found = jax.jit(lambda a, v, places=places: put(a, places, v))(array, value)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_a_place_outside_changes_nothing_and_one_number_needs_no_tuple():
    array = jnp.arange(4)
    np.testing.assert_array_equal(
        jax.vmap(lambda at: put(array, at, 9))(jnp.asarray([4, -5, 7])), jnp.stack([array] * 3)
    )
    np.testing.assert_array_equal(put(array, 2, 9), [0, 1, 9, 3])


def test_a_part_of_an_axis_is_refused():
    with pytest.raises(ValueError, match="whole slices"):
        put(jnp.zeros(4), slice(1, 2), 1.0)


def test_orders_are_those_of_lexsort_ties_included():
    generator = np.random.default_rng(1)
    keys = generator.integers(0, 4, (2, 300, 9))
    found = jax.jit(jax.vmap(order_by))(*map(jnp.asarray, keys))
    np.testing.assert_array_equal(found, [np.lexsort((a, b)) for a, b in zip(*keys, strict=True)])


def test_the_first_number_above_is_that_of_argmax():
    table = np.cumsum([0.1, 0.0, 0.2, 0.05, 0.0, 0.65])
    values = np.concatenate([table, np.nextafter(table, 0), [0.0, 1.5], np.random.default_rng(2).random(100)])
    values = values.astype(np.float32)
    single = jnp.asarray(table, jnp.float32)
    expected = jnp.argmax(single[None, :] > values[:, None], axis=1)
    np.testing.assert_array_equal(jax.vmap(lambda value: first_above(single, value))(values), expected)
