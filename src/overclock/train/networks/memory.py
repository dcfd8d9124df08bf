"""The GRU of a network: one recurrence along a sequence, with a backward pass that suits wide memories.

The formula is that of Flax's GRUCell with its three gates in one product. Backwards, the gradient of the recurrent
weights is one product over all steps at once. Left to JAX it would be added up step by step, which reads and writes a
matrix as large as the weights at every step.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from overclock.train.networks.products import DTYPES, Precision, gradient_of_kernel, times


def cell(
    memory: Float[Array, "n h"], fed: Float[Array, "n 3h"], own: Float[Array, "n 3h"], bias: Float[Array, " h"]
) -> Float[Array, "n h"]:
    """The next memory; `fed` and `own` are what input and memory say to the three gates."""
    fed_reset, fed_update, fed_candidate = jnp.split(fed, 3, axis=-1)
    own_reset, own_update, own_candidate = jnp.split(own, 3, axis=-1)
    candidate = jnp.tanh(fed_candidate + jax.nn.sigmoid(fed_reset + own_reset) * (own_candidate + bias))
    update = jax.nn.sigmoid(fed_update + own_update)
    return (1 - update) * candidate + update * memory


@functools.partial(jax.custom_vjp, nondiff_argnums=(5,))
def remember(
    memory: Float[Array, "n h"],
    fed: Float[Array, "t n 3h"],
    start: Bool[Array, "t n"],
    kernel: Float[Array, "h 3h"],
    bias: Float[Array, " h"],
    precision: Precision,
) -> Float[Array, "t n h"]:
    """The memory after every step of a sequence; it is wiped before a step where `start` is True."""
    return _forward(memory, fed, start, kernel, bias, precision)[0]


def _forward(memory: Any, fed: Any, start: Any, kernel: Any, bias: Any, precision: Precision) -> tuple[Any, Any]:
    weights = kernel.astype(DTYPES[precision])  # rounded once, not at every step

    def step(memory: Any, now: tuple[Any, Any]) -> tuple[Any, tuple[Any, Any]]:
        fed, start = now
        memory = jnp.where(start[:, None], 0.0, memory)
        own = times(memory, weights, precision)
        memory = cell(memory, fed, own, bias)
        return memory, (memory, own)

    _, (memories, own) = jax.lax.scan(step, memory, (fed, start))
    return memories, (memory, memories, fed, own, start, kernel, bias)


def _backward(precision: Precision, kept: tuple[Any, ...], changes: Float[Array, "t n h"]) -> tuple[Any, ...]:
    memory, memories, fed, own, start, kernel, bias = kept
    before = jnp.where(start[..., None], 0.0, jnp.concatenate([memory[None], memories[:-1]]))
    weights = kernel.T.astype(DTYPES[precision])

    def step(later: Any, now: tuple[Any, ...]) -> tuple[Any, tuple[Any, Any]]:
        change, before, fed, own, start = now
        _, pull = jax.vjp(functools.partial(cell, bias=bias), before, fed, own)
        by_memory, by_fed, by_own = pull(later + change)
        by_memory = by_memory + times(by_own, weights, precision)
        # Reset and update gate see the sum of both inputs, so only the candidate's share has to be kept twice.
        candidate = by_own[:, 2 * memory.shape[1] :]
        return jnp.where(start[:, None], 0.0, by_memory), (by_fed, candidate)

    by_first, (by_fed, candidates) = jax.lax.scan(
        step, jnp.zeros_like(memory), (changes, before, fed, own, start), reverse=True
    )
    by_own = jnp.concatenate([by_fed[..., : 2 * memory.shape[1]], candidates], axis=-1)
    by_kernel = gradient_of_kernel(before, by_own, precision)
    return by_first, by_fed, None, by_kernel, jnp.sum(candidates, axis=(0, 1))


remember.defvjp(_forward, _backward)
