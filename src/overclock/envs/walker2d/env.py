"""Walker2d: the rules of Gymnasium's Walker2d-v5 on the planar engine."""

import dataclasses
from typing import ClassVar

from overclock.planar.environment import HealthyEnvironment, HealthyParams


@dataclasses.dataclass(frozen=True)
class Walker2d(HealthyEnvironment):
    """Two legs in a plane that shall walk and not fall.

    - **Observation**: `[17]`: positions without x (height, angle of the torso, six joints), then nine velocities,
      clipped to [-10, 10]; `exclude_current_positions_from_observation=False` puts x first.
    - **Action**: `Box(-1, 1, (6,))`: torques of right thigh, leg, foot, left thigh, leg, foot.
    - **Reward**: speed along x, plus `healthy_reward` while it stands, minus the cost of the action.
    - **Termination**: height outside of (0.8, 2) or torso's angle outside of (-1, 1). **Truncation**: 1,000 steps.
    - **State**: `qpos` and `qvel`, nine numbers each, as MuJoCo orders them.
    - **Reset draw**: uniform noise of positions and velocities, within `reset_noise_scale`.
    """

    package: ClassVar[str] = "overclock.envs.walker2d"
    original: ClassVar[str] = "walker2d_v5.xml"

    def default_params(self) -> HealthyParams:
        return HealthyParams()
