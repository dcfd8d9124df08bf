"""`Agent`: the network behind a policy, made from two spaces, as pure functions of its parameters.

Training, evaluation and saved policies share this file; it knows nothing of PPO. Time comes first in every array
(T, N, ...): a decision of N lanes is a sequence of length one, so an MLP and a GRU are called the same way.
"""

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from overclock.env.rng import Rng
from overclock.env.spaces import Box, Dict, Discrete, MultiDiscrete, Space
from overclock.env.struct import Struct
from overclock.train.networks import towers
from overclock.train.networks.distributions import Categorical, Gaussian, distribution
from overclock.train.networks.network import ActorCritic, NetworkConfig, Tower

OBSERVATION_CLIP = 10.0  # normalised observations beyond ten deviations are outliers of an unsettled mean
VARIANCE_FLOOR = 1e-8


class RunningStats(Struct):
    """Mean and variance of everything seen so far, merged batch by batch (Chan's formula)."""

    mean: Float[Array, "*shape"]
    variance: Float[Array, "*shape"]
    count: Float[Array, ""]

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> "RunningStats":
        """Of nothing: mean 0, variance 1, so that normalising changes nothing."""
        return cls(jnp.zeros(shape, jnp.float32), jnp.ones(shape, jnp.float32), jnp.float32(0))

    def update(self, batch: Float[Array, "..."]) -> "RunningStats":
        """The statistics after a batch with any leading axes."""
        axes = tuple(range(batch.ndim - self.mean.ndim))
        size = jnp.float32(math.prod(batch.shape[: len(axes)]))
        count = self.count + size
        delta = jnp.mean(batch, axes) - self.mean
        # The variance 1 of empty statistics counts for nothing, because their count is 0.
        spread = self.variance * self.count + jnp.var(batch, axes) * size + delta**2 * self.count * size / count
        return RunningStats(self.mean + delta * size / count, spread / count, count)

    @property
    def std(self) -> Float[Array, "*shape"]:
        """The standard deviation of what was observed, kept above zero."""
        return jnp.sqrt(self.variance + VARIANCE_FLOOR)


class AgentParams(Struct):
    """Everything that acting needs: weights, and the statistics that observations are normalised with."""

    weights: Any
    observations: RunningStats


