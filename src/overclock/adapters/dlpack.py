"""Arrays to and from other libraries on the same device, without a copy, by the DLPack protocol.

With PyTorch, for example, on CPU or on one CUDA device::

    import torch
    from overclock.adapters.dlpack import hand_over, take_over

    obs, state = venv.reset(key, params)
    with torch.no_grad():
        logits = policy(hand_over(obs, torch.from_dlpack))       # same memory, a torch tensor
    actions = take_over(torch.multinomial(logits.softmax(-1), 1)[:, 0])
    obs, state, reward, terminated, truncated, info = venv.step(state, actions, params)
    reward, terminated = hand_over((reward, terminated), torch.from_dlpack)

What is handed over is for reading. It is still the JAX array's memory, and JAX assumes that arrays never change:
NumPy marks its view read-only, torch and CuPy do not, so clone before writing in place. The same holds the other way
round: after `take_over` the source must stay unchanged until the step that uses it is done (`copy=True` frees it).
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env.overflow import OnOverflow, checked_on_overflow, overflow_of, refuse_overflow
from overclock.errors import UsageError


def hand_over(
    tree: Any,
    from_dlpack: Callable[[Any], Any] = np.from_dlpack,
    bool_as_uint8: bool = False,
    overflow: OnOverflow = "error",
) -> Any:
    """Every array of a tree (observations, rewards, flags) as the consumer's own type, in the same memory.

    `from_dlpack` is the consumer's function of that name: `torch.from_dlpack`, `cupy.from_dlpack`, `numpy.from_dlpack`.

    Flags are bool arrays, which DLPack knows since version 0.8. NumPy, CuPy, JAX and present PyTorch take them;
    PyTorch 2.0 and TensorFlow refuse, and for those `bool_as_uint8=True` passes 0 and 1 as uint8, which costs a copy.

    A flag called `overflow` in the tree (of a step's `info`) that is set is an OverflowedError, unless `overflow` is
    "info".
    """
    if checked_on_overflow(overflow) == "error":
        refuse_overflow(overflow_of(tree), "a lane of this batch")

    def one(leaf: jax.Array) -> Any:
        if bool_as_uint8 and leaf.dtype == np.bool_:
            leaf = leaf.astype(jnp.uint8)
        return from_dlpack(leaf)

    return jax.tree.map(one, tree)


def take_over(tree: Any, copy: bool = False) -> Any:
    """Every array of a tree (actions) as a JAX array on the device where it is.

    Memory is shared where JAX can: on CPU the source must start at a multiple of 64 bytes, else it is copied. 64-bit
    numbers become 32-bit ones unless x64 is enabled.
    """

    def one(leaf: Any) -> jax.Array:
        try:
            taken = jnp.from_dlpack(leaf)
        except (BufferError, jax.errors.JaxRuntimeError) as error:
            raise UsageError(f"JAX cannot take this array over ({error}); pass a contiguous, writable copy.") from error
        # Not `from_dlpack(copy=True)`: JAX 0.10.2 shares aligned CPU memory all the same. Waiting, because the source
        # may change as soon as this returns.
        return jnp.array(taken, copy=True).block_until_ready() if copy else taken

    return jax.tree.map(one, tree)
