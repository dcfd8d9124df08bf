"""Several devices share the lanes of one training run: which devices, and where each array lies.

Lanes and experience are split evenly, parameters are on every device. XLA makes one program per device from the same
source, and adds up the gradients; minibatches are the same as on one device, so the learning curve is too.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeVar

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from overclock.errors import UsageError
from overclock.train.hyperparameters import PPOConfig

LANES = "lanes"  # the only axis of the mesh
Devices = int | Sequence[Any] | None
Tree = TypeVar("Tree")


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where arrays lie; without a mesh nothing is said about it, and everything is where JAX puts it."""

    mesh: Mesh | None = None

    @classmethod
    def of(cls, devices: Devices, config: PPOConfig) -> "Layout":
        """The layout over a number of devices, or over given ones; None says nothing."""
        if devices is None:
            return cls()
        chosen = find(devices) if isinstance(devices, int) else list(devices)
        check_shares(config, len(chosen))
        return cls(Mesh(np.array(chosen), (LANES,)))

    @property
    def count(self) -> int:
        """How many devices share the lanes."""
        return 1 if self.mesh is None else self.mesh.size

    @property
    def device(self) -> Any:
        """One of them; they are of one kind."""
        return jax.local_devices()[0] if self.mesh is None else self.mesh.devices.flat[0]

    def split(self, tree: Tree, axis: int, lanes: int) -> Tree:
        """The tree with its lanes shared out: of every leaf that has `lanes` entries along `axis`."""

        def spec(leaf: Any) -> PartitionSpec:
            along = leaf.ndim > axis and leaf.shape[axis] == lanes
            return PartitionSpec(*[None] * axis, LANES) if along else PartitionSpec()

        return self._constrained(tree, spec)

    def whole(self, tree: Tree) -> Tree:
        """The tree with a copy of everything on every device."""
        return self._constrained(tree, lambda _: PartitionSpec())

    def _constrained(self, tree: Tree, spec: Any) -> Tree:
        mesh = self.mesh
        if mesh is None:
            return tree
        return jax.tree.map(lambda leaf: jax.lax.with_sharding_constraint(leaf, NamedSharding(mesh, spec(leaf))), tree)


def find(count: int) -> list[Any]:
    """The first `count` devices of the default platform."""
    known = jax.devices()
    if count < 1:
        raise UsageError(f"Training needs at least one device, got {count}.")
    if count > len(known):
        raise UsageError(f"JAX finds {len(known)} device(s) here ({known[0].device_kind}), not {count}.")
    return known[:count]


def check_shares(config: PPOConfig, devices: int) -> None:
    """See that lanes and minibatches can be cut into equal shares."""
    sequences = config.num_envs if config.network == "gru" else config.steps_per_update
    for what, size in (("num_envs", config.num_envs), ("a minibatch's size", sequences // config.num_minibatches)):
        if size % devices:
            raise UsageError(f"{what} = {size} cannot be shared evenly by {devices} devices.")
