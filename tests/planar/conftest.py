"""Gymnasium's three planar robots, compiled by us and by MuJoCo, and diverse states of them."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="the models are Gymnasium's")
mujoco = pytest.importorskip("mujoco", reason="MuJoCo is the reference")

from overclock.planar import PlanarModel, read_model  # noqa: E402

ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
FILES = {"halfcheetah": "half_cheetah.xml", "walker2d": "walker2d_v5.xml", "hopper": "hopper.xml"}
SUBSTEPS = {"halfcheetah": 5, "walker2d": 4, "hopper": 4}


@dataclasses.dataclass(frozen=True)
class Robot:
    """One of them."""

    name: str
    path: Path
    ours: PlanarModel
    theirs: Any

    @property
    def substeps(self) -> int:
        return SUBSTEPS[self.name]

    def states(self, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities from play: random and bang-bang actions, falls, upside down."""
        rng, data = np.random.default_rng(seed), mujoco.MjData(self.theirs)
        found: list[tuple[np.ndarray, np.ndarray]] = []
        while len(found) < count:
            mujoco.mj_resetData(self.theirs, data)
            data.qpos[:] += rng.uniform(-0.1, 0.1, self.theirs.nq)
            data.qvel[:] = 0.1 * rng.normal(size=self.theirs.nv)
            kind = rng.integers(4)
            if kind == 2:
                data.qpos[1] += rng.uniform(0, 1)
                data.qpos[2] = rng.uniform(-np.pi, np.pi)
                data.qvel[:] += 3 * rng.normal(size=self.theirs.nv)
            if kind == 3:
                data.qpos[2] += np.pi
            for step in range(rng.integers(5, 60)):
                if kind != 1:
                    data.ctrl[:] = rng.uniform(-1, 1, self.theirs.nu)
                elif step % 7 == 0:
                    data.ctrl[:] = rng.choice([-1.0, 1.0], self.theirs.nu)
                mujoco.mj_step(self.theirs, data, nstep=self.substeps)
                if rng.random() < 0.3:
                    found.append((data.qpos.copy(), data.qvel.copy()))
        qpos, qvel = zip(*found[:count], strict=True)
        return np.array(qpos), np.array(qvel)

    def at(self, qpos: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray | None = None) -> Any:
        """MuJoCo's data of a state, after `mj_forward`."""
        data = mujoco.MjData(self.theirs)
        data.qpos[:], data.qvel[:] = qpos, qvel
        if ctrl is not None:
            data.ctrl[:] = ctrl
        mujoco.mj_forward(self.theirs, data)
        return data


def exact(model: Any) -> Any:
    """Solved as far as float64 goes: by default MuJoCo stops at an estimated error of 1e-8."""
    model.opt.tolerance, model.opt.iterations = 1e-15, 200
    model.opt.ls_tolerance, model.opt.ls_iterations = 1e-12, 200
    return model


@pytest.fixture(scope="session", params=list(FILES))
def robot(request: pytest.FixtureRequest) -> Robot:
    path = ASSETS / FILES[request.param]
    return Robot(request.param, path, read_model(path), exact(mujoco.MjModel.from_xml_path(str(path))))
