"""What may push: ends of capsules on the floor, and joints at the ends of their ranges. Out of reach a weight is 0."""

import jax.numpy as jnp
from kinematics import Number, Numbers, Point, ends_of, frames, height, motions, place, velocity
from model import (
    BODY_OF_CAPSULE,
    DAMPER,
    FRICTION,
    HIGH,
    LEAST,
    LOW,
    MOST,
    RADIUS,
    SPRING,
    WIDTH_CONTACT,
    WIDTH_LIMIT,
    inverse_weights,
)

EDGES = 2 * FRICTION**2 * (1 + FRICTION**2)  # what a pyramid's edges weigh against its normal


def impedance(distance: Number, width: float) -> Number:
    """How firmly a constraint holds at a distance."""
    x = jnp.minimum(jnp.abs(distance) * (1 / width), 1.0)
    y = jnp.where(x <= 0.5, 2 * x * x, 1 - 2 * (1 - x) * (1 - x))
    return LEAST + y * (MOST - LEAST)


def stiffness(firm: Number, inverse_weight: float) -> Number:
    """The weight of a row."""
    return firm / (inverse_weight - inverse_weight * firm)


def contacts(qpos: Numbers) -> tuple[list, list]:
    """How deep both ends of every capsule are in the floor, and the points of contact."""
    _, _, ends = place(qpos)
    distances = [[z - RADIUS for _, z in pair] for pair in ends]
    depths = [[jnp.minimum(distance, 0.0) for distance in pair] for pair in distances]
    points = [
        [[jnp.where(distance < 0, x, 0.0), jnp.where(distance < 0, distance / 2, 0.0)] for (x, _), distance in both]
        for both in (zip(pair, found, strict=True) for pair, found in zip(ends, distances, strict=True))
    ]
    return depths, points


def contact_points(qpos: Numbers) -> list[tuple[int, Point]]:
    """Body and point of all that may touch the floor, seen from the root's anchor; in the air they mean nothing."""
    ends, up = ends_of(frames(qpos)), height(qpos)
    both = [(body, end) for body, pair in zip(BODY_OF_CAPSULE, ends, strict=True) for end in pair]
    return [(body, (x, 0.5 * (z + up - RADIUS) - up)) for body, (x, z) in both]  # half way to the floor


def contact_rows(qpos: Numbers, qvel: Numbers) -> tuple[list, list]:
    """The weight of every end's rows, and what they aim at along x and z."""
    _, of_bodies = inverse_weights()
    depths, _ = contacts(qpos)
    moving = motions(frames(qpos), qvel)
    weights, aims = [], []
    points = contact_points(qpos)
    for capsule, pair in enumerate(depths):
        light = EDGES * float(of_bodies[BODY_OF_CAPSULE[capsule]])
        weights.append([])
        aims.append([])
        for end, depth in enumerate(pair):
            body, point = points[2 * capsule + end]
            firm, (along, up) = impedance(depth, WIDTH_CONTACT), velocity(moving[body], point)
            aim = (-DAMPER * along, -DAMPER * up - SPRING * firm * depth)
            weights[capsule].append(jnp.where(depth < 0, stiffness(firm, light), 0.0))
            aims[capsule].append([jnp.where(depth < 0, one, 0.0) for one in aim])
    return weights, aims


def limit_rows(qpos: Numbers, qvel: Numbers) -> tuple[list, list, list]:
    """The Jacobian of every joint's row, its weight and what it aims at."""
    of_dofs, _ = inverse_weights()
    sides, weights, aims = [], [], []
    for joint, (low, high) in enumerate(zip(LOW, HIGH, strict=True)):
        below, above = qpos[3 + joint] - low, high - qpos[3 + joint]
        distance = jnp.minimum(below, above)
        side = jnp.where(below < above, 1.0, -1.0).astype(distance.dtype)
        firm = impedance(distance, WIDTH_LIMIT)
        held = distance < 0
        sides.append(jnp.where(held, side, 0.0))
        weights.append(jnp.where(held, stiffness(firm, float(of_dofs[3 + joint])), 0.0))
        aims.append(jnp.where(held, -DAMPER * side * qvel[3 + joint] - SPRING * firm * distance, 0.0))
    return sides, weights, aims
