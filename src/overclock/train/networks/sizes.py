"""How large a network is, and how wide it has to be for a wished number of parameters."""

import math
from typing import Any, Literal

import jax
import numpy as np

from overclock.errors import UsageError
from overclock.train.networks.agent import Agent

MLP_LAYERS = 3
WIDTH_STEP = 16  # widths are multiples of it, as the matrix units of GPUs and CPUs like them
# Square matrices of the width, in actor and critic together; what touches observations and actions is small beside.
MLP_SQUARES = 2 * (MLP_LAYERS - 1)
GRU_SQUARES = 2 * (3 + 3)  # three gates, fed by the layer before and by the memory


def parameters(agent: Agent) -> int:
    """How many numbers it learns: weights and biases of actor and critic."""
    weights = jax.eval_shape(agent.init, jax.random.key(0)).weights
    return sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(weights))


def sized(kind: Literal["mlp", "gru"], millions: float) -> dict[str, Any]:
    """The fields of PPOConfig for a network of at least so many million parameters, and hardly more.

    An `mlp` has three hidden layers of one width; a `gru` one hidden layer as wide as its memory.
    """
    if kind not in ("mlp", "gru"):
        raise UsageError(f"network must be 'mlp' or 'gru', got {kind!r}.")
    if not millions > 0:
        raise UsageError(f"A network needs a positive number of parameters, got {millions} million.")
    squares = MLP_SQUARES if kind == "mlp" else GRU_SQUARES
    width = WIDTH_STEP * math.ceil(np.sqrt(millions * 1e6 / squares) / WIDTH_STEP)
    hidden = (width,) * (MLP_LAYERS if kind == "mlp" else 1)
    return {"network": kind, "hidden": hidden, "memory": width}
