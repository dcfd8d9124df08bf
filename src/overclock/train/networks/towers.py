"""A whole MLP, all its layers at once, as one GPU kernel each way.

Small networks spend their time on writing activations to memory and reading them back. These kernels keep those of a
block of rows on the chip: forward writes outputs alone; backward computes the activations once more and adds up the
gradients of all weights. The numbers are those of `overclock.train.networks.products`, up to the order of sums.

Written in Pallas for its Triton backend, which JAX means to drop some day: `available` says whether it is there, and
XLA's way (`overclock.train.networks.network`) stays for everything else.
"""

import functools
import re
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from overclock.train.networks.products import ACTIVATIONS, DTYPES, NARROW, Precision

try:
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import triton
except ImportError:  # a JAX without this backend
    pl: Any = None
    triton: Any = None

OLDEST_CAPABILITY = 8
WIDTHS = (16, 32, 64, 128)  # sides of products are powers of two; more than 128 do not fit into registers
MOST_LAYERS = 3
SHORTEST_SIDE = 16  # of a product on tensor cores
ROWS, WARPS = 64, 4  # of a block
PROGRAMS = 528  # of the way back: four for each of the 132 processors of an H200
ON_TENSOR_CORES = jax.lax.Precision.DEFAULT  # float32 is rounded to TF32, as XLA does it there
EXACT = jax.lax.Precision.HIGHEST  # observations keep all their digits
Layers = tuple[tuple[Any, Any], ...]
"""(kernel, bias) of each layer; the last one has no activation."""


def available(device: Any) -> bool:
    """Whether kernels can be made for a device: one of NVIDIA's with tensor cores for TF32 and bf16."""
    capability = str(getattr(device, "compute_capability", ""))
    number = re.fullmatch(r"(\d+)\.\d+", capability)
    return triton is not None and number is not None and int(number[1]) >= OLDEST_CAPABILITY


def fits(inputs: int, hidden: tuple[int, ...], outputs: int, activation: str) -> bool:
    """Whether a network of this shape can be a kernel."""
    return (
        inputs <= NARROW  # with 17, XLA is as fast
        and 1 <= len(hidden) <= MOST_LAYERS
        and set(hidden) <= set(WIDTHS)
        and outputs <= NARROW
        and activation in ACTIVATIONS
    )


@functools.partial(jax.custom_vjp, nondiff_argnums=(2, 3, 4))
def tower(
    layers: Layers, x: Float[Array, "b k"], activation: str, precision: Precision, interpret: bool = False
) -> Float[Array, "b n"]:
    """The outputs of an MLP. Weights can be differentiated; inputs cannot, they get no gradient."""
    kernel = functools.partial(_forward_block, len(x), activation, precision)
    shape = jax.ShapeDtypeStruct((len(x), layers[-1][0].shape[1]), jnp.float32)
    return _call(kernel, "forward", pl.cdiv(len(x), ROWS), shape, interpret)(x, *_flat(layers))


def _forward(layers: Layers, x: Any, activation: str, precision: Precision, interpret: bool) -> Any:
    return tower(layers, x, activation, precision, interpret), (layers, x)


def _backward(activation: str, precision: Precision, interpret: bool, kept: Any, change: Any) -> Any:
    layers, x = kept
    (rows, inputs), outputs = x.shape, change.shape[1]
    # A column of ones makes the first layer's bias a row of its kernel.
    with_one = jnp.concatenate([x, jnp.ones((rows, 1), x.dtype)], axis=1)
    first = jnp.concatenate([layers[0][0], layers[0][1][None]], axis=0)
    weights = [_widened(first, 0), *_flat(layers[1:-1]), _widened(layers[-1][0], 1)]
    programs = min(PROGRAMS, pl.cdiv(rows, ROWS))
    kernel = functools.partial(_backward_blocks, rows, activation, precision, programs)
    # A sum for each program, added up outside: atomics would make a run unrepeatable.
    shapes = [jax.ShapeDtypeStruct((programs, *leaf.shape), jnp.float32) for leaf in weights]
    given = (_widened(with_one, 1), _widened(change, 1), *weights)
    sums = _call(kernel, "backward", programs, shapes, interpret)(*given)
    first, *middle, last = [jnp.sum(part, axis=0) for part in sums]
    gradients = [(first[:inputs], first[inputs]), *zip(middle[::2], middle[1::2], strict=True)]
    return (*gradients, (last[:, :outputs], jnp.sum(change, axis=0))), jnp.zeros_like(x)


tower.defvjp(_forward, _backward)


def _flat(layers: Layers) -> list[Any]:
    return [leaf for layer in layers for leaf in layer]


