"""Small arrays as XLA likes them: comparisons with every place instead of scatters, sorts and searches.

On a CPU, XLA runs a scatter or a sort one lane after the other; on a GPU it is a kernel of its own. What is compared
with every place of a small array is fused with what comes before and after it. Results are the same, bit for bit.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

Index = int | slice | Int[Array, ""] | tuple[int | slice | Int[Array, ""], ...]


def put(array: Array, index: Index, value: Any) -> Array:
    """`array.at[index].set(value)`, for an index of whole numbers and whole slices.

    Negative numbers count from the end; a place outside of the array changes nothing.
    """
    places = index if isinstance(index, tuple) else (index,)
    places += (slice(None),) * (array.ndim - len(places))
    inside, kept = jnp.ones((), jnp.bool_), []
    for axis, place in enumerate(places):
        if isinstance(place, slice):
            if place != slice(None):
                raise ValueError(f"`put` takes whole slices, not {place}; use `array.at[...].set(...)`.")
            kept.append(axis)
            continue
        number = jnp.asarray(place, jnp.int32)
        here = jax.lax.broadcasted_iota(jnp.int32, array.shape, axis)
        inside &= here == jnp.where(number < 0, number + array.shape[axis], number)
    value = jnp.broadcast_to(jnp.asarray(value).astype(array.dtype), tuple(array.shape[axis] for axis in kept))
    spread = jnp.expand_dims(value, tuple(axis for axis in range(array.ndim) if axis not in kept))
    return jnp.where(inside, spread, array)


def order_by(*keys: Array) -> Int[Array, " n"]:
    """`jnp.lexsort(keys)` of a few one-dimensional arrays without NaN: the last key decides first."""
    before = jnp.arange(len(keys[0])) < jnp.arange(len(keys[0]))[:, None]  # [i, j]: j comes first where all are equal
    for key in keys:
        less, equal = key[None, :] < key[:, None], key[None, :] == key[:, None]
        before = less | (equal & before)
    rank = jnp.sum(before, axis=1)
    return jnp.argmax(rank == jnp.arange(len(rank))[:, None], axis=1)


def first_above(table: Array, value: Array) -> Int[Array, ""]:
    """`jnp.argmax(table > value)` of a table that never falls: zero where nothing is above."""
    return jnp.searchsorted(table, value, side="right", method="scan_unrolled") % len(table)
