"""What a policy network's outputs mean as a distribution over actions: one class per kind of action space.

`outputs` is one vector per decision, with any leading axes. `sample` takes one `Rng` per lane, so that the same stream
and outputs give the same action whoever steps the environment.
"""

import dataclasses
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from overclock.env.rng import Rng
from overclock.env.spaces import Box, Discrete, MultiDiscrete, Space
from overclock.errors import UsageError

ILLEGAL = np.float32(-1e9)  # the logit of an illegal action: its probability is exactly 0 in float32, its log finite
LOG_2_PI = math.log(2 * math.pi)


@dataclasses.dataclass(frozen=True)
class Categorical:
    """Independent choices among `nvec[i]` actions each (MultiDiscrete), or one of them (Discrete)."""

    space: Discrete | MultiDiscrete

    @property
    def nvec(self) -> tuple[int, ...]:
        """How many actions each choice has."""
        return (self.space.n,) if isinstance(self.space, Discrete) else self.space.nvec

    @property
    def size(self) -> int:
        """How many outputs it takes."""
        return sum(self.nvec)

    def restrict(self, outputs: Float[Array, "*b k"], mask: Bool[Array, "*b k"] | None) -> Float[Array, "*b k"]:
        """The outputs with illegal actions made impossible."""
        return outputs if mask is None else jnp.where(mask, outputs, ILLEGAL)

    def sample(self, outputs: Float[Array, "n k"], rng: Rng) -> Any:
        """One action per lane, by Gumbel's trick: the largest of logit + noise."""
        unit = jax.vmap(lambda lane: lane.unit(0, (self.size,), jnp.float32))(rng)
        noise = -jnp.log(-jnp.log(unit + np.float32(2.0**-25)))  # the middle of each cell, so never log(0)
        return self.mode(outputs + noise)

    def mode(self, outputs: Float[Array, "*b k"]) -> Any:
        choices = [jnp.argmax(part, axis=-1).astype(_jax_dtype(self.space)) for part in self._parts(outputs)]
        return choices[0] if isinstance(self.space, Discrete) else jnp.stack(choices, axis=-1)

    def log_prob(self, outputs: Float[Array, "*b k"], action: Int[Array, "..."]) -> Float[Array, "*b"]:
        """Of an action; choices are independent, so their logs add up."""
        columns = action[..., None] if isinstance(self.space, Discrete) else action
        # Picked by comparing: the way back is a product then, not a scatter.
        logs = [
            jnp.sum(jax.nn.log_softmax(part) * (columns[..., i, None] == jnp.arange(part.shape[-1])), axis=-1)
            for i, part in enumerate(self._parts(outputs))
        ]
        return sum(logs[1:], start=logs[0])

    def entropy(self, outputs: Float[Array, "*b k"]) -> Float[Array, "*b"]:
        logs = [jax.nn.log_softmax(part) for part in self._parts(outputs)]
        entropies = [-jnp.sum(jnp.exp(log) * log, axis=-1) for log in logs]
        return sum(entropies[1:], start=entropies[0])

    def playable(self, action: Any) -> Any:
        """What the environment gets for a sampled action."""
        return action

    def _parts(self, outputs: Float[Array, "*b k"]) -> list[Float[Array, "*b _"]]:
        ends = np.cumsum(self.nvec).tolist()
        return [outputs[..., end - n : end] for n, end in zip(self.nvec, ends, strict=True)]


@dataclasses.dataclass(frozen=True)
class Gaussian:
    """Independent normals, one per number of a Box; outputs are the means followed by the logs of the deviations.

    Samples and their densities are unclipped, as PPO's ratio needs them; `playable` clips to the box.
    """

    space: Box

    @property
    def size(self) -> int:
        """How many outputs it takes."""
        return 2 * math.prod(self.space.shape)

    def restrict(self, outputs: Float[Array, "*b k"], mask: Any) -> Float[Array, "*b k"]:
        """Nothing is illegal inside a box."""
        if mask is not None:
            raise UsageError("A Box action space takes no action mask.")
        return outputs

    def sample(self, outputs: Float[Array, "n k"], rng: Rng) -> Float[Array, "..."]:
        mean, log_std = self._moments(outputs)
        noise = jax.vmap(lambda lane: lane.normal(0, mean.shape[-1:], jnp.float32))(rng)
        return self._shaped(mean + jnp.exp(log_std) * noise)

    def mode(self, outputs: Float[Array, "*b k"]) -> Float[Array, "..."]:
        return self._shaped(self._moments(outputs)[0])

    def log_prob(self, outputs: Float[Array, "*b k"], action: Float[Array, "..."]) -> Float[Array, "*b"]:
        """Density of an unclipped action."""
        mean, log_std = self._moments(outputs)
        z = (action.reshape(mean.shape) - mean) * jnp.exp(-log_std)
        return -jnp.sum(0.5 * jnp.square(z) + log_std + 0.5 * LOG_2_PI, axis=-1)

    def entropy(self, outputs: Float[Array, "*b k"]) -> Float[Array, "*b"]:
        return jnp.sum(self._moments(outputs)[1] + 0.5 * (LOG_2_PI + 1), axis=-1)

    def playable(self, action: Float[Array, "..."]) -> Float[Array, "..."]:
        """What the environment gets for a sampled action."""
        low, high = self.space.bounds()
        return jnp.clip(action, low, high).astype(_jax_dtype(self.space))

    def _moments(self, outputs: Float[Array, "*b k"]) -> tuple[Float[Array, "*b d"], Float[Array, "*b d"]]:
        return outputs[..., : self.size // 2], outputs[..., self.size // 2 :]

    def _shaped(self, flat: Float[Array, "*b d"]) -> Float[Array, "..."]:
        return flat.reshape(*flat.shape[:-1], *self.space.shape)


def _jax_dtype(space: Discrete | MultiDiscrete | Box) -> Any:
    """The dtype of a space's values on the device: Gymnasium's int64 is int32 there, unless x64 is on."""
    if space.dtype.itemsize < 8:
        return space.dtype
    return jnp.result_type(float if space.dtype.kind == "f" else int)


def distribution(space: Space) -> Categorical | Gaussian:
    """The distribution that fits an action space."""
    if isinstance(space, Discrete | MultiDiscrete):
        return Categorical(space)
    if isinstance(space, Box) and space.dtype.kind == "f":
        return Gaussian(space)
    raise UsageError(f"PPO acts in Discrete, MultiDiscrete and floating-point Box spaces, not in {space}.")