def _call(kernel: Any, name: str, programs: int, shape: Any, interpret: bool) -> Any:
    parameters = triton.CompilerParams(num_warps=WARPS, num_stages=1)
    return pl.pallas_call(
        kernel, shape, grid=(programs,), compiler_params=parameters, interpret=interpret, name=f"tower_{name}"
    )


def _widened(array: Any, axis: int) -> Any:
    """A short side made long enough for a product."""
    more = [(0, 0), (0, 0)]
    more[axis] = (0, SHORTEST_SIDE - array.shape[axis])
    return jnp.pad(array, more)


def _forward_block(rows: int, activation: str, precision: Precision, x: Any, *refs: Any) -> None:
    *weights, out = refs
    act, dtype = ACTIVATIONS[activation][0], DTYPES[precision]
    first = pl.program_id(0) * ROWS
    live = first + jnp.arange(ROWS) < rows

    def column(ref: Any, number: int) -> Any:
        return ref.at[pl.ds(first, ROWS), jnp.int32(number)]

    columns = [triton.load(column(x, i), mask=live, other=0.0) for i in range(x.shape[1])]
    product = sum(part[:, None] * weights[0][i][None, :] for i, part in enumerate(columns))
    hidden = act(product + weights[1][...][None, :]).astype(dtype)
    for kernel, bias in zip(weights[2:-2:2], weights[3:-2:2], strict=True):
        hidden = act(_times(hidden, kernel[...], precision) + bias[...][None, :]).astype(dtype)
    hidden = hidden.astype(jnp.float32)
    for j in range(out.shape[1]):
        result = jnp.sum(hidden * weights[-2][:, j][None, :], axis=1) + weights[-1][j]
        triton.store(column(out, j), result, mask=live)


def _backward_blocks(
    rows: int, activation: str, precision: Precision, programs: int, x: Any, change: Any, *refs: Any
) -> None:
    weights, sums = refs[: len(refs) // 2], refs[len(refs) // 2 :]
    first, *middle, last = weights
    act, slope = ACTIVATIONS[activation]
    number, dtype = pl.program_id(0), DTYPES[precision]
    how = EXACT if precision == "float32" else ON_TENSOR_CORES  # what follows is rounded to fewer digits than TF32's

    def block(i: Any, totals: tuple[Any, ...]) -> tuple[Any, ...]:
        start = (number + i * programs) * ROWS
        live = (start + jnp.arange(ROWS) < rows)[:, None]
        observed = triton.load(x.at[pl.ds(start, ROWS), :], mask=live, other=0.0)
        asked = triton.load(change.at[pl.ds(start, ROWS), :], mask=live, other=0.0)
        hidden = [act(_times(observed, first[...], "float32", how)).astype(dtype)]
        for kernel, bias in zip(middle[::2], middle[1::2], strict=True):
            hidden.append(act(_times(hidden[-1], kernel[...], precision) + bias[...][None, :]).astype(dtype))
        gradients = [_times(hidden[-1], asked, "float32", left=0)]
        back = _times(asked, last[...], "float32", right=1)
        for layer in reversed(range(1, len(hidden))):
            back = back * slope(hidden[layer].astype(jnp.float32))
            rounded = back.astype(dtype)
            gradients = [_times(hidden[layer - 1], rounded, precision, left=0), back, *gradients]
            back = _times(rounded, middle[2 * layer - 2][...], precision, right=1)
        back = back * slope(hidden[0].astype(jnp.float32))
        gradients = [_times(observed, back, "float32", left=0), *gradients]
        return tuple(total + gradient for total, gradient in zip(totals, gradients, strict=True))

    # Biases are summed over the rows of a block at the very end: what warps tell each other costs time.
    shapes = [(ROWS, *ref.shape[1:]) if len(ref.shape) == 2 else ref.shape[1:] for ref in sums]
    nothing = [jnp.zeros(shape, jnp.float32) for shape in shapes]
    blocks = pl.cdiv(pl.cdiv(rows, ROWS), programs)
    for ref, total in zip(sums, jax.lax.fori_loop(0, blocks, block, tuple(nothing)), strict=True):
        ref[number] = jnp.sum(total, axis=0) if len(ref.shape) == 2 else total


def _times(
    a: Any, b: Any, precision: Precision, how: jax.lax.Precision = ON_TENSOR_CORES, left: int = 1, right: int = 0
) -> Any:
    """A product along side `left` of one and `right` of the other, with sums in float32."""
    dtype, sides = DTYPES[precision], (((left,), (right,)), ((), ()))
    return jax.lax.dot_general(
        a.astype(dtype), b.astype(dtype), sides, precision=how, preferred_element_type=jnp.float32
    )
