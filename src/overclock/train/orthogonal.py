"""First weights of a layer: random matrices with orthonormal rows or columns, times a gain.

The distribution is that of `jax.nn.initializers.orthogonal`. That one factorises by LAPACK, and XLA hands a batch of
factorisations (training vmapped over seeds) to the very threads that already wait for others: with two CPU threads a
process then stands still for ever, once in about ten times. Here are only products and sums, on every backend.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float


def orthogonal(key: jax.Array, shape: Sequence[int], gain: float = 1.0) -> Float[Array, "rows columns"]:
    """A float32 matrix whose shorter side is orthonormal, uniform among such matrices, times `gain`."""
    rows, columns = shape
    tall = jax.random.normal(key, (max(shape), min(shape)), jnp.float32)
    basis = _gram_schmidt(tall)
    return gain * (basis if rows >= columns else basis.T)


def _gram_schmidt(columns: Float[Array, "n m"]) -> Float[Array, "n m"]:
    """Each column less its share in the earlier ones, at length one; twice, since the first pass leaves rounding."""

    def add(i: jax.Array, basis: Float[Array, "n m"]) -> Float[Array, "n m"]:
        column = columns[:, i]
        for _ in range(2):
            column = column - basis @ (basis.T @ column)  # later columns of the basis are still zero
        return basis.at[:, i].set(column / jnp.linalg.norm(column))

    return jax.lax.fori_loop(0, columns.shape[1], add, jnp.zeros_like(columns))
