"""The constraints: capsule ends on the floor, capsules against each other, joints at their limits.

Whether or not something is in reach at the moment, it has its rows; out of reach their weight is zero. Rows of the
floor are kept together by point (`Touch`), since they act through the velocity of that point alone. All others are
`Row`s over few dofs.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax.numpy as jnp

from overclock.planar.engine.kinematics import Motion, Placed, Point, Scalar, velocity
from overclock.planar.model import CapsulePair, PlanarModel, Softness

LEAST = 1e-15  # MuJoCo's mjMINVAL
PARALLEL = 1e-4  # the sine up to which MuJoCo 3.17.0 gives two capsules two contacts: seen to ten digits


class Touch(NamedTuple):
    """A point on the floor: `weight` of its rows (0 in the air), and what their accelerations shall be, negated."""

    body: int
    friction: float | None
    point: Point
    weight: Scalar
    normal: Scalar
    tangent: Scalar


class Row(NamedTuple):
    """A constraint on few dofs: `sum(parts[i] * qacc[i]) >= target`, softly, with a weight (0 where out of reach)."""

    parts: dict[int, Scalar]
    weight: Scalar
    target: Scalar


def impedance(softness: Softness, depth: Scalar) -> Scalar:
    """MuJoCo's impedance of a constraint at a depth: a curve between two limits."""
    low, high = softness.least, softness.most
    if low == high or softness.width <= LEAST:
        return (low + high) / 2
    x = jnp.minimum(jnp.abs(depth) * (1 / softness.width), 1.0)
    mid, power = softness.midpoint, softness.power
    rising = mid ** (1 - power) * (high - low) * _power(x, power)
    if mid >= 1:
        return low + rising
    falling = (1 - mid) ** (1 - power) * (high - low) * _power(1 - x, power)
    return jnp.where(x <= mid, low + rising, high - falling)


def _power(x: Scalar, power: float) -> Scalar:
    return x * x if power == 2 else x**power


def _pull(softness: Softness, inverse_weight: float, depth: Scalar) -> tuple[Scalar, Scalar]:
    """(weight of a row, the part of its target that comes from its depth), while it is in reach (depth < 0)."""
    firm = impedance(softness, depth)
    weight = firm / (inverse_weight - inverse_weight * firm)
    return jnp.where(depth < 0, weight, 0.0), -softness.stiffness * firm * depth


def touches(model: PlanarModel, placed: Placed, moving: Sequence[Motion]) -> list[Touch]:
    """All contact points that may touch the floor."""
    found = []
    for contact in model.floor_contacts:
        x, z = placed.frames[contact.body].place(contact.point)
        distance = placed.height + z - contact.radius
        point = (x, 0.5 * distance - placed.height)  # in the middle between the two surfaces
        weight, push = _pull(contact.softness, contact.inverse_weight, distance - contact.margin)
        along, up = velocity(moving[contact.body], point)
        damping = contact.softness.damping
        found.append(Touch(contact.body, contact.friction, point, weight, damping * up - push, damping * along))
    return found


def limits(model: PlanarModel, qpos: Sequence[Scalar], qvel: Sequence[Scalar]) -> list[Row]:
    """The rows of the joint limits; of each joint only the nearer end."""
    found = []
    for dof, joint in enumerate(model.joints):
        if joint.limit is None:
            continue
        low, high = qpos[dof] - joint.limit.low, joint.limit.high - qpos[dof]
        side = jnp.where(low < high, 1.0, -1.0).astype(qpos[dof].dtype)
        weight, push = _pull(joint.limit.softness, joint.limit.inverse_weight, jnp.minimum(low, high))
        found.append(Row({dof: side}, weight, push - joint.limit.softness.damping * side * qvel[dof]))
    return found


def pairs(model: PlanarModel, placed: Placed, qvel: Sequence[Scalar]) -> list[Row]:
    """The rows of capsule pairs, two for each pair: the second is used if the axes are parallel."""
    return [row for pair in model.pairs for row in _pair(model, placed, pair, qvel)]


