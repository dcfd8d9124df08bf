"""What the planar environments share: state, reset, one control step, observation and Gymnasium's arguments."""

import dataclasses
import functools
import importlib.resources
import json
import os
from typing import Any, ClassVar, TypeVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Float32

from overclock.env import Box, Environment, Params, Rng, Struct
from overclock.errors import UsageError
from overclock.planar.compiler import read_model
from overclock.planar.engine.integrate import advance
from overclock.planar.model import PlanarModel


class PlanarParams(Params):
    """Gymnasium's arguments, under its names."""

    max_steps: int | None = 1000
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.1
    reset_noise_scale: float = 0.1


class HealthyParams(PlanarParams):
    """The parameters of a robot that can fall."""

    ctrl_cost_weight: float = 1e-3
    reset_noise_scale: float = 5e-3
    healthy_reward: float = 1.0
    healthy_z_range: tuple[float, float] = (0.8, 2.0)
    healthy_angle_range: tuple[float, float] = (-1.0, 1.0)


class PlanarState(Struct):
    """Positions and velocities of the joints, as MuJoCo has them."""

    qpos: Float[Array, " n"]
    qvel: Float[Array, " n"]


P = TypeVar("P", bound=PlanarParams)


@dataclasses.dataclass(frozen=True)
class PlanarEnvironment(Environment[PlanarState, P]):
    """A robot that is rewarded for running along x. Subclasses name the model and say when it has fallen."""

    frame_skip: int = 5
    exclude_current_positions_from_observation: bool = True
    xml_file: str | None = None
    """Another MJCF model of a planar robot in place of Gymnasium's."""

    package: ClassVar[str]
    """Where `model.json` lies, the compiled model of Gymnasium's file."""
    original: ClassVar[str]
    """That file."""

    def __post_init__(self) -> None:
        if self.frame_skip < 1:
            raise UsageError(f"frame_skip is a whole number from 1 up, got {self.frame_skip}.")
        if len(self.model.motors) == 0:
            raise UsageError(f"{self.xml_file} has no motors, so nothing could act in it.")

    @property
    def model(self) -> PlanarModel:
        return (
            compiled_model(self.package) if self.xml_file is None else _model_of(self.xml_file, _changed(self.xml_file))
        )

    @property
    def dt(self) -> float:
        """Seconds of a control step."""
        return self.model.timestep * self.frame_skip

    def observation_space(self, params: P) -> Box:
        size = 2 * self.model.dofs - self.exclude_current_positions_from_observation
        return Box(-np.inf, np.inf, (size,), np.float64)

    def action_space(self, params: P) -> Box:
        motors = self.model.motors
        return Box(tuple(motor.low for motor in motors), tuple(motor.high for motor in motors), (len(motors),))

    def draw_reset(self, rng: Rng, params: P) -> PlanarState:
        """Uniform noise of the positions and velocities."""
        n, scale = self.model.dofs, params.reset_noise_scale
        return PlanarState(qpos=rng.uniform(0, -scale, scale, (n,)), qvel=rng.uniform(n, -scale, scale, (n,)))

    def init(self, draw: PlanarState, params: P) -> PlanarState:
        return PlanarState(qpos=jnp.asarray(self.model.qpos0, draw.qpos.dtype) + draw.qpos, qvel=draw.qvel)

    def transition(
        self, state: PlanarState, action: Float32[Array, " m"], draw: Any, params: P
    ) -> tuple[PlanarState, Float[Array, ""], Bool[Array, ""]]:
        if jnp.shape(action) != (len(self.model.motors),):
            raise UsageError(f"An action is {len(self.model.motors)} numbers, not of the shape {jnp.shape(action)}.")
        after, travelled = self.simulate(state, action)
        velocity = travelled / self.dt
        terminated = self.fallen(after, params)
        reward = params.forward_reward_weight * velocity + self.bonus(after, params) - self.control_cost(action, params)
        return after, reward.astype(jnp.float32), terminated

    def simulate(self, state: PlanarState, action: Float32[Array, " m"]) -> tuple[PlanarState, Float[Array, ""]]:
        """The state after a control step, and how far the robot moved along x.

        Physics is the same everywhere along x, so it is computed from x = 0: far from there float32 has few digits.
        """
        x = self.model.slides[0]
        here = jnp.concatenate([state.qpos[:x], jnp.zeros(1, state.qpos.dtype), state.qpos[x + 1 :]])
        qpos, qvel = advance(self.model, here, state.qvel, action, self.frame_skip)
        travelled = qpos[x]
        qpos = jnp.concatenate([qpos[:x], state.qpos[x : x + 1] + qpos[x : x + 1], qpos[x + 1 :]])
        return PlanarState(qpos=qpos, qvel=qvel), travelled

    def control_cost(self, action: Float32[Array, " m"], params: P) -> Float[Array, ""]:
        """The cost of an action as given: beyond its range it has no further effect, but costs more."""
        return params.ctrl_cost_weight * jnp.sum(jnp.square(action))

    def bonus(self, after: PlanarState, params: P) -> Any:
        """The reward besides that for running."""
        return 0.0

    def fallen(self, after: PlanarState, params: P) -> Bool[Array, ""]:
        return jnp.bool_(False)

    def observe(self, state: PlanarState, params: P) -> Float[Array, " k"]:
        shown = state.qpos[1:] if self.exclude_current_positions_from_observation else state.qpos
        return jnp.concatenate([shown, self.seen_velocity(state)])

    def seen_velocity(self, state: PlanarState) -> Float[Array, " n"]:
        """The joint velocities as they are observed."""
        return state.qvel

    def info(self, state: PlanarState, params: P) -> dict[str, Any]:
        return {"x_position": state.qpos[0]}


@dataclasses.dataclass(frozen=True)
class HealthyEnvironment(PlanarEnvironment[Any]):
    """A robot whose episode ends when it falls."""

    frame_skip: int = 4
    terminate_when_unhealthy: bool = True

    seen_speed: ClassVar[float] = 10.0
    """Observed velocities are clipped here, as in Gymnasium."""

    def healthy(self, state: PlanarState, params: Any) -> Bool[Array, ""]:
        low, high = params.healthy_z_range
        least, most = params.healthy_angle_range
        z, angle = state.qpos[1], state.qpos[2]
        return (low < z) & (z < high) & (least < angle) & (angle < most)

    def bonus(self, after: PlanarState, params: Any) -> Any:
        return jnp.where(self.healthy(after, params), params.healthy_reward, 0.0)

    def fallen(self, after: PlanarState, params: Any) -> Bool[Array, ""]:
        return ~self.healthy(after, params) if self.terminate_when_unhealthy else jnp.bool_(False)

    def seen_velocity(self, state: PlanarState) -> Float[Array, " n"]:
        return jnp.clip(state.qvel, -self.seen_speed, self.seen_speed)

    def info(self, state: PlanarState, params: Any) -> dict[str, Any]:
        return {"x_position": state.qpos[0], "z_distance_from_origin": state.qpos[1] - self.model.qpos0[1]}


@functools.cache
def compiled_model(package: str) -> PlanarModel:
    """The model that comes with an environment."""
    text = importlib.resources.files(package).joinpath("model.json").read_text(encoding="utf-8")
    return PlanarModel.from_json(json.loads(text))


@functools.cache
def _model_of(path: str, changed: int) -> PlanarModel:
    """`changed` is the file's time stamp, so that a changed file is read again."""
    return read_model(path)


def _changed(path: str) -> int:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0  # which the compiler says better
