"""The matrix products of a network, forward and backward, in float32 or in bf16 with float32 sums.

`bf16` rounds the two factors of a product to eight bits and adds in float32; what comes out is float32, so that
everything between the products (biases, gates, activations) and everything after them is computed as before. The
backward products are rounded in the same way; left to JAX they would mix types, and run at float32's speed.

What lies in memory between the layers is rounded as well: small networks spend their time on reading and writing
activations, not on products. `layer` keeps its result alone for the way back, from which the slope of its activation
follows.

A product with a short side is written as sums instead: a compiler fuses them with what comes before and after, while a
call of a library would write and read a whole array of activations for a handful of multiplications each.
"""

import functools
from collections.abc import Callable
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Precision = Literal["float32", "bf16"]
DTYPES: dict[str, Any] = {"float32": jnp.float32, "bf16": jnp.bfloat16}
NARROW = 8  # a side up to this long is written out


def times(x: Float[Array, "*b k"], kernel: Float[Array, "k n"], precision: Precision) -> Float[Array, "*b n"]:
    """x @ kernel in float32, its factors rounded to `precision`; not to be differentiated through in bf16."""
    if len(kernel) <= NARROW:
        terms = [x[..., i, None].astype(jnp.float32) * kernel[i].astype(jnp.float32) for i in range(len(kernel))]
        return sum(terms[1:], start=terms[0])
    if x.dtype == jnp.bfloat16 and precision == "float32" and kernel.shape[1] <= NARROW:
        columns = [jnp.sum(x.astype(jnp.float32) * column, axis=-1) for column in kernel.T]
        return jnp.stack(columns, axis=-1)
    dtype = DTYPES[precision]
    return jnp.matmul(x.astype(dtype), kernel.astype(dtype), preferred_element_type=jnp.float32)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def product(x: Float[Array, "*b k"], kernel: Float[Array, "k n"], precision: Precision) -> Float[Array, "*b n"]:
    """`times` with the backward pass of this file."""
    return times(x, kernel, precision)


def gradient_of_kernel(
    x: Float[Array, "*b k"], change: Float[Array, "*b n"], precision: Precision
) -> Float[Array, "k n"]:
    """What `x @ kernel` hands back to the kernel, in one product over all rows."""
    narrow = min(x.shape[-1], change.shape[-1]) <= NARROW
    if narrow and x.dtype == jnp.bfloat16 and precision == "float32":
        return _sums_over_rows(x, change)
    x, change = (rows.reshape(-1, rows.shape[-1]).astype(DTYPES[precision]) for rows in (x, change))
    return jnp.matmul(x.T, change, preferred_element_type=jnp.float32)


def _sums_over_rows(x: Any, change: Any) -> Float[Array, "k n"]:
    """The same in float32 where one of the two lies in memory rounded, and one of them is narrow."""
    x, change = (rows.reshape(-1, rows.shape[-1]).astype(jnp.float32) for rows in (x, change))
    if x.shape[1] <= change.shape[1]:
        return jnp.stack([jnp.sum(x[:, i, None] * change, axis=0) for i in range(x.shape[1])])
    return jnp.stack([jnp.sum(x * change[:, i, None], axis=0) for i in range(change.shape[1])], axis=1)


def _forward(x: Any, kernel: Any, precision: Precision) -> tuple[Any, Any]:
    kind = jnp.zeros((), x.dtype)
    if x.dtype != jnp.bfloat16:
        x = x.astype(DTYPES[precision])  # rounded now, it is kept for the backward pass in half the memory
    return times(x, kernel, precision), (x, kernel, kind)


def _backward(precision: Precision, kept: tuple[Any, Any, Any], change: Any) -> tuple[Any, Any]:
    x, kernel, kind = kept
    return times(change, kernel.T, precision).astype(kind.dtype), gradient_of_kernel(x, change, precision)


product.defvjp(_forward, _backward)


# Activation -> (itself, its slope from its result).
ACTIVATIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "tanh": (jnp.tanh, lambda y: 1 - jnp.square(y)),
    "relu": (jax.nn.relu, lambda y: (y > 0).astype(y.dtype)),
}


@functools.partial(jax.custom_vjp, nondiff_argnums=(3, 4, 5))
def layer(x: Any, kernel: Any, bias: Any, activation: str, precision: Precision, kept: Precision) -> Any:
    """`activation(x @ kernel + bias)`, kept in `kept`; `activation` is one whose slope follows from its result."""
    return ACTIVATIONS[activation][0](times(x, kernel, precision) + bias).astype(DTYPES[kept])


def _layer_forward(x: Any, kernel: Any, bias: Any, activation: str, precision: Precision, kept: Precision) -> Any:
    result = layer(x, kernel, bias, activation, precision, kept)
    return result, (x, kernel, _as_kept(result))


def _as_kept(rounded: Any) -> Any:
    """What lies in memory; left to itself XLA keeps the numbers before rounding as well, and writes both."""
    return jax.lax.optimization_barrier(rounded) if rounded.dtype == jnp.bfloat16 else rounded


def _layer_backward(activation: str, precision: Precision, kept: Precision, stored: Any, change: Any) -> Any:
    x, kernel, result = stored
    slope = ACTIVATIONS[activation][1](result.astype(jnp.float32))
    change = change.astype(jnp.float32) * slope
    rounded = _as_kept(change.astype(DTYPES[kept]))
    by_bias = jnp.sum(change, axis=tuple(range(change.ndim - 1)))
    by_x = times(rounded, kernel.T, precision).astype(x.dtype)
    return by_x, gradient_of_kernel(x, rounded, precision), by_bias


layer.defvjp(_layer_forward, _layer_backward)
