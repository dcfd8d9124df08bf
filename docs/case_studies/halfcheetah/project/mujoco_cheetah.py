"""Gymnasium's HalfCheetah-v5 as a reference of the loop: its state lies in attributes, its luck comes from Gymnasium's
generator, and every stage of MuJoCo's physics is a function of its own.

The physics is MuJoCo, in C. `simulate` is what `do_simulation` does. The other functions are the stages of one time
step, by themselves: numbers in, numbers out, computed by MuJoCo in one simulation that every call puts into a state
first. Everything happens in the x-z plane, so points are (x, z). MuJoCo's solver searches to the last digit here
(TOLERANCE): where it stops earlier, its answer depends on the accelerations it began with, which are no state.
"""

import functools
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np

XML = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "half_cheetah.xml"
TOLERANCE = 1e-15  # Gymnasium leaves MuJoCo's 1e-8
FRAMES, DT = 5, 0.05
PLANE = [0, 2]  # x and z
LIMIT = mujoco.mjtConstraint.mjCNSTR_LIMIT_JOINT.value
FORWARD_WEIGHT, CONTROL_WEIGHT, NOISE = 1.0, 0.1, 0.1


@functools.cache
def _simulation() -> tuple[Any, Any]:
    model = mujoco.MjModel.from_xml_path(str(XML))
    model.opt.tolerance = TOLERANCE
    return model, mujoco.MjData(model)


def _put(qpos: np.ndarray, qvel: Any = 0.0, ctrl: Any = 0.0) -> tuple[Any, Any]:
    model, data = _simulation()
    mujoco.mj_resetData(model, data)
    data.qpos[:], data.qvel[:], data.ctrl[:] = qpos, qvel, ctrl
    return model, data


def _forward(qpos: np.ndarray, qvel: Any = 0.0, ctrl: Any = 0.0) -> tuple[Any, Any]:
    model, data = _put(qpos, qvel, ctrl)
    mujoco.mj_forward(model, data)
    return model, data


# ---- model ----


def bodies() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the seven moving bodies: masses, centres of mass in the body's frame, moments of inertia about y there."""
    model, _ = _simulation()
    turned = np.zeros((model.nbody, 9))
    for body in range(1, model.nbody):
        mujoco.mju_quat2Mat(turned[body], model.body_iquat[body])
    about_y = np.einsum("bi,bi->b", turned.reshape(-1, 3, 3)[:, 1] ** 2, model.body_inertia)
    return model.body_mass[1:].copy(), model.body_ipos[1:, PLANE], about_y[1:]


def inverse_weights() -> tuple[np.ndarray, np.ndarray]:
    """dof_invweight0 of the nine degrees of freedom, and body_invweight0 (its first number) of the moving bodies."""
    model, _ = _simulation()
    return model.dof_invweight0.copy(), model.body_invweight0[1:, 0].copy()


# ---- kinematics ----


def place(qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where things are: anchors of the seven hinges, centres of mass of the bodies, both ends of the eight capsules."""
    _, data = _put(qpos)
    model, _ = _simulation()
    mujoco.mj_kinematics(model, data)
    return data.xanchor[2:, PLANE], data.xipos[1:, PLANE], _ends(model, data)


def _ends(model: Any, data: Any) -> np.ndarray:
    """Against the direction of a capsule's own z axis, and along it."""
    along = data.geom_xmat[1:].reshape(-1, 3, 3)[:, :, 2] * model.geom_size[1:, 1:2]
    middle = data.geom_xpos[1:]
    return np.stack([middle - along, middle + along], axis=1)[..., PLANE]


# ---- dynamics ----


def mass_matrix(qpos: np.ndarray) -> np.ndarray:
    """M over the nine degrees of freedom, with armature."""
    model, data = _forward(qpos)
    found = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, found)
    return found