@dataclasses.dataclass(frozen=True)
class Agent:
    """A policy and a value function over the observations and actions of two spaces."""

    observation_space: Space
    action_space: Space
    network: NetworkConfig = NetworkConfig()
    normalise: bool = False
    kernels: bool = False
    """Whether a tower is one GPU kernel (`overclock.train.networks.towers`); `with_kernels` decides."""

    def __post_init__(self) -> None:
        assert self.distribution.size > 0

    @property
    def distribution(self) -> Categorical | Gaussian:
        """What the network's outputs mean: the distribution of the actions."""
        return distribution(self.action_space)

    @property
    def recurrent(self) -> bool:
        """Whether the network remembers earlier observations of an episode."""
        return self.network.kind == "gru"

    @property
    def module(self) -> ActorCritic:
        """The Flax module of the network's configuration."""
        continuous = isinstance(self.distribution, Gaussian)
        return ActorCritic(
            self.network, self.distribution.size // 2 if continuous else self.distribution.size, continuous
        )

    def with_kernels(self, device: Any) -> "Agent":
        """The same agent, computed by kernels where its network fits into them and `device` has them."""
        inputs, network = encoded_width(self.observation_space), self.network
        fit = not self.recurrent and towers.fits(inputs, network.hidden, self.module.outputs, network.activation)
        return dataclasses.replace(self, kernels=fit and towers.available(device))

    def init(self, key: jax.Array) -> AgentParams:
        """Fresh parameters, drawn from a jax key."""
        width = encoded_width(self.observation_space)
        features, start = jnp.zeros((1, 1, width), jnp.float32), jnp.zeros((1, 1), jnp.bool_)
        memory = self.first_memory(1)["actor"] if self.recurrent else ()
        weights = self.module.init(key, memory, features, start, method=ActorCritic.both)
        return AgentParams(weights=weights, observations=RunningStats.empty((width,)))

    def first_memory(self, lanes: int) -> Any:
        """What lanes remember before their first step, actor and critic each; `()` for an MLP."""
        if not self.recurrent:
            return ()
        return {tower: jnp.zeros((lanes, self.network.memory), jnp.float32) for tower in ("actor", "critic")}

    def encode(self, obs: Any) -> Float[Array, "*b d"]:
        """An observation, with any leading axes, as one vector of numbers."""
        return encode(self.observation_space, obs)

    def actor(
        self, params: AgentParams, memory: Any, features: Float[Array, "t n d"], start: Bool[Array, "t n"]
    ) -> tuple[Any, Float[Array, "t n k"]]:
        """(memory after every step, outputs) along a sequence of encoded observations, from the actor's own memory.

        The memory is wiped where `start` is True; without one it is `()`, here and in `critic`.
        """
        return self._tower("actor", params, memory, features, start)

    def critic(
        self, params: AgentParams, memory: Any, features: Float[Array, "t n d"], start: Bool[Array, "t n"]
    ) -> tuple[Any, Float[Array, "t n"]]:
        """(memory after every step, values); see `actor`."""
        return self._tower("critic", params, memory, features, start)

    def _tower(self, tower: Tower, params: AgentParams, memory: Any, features: Any, start: Any) -> tuple[Any, Any]:
        if self.normalise:
            stats = params.observations
            features = jnp.clip((features - stats.mean) / stats.std, -OBSERVATION_CLIP, OBSERVATION_CLIP)
        if self.kernels:
            return (), self.module.by_kernel(params.weights, features, tower)
        out: Any = self.module.apply(params.weights, memory, features, start, tower)
        return out

    def decide(
        self, params: AgentParams, memory: Any, obs: Any, start: Bool[Array, " n"], mask: Any = None
    ) -> tuple[Any, Float[Array, "n k"]]:
        """(memory, outputs) for one step of N lanes, with illegal actions excluded; only the actor's memory changes."""
        own = memory["actor"] if self.recurrent else ()
        after, outputs = self.actor(params, own, self.encode(obs)[None], start[None])
        if self.recurrent:
            memory = {**memory, "actor": after[0]}
        return memory, self.distribution.restrict(outputs[0], mask)

    def value(self, params: AgentParams, memory: Any, obs: Any, start: Bool[Array, " n"]) -> Float[Array, " n"]:
        """The value of what N lanes see, remembered with the critic's `memory`."""
        return self.critic(params, memory, self.encode(obs)[None], start[None])[1][0]

    @functools.partial(jax.jit, static_argnames="self", inline=True)
    def act(
        self,
        params: AgentParams,
        memory: Any,
        obs: Any,
        start: Bool[Array, " n"],
        mask: Any = None,
        rng: Rng | None = None,
    ) -> tuple[Any, Any]:
        """(memory, actions) of N lanes: sampled with one `Rng` per lane, or the likeliest without."""
        memory, outputs = self.decide(params, memory, obs, start, mask)
        chosen = self.distribution.mode(outputs) if rng is None else self.distribution.sample(outputs, rng)
        return memory, self.distribution.playable(chosen)


def encode(space: Space, value: Any) -> Float[Array, "*b d"]:
    """A value of a space as one float32 vector: numbers as they are, choices one-hot, dicts by sorted key."""
    if isinstance(space, Dict):
        return jnp.concatenate([encode(inner, value[name]) for name, inner in space.spaces], axis=-1)
    if isinstance(space, Discrete):
        return jax.nn.one_hot(value, space.n, dtype=jnp.float32)
    if isinstance(space, MultiDiscrete):
        columns = [encode(Discrete(n), value[..., i]) for i, n in enumerate(space.nvec)]
        return jnp.concatenate(columns, axis=-1)
    assert isinstance(space, Box)
    array = jnp.asarray(value, jnp.float32)
    return array.reshape(*array.shape[: array.ndim - len(space.shape)], -1)


def encoded_width(space: Space) -> int:
    """How many numbers `encode` gives."""
    if isinstance(space, Dict):
        return sum(encoded_width(inner) for _, inner in space.spaces)
    if isinstance(space, Discrete):
        return space.n
    if isinstance(space, MultiDiscrete):
        return int(np.sum(space.nvec))
    assert isinstance(space, Box)
    return math.prod(space.shape)
