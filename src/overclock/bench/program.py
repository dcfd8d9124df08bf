"""The compiled program that is timed, the same for us and for every JAX peer, so that only the step differs.

Nothing a step returns may go unused, or XLA deletes the work that made it. Every output is therefore folded into
a checksum in the loop's carry. It is kept per lane and added up once after the loop: a sum over lanes inside the
loop would cost an extra kernel per step, for all and for nothing.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, UInt32

from overclock.env.struct import Struct

CHECKSUM_FACTOR = np.uint32(31)  # makes the checksum depend on the order of steps
MOST_COLUMNS = 32  # observations with more numbers per lane are summed by one reduction instead


class Outputs(Struct):
    """What one step of a batch hands to a learner; every leaf has the batch first."""

    obs: Any
    action: Any
    reward: Float[Array, "n *players"]
    terminated: Bool[Array, " n"]
    truncated: Bool[Array, " n"]
    overflow: Bool[Array, " n"] | None = None  # lanes that ran out of room; None where they cannot


class Summary(Struct):
    """What comes back from one call beside the state and the stored steps."""

    checksum: UInt32[Array, ""]
    episodes: Float[Array, ""]  # ends of episodes; a float, since lanes times steps may pass 2**31
    overflowed: Float[Array, ""] | None = None  # steps of lanes without room


Step = Callable[[Any], tuple[Any, Outputs]]


def program(step: Step, batch: int, steps: int, unroll: int, store: bool) -> Callable[[Any], tuple[Any, Summary, Any]]:
    """`steps` steps from a state: (state, summary, stored outputs or None)."""
    body = _consuming(step, store)

    def run(state: Any) -> tuple[Any, Summary, Any]:
        carry, stored = jax.lax.scan(body, _fresh_carry(step, state, batch), None, steps, unroll=unroll)
        return carry[0], _summary(carry), stored

    return run


def pilot(step: Step, batch: int) -> Callable[[Any, Any], Summary]:
    """The same loop, not unrolled and with its trip count given at run time: about how many steps are worth compiling?

    It compiles quickly, but is not what is timed: on a GPU such a loop asks the host before every iteration.
    """
    body = _consuming(step, store=False)

    def one(_: Any, carry: Any) -> Any:
        return body(carry, None)[0]

    return lambda state, steps: _summary(jax.lax.fori_loop(0, steps, one, _fresh_carry(step, state, batch)))


def _consuming(step: Step, store: bool) -> Callable[[Any, None], tuple[Any, Any]]:
    def body(carry: Any, _: None) -> tuple[Any, Any]:
        state, checksum, ends, lost = carry
        state, outputs = step(state)
        ends = ends + (outputs.terminated | outputs.truncated).astype(jnp.int32)
        if outputs.overflow is not None:
            lost = lost + outputs.overflow.astype(jnp.int32)
        return (state, absorb(checksum, outputs), ends, lost), outputs if store else None

    return body


def _fresh_carry(step: Step, state: Any, batch: int) -> Any:
    lost = None if jax.eval_shape(step, state)[1].overflow is None else jnp.zeros(batch, jnp.int32)
    return state, jnp.zeros(batch, jnp.uint32), jnp.zeros(batch, jnp.int32), lost


def _summary(carry: Any) -> Summary:
    _, checksum, ends, lost = carry
    return Summary(jnp.sum(checksum, dtype=jnp.uint32), *counted(ends, lost))


def counted(ends: Any, lost: Any) -> tuple[Any, Any]:
    """Ends of episodes and steps without room, of all lanes; None where room cannot run out."""
    return tuple(None if one is None else jnp.sum(one.astype(jnp.float32)) for one in (ends, lost))  # pyright: ignore[reportReturnType]


def hexadecimal(checksums: UInt32[Array, " n"]) -> str:
    """The checksum of a batch, from those of its lanes."""
    return f"{int(jnp.sum(checksums, dtype=jnp.uint32)):08x}"


def absorb(checksum: UInt32[Array, " n"], outputs: Outputs) -> UInt32[Array, " n"]:
    """The lanes' checksums after one more step: every bit of obs, reward and flags counts."""
    total = checksum * CHECKSUM_FACTOR
    for leaf in jax.tree.leaves((outputs.obs, outputs.reward, outputs.terminated, outputs.truncated)):
        for column in _columns(leaf):
            total = total + column
    return total


def absorb_lane(checksum: UInt32[Array, ""], outputs: Outputs) -> UInt32[Array, ""]:
    """`absorb` for one lane of a kernel: the same checksum."""
    total = checksum * CHECKSUM_FACTOR
    for leaf in jax.tree.leaves((outputs.obs, outputs.reward, outputs.terminated, outputs.truncated)):
        total = total + jnp.sum(bits(leaf), dtype=jnp.uint32)
    return total


def bits(values: Array) -> UInt32[Array, "n ..."]:
    """Values as 32-bit words that differ where the values do (64-bit values fold their halves)."""
    if values.dtype == jnp.bool_ or jnp.issubdtype(values.dtype, jnp.integer):
        if values.dtype.itemsize < 8:
            return values.astype(jnp.uint32)
    elif values.dtype.itemsize < 4:
        values = values.astype(jnp.float32)
    words = jax.lax.bitcast_convert_type(values, jnp.uint32)
    return words if words.ndim == values.ndim else words[..., 0] * CHECKSUM_FACTOR + words[..., 1]


def _columns(values: Array) -> list[UInt32[Array, " n"]]:
    """The bits of one array per number of a lane, each with the batch as its only axis."""
    if values.ndim == 1:
        return [bits(values)]
    if math.prod(values.shape[1:]) > MOST_COLUMNS:
        return [jnp.sum(bits(values), axis=tuple(range(1, values.ndim)), dtype=jnp.uint32)]
    # Batch last, and cut before the bits are taken: a `stack` under vmap puts its parts side by side along the first
    # axis, so that these slices are the parts themselves and XLA never builds the stacked array.
    parts = jnp.moveaxis(values, 0, -1).reshape(-1, values.shape[0])
    return [bits(jax.lax.index_in_dim(parts, i, axis=0, keepdims=False)) for i in range(parts.shape[0])]
