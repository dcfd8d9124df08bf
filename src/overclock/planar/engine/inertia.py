"""The mass matrix by the composite rigid body method, and the bias forces: Coriolis, centrifugal, gravity.

A symmetric matrix over the dofs is kept as its entries (i, j) with j = i or above i: others are zero in a tree.
"""

from collections.abc import Sequence
from typing import NamedTuple

from overclock.planar.engine.kinematics import Motion, Placed, Point, Scalar, forces, motions, wrench
from overclock.planar.model import PlanarModel

Matrix = dict[tuple[int, int], Scalar]


class Inertia(NamedTuple):
    """A symmetric matrix over (turning, x, z): of a mass, of a stiffness, or of a whole branch."""

    tt: Scalar
    tx: Scalar
    tz: Scalar
    xx: Scalar
    xz: Scalar
    zz: Scalar

    def plus(self, other: "Inertia") -> "Inertia":
        """The sum of two inertias; Python zeros are left out of the program."""
        return Inertia(*(_sum(a, b) for a, b in zip(self, other, strict=True)))


def _sum(one: Scalar, other: Scalar) -> Scalar:
    if isinstance(one, float) and one == 0:
        return other
    return one if isinstance(other, float) and other == 0 else one + other


def of_point(point: Point, xx: Scalar, xz: Scalar, zz: Scalar) -> Inertia:
    """The inertia of a point mass or a point stiffness."""
    px, pz = point
    if isinstance(xz, float) and xz == 0:
        tx, tz = xx * pz, -(zz * px)
    else:
        tx, tz = xx * pz - xz * px, xz * pz - zz * px
    return Inertia(pz * tx - px * tz, tx, tz, xx, xz, zz)


def of_bodies(model: PlanarModel, placed: Placed) -> list[Inertia]:
    """The inertia of each body alone, about the root's anchor."""
    found = []
    for body, frame in zip(model.bodies, placed.frames, strict=True):
        inertia = of_point(frame.place(body.centre), body.mass, 0.0, body.mass)
        found.append(inertia._replace(tt=inertia.tt + body.inertia))
    return found


def joined(model: PlanarModel, placed: Placed, inertias: Sequence[Inertia]) -> Matrix:
    """The matrix over the dofs that results from one inertia per body."""
    found: Matrix = {}
    totals = list(inertias)
    (x, z), signs = model.slides, [joint.sign for joint in model.joints]
    for number in reversed(range(len(model.bodies))):
        body, total = model.bodies[number], totals[number]
        if body.parent is None:
            reaction = Motion(total.tt, total.tx, total.tz)
        else:
            totals[body.parent] = totals[body.parent].plus(total)
            ax, az = placed.frames[number].anchor
            reaction = Motion(
                total.tt - az * total.tx + ax * total.tz,
                _sum(total.tx - az * total.xx, _product(ax, total.xz)),
                _sum(total.tz + ax * total.zz, -_product(az, total.xz)),
            )
        i, above = body.dof, number
        while above is not None:
            j, (ax, az) = model.bodies[above].dof, placed.frames[above].anchor
            turning = reaction.turning
            if model.bodies[above].parent is not None:
                turning = turning - az * reaction.x + ax * reaction.z
            found[i, j] = _signed(signs[i] * signs[j], turning)
            above = model.bodies[above].parent
        found[i, x] = _signed(signs[i] * signs[x], reaction.x)
        found[i, z] = _signed(signs[i] * signs[z], reaction.z)
    first, second = sorted((x, z))
    found[x, x], found[z, z] = totals[0].xx, totals[0].zz
    found[second, first] = _signed(signs[x] * signs[z], totals[0].xz)
    return found


def _product(one: Scalar, other: Scalar) -> Scalar:
    return 0.0 if isinstance(other, float) and other == 0 else one * other


def _signed(sign: float, value: Scalar) -> Scalar:
    return value if sign > 0 else -value


def mass_matrix(model: PlanarModel, placed: Placed) -> Matrix:
    """MuJoCo's mass matrix M, with the joints' armature on its diagonal."""
    matrix = joined(model, placed, of_bodies(model, placed))
    for dof, joint in enumerate(model.joints):
        if joint.armature:
            matrix[dof, dof] = matrix[dof, dof] + joint.armature
    return matrix


def bias(model: PlanarModel, placed: Placed, qvel: Sequence[Scalar]) -> list[Scalar]:
    """MuJoCo's qfrc_bias: the forces on the dofs at zero acceleration."""
    moving = motions(model, placed, qvel)
    gx, gz = model.gravity
    drawn: list[Point] = []  # accelerations of the anchors
    wrenches: list[Motion] = []
    for body, frame, motion in zip(model.bodies, placed.frames, moving, strict=True):
        anchor: Point = (0.0, 0.0)
        if body.parent is not None:
            above, origin = moving[body.parent], placed.frames[body.parent].anchor
            anchor = _centripetal(drawn[body.parent], above.turning, origin, frame.anchor)
        drawn.append(anchor)
        centre = frame.place(body.centre)
        ax, az = _centripetal(anchor, motion.turning, frame.anchor, centre)
        wrenches.append(wrench((body.mass * (ax - gx), body.mass * (az - gz)), centre))
    return forces(model, placed, wrenches)


def _centripetal(start: Point, turning: Scalar, origin: Point, point: Point) -> Point:
    square = turning * turning
    return start[0] - square * (point[0] - origin[0]), start[1] - square * (point[1] - origin[1])
