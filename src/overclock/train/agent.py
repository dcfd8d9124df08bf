"""`Agent`: the network behind a policy, made from two spaces, as pure functions of its parameters.

Training, evaluation and saved policies share this file; it knows nothing of PPO. Time comes first in every array
(T, N, ...): a decision of N lanes is a sequence of length one, so an MLP and a GRU are called the same way.
"""

import dataclasses
import functools
import math
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from overclock.env.rng import Rng
from overclock.env.spaces import Box, Dict, Discrete, MultiDiscrete, Space
from overclock.env.struct import Struct
from overclock.errors import MissingError, UsageError
from overclock.train.distributions import Categorical, Gaussian, distribution
from overclock.train.orthogonal import orthogonal

try:
    from flax import linen as nn
except ImportError as error:
    raise MissingError("Policies need Flax and Optax; run: pip install 'overclock[train]'.") from error

OBSERVATION_CLIP = 10.0  # normalised observations beyond ten deviations are outliers of an unsettled mean
VARIANCE_FLOOR = 1e-8
POLICY_GAIN = 0.01  # small first outputs: the first policy is nearly uniform whatever it sees
ACTIVATIONS = {"tanh": nn.tanh, "relu": nn.relu, "swish": nn.swish}


@dataclasses.dataclass(frozen=True)
class NetworkConfig:
    """The shape of a network."""

    kind: Literal["mlp", "gru"] = "mlp"
    """`mlp` acts on the present observation; `gru` also on what it remembers of the episode."""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers: of the actor and of the critic each, before the GRU where there is one."""
    memory: int = 64
    """Width of the GRU's state."""
    activation: Literal["tanh", "relu", "swish"] = "tanh"
    """Between the layers."""
    log_std: float = 0.0
    """First value of the logs of the deviations (Box actions)."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(int(width) for width in self.hidden))
        if self.kind not in ("mlp", "gru"):
            raise UsageError(f"network must be 'mlp' or 'gru', got {self.kind!r}.")
        if self.activation not in ACTIVATIONS:
            raise UsageError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {self.activation!r}.")
        if not all(width >= 1 for width in (*self.hidden, self.memory)):
            raise UsageError(f"Layers need at least one unit, got hidden {self.hidden}, memory {self.memory}.")


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
        """Standard deviation, never zero."""
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

    def __post_init__(self) -> None:
        assert self.distribution.size > 0

    @property
    def distribution(self) -> Categorical | Gaussian:
        """What the outputs mean."""
        return distribution(self.action_space)

    @property
    def recurrent(self) -> bool:
        """Whether it remembers."""
        return self.network.kind == "gru"

    @property
    def module(self) -> "ActorCritic":
        """The Flax module."""
        continuous = isinstance(self.distribution, Gaussian)
        return ActorCritic(
            self.network, self.distribution.size // 2 if continuous else self.distribution.size, continuous
        )

    def init(self, key: jax.Array) -> AgentParams:
        """Fresh parameters."""
        width = encoded_width(self.observation_space)
        features, start = jnp.zeros((1, 1, width), jnp.float32), jnp.zeros((1, 1), jnp.bool_)
        weights = self.module.init(key, self.first_memory(1), features, start)
        return AgentParams(weights=weights, observations=RunningStats.empty((width,)))

    def first_memory(self, lanes: int) -> Any:
        """What lanes remember before their first step; `()` for an MLP."""
        blank = jnp.zeros((lanes, self.network.memory), jnp.float32)
        return {"actor": blank, "critic": blank} if self.recurrent else ()

    def encode(self, obs: Any) -> Float[Array, "*b d"]:
        """An observation, with any leading axes, as one vector of numbers."""
        return encode(self.observation_space, obs)

    def forward(
        self, params: AgentParams, memory: Any, features: Float[Array, "t n d"], start: Bool[Array, "t n"]
    ) -> tuple[Any, Float[Array, "t n k"], Float[Array, "t n"]]:
        """(memory, outputs, values) along a sequence of encoded observations; memory is wiped where `start` is True."""
        if self.normalise:
            stats = params.observations
            features = jnp.clip((features - stats.mean) / stats.std, -OBSERVATION_CLIP, OBSERVATION_CLIP)
        out: Any = self.module.apply(params.weights, memory, features, start)
        return out

    def decide(
        self, params: AgentParams, memory: Any, obs: Any, start: Bool[Array, " n"], mask: Any = None
    ) -> tuple[Any, Float[Array, "n k"], Float[Array, " n"]]:
        """`forward` for one step of N lanes, with illegal actions excluded."""
        features = self.encode(obs)
        memory, outputs, values = self.forward(params, memory, features[None], start[None])
        return memory, self.distribution.restrict(outputs[0], mask), values[0]

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
        memory, outputs, _ = self.decide(params, memory, obs, start, mask)
        chosen = self.distribution.mode(outputs) if rng is None else self.distribution.sample(outputs, rng)
        return memory, self.distribution.playable(chosen)


class ActorCritic(nn.Module):
    """Tanh layers with orthogonal weights, as PPO's reference implementations use them."""

    config: NetworkConfig
    outputs: int
    continuous: bool

    @nn.compact
    def __call__(self, memory: Any, features: Any, start: Any) -> tuple[Any, Any, Any]:
        """(memory, outputs, values); see `Agent.forward`."""
        # Nothing is shared: a value loss of hundreds would drown the policy's gradient in common layers.
        acting, judging = self._layers(features, "actor"), self._layers(features, "critic")
        if self.config.kind == "gru":
            actor_memory, acting = Memory(self.config.memory, name="actor_memory")(memory["actor"], acting, start)
            critic_memory, judging = Memory(self.config.memory, name="critic_memory")(memory["critic"], judging, start)
            memory = {"actor": actor_memory, "critic": critic_memory}
        outputs = _dense(self.outputs, POLICY_GAIN, "policy")(acting)
        if self.continuous:
            log_std = self.param("log_std", nn.initializers.constant(self.config.log_std), (self.outputs,))
            outputs = jnp.concatenate([outputs, jnp.broadcast_to(log_std, outputs.shape)], axis=-1)
        return memory, outputs, _dense(1, 1.0, "value")(judging)[..., 0]

    def _layers(self, x: Any, name: str) -> Any:
        for i, width in enumerate(self.config.hidden):
            x = ACTIVATIONS[self.config.activation](_dense(width, math.sqrt(2), f"{name}_{i}")(x))
        return x


