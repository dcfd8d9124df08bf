"""Inverse weights in the reference position: MuJoCo's dof_invweight0 and body_invweight0.

Computed in rational arithmetic and rounded once at the end. A floating-point inverse depends on the linear-algebra
library's kernels, and so on the processor; a compiled model must be the same everywhere.
"""

from collections.abc import Sequence
from fractions import Fraction

from overclock.planar.model import Body, Joint

Matrix = list[list[Fraction]]


class Weights:
    """Inverse weights, from the inverse of the mass matrix."""

    def __init__(self, bodies: list[Body], joints: list[Joint]) -> None:
        size = range(len(joints))
        signs = [Fraction(joint.sign) for joint in joints]
        slides = {joint.kind: dof for dof, joint in enumerate(joints) if joint.kind != "hinge"}
        mass = [[Fraction(joints[i].armature if i == j else 0) for j in size] for i in size]
        places: list[list[Fraction]] = []
        jacobians: list[Matrix] = []
        for number, body in enumerate(bodies):
            parent = [Fraction(0)] * 2 if body.parent is None else places[body.parent]
            places.append(_sum(parent, body.arm))
            centre = _sum(places[number], body.centre)
            linear, turning = [[Fraction(0) for _ in size] for _ in "xz"], [Fraction(0) for _ in size]
            for axis, kind in enumerate("xz"):
                linear[axis][slides[kind]] = signs[slides[kind]]
            above: int | None = number
            while above is not None:
                dof = bodies[above].dof
                x, z = (ours - theirs for ours, theirs in zip(centre, places[above], strict=True))
                linear[0][dof], linear[1][dof], turning[dof] = signs[dof] * z, -signs[dof] * x, signs[dof]
                above = bodies[above].parent
            jacobians.append(linear)
            weight, inertia = Fraction(body.mass), Fraction(body.inertia)
            for i in size:
                for j in size:
                    moved = linear[0][i] * linear[0][j] + linear[1][i] * linear[1][j]
                    mass[i][j] += weight * moved + inertia * turning[i] * turning[j]
        inverse = _inverse(mass)
        self.of_dof = [float(inverse[dof][dof]) for dof in size]
        # MuJoCo takes the mean over three directions, of which planar models do not move in one.
        self.of_body = [
            float(sum((row[i] * inverse[i][j] * row[j] for row in linear for i in size for j in size), Fraction(0)) / 3)
            for linear in jacobians
        ]


def _sum(ours: Sequence[Fraction], theirs: Sequence[float]) -> list[Fraction]:
    return [a + Fraction(b) for a, b in zip(ours, theirs, strict=True)]


def _inverse(matrix: Matrix) -> Matrix:
    """The inverse of a positive definite matrix by Gauss and Jordan's elimination; its pivots are never zero."""
    size = len(matrix)
    rows = [[*row, *(Fraction(i == j) for j in range(size))] for i, row in enumerate(matrix)]
    for pivot in range(size):
        scale = rows[pivot][pivot]
        rows[pivot] = [value / scale for value in rows[pivot]]
        for other in range(size):
            if other != pivot and (factor := rows[other][pivot]):
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[pivot], strict=True)]
    return [row[size:] for row in rows]
