"""`PPOConfig`: what decides a training run beside environment and seed, checked before anything is compiled."""

import dataclasses
from typing import Literal

from overclock.errors import UsageError
from overclock.train.networks.network import NetworkConfig
from overclock.train.networks.products import Precision


@dataclasses.dataclass(frozen=True)
class PPOConfig:
    """Everything that decides a training run besides the environment and the seed."""

    total_steps: int = 1_000_000
    """Environment steps, summed over the lanes; rounded up to whole updates."""
    num_envs: int = 64
    """Lanes that play side by side."""
    num_steps: int = 128
    """Steps of each lane between two updates."""
    num_epochs: int = 4
    """How often an update goes over its experience."""
    num_minibatches: int = 4
    """Gradient steps per epoch. An MLP's minibatches are single steps, a GRU's are whole lanes of `num_steps`."""
    learning_rate: float = 2.5e-4
    """Of Adam."""
    anneal: bool = True
    """Whether the learning rate falls linearly to zero over the run."""
    gamma: float = 0.99
    """Discount per step."""
    gae_lambda: float = 0.95
    """Of generalised advantage estimation: 0 trusts the value function, 1 the observed returns."""
    clip: float = 0.2
    """How far the probability of an action may move in one update, as a ratio to before."""
    clip_value: bool = False
    """Whether the value function's moves are clipped to `clip` too."""
    entropy_coefficient: float = 0.01
    """Weight of the entropy bonus."""
    value_coefficient: float = 0.5
    """Weight of the value loss."""
    max_grad_norm: float = 0.5
    """Gradients of a larger norm are scaled down to it."""
    normalise_advantages: bool = True
    """Whether a minibatch's advantages are shifted and scaled to mean 0 and deviation 1."""
    normalise_observations: bool = False
    """Whether observations are shifted and scaled by their running mean and deviation."""
    normalise_rewards: bool = False
    """Whether rewards are scaled by the running deviation of the discounted return."""
    network: Literal["mlp", "gru"] = "mlp"
    """`gru` remembers earlier observations of the episode."""
    hidden: tuple[int, ...] = (64, 64)
    """Widths of the hidden layers."""
    memory: int = 64
    """Width of the GRU's memory."""
    activation: Literal["tanh", "relu", "swish"] = "tanh"
    """Between the layers."""
    log_std: float = 0.0
    """First log standard deviation of continuous actions."""
    precision: Precision = "float32"
    """`bf16` rounds the factors of the products between hidden layers; sums and everything else stay float32."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", tuple(self.hidden))
        for name in ("total_steps", "num_envs", "num_steps", "num_epochs", "num_minibatches"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise UsageError(f"{name} must be a whole number of at least 1, got {value!r}.")
        for name in ("gamma", "gae_lambda"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name} must lie between 0 and 1, got {getattr(self, name)!r}.")
        for name in ("learning_rate", "clip", "max_grad_norm"):
            if not getattr(self, name) > 0:
                raise UsageError(f"{name} must be above 0, got {getattr(self, name)!r}.")
        sequences = self.num_envs if self.network == "gru" else self.steps_per_update
        if sequences % self.num_minibatches:
            what = "num_envs" if self.network == "gru" else "num_envs x num_steps"
            raise UsageError(f"{what} = {sequences} cannot be cut into {self.num_minibatches} equal minibatches.")
        self.agent_network()  # refuses impossible networks here, before anything is compiled

    @property
    def steps_per_update(self) -> int:
        """Environment steps of one update."""
        return self.num_envs * self.num_steps

    @property
    def num_updates(self) -> int:
        """Updates of a whole run."""
        return -(-self.total_steps // self.steps_per_update)

    def agent_network(self) -> NetworkConfig:
        """The network's part of the configuration."""
        return NetworkConfig(self.network, self.hidden, self.memory, self.activation, self.log_std, self.precision)
