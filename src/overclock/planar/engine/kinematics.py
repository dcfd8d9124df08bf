"""Positions and velocities of the bodies, relative to the root's anchor.

Motions, wrenches and inertias are taken about that anchor (the origin here), so that numbers stay small wherever the
model is in the world. A motion is (turning, x, z): the velocity of a point p is (x + turning * pz, z - turning * px).
A wrench is (torque, x, z), so that the power of the two is their plain product.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp

from overclock.planar.model import PlanarModel, Vector

Scalar = Any
"""A number of JAX, or of Python where it is the same in all positions."""
Point = tuple[Scalar, Scalar]


class Motion(NamedTuple):
    """The spatial velocity of a body, or the wrench on one."""

    turning: Scalar
    x: Scalar
    z: Scalar


class Frame(NamedTuple):
    """The place and angle of a body's frame."""

    cosine: Scalar
    sine: Scalar
    anchor: Point

    def place(self, local: Vector) -> Point:
        """A point of the body in coordinates of the root's anchor."""
        x, z = local
        turned_x, turned_z = self.cosine * x + self.sine * z, self.cosine * z - self.sine * x
        return self.anchor[0] + turned_x, self.anchor[1] + turned_z


class Placed(NamedTuple):
    """The frames of all bodies, and the height of the root's anchor above the floor."""

    frames: list[Frame]
    height: Scalar


def place(model: PlanarModel, qpos: Sequence[Scalar], maths: Any = jnp) -> Placed:
    """The frames of the bodies in a position; `maths` provides sine and cosine."""
    frames: list[Frame] = []
    angles: list[Scalar] = []
    for body in model.bodies:
        joint = model.joints[body.dof]
        turned = joint.sign * (qpos[body.dof] - joint.reference)
        angles.append(turned if body.parent is None else angles[body.parent] + turned)
        anchor = (0.0, 0.0) if body.parent is None else frames[body.parent].place(body.arm)
        frames.append(Frame(maths.cos(angles[-1]), maths.sin(angles[-1]), anchor))
    slide = model.joints[model.slides[1]]
    height = model.bodies[0].arm[1] - model.floor + slide.sign * (qpos[model.slides[1]] - slide.reference)
    return Placed(frames, height)


def motions(model: PlanarModel, placed: Placed, rates: Sequence[Scalar]) -> list[Motion]:
    """The motion of every body from the rates of the dofs: velocities or accelerations, as `rates` are."""
    x, z = model.slides
    found: list[Motion] = []
    root = Motion(0.0, model.joints[x].sign * rates[x], model.joints[z].sign * rates[z])
    for body, frame in zip(model.bodies, placed.frames, strict=True):
        above = root if body.parent is None else found[body.parent]
        turning = model.joints[body.dof].sign * rates[body.dof]
        if body.parent is None:  # its anchor is the origin
            found.append(Motion(turning, above.x, above.z))
            continue
        ax, az = frame.anchor
        found.append(Motion(above.turning + turning, above.x - turning * az, above.z + turning * ax))
    return found


def velocity(motion: Motion, point: Point) -> Point:
    """The velocity of a point that moves with a body."""
    return motion.x + motion.turning * point[1], motion.z - motion.turning * point[0]


def wrench(force: Point, point: Point) -> Motion:
    """The wrench of a force at a point."""
    return Motion(point[1] * force[0] - point[0] * force[1], *force)


def forces(model: PlanarModel, placed: Placed, wrenches: Sequence[Motion | None]) -> list[Scalar]:
    """The generalised forces on the dofs from one wrench per body."""
    found: list[Scalar] = [0.0] * model.dofs
    totals = list(wrenches)
    for number in reversed(range(len(model.bodies))):
        body, total = model.bodies[number], totals[number]
        if total is None:
            continue
        sign, (ax, az) = model.joints[body.dof].sign, placed.frames[number].anchor
        if body.parent is None:
            found[body.dof] = sign * total.turning
            x, z = model.slides
            found[x], found[z] = model.joints[x].sign * total.x, model.joints[z].sign * total.z
            continue
        found[body.dof] = sign * (total.turning - az * total.x + ax * total.z)
        above = totals[body.parent]
        totals[body.parent] = total if above is None else Motion(*(a + b for a, b in zip(above, total, strict=True)))
    return found