def bias(qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
    """qfrc_bias: Coriolis and centrifugal forces, and gravity, as they stand on the left of the equation of motion."""
    return _forward(qpos, qvel)[1].qfrc_bias.copy()


def passive(qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
    """qfrc_passive: springs and dampers of the joints."""
    return _forward(qpos, qvel)[1].qfrc_passive.copy()


def actuation(ctrl: np.ndarray) -> np.ndarray:
    """qfrc_actuator: the motors' torques."""
    return _forward(np.zeros(9), 0.0, ctrl)[1].qfrc_actuator.copy()


# ---- constraints ----


def contacts(qpos: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of both ends of every capsule: how deep it is in the floor (negative, else 0), the point of contact (or 0)."""
    model, data = _forward(qpos)
    depths, points = np.zeros((8, 2)), np.zeros((8, 2, 2))
    if data.ncon:
        ends, found = _touching(model, data), data.contact
        depths[ends], points[ends] = found.dist, found.pos[:, PLANE]
    return depths, points


def contact_rows(qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of both ends of every capsule: D of its rows, and what they aim at along x and along z (0 in the air).

    The rows of a contact are normal + mu * tangent and normal - mu * tangent, for both tangents. The acceleration that
    is aimed at is linear in them, so that of the normal and that of the tangent along x say all.
    """
    model, data = _forward(qpos, qvel)
    weights, targets = np.zeros((8, 2)), np.zeros((8, 2, 2))
    if data.ncon:
        ends, found = _touching(model, data), data.contact
        rows = found.efc_address[:, None] + np.arange(4)
        aims, friction = data.efc_aref[rows], found.friction[:, 0]
        along = (aims[:, 0] - aims[:, 1]) * found.frame[:, 3] + (aims[:, 2] - aims[:, 3]) * found.frame[:, 6]
        weights[ends] = data.efc_D[rows[:, 0]]
        targets[ends] = np.stack([along / (2 * friction), (aims[:, 0] + aims[:, 1]) / 2], axis=1)
    return weights, targets


def _touching(model: Any, data: Any) -> tuple[np.ndarray, np.ndarray]:
    """The capsule of every contact, and which end of it."""
    found = data.contact
    capsules = found.geom[:, 1] - 1  # the floor is geom 0
    above = model.geom_size[capsules + 1, 0] + found.dist / 2  # of the end, over the point of contact
    heights = _ends(model, data)[capsules, :, 1]
    return capsules, np.argmin(np.abs(heights - (found.pos[:, 2] + above)[:, None]), axis=1)


def limit_rows(qpos: np.ndarray, qvel: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of the six joints with a range: the row's Jacobian (1 below it, -1 above it, 0 inside), its D, its target."""
    model, data = _forward(qpos, qvel)
    sides, weights, targets = np.zeros((3, 6))
    for row in np.flatnonzero(data.efc_type == LIMIT) if data.nefc else ():
        joint = data.efc_id[row]
        sides[joint - 3] = data.efc_J.reshape(-1, model.nv)[row, joint]
        weights[joint - 3], targets[joint - 3] = data.efc_D[row], data.efc_aref[row]
    return sides, weights, targets


# ---- solver ----


def acceleration(qpos: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray) -> np.ndarray:
    """qacc: the accelerations that the constraints leave."""
    return _forward(qpos, qvel, ctrl)[1].qacc.copy()


# ---- motion ----


def simulate(qpos: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity after the five time steps of a control step."""
    model, data = _put(qpos, qvel, ctrl)
    mujoco.mj_step(model, data, nstep=FRAMES)
    return data.qpos.copy(), data.qvel.copy()


def control_cost(action: np.ndarray) -> np.ndarray:
    """Of the action as it was given, not clipped."""
    return CONTROL_WEIGHT * np.sum(np.square(action))


def _look(qpos: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray) -> None:
    """Every stage once, for those who record its calls."""
    bodies(), inverse_weights()
    place(qpos)
    mass_matrix(qpos), bias(qpos, qvel), passive(qpos, qvel), actuation(ctrl)
    contacts(qpos), contact_rows(qpos, qvel), limit_rows(qpos, qvel)
    acceleration(qpos, qvel, ctrl)


class MujocoCheetah(gymnasium.Env):
    """Six torques in, positions without x and all velocities out; the reward is speed minus the cost of the action."""

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (17,), np.float64)
        self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (6,), np.float32)
        self.qpos, self.qvel = np.zeros(9), np.zeros(9)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.qpos = self.np_random.uniform(low=-NOISE, high=NOISE, size=9)  # all positions begin at 0
        self.qvel = NOISE * self.np_random.standard_normal(9)
        return self._seen(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        before = self.qpos[0]
        _look(self.qpos, self.qvel, action)
        self.qpos, self.qvel = simulate(self.qpos, self.qvel, action)
        reward = FORWARD_WEIGHT * (self.qpos[0] - before) / DT - control_cost(action)
        return self._seen(), float(reward), False, False, {}

    def _seen(self) -> np.ndarray:
        return np.concatenate([self.qpos[1:], self.qvel])