class Memory(nn.Module):
    """A GRU along a sequence, its memory wiped where an episode starts. The gates of all steps are fed in one product.

    The formula is that of Flax's GRUCell; three gates in one product make it several times faster for small batches.
    """

    width: int

    @nn.compact
    def __call__(self, memory: Any, features: Any, start: Any) -> tuple[Any, Any]:
        """(last memory, memory after every step)."""
        fed = nn.Dense(3 * self.width, name="input")(features)
        kernel = self.param("recurrent", _three_orthogonal, (self.width, self.width))
        bias = self.param("bias", nn.initializers.zeros, (self.width,), jnp.float32)

        def step(memory: Any, now: tuple[Any, Any]) -> tuple[Any, Any]:
            fed, start = now
            memory = jnp.where(start[:, None], 0.0, memory)
            fed_reset, fed_update, fed_candidate = jnp.split(fed, 3, axis=-1)
            own_reset, own_update, own_candidate = jnp.split(memory @ kernel, 3, axis=-1)
            candidate = jnp.tanh(fed_candidate + nn.sigmoid(fed_reset + own_reset) * (own_candidate + bias))
            update = nn.sigmoid(fed_update + own_update)
            memory = (1 - update) * candidate + update * memory
            return memory, memory

        return jax.lax.scan(step, memory, (fed, start))


def _three_orthogonal(key: jax.Array, shape: tuple[int, int]) -> Float[Array, "h 3h"]:
    gates = [orthogonal(one, shape) for one in jax.random.split(key, 3)]
    return jnp.concatenate(gates, axis=1)


def _dense(width: int, gain: float, name: str) -> nn.Dense:
    return nn.Dense(width, kernel_init=lambda key, shape, dtype: orthogonal(key, shape, gain), name=name)


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
