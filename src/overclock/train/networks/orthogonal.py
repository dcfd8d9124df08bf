"""First weights of a layer: random matrices with orthonormal rows or columns, times a gain.

The distribution is that of `jax.nn.initializers.orthogonal`. That one factorises by LAPACK, and XLA hands a batch of
factorisations (training vmapped over seeds) to the very threads that already wait for others: with two CPU threads a
process then stands still for ever, once in about ten times. Here are only products and sums, on every backend.
"""

import functools
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

BLOCK = 64  # vectors made orthonormal one by one; whole blocks meet the earlier ones in products of matrices
PANEL = 1024  # vectors that share a loop: each block in it is multiplied with all of them, those to come being zero


def orthogonal(key: jax.Array, shape: Sequence[int], gain: float = 1.0) -> Float[Array, "rows columns"]:
    """A float32 matrix whose shorter side is orthonormal, uniform among such matrices, times `gain`."""
    rows, columns = shape
    tall = jax.random.normal(key, (max(shape), min(shape)), jnp.float32)
    with jax.default_matmul_precision("float32"):  # a GPU's usual products keep ten bits
        basis = _orthonormal(tall.T)
    return gain * (basis.T if rows >= columns else basis)


def _orthonormal(vectors: Float[Array, "m n"]) -> Float[Array, "m n"]:
    """Gram-Schmidt by blocks: one vector after the other, 4096 of them would move a terabyte through the memory."""
    count = len(vectors)
    if count <= BLOCK:
        return _gram_schmidt(vectors)
    padded = jnp.pad(vectors, ((0, -count % BLOCK), (0, 0)))
    basis = jnp.zeros_like(padded)
    for begin in range(0, len(padded), PANEL):
        end = min(begin + PANEL, len(padded))
        basis = jax.lax.fori_loop(begin // BLOCK, end // BLOCK, functools.partial(_add_block, padded, end), basis)
    return basis[:count]


def _add_block(vectors: Float[Array, "m n"], end: int, i: jax.Array, basis: Float[Array, "m n"]) -> Float[Array, "m n"]:
    block = jax.lax.dynamic_slice_in_dim(vectors, i * BLOCK, BLOCK)
    known = basis[:end]  # those to come are still zero
    for _ in range(2):  # what rounding leaves of the earlier vectors grows where the block is nearly singular
        block = _gram_schmidt(block - (block @ known.T) @ known)
    return jax.lax.dynamic_update_slice_in_dim(basis, block, i * BLOCK, axis=0)


def _gram_schmidt(vectors: Float[Array, "m n"]) -> Float[Array, "m n"]:
    """Each vector less its share in the earlier ones, at length one; twice, since the first pass leaves rounding."""

    def add(i: jax.Array, basis: Float[Array, "m n"]) -> Float[Array, "m n"]:
        vector = vectors[i]
        for _ in range(2):
            vector = vector - (basis @ vector) @ basis
        length = jnp.linalg.norm(vector)
        return basis.at[i].set(vector / jnp.where(length > 0, length, 1.0))  # padding stays zero

    return jax.lax.fori_loop(0, len(vectors), add, jnp.zeros_like(vectors))
