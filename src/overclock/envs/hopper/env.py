"""Hopper: the rules of Gymnasium's Hopper-v5 on the planar engine."""

import dataclasses
import math
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Bool

from overclock.planar.environment import HealthyEnvironment, HealthyParams, PlanarState


class HopperParams(HealthyParams):
    """Gymnasium's arguments, under its names."""

    healthy_state_range: tuple[float, float] = (-100.0, 100.0)
    healthy_z_range: tuple[float, float] = (0.7, math.inf)
    healthy_angle_range: tuple[float, float] = (-0.2, 0.2)


@dataclasses.dataclass(frozen=True)
class Hopper(HealthyEnvironment):
    """One leg in a plane that shall hop forward and not fall.

    - **Observation**: `[11]`: positions without x (height, angle of the torso, three joints), then six velocities,
      clipped to [-10, 10]; `exclude_current_positions_from_observation=False` puts x first.
    - **Action**: `Box(-1, 1, (3,))`: torques of thigh, leg, foot.
    - **Reward**: speed along x, plus `healthy_reward` while it stands, minus the cost of the action.
    - **Termination**: height up to 0.7, torso's angle outside of (-0.2, 0.2), or any number of the state from the
      angle on outside of (-100, 100). **Truncation**: 1,000 steps.
    - **State**: `qpos` and `qvel`, six numbers each, as MuJoCo orders them.
    - **Reset draw**: uniform noise of positions and velocities, within `reset_noise_scale`.
    """

    package: ClassVar[str] = "overclock.envs.hopper"
    original: ClassVar[str] = "hopper.xml"

    def default_params(self) -> HopperParams:
        return HopperParams()

    def healthy(self, state: PlanarState, params: HopperParams) -> Bool[Array, ""]:
        low, high = params.healthy_state_range
        numbers = jnp.concatenate([state.qpos[2:], state.qvel])
        return super().healthy(state, params) & ((low < numbers) & (numbers < high)).all()
