"""Where bodies are and how they move, number by number, seen from the root's anchor.

A motion is (turning, x, z): the velocity of a point p is (x + turning * pz, z - turning * px). A wrench is (torque, x,
z), so that the power of the two is their plain product. Both are taken about the root's anchor: numbers stay small.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from model import BODY_OF_CAPSULE, CENTRES, ENDS, ORIGINS, PARENTS

Number = Any  # of JAX, or of Python where it is always the same
Point = tuple[Number, Number]
Numbers = Any  # an array or a list of numbers


class Motion(NamedTuple):
    """Of a body; also the wrench on one."""

    turning: Number
    x: Number
    z: Number


class Frame(NamedTuple):
    """Of a body."""

    cosine: Number
    sine: Number
    x: Number
    z: Number

    def at(self, local: Any) -> Point:
        """A point of the body."""
        x, z = float(local[0]), float(local[1])
        return self.x + self.cosine * x + self.sine * z, self.z + self.cosine * z - self.sine * x


def frames(qpos: Numbers) -> list[Frame]:
    """Of all bodies, seen from the root's anchor."""
    found: list[Frame] = []
    angles: list[Number] = []
    for body, (parent, origin) in enumerate(zip(PARENTS, ORIGINS, strict=True)):
        angles.append(qpos[2 + body] if parent < 0 else angles[parent] + qpos[2 + body])
        place_of = (0.0, 0.0) if parent < 0 else found[parent].at(origin)
        found.append(Frame(jnp.cos(angles[body]), jnp.sin(angles[body]), *place_of))
    return found


def ends_of(placed: list[Frame]) -> list[list[Point]]:
    """Both ends of every capsule, seen from the root's anchor."""
    return [[placed[body].at(end) for end in ends] for body, ends in zip(BODY_OF_CAPSULE, ENDS, strict=True)]


def height(qpos: Numbers) -> Number:
    """Of the root's anchor."""
    return ORIGINS[0][1] + qpos[1]


def place(qpos: Numbers) -> tuple[list, list, list]:
    """Anchors of the hinges, centres of mass, ends of the capsules, in the world."""
    placed, x, z = frames(qpos), qpos[0], height(qpos)

    def shown(point: Point) -> list[Number]:
        return [x + point[0], z + point[1]]

    anchors = [shown((frame.x, frame.z)) for frame in placed]
    centres = [shown(frame.at(centre)) for frame, centre in zip(placed, CENTRES, strict=True)]
    return anchors, centres, [[shown(end) for end in ends] for ends in ends_of(placed)]


def motions(placed: list[Frame], rates: Numbers) -> list[Motion]:
    """Of all bodies, from velocities of the dofs (or accelerations: what `rates` are, motions are)."""
    found: list[Motion] = []
    for body, (parent, frame) in enumerate(zip(PARENTS, placed, strict=True)):
        rate = rates[2 + body]
        if parent < 0:
            found.append(Motion(rate, rates[0], rates[1]))
        else:
            above = found[parent]
            found.append(Motion(above.turning + rate, above.x - rate * frame.z, above.z + rate * frame.x))
    return found


def velocity(motion: Motion, point: Point) -> Point:
    """Of a point that moves with a body."""
    return motion.x + motion.turning * point[1], motion.z - motion.turning * point[0]


def wrench(force: Point, point: Point) -> Motion:
    """Of a force at a point."""
    return Motion(point[1] * force[0] - point[0] * force[1], *force)


def added(one: Motion | None, other: Motion) -> Motion:
    """Both together."""
    return other if one is None else Motion(one.turning + other.turning, one.x + other.x, one.z + other.z)


def forces(placed: list[Frame], wrenches: list[Motion]) -> list[Number]:
    """What wrenches on all bodies come to on the dofs."""
    totals, found = list(wrenches), [0.0] * 9
    for body in reversed(range(1, len(PARENTS))):
        total, frame = totals[body], placed[body]
        found[2 + body] = total.turning - frame.z * total.x + frame.x * total.z
        totals[PARENTS[body]] = added(totals[PARENTS[body]], total)
    found[0], found[1], found[2] = totals[0].x, totals[0].z, totals[0].turning
    return found
