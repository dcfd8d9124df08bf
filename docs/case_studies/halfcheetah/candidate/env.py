"""HalfCheetah-v5: a two-legged robot in a plane that is rewarded for running."""

import dataclasses
import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float
from motion import control_cost, simulate

from overclock.env import Box, Environment, Params, Rng, Struct

DOFS, DT = 9, 0.05


class CheetahParams(Params):
    """Gymnasium's."""

    max_steps: int | None = 1000
    forward_reward_weight: float = 1.0
    reset_noise_scale: float = 0.1


class CheetahState(Struct):
    """Positions and velocities of the joints."""

    qpos: Float[Array, "9"]
    qvel: Float[Array, "9"]


class Noise(Struct):
    """Of the first state: uniform in the positions, normal (not scaled yet) in the velocities."""

    position: Float[Array, "9"]
    velocity: Float[Array, "9"]


@dataclasses.dataclass(frozen=True)
class HalfCheetah(Environment[CheetahState, CheetahParams]):
    """Six torques; positions without x, and velocities."""

    def default_params(self) -> CheetahParams:
        """Gymnasium's."""
        return CheetahParams()

    def observation_space(self, params: CheetahParams) -> Box:
        """Anything."""
        return Box(-math.inf, math.inf, (2 * DOFS - 1,), np.float64)

    def action_space(self, params: CheetahParams) -> Box:
        """Torques, as parts of the strongest."""
        return Box(-1.0, 1.0, (6,))

    def draw_reset(self, rng: Rng, params: CheetahParams) -> Noise:
        """Noise of positions and velocities."""
        scale = params.reset_noise_scale
        return Noise(position=rng.uniform(0, -scale, scale, (DOFS,)), velocity=rng.normal(DOFS, (DOFS,)))

    def init(self, draw: Noise, params: CheetahParams) -> CheetahState:
        """All positions and velocities begin at 0, but for the noise."""
        return CheetahState(qpos=draw.position, qvel=params.reset_noise_scale * draw.velocity)

    def transition(
        self, state: CheetahState, action: Float[Array, "6"], draw: tuple, params: CheetahParams
    ) -> tuple[CheetahState, Float[Array, ""], Bool[Array, ""]]:
        """A control step."""
        qpos, qvel = simulate(state.qpos, state.qvel, action)
        speed = (qpos[0] - state.qpos[0]) / DT
        reward = params.forward_reward_weight * speed - control_cost(action)
        return CheetahState(qpos=jnp.stack(qpos), qvel=jnp.stack(qvel)), reward.astype(jnp.float32), jnp.bool_(False)

    def observe(self, state: CheetahState, params: CheetahParams) -> Float[Array, "17"]:
        """Positions without x, and velocities."""
        return jnp.concatenate([state.qpos[1:], state.qvel])


def make() -> tuple[HalfCheetah, CheetahParams]:
    """The environment and its parameters."""
    env = HalfCheetah()
    return env, env.default_params()