def _pair(model: PlanarModel, placed: Placed, pair: CapsulePair, qvel: Sequence[Scalar]) -> list[Row]:
    first, second = model.capsules[pair.first], model.capsules[pair.second]
    parallel, (one, other) = meetings(
        tuple(placed.frames[first.body].place(end) for end in first.ends),
        tuple(placed.frames[second.body].place(end) for end in second.ends),
    )
    row = _meeting(model, placed, pair, qvel, *other)
    return [_meeting(model, placed, pair, qvel, *one), row._replace(weight=jnp.where(parallel, row.weight, 0.0))]


def _meeting(
    model: PlanarModel, placed: Placed, pair: CapsulePair, qvel: Sequence[Scalar], one: Point, other: Point
) -> Row:
    """The row of a contact between two points on two capsules' axes."""
    first, second = model.capsules[pair.first], model.capsules[pair.second]
    dx, dz = other[0] - one[0], other[1] - one[1]
    apart = jnp.sqrt(dx * dx + dz * dz)
    # Capsules whose axes cross are pushed sideways by MuJoCo, which moves nothing in the plane.
    crossing = apart < 8 * jnp.finfo(apart.dtype).eps
    nx, nz = (jnp.where(crossing, 0.0, part / jnp.maximum(apart, LEAST)) for part in (dx, dz))
    distance = apart - first.radius - second.radius
    reach = first.radius + 0.5 * distance
    px, pz = one[0] + nx * reach, one[1] + nz * reach
    parts: dict[int, Scalar] = {}
    below: int | None = second.body
    while below is not None and below != first.body:  # what moves both bodies moves neither against the other
        body, (ax, az) = model.bodies[below], placed.frames[below].anchor
        parts[body.dof] = model.joints[body.dof].sign * (nx * (pz - az) - nz * (px - ax))
        below = body.parent
    weight, push = _pull(pair.softness, pair.inverse_weight, distance - pair.margin)
    closing = sum(part * qvel[dof] for dof, part in parts.items())
    return Row(parts, weight, push - pair.softness.damping * closing)


def meetings(one: tuple[Point, ...], other: tuple[Point, ...]) -> tuple[Scalar, list[tuple[Point, Point]]]:
    """(whether two segments are parallel, two pairs of points that MuJoCo's capsules meet at).

    Parallel ones meet at both ends of what lies side by side; others at the first pair alone, where they are nearest.
    """
    (mx, mz), (ax, az) = _middle(one)
    (nx, nz), (bx, bz) = _middle(other)
    dx, dz = mx - nx, mz - nz
    aa, ab, bb = ax * ax + az * az, -(ax * bx + az * bz), bx * bx + bz * bz
    u, v = -(ax * dx + az * dz), bx * dx + bz * dz
    cross = ax * bz - az * bx
    parallel = cross * cross <= PARALLEL**2 * (aa * bb)
    determinant = jnp.where(parallel, 1.0, cross * cross)
    s, t = (bb * u - ab * v) / determinant, (aa * v - ab * u) / determinant
    s, t = jnp.clip(s, -1.0, 1.0), jnp.where(s > 1, (v - ab) / bb, jnp.where(s < -1, (v + ab) / bb, t))
    s, t = (
        jnp.where(t > 1, jnp.clip((u - ab) / aa, -1.0, 1.0), jnp.where(t < -1, jnp.clip((u + ab) / aa, -1.0, 1.0), s)),
        jnp.clip(t, -1.0, 1.0),
    )

    def beside(end: float) -> tuple[Scalar, Scalar]:
        """An end of the second segment, and the point of the first that is nearest to its projection."""
        there = (u - ab * end) / aa
        s = jnp.clip(there, -1.0, 1.0)
        return s, jnp.where(there == s, end, jnp.clip((v - ab * s) / bb, -1.0, 1.0))

    (s1, t1), last = beside(-1.0), beside(1.0)
    places = [(jnp.where(parallel, s1, s), jnp.where(parallel, t1, t)), last]
    return parallel, [((mx + s * ax, mz + s * az), (nx + t * bx, nz + t * bz)) for s, t in places]


def _middle(ends: tuple[Point, ...]) -> tuple[Point, Point]:
    """(the middle of a segment, half of it as a vector)."""
    (x1, z1), (x2, z2) = ends
    return ((x1 + x2) / 2, (z1 + z2) / 2), ((x2 - x1) / 2, (z2 - z1) / 2)
