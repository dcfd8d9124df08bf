"""HalfCheetah: the rules of Gymnasium's HalfCheetah-v5 on the planar engine."""

import dataclasses
from typing import ClassVar

from overclock.env import Rng
from overclock.planar.environment import PlanarEnvironment, PlanarParams, PlanarState


@dataclasses.dataclass(frozen=True)
class HalfCheetah(PlanarEnvironment[PlanarParams]):
    """A two-legged cheetah in a plane; the faster it runs, the better.

    - **Observation**: `[17]`: positions without x (height, angle of the torso, six joints), then nine velocities;
      `exclude_current_positions_from_observation=False` puts x first. float64 when x64 is enabled, else float32.
    - **Action**: `Box(-1, 1, (6,))`: torques of back thigh, shin, foot, front thigh, shin, foot.
    - **Reward**: `forward_reward_weight` times the speed along x, minus `ctrl_cost_weight` times the action's square.
    - **Termination**: never. **Truncation**: 1,000 steps.
    - **State**: `qpos` and `qvel`, nine numbers each, as MuJoCo orders them.
    - **Reset draw**: uniform noise of the positions; normal noise of the velocities, scaled by `reset_noise_scale`.
    """

    package: ClassVar[str] = "overclock.envs.halfcheetah"
    original: ClassVar[str] = "half_cheetah.xml"

    def default_params(self) -> PlanarParams:
        return PlanarParams()

    def draw_reset(self, rng: Rng, params: PlanarParams) -> PlanarState:
        n, scale = self.model.dofs, params.reset_noise_scale
        return PlanarState(qpos=rng.uniform(0, -scale, scale, (n,)), qvel=rng.normal(n, (n,)))

    def init(self, draw: PlanarState, params: PlanarParams) -> PlanarState:
        return super().init(draw.replace(qvel=params.reset_noise_scale * draw.qvel), params)
