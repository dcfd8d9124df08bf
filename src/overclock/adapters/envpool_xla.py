"""EnvPool's `xla()`: the same batch as pure functions, for loops inside `jax.jit` and `lax.scan`.

Compiled code cannot raise: `info["overflow"]` says which lanes ran out of room, as everywhere.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from overclock.env.spaces import structure
from overclock.env.struct import Struct
from overclock.errors import UsageError
from overclock.vector.host import JaxHostVector
from overclock.vector.vectorize import VectorState

Batch = tuple[Any, Any, Any, Any, dict[str, Any]]
"""(obs, reward, terminated, truncated, info)"""


class XlaHandle(Struct):
    """The pool inside a compiled loop: all of its state, and what the next `recv` returns.

    Parameters are part of it because XLA rounds differently when they are constants of the program: this way the
    loop computes what the pool computes.
    """

    state: VectorState
    params: Any
    elapsed: Int[Array, " n"]
    batch: Any


class XlaFunctions(NamedTuple):
    """What `EnvPool.xla` returns; the functions are pure, so the handle they return must be passed on."""

    handle: XlaHandle
    recv: Callable[[XlaHandle], tuple[XlaHandle, Batch]]
    send: Callable[..., XlaHandle]
    step: Callable[..., tuple[XlaHandle, Batch]]


def xla_functions(host: JaxHostVector, elapsed_step: np.ndarray) -> XlaFunctions:
    """`recv`, `send` and `step` over a handle that starts at the batch's present state."""
    venv, num_envs = host.venv, host.num_envs

    def masks(state: VectorState, params: Any) -> dict[str, Any]:
        mask = venv.action_mask(state, params)
        return {} if mask is None else {"action_mask": mask}

    def recv(handle: XlaHandle) -> tuple[XlaHandle, Batch]:
        return handle, handle.batch

    def send(handle: XlaHandle, action: Any, env_id: Any = None) -> XlaHandle:
        if env_id is not None and np.shape(env_id) != (num_envs,):
            raise UsageError(f"Inside xla() every step takes all {num_envs} lanes.")
        ids = jnp.arange(num_envs, dtype=jnp.int32) if env_id is None else jnp.asarray(env_id, jnp.int32)
        if env_id is not None:
            action = jax.tree.map(lambda leaf: jnp.asarray(leaf)[jnp.argsort(ids)], action)
        obs, state, reward, terminated, truncated, info = venv.step(handle.state, action, handle.params)
        elapsed = jnp.where(handle.state.ended, 0, handle.elapsed + 1).astype(jnp.int32)
        facts = {name: value for name, value in info.items() if name != "final_observation"}
        facts = {**facts, "elapsed_step": elapsed, **masks(state, handle.params)}
        batch = (obs, reward, terminated, truncated, facts)
        if env_id is not None:
            batch = jax.tree.map(lambda leaf: leaf[ids], batch)
        return XlaHandle(state, handle.params, elapsed, with_ids(batch, ids))

    def step(handle: XlaHandle, action: Any, env_id: Any = None) -> tuple[XlaHandle, Batch]:
        return recv(send(handle, action, env_id))

    # The first batch shows the present observations, with nothing earned and nothing over.
    elapsed = jnp.asarray(elapsed_step, jnp.int32)
    unsent = XlaHandle(host.state, host.params, elapsed, None)
    later = jax.eval_shape(send, unsent, structure(host.action_space, (num_envs,)))
    _, *rest, info = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), later.batch)
    info = {**info, "elapsed_step": elapsed, **masks(host.state, host.params)}
    first = (venv.observe(host.state, host.params), *rest, info)
    return XlaFunctions(unsent.replace(batch=with_ids(first, jnp.arange(num_envs, dtype=jnp.int32))), recv, send, step)


def with_ids(batch: Any, ids: Any) -> Batch:
    """A batch with EnvPool's two entries that say which lanes its rows are."""
    obs, reward, terminated, truncated, info = batch
    return obs, reward, terminated, truncated, {**info, "env_id": ids, "players": {"env_id": ids}}
