"""MuJoCo's results for any state, with a converged solver: the expected values of level 1."""

import functools
from typing import Any

import numpy as np

from overclock.planar.original import file_of
from overclock.planar.original import mujoco as load_mujoco
from overclock.planar.twin import EXACT
from overclock.verify.sides.subject import Arrays


class Oracle:
    """MuJoCo's answers for one model."""

    def __init__(self, path: str) -> None:
        self._mujoco = mujoco = load_mujoco()
        self.model = mujoco.MjModel.from_xml_path(path)
        self.model.opt.tolerance = EXACT
        self.data = mujoco.MjData(self.model)
        capsule = mujoco.mjtGeom.mjGEOM_CAPSULE
        self.capsules = [geom for geom in range(self.model.ngeom) if self.model.geom_type[geom] == capsule]

    def forward(self, state: Arrays, ctrl: Any) -> Any:
        """MuJoCo's data in a state."""
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:], self.data.qvel[:], self.data.ctrl[:] = state["qpos"], state["qvel"], ctrl
        self._mujoco.mj_forward(self.model, self.data)
        return self.data

    def stepped(self, state: Arrays, ctrl: Any, frames: int) -> Arrays:
        """Position and velocity after some time steps."""
        self.forward(state, ctrl)
        self._mujoco.mj_step(self.model, self.data, nstep=frames)
        return {"qpos": self.data.qpos.copy(), "qvel": self.data.qvel.copy()}

    def matrix(self, state: Arrays) -> np.ndarray:
        """The mass matrix in a position."""
        data = self.forward(state, 0.0)
        found = np.zeros((self.model.nv, self.model.nv))
        self._mujoco.mj_fullM(self.model, data, found)
        return found

    def depths(self, state: Arrays) -> tuple[np.ndarray, np.ndarray]:
        """For both ends of every capsule the depth in the floor, and depth times x; sorted within each capsule."""
        data = self.forward(state, 0.0)
        depth, place = np.zeros((2, len(self.capsules), 2))
        for contact in data.contact[: data.ncon]:
            floor, geom = sorted(map(int, contact.geom))
            if floor in self.capsules:
                continue
            along = data.geom_xmat[geom].reshape(3, 3)[:, 2] * self.model.geom_size[geom, 1]
            ends = data.geom_xpos[geom] + np.array([-along, along])
            above = self.model.geom_size[geom, 0] + contact.dist / 2  # of the end, over the contact's own point
            row, end = self.capsules.index(geom), int(np.argmin(np.abs(ends[:, 2] - contact.pos[2] - above)))
            depth[row, end] = contact.dist - contact.includemargin
            place[row, end] = depth[row, end] * contact.pos[0]
        return np.sort(depth), np.sort(place)


@functools.cache
def oracle(path: str) -> Oracle:
    """The model of a file; Gymnasium's own by its name."""
    return Oracle(path if "/" in path else str(file_of(path)))


def constants_of(model: Any) -> dict[str, Any]:
    """The numbers of a compiled model that both sides know by one name."""
    mujoco = load_mujoco()
    limited = np.flatnonzero(model.jnt_limited)
    inertias = np.zeros((model.nbody, 9))
    for body in range(1, model.nbody):
        mujoco.mju_quat2Mat(inertias[body], model.body_iquat[body])
    turned = inertias.reshape(-1, 3, 3)
    capsules = model.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE
    return {
        "timestep": np.float64(model.opt.timestep),
        "gravity": model.opt.gravity[[0, 2]],
        "qpos0": model.qpos0,
        "stiffness": model.jnt_stiffness,
        "spring_reference": model.qpos_spring,
        "damping": model.dof_damping,
        "armature": model.dof_armature,
        "limits": model.jnt_range[limited],
        "limit_weights": model.dof_invweight0[limited],
        "masses": model.body_mass[1:],
        "inertias": np.einsum("bi,bi->b", turned[:, 1] ** 2, model.body_inertia)[1:],
        "radii": model.geom_size[capsules, 0],
        "lengths": 2 * model.geom_size[capsules, 1],
        "gears": model.actuator_gear[:, 0],
        "controls": model.actuator_ctrlrange,
    }
