"""Where fresh episodes come from when members of a batch end. *When* they are used is the vector layer's choice.

| strategy | computes per step | a lane's new episode |
|---|---|---|
| `Fresh()` | one reset per lane | its own, every time |
| `Optimistic(ratio)` | one reset per `ratio` lanes | exactly `Fresh`'s, unless more than n / ratio lanes end at once |
| `Pool(size, refresh)` | `refresh` resets | one of `size` stored ones, picked at random |

Under `jit` a reset costs the same whether or not a lane ends, so an expensive reset on every lane and step can
dominate; the other two trade that for episodes that lanes share. `Optimistic` counts in its store how often that
happened. `Pool` counts nothing: every episode comes out of the pool, and two lanes, or one lane twice, may take the
same entry before it is replaced.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from overclock.env.environment import Environment, EnvState
from overclock.env.rng import Rng, Section
from overclock.env.struct import Struct
from overclock.errors import UsageError

POOL_SITE = 0  # of the POOL section: which stored episode a lane takes; sites 1 and 2 key the pool's own stream


class ResetStore(Struct):
    """What a strategy keeps between steps: stored episodes (Pool); how often lanes had to share one (Optimistic)."""

    episodes: Any
    cursor: Int[Array, ""]
    shared: Int[Array, ""]  # counted by Optimistic alone; Fresh shares nothing, Pool does not count


@dataclasses.dataclass(frozen=True)
class Fresh:
    """A new episode for every lane at every step; the right choice for cheap resets."""

    def prepare(self, env: Environment, rng: Rng, params: Any, axes: Any) -> ResetStore:
        """The store at the vector's reset."""
        return ResetStore(episodes=(), cursor=jnp.int32(0), shared=jnp.int32(0))

    def supply(
        self, env: Environment, store: ResetStore, rng: Rng, ended: Bool[Array, " n"], params: Any, axes: Any
    ) -> tuple[EnvState, ResetStore]:
        """A candidate episode per lane (only those of ended lanes are used) and the store after it."""
        return jax.vmap(env.reset_state, in_axes=(0, axes))(rng, params), store


@dataclasses.dataclass(frozen=True)
class Optimistic:
    """Few lanes end at one step: compute n / ratio resets, for the lanes that ended, each from its lane's own stream.

    Equal to `Fresh`, bit for bit, while at most n / ratio lanes end in one step; beyond that the surplus lanes
    share those episodes (and the parameters they began under), and the store's `shared` counts them.
    """

    ratio: int

    def __post_init__(self) -> None:
        if self.ratio < 1:
            raise UsageError(f"Optimistic needs ratio >= 1, got {self.ratio}.")

    def prepare(self, env: Environment, rng: Rng, params: Any, axes: Any) -> ResetStore:
        """The store at the vector's reset."""
        if self.ratio > rng.k0.shape[0]:
            raise UsageError(f"Optimistic(ratio={self.ratio}) needs at least that many lanes, got {rng.k0.shape[0]}.")
        return Fresh().prepare(env, rng, params, axes)

    def supply(
        self, env: Environment, store: ResetStore, rng: Rng, ended: Bool[Array, " n"], params: Any, axes: Any
    ) -> tuple[EnvState, ResetStore]:
        """Episodes for the first n / ratio ended lanes, laid out over all lanes."""
        budget = ended.shape[0] // self.ratio
        (lanes,) = jnp.nonzero(ended, size=budget, fill_value=0)
        lane_params = jax.tree.map(
            lambda leaf, axis: leaf if axis is None else leaf[lanes], params, axes, is_leaf=lambda leaf: leaf is None
        )
        episodes = jax.vmap(env.reset_state, in_axes=(0, axes))(jax.tree.map(lambda k: k[lanes], rng), lane_params)
        rank = jnp.cumsum(ended, dtype=jnp.int32) - 1
        spread = jax.tree.map(lambda leaf: leaf[jnp.maximum(rank, 0) % budget], episodes)
        surplus = jnp.maximum(jnp.sum(ended, dtype=jnp.int32) - budget, 0)
        return spread, store.replace(shared=store.shared + surplus)


@dataclasses.dataclass(frozen=True)
class Pool:
    """`size` stored episodes; each step replaces `refresh` of them, round-robin, so that start states stay new.

    Lanes pick at random, so an episode may be taken several times before it is replaced; this is not counted.
    """

    size: int
    refresh: int = 1

    def __post_init__(self) -> None:
        if self.size < 1 or not 0 <= self.refresh <= self.size:
            raise UsageError(f"Pool needs size >= 1 and 0 <= refresh <= size, got {self.size} and {self.refresh}.")
        if self.size > 1 << 16:
            raise UsageError(f"Pool holds at most 65,536 episodes, got {self.size}.")

    def prepare(self, env: Environment, rng: Rng, params: Any, axes: Any) -> ResetStore:
        """Fill the pool from a stream derived from the first lane's."""
        self._refuse_batched(axes)
        stream = _pool_stream(rng).lanes(self.size)
        episodes = jax.vmap(env.reset_state, in_axes=(0, None))(stream, params)
        return ResetStore(episodes=episodes, cursor=jnp.int32(0), shared=jnp.int32(0))

    def supply(
        self, env: Environment, store: ResetStore, rng: Rng, ended: Bool[Array, " n"], params: Any, axes: Any
    ) -> tuple[EnvState, ResetStore]:
        """A random stored episode per lane; then the oldest entries are replaced."""
        picks = jax.vmap(lambda r: r.of_section(Section.POOL).integers(POOL_SITE, self.size))(rng)
        chosen = jax.tree.map(lambda leaf: leaf[picks], store.episodes)
        if self.refresh == 0:
            return chosen, store
        news = jax.vmap(env.reset_state, in_axes=(0, None))(_pool_stream(rng).lanes(self.refresh), params)
        slots = (store.cursor + np.arange(self.refresh, dtype=np.int32)) % self.size
        episodes = jax.tree.map(lambda stored, new: stored.at[slots].set(new), store.episodes, news)
        return chosen, store.replace(episodes=episodes, cursor=(store.cursor + self.refresh) % self.size)

    def _refuse_batched(self, axes: Any) -> None:
        if jax.tree.leaves(axes):
            raise UsageError("Pool shares episodes between lanes, so it needs params shared by all lanes; use Fresh.")


def _pool_stream(rng: Rng) -> Rng:
    """A stream of its own for pooled episodes at this event, so that no lane's draws are used twice."""
    event = rng.of_section(Section.POOL)
    return Rng(k0=event.words(1)[0], k1=event.words(2)[0], counter=jnp.uint32(0))


Resets = Fresh | Optimistic | Pool
