"""MuJoCo's physics for models that move in one plane: a compiler of MJCF and an engine of scalars.

    model = read_model("half_cheetah.xml")
    qpos, qvel = advance(model, qpos, qvel, ctrl, substeps=5)

The engine computes what `mj_step` computes, for trees of capsules on a floor in the x-z plane, with every loop over
bodies, joints and contacts written out. So the whole of it is arithmetic on scalars, which JAX, C and CUDA take alike.
"""

from typing import TYPE_CHECKING

from overclock._lazy import lazy_names

if TYPE_CHECKING:
    from overclock.planar.compiler import read_model
    from overclock.planar.engine.integrate import advance
    from overclock.planar.model import PlanarModel

__all__ = ["PlanarModel", "advance", "read_model"]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "PlanarModel": "overclock.planar.model",
        "advance": "overclock.planar.engine.integrate",
        "read_model": "overclock.planar.compiler",
    },
)
