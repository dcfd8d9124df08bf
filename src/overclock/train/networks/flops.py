"""How much arithmetic training is, counted from the shapes of the network: what MFU is a share of.

Steps per second alone can be raised by a smaller network. Model FLOPs utilisation says how much of the device's
arithmetic the network made use of: the products of its matrices, a multiplication and an addition for each of their
entries and each observation, over seconds and over what the device could have done in them. docs/training.md has the
formula. Everything else (the environment, activations, Adam, what a compiler computes twice) counts as nothing.
"""

import dataclasses

from overclock.train.curve import Curve
from overclock.train.hyperparameters import PPOConfig
from overclock.train.networks.agent import Agent, encoded_width


@dataclasses.dataclass(frozen=True)
class Product:
    """One matrix of a network, which every observation goes through once."""

    rows: int
    columns: int
    seen: bool
    """Whether it is fed with the observation itself, to which no gradient flows back."""

    @property
    def flops(self) -> int:
        """Floating-point operations of the product for one observation, forward."""
        return 2 * self.rows * self.columns


@dataclasses.dataclass(frozen=True)
class Speed:
    """How fast a run trains, all seeds together."""

    steps_per_second: float
    flops_per_second: float
    peak: float | None
    """Of all its devices; None where it is not known."""

    @property
    def mfu(self) -> float | None:
        """The share of the devices' arithmetic that the network used; None where the peak is not known."""
        return None if self.peak is None else self.flops_per_second / self.peak


def products(agent: Agent) -> list[Product]:
    """The matrices of actor and critic."""
    network, outputs = agent.network, agent.module.outputs
    found = []
    for head in (outputs, 1):
        width, seen = encoded_width(agent.observation_space), True
        for hidden in network.hidden:
            found.append(Product(width, hidden, seen))
            width, seen = hidden, False
        if agent.recurrent:
            found.append(Product(width, 3 * network.memory, seen))
            found.append(Product(network.memory, 3 * network.memory, seen=False))
            width, seen = network.memory, False
        found.append(Product(width, head, seen))
    return found


def forward_flops(agent: Agent) -> int:
    """Of actor and critic for one observation."""
    return sum(product.flops for product in products(agent))


def gradient_flops(agent: Agent) -> int:
    """Forward and backward for one observation: two more products of the same size, one where nobody asks back."""
    return sum(product.flops * (2 if product.seen else 3) for product in products(agent))


def update_flops(agent: Agent, config: PPOConfig) -> int:
    """Of one update: every step is judged and acted on once, and learned from in every epoch."""
    return config.steps_per_update * (forward_flops(agent) + config.num_epochs * gradient_flops(agent))


def speed(agent: Agent, config: PPOConfig, curve: Curve, peak: float | None) -> Speed:
    """Of a run so far; `peak` is that of all its devices together."""
    updates, seeds = curve.metrics["return"].shape
    seconds = max(float(curve.seconds[-1]), 1e-9) if updates else 1.0
    rate = updates * seeds / seconds
    return Speed(rate * config.steps_per_update, rate * update_flops(agent, config), peak)
