"""A planar robot as MuJoCo draws it: our state in Gymnasium's model, seen by the camera that Gymnasium looks through.

OpenGL comes from where the variable MUJOCO_GL says, else from EGL where there is no screen. MuJoCo itself (and so its
`Renderer`) decides once, when it is imported, for a screen; hence the context of our own.
"""

import atexit
import functools
import importlib
import os
import sys
from typing import Any

import numpy as np

from overclock.errors import MissingError
from overclock.planar.original import file_of, mujoco
from overclock.planar.render import HEIGHT, WIDTH, position_of

CAMERA = "track"  # of Gymnasium's files; it goes along with the robot
ELSEWHERE = (4.0, 90.0, -20.0)  # where a file has no such camera: metres and degrees, as of Gymnasium's own
MOST_GEOMS = 1000
SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


def render(env: Any, state: Any, params: Any = None) -> np.ndarray:
    """One state (an `EnvState` or its rules' state) as an RGB picture, `uint8[400, 600, 3]`."""
    position, velocity = position_of(state), np.asarray(getattr(state, "rules", state).qvel, np.float64)
    return _stage(env.xml_file or str(file_of(env.original))).picture(position, velocity)


class Stage:
    """A model with a camera and lights, and where it is drawn."""

    def __init__(self, path: str) -> None:
        self._mujoco = mujoco = _usable_mujoco()
        self.model = mujoco.MjModel.from_xml_path(path)
        self.data = mujoco.MjData(self.model)
        self.model.vis.global_.offwidth, self.model.vis.global_.offheight = WIDTH, HEIGHT
        self._scene, self._options = mujoco.MjvScene(self.model, MOST_GEOMS), mujoco.MjvOption()
        self._camera, self._window = mujoco.MjvCamera(), mujoco.MjrRect(0, 0, WIDTH, HEIGHT)
        number = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_CAMERA, CAMERA)
        if number >= 0:
            self._camera.type, self._camera.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, number
        else:
            self._camera.type, self._camera.trackbodyid = mujoco.mjtCamera.mjCAMERA_TRACKING, 1
            self._camera.distance, self._camera.azimuth, self._camera.elevation = ELSEWHERE
        try:
            self._context = importlib.import_module(f"mujoco.{_source()}").GLContext(WIDTH, HEIGHT)
            self._context.make_current()
            self._drawn = mujoco.MjrContext(self.model, mujoco.mjtFontScale.mjFONTSCALE_150)
        except Exception as error:  # whatever a library says that finds no driver, no device or no screen
            raise _cannot_draw(error) from error
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN, self._drawn)
        atexit.register(self._close)  # while what it was made from is still there

    def picture(self, qpos: np.ndarray, qvel: np.ndarray) -> np.ndarray:
        """The picture of a state by MuJoCo, as uint8[height, width, 3]."""
        mujoco, category = self._mujoco, self._mujoco.mjtCatBit.mjCAT_ALL
        self.data.qpos[:], self.data.qvel[:] = qpos, qvel
        mujoco.mj_forward(self.model, self.data)
        mujoco.mjv_updateScene(self.model, self.data, self._options, None, self._camera, category, self._scene)
        self._context.make_current()
        mujoco.mjr_render(self._window, self._scene, self._drawn)
        pixels = np.empty((HEIGHT, WIDTH, 3), np.uint8)
        mujoco.mjr_readPixels(pixels, None, self._window, self._drawn)
        return np.ascontiguousarray(pixels[::-1])  # OpenGL counts upwards

    def _close(self) -> None:
        self._drawn.free()
        self._context.free()


@functools.cache
def _stage(path: str) -> Stage:
    return Stage(path)


def _source() -> str:
    """The name of the OpenGL backend that MuJoCo uses on this machine: egl, glfw or cgl, or MUJOCO_GL."""
    if sys.platform == "linux":
        return os.environ.get("MUJOCO_GL") or ("glfw" if any(os.environ.get(name) for name in SCREENS) else "egl")
    return os.environ.get("MUJOCO_GL") or ("cgl" if sys.platform == "darwin" else "glfw")


def _usable_mujoco() -> Any:
    try:
        return mujoco()
    except MissingError:
        raise
    except Exception as error:  # it looks for what MUJOCO_GL names as soon as it is imported
        raise _cannot_draw(error) from error


def _cannot_draw(error: Exception) -> MissingError:
    return MissingError(
        f"MuJoCo cannot draw here, since OpenGL by {_source()} fails ({str(error).strip().partition('. ')[0]}); "
        "install EGL (libegl1 in Debian) and set MUJOCO_GL=egl, or use the environment's own renderer."
    )
