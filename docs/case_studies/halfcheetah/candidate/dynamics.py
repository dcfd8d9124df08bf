"""Inertia, and the forces that are there without any constraint, number by number."""

from typing import NamedTuple

import jax.numpy as jnp
from kinematics import Frame, Motion, Number, Numbers, Point, forces, frames, motions, wrench
from model import ARMATURE, CENTRES, CHAINS, DAMPING, DOFS, GEAR, GRAVITY, PARENTS, STIFFNESS, bodies

Matrix = list[list[Number]]


class Inertia(NamedTuple):
    """A symmetric matrix over (turning, x, z): of a mass, of a stiffness, or of a whole branch."""

    tt: Number
    tx: Number
    tz: Number
    xx: Number
    xz: Number
    zz: Number


def of_point(point: Point, xx: Number, xz: Number, zz: Number) -> Inertia:
    """Of something at a point that resists the velocity there."""
    px, pz = point
    tx, tz = xx * pz - xz * px, xz * pz - zz * px
    return Inertia(pz * tx - px * tz, tx, tz, xx, xz, zz)


def of_mass(point: Point, mass: float, inertia: float) -> Inertia:
    """Of a body with its centre there."""
    px, pz = point
    return Inertia(mass * (px * px + pz * pz) + inertia, mass * pz, -mass * px, mass, 0.0, mass)


def sum_of(one: Inertia, other: Inertia) -> Inertia:
    """Both together."""
    return Inertia(*(a + b for a, b in zip(one, other, strict=True)))


def joined(placed: list[Frame], inertias: list[Inertia]) -> Matrix:
    """The matrix over the dofs of what resists each body's motion; what a tree keeps zero is 0.0."""
    totals, found = list(inertias), [[0.0] * DOFS for _ in range(DOFS)]
    for body in reversed(range(len(PARENTS))):
        tt, tx, tz, xx, xz, zz = totals[body]
        x, z = placed[body].x, placed[body].z
        if PARENTS[body] < 0:
            turning, along, up = tt, tx, tz
        else:
            totals[PARENTS[body]] = sum_of(totals[PARENTS[body]], totals[body])
            turning, along, up = tt - z * tx + x * tz, tx - z * xx + x * xz, tz - z * xz + x * zz
        for above in CHAINS[body]:
            entry = turning
            if PARENTS[above] >= 0:
                entry = turning - placed[above].z * along + placed[above].x * up
            found[2 + body][2 + above] = found[2 + above][2 + body] = entry
        found[2 + body][0] = found[0][2 + body] = along
        found[2 + body][1] = found[1][2 + body] = up
    found[0][0], found[1][1] = totals[0].xx, totals[0].zz
    found[0][1] = found[1][0] = totals[0].xz
    return found


def mass_matrix(qpos: Numbers) -> Matrix:
    """M, with armature."""
    masses, centres, inertias = bodies()
    placed = frames(qpos)
    own = [
        of_mass(frame.at(centre), float(mass), float(inertia))
        for frame, centre, mass, inertia in zip(placed, centres, masses, inertias, strict=True)
    ]
    found = joined(placed, own)
    for dof, armature in enumerate(ARMATURE):
        found[dof][dof] = found[dof][dof] + armature
    return found


def centripetal(start: Point, square: Number, origin: Point, point: Point) -> Point:
    """The acceleration of a point of a body that turns about another one of its points."""
    return start[0] - square * (point[0] - origin[0]), start[1] - square * (point[1] - origin[1])


def bias(qpos: Numbers, qvel: Numbers) -> list[Number]:
    """Coriolis and centrifugal forces, and gravity."""
    masses, _, _ = bodies()
    placed = frames(qpos)
    squares = [motion.turning * motion.turning for motion in motions(placed, qvel)]
    drawn: list[Point] = []  # accelerations of the anchors
    wrenches: list[Motion] = []
    for body, (parent, frame) in enumerate(zip(PARENTS, placed, strict=True)):
        here, anchor = (frame.x, frame.z), (0.0, 0.0)
        if parent >= 0:
            anchor = centripetal(drawn[parent], squares[parent], (placed[parent].x, placed[parent].z), here)
        drawn.append(anchor)
        centre, mass = frame.at(CENTRES[body]), float(masses[body])
        x, z = centripetal(anchor, squares[body], here, centre)
        wrenches.append(wrench((mass * x, mass * (z + GRAVITY)), centre))
    return forces(placed, wrenches)


def passive(qpos: Numbers, qvel: Numbers) -> list[Number]:
    """Springs and dampers of the joints."""
    pairs = zip(STIFFNESS, DAMPING, strict=True)
    return [-stiffness * qpos[dof] - damping * qvel[dof] for dof, (stiffness, damping) in enumerate(pairs)]


def actuation(ctrl: Numbers) -> list[Number]:
    """Torques of the motors."""
    torques = [gear * jnp.clip(ctrl[motor], -1.0, 1.0).astype(float) for motor, gear in enumerate(GEAR[3:])]
    return [jnp.zeros_like(torques[0])] * 3 + torques
