"""The Flax module behind an agent: an actor and a critic that share nothing, as MLP or GRU of any width."""

import dataclasses
import math
from typing import Any, Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from overclock.errors import MissingError, UsageError
from overclock.train.networks import towers
from overclock.train.networks.memory import remember
from overclock.train.networks.orthogonal import orthogonal
from overclock.train.networks.products import ACTIVATIONS as SLOPES
from overclock.train.networks.products import DTYPES, Precision, layer, product

try:
    from flax import linen as nn
except ImportError as error:
    raise MissingError("Policies need Flax and Optax; run: pip install 'overclock[train]'.") from error

POLICY_GAIN = 0.01  # small first outputs: the first policy is nearly uniform whatever it sees
ACTIVATIONS = {"tanh": nn.tanh, "relu": nn.relu, "swish": nn.swish}
Tower = Literal["actor", "critic"]


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
    precision: Precision = "float32"
    """Of the factors in the products between two hidden layers; see `overclock.train.networks.products`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(int(width) for width in self.hidden))
        if self.kind not in ("mlp", "gru"):
            raise UsageError(f"network must be 'mlp' or 'gru', got {self.kind!r}.")
        if self.activation not in ACTIVATIONS:
            raise UsageError(f"activation must be one of {', '.join(ACTIVATIONS)}, got {self.activation!r}.")
        if self.precision not in DTYPES:
            raise UsageError(f"precision must be one of {', '.join(DTYPES)}, got {self.precision!r}.")
        if not all(width >= 1 for width in (*self.hidden, self.memory)):
            raise UsageError(f"Layers need at least one unit, got hidden {self.hidden}, memory {self.memory}.")


class ActorCritic(nn.Module):
    """Tanh layers with orthogonal weights, as PPO's reference implementations use them."""

    config: NetworkConfig
    outputs: int
    continuous: bool

    @nn.compact
    def __call__(self, memory: Any, features: Any, start: Any, tower: Tower) -> tuple[Any, Any]:
        """(memory after every step, or `()` without one; outputs or values) of one of the two."""
        # Nothing is shared: a value loss of hundreds would drown the policy's gradient in common layers.
        x = features
        for i, width in enumerate(self.config.hidden):
            precision = self._precision(first=i == 0)
            x = Layer(
                width, math.sqrt(2), precision, self.config.activation, self.config.precision, name=f"{tower}_{i}"
            )(x)
        if self.config.kind == "gru":
            fed = self._precision(first=not self.config.hidden)
            x = Memory(self.config.memory, fed, self.config.precision, name=f"{tower}_memory")(memory, x, start)
            memory = x
        if tower == "critic":
            return memory, Dense(1, 1.0, name="value")(x)[..., 0]
        outputs = Dense(self.outputs, POLICY_GAIN, name="policy")(x)
        if self.continuous:
            log_std = self.param("log_std", nn.initializers.constant(self.config.log_std), (self.outputs,))
            outputs = _with_deviations(outputs, log_std)
        return memory, outputs

    def by_kernel(self, weights: Any, features: Any, tower: Tower) -> Any:
        """What `apply` gives beside the memory, computed by `networks/towers.py`; of an MLP that fits there."""
        leaves = weights["params"]
        names = [*(f"{tower}_{i}" for i in range(len(self.config.hidden))), "value" if tower == "critic" else "policy"]
        layers = tuple((leaves[name]["kernel"], leaves[name]["bias"]) for name in names)
        rows = jax.lax.stop_gradient(jnp.reshape(features, (-1, features.shape[-1])))
        flat: Any = towers.tower(layers, rows, self.config.activation, self.config.precision)
        outputs = flat.reshape(*features.shape[:-1], -1)
        if tower == "critic":
            return outputs[..., 0]
        return _with_deviations(outputs, leaves["log_std"]) if self.continuous else outputs

    def both(self, memory: Any, features: Any, start: Any) -> None:
        """Touch every parameter, so that `init` makes them all."""
        for tower in ("actor", "critic"):
            self(memory, features, start, tower)

    def _precision(self, first: bool) -> Precision:
        """Observations keep all their digits: bf16 would blur an angle, or a place on a large map."""
        return "float32" if first else self.config.precision


def _with_deviations(outputs: Any, log_std: Any) -> Any:
    return jnp.concatenate([outputs, jnp.broadcast_to(log_std, outputs.shape)], axis=-1)


class Dense(nn.Module):
    """A layer without its activation; the kernel is orthogonal times `gain`, or normal where there is none."""

    width: int
    gain: float | None
    precision: Precision = "float32"

    @nn.compact
    def __call__(self, x: Any) -> Any:
        """x @ kernel + bias."""
        kernel, bias = self.weights(x)
        out: Any = product(x, kernel, self.precision)
        return out + bias

    def weights(self, x: Any) -> tuple[Any, Any]:
        """The kernel and the bias of a layer."""
        kernel = self.param("kernel", self._first, (x.shape[-1], self.width))
        return kernel, self.param("bias", nn.initializers.zeros, (self.width,), jnp.float32)

    def _first(self, key: jax.Array, shape: tuple[int, int]) -> Float[Array, "rows columns"]:
        if self.gain is None:
            return nn.initializers.lecun_normal()(key, shape, jnp.float32)
        return orthogonal(key, shape, self.gain)


class Layer(Dense):
    """A layer with its activation; what comes out is kept in `kept`, for the next layer and for the way back."""

    activation: str = "tanh"
    kept: Precision = "float32"

    @nn.compact
    def __call__(self, x: Any) -> Any:
        """activation(x @ kernel + bias)."""
        if self.activation not in SLOPES:  # its slope does not follow from its result
            return ACTIVATIONS[self.activation](super().__call__(x))
        kernel, bias = self.weights(x)
        return layer(x, kernel, bias, self.activation, self.precision, self.kept)


class Memory(nn.Module):
    """A GRU along a sequence, wiped where an episode starts; the gates of all steps are fed in one product."""

    width: int
    fed: Precision = "float32"
    precision: Precision = "float32"

    @nn.compact
    def __call__(self, memory: Any, features: Any, start: Any) -> Float[Array, "t n h"]:
        """The memory after every step."""
        fed = Dense(3 * self.width, None, self.fed, name="input")(features)
        kernel = self.param("recurrent", _three_orthogonal, (self.width, self.width))
        bias = self.param("bias", nn.initializers.zeros, (self.width,), jnp.float32)
        return remember(memory, fed, start, kernel, bias, self.precision)


def _three_orthogonal(key: jax.Array, shape: tuple[int, int]) -> Float[Array, "h 3h"]:
    gates = jax.vmap(lambda one: orthogonal(one, shape))(jax.random.split(key, 3))
    return jnp.concatenate(list(gates), axis=1)
