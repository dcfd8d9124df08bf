"""Accelerations: the minimum of MuJoCo's convex problem.

The cost is a parabola as long as the same rows push. So its minimum is sought for those rows that push at a guess, and
again for those that push there, until they are the same: then it is the minimum itself. Contacts are stiffnesses of
their bodies, joined as inertias are: the matrix keeps the zeros of the tree.
"""

import functools
from typing import NamedTuple

import jax.numpy as jnp
from constraints import contact_points, contact_rows, limit_rows
from dynamics import Inertia, Matrix, actuation, bias, joined, mass_matrix, of_point, passive, sum_of
from jax import lax
from kinematics import Frame, Motion, Number, Numbers, Point, added, forces, frames, motions, velocity, wrench
from model import FRICTION, PARENTS
from tree import factor, solve, times

# Full steps may go in circles, deep in the floor for example. Half steps end a circle near the minimum, and full steps
# then find it: eight of these, eight of those, and so on.
TURNS_OF_A_KIND, MOST_STEPS = 8, 64


class Problem(NamedTuple):
    """What is the same in all iterations: contacts are (body, point, weight, aim along x, aim along z)."""

    placed: list[Frame]
    matrix: Matrix
    smooth: list[Number]
    contacts: list[tuple[int, Point, Number, Number, Number]]
    limits: list[tuple[int, Number, Number, Number]]


def pushing(problem: Problem, now: list[Number]) -> tuple[Number, ...]:
    """Which rows push at these accelerations: of every contact the normal and its two edges, then the limits."""
    moving, found = motions(problem.placed, now), []
    for body, point, weight, aim_x, aim_z in problem.contacts:
        along, up = velocity(moving[body], point)
        along, up = FRICTION * (along - aim_x), up - aim_z
        there = weight > 0
        found += [there & (up < 0), there & (up + along < 0), there & (up - along < 0)]
    found += [(weight > 0) & (side * now[dof] < aim) for dof, side, weight, aim in problem.limits]
    return tuple(found)


def step(problem: Problem, now: list[Number], rows: tuple[Number, ...]) -> list[Number]:
    """From these accelerations to the minimum, if just these rows push.

    Forces are those at `now`, so that in the minimum they are small: what they are rounded by is small then, too.
    """
    moving = motions(problem.placed, now)
    held = [Inertia(*[0.0] * 6)] * len(PARENTS)
    pushes: list[Motion | None] = [None] * len(PARENTS)
    for number, (body, point, weight, aim_x, aim_z) in enumerate(problem.contacts):
        normal, right, left = rows[3 * number : 3 * number + 3]
        # The pyramid's edges: twice the normal, and the normal with friction to either side.
        normal, right, left = (jnp.where(row, part * weight, 0.0) for row, part in ((normal, 2), (right, 1), (left, 1)))
        along, up = velocity(moving[body], point)
        along, up = FRICTION * (aim_x - along), aim_z - up
        one, other = right * (up + along), left * (up - along)
        both = right + left
        held[body] = sum_of(held[body], of_point(point, FRICTION**2 * both, FRICTION * (right - left), normal + both))
        pushes[body] = added(pushes[body], wrench((FRICTION * (one - other), normal * up + one + other), point))
    curved, pushed = joined(problem.placed, held), forces(problem.placed, pushes)
    curved = [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(problem.matrix, curved, strict=True)]
    for (dof, side, weight, aim), row in zip(problem.limits, rows[3 * len(problem.contacts) :], strict=True):
        stiff = jnp.where(row, weight, 0.0)
        curved[dof][dof] = curved[dof][dof] + stiff
        pushed[dof] = pushed[dof] + side * stiff * (aim - side * now[dof])
    left_over = [a + b - c for a, b, c in zip(problem.smooth, pushed, times(problem.matrix, now), strict=True)]
    return solve(factor(curved), left_over)


def acceleration(qpos: Numbers, qvel: Numbers, ctrl: Numbers, guess: Numbers = None) -> list[Number]:
    """The minimum, sought from any accelerations."""
    torques, springs, held = actuation(ctrl), passive(qpos, qvel), bias(qpos, qvel)
    weights, aims = contact_rows(qpos, qvel)
    rows = [(weight, *aim) for pair in zip(weights, aims, strict=True) for weight, aim in zip(*pair, strict=True)]
    problem = Problem(
        frames(qpos),
        mass_matrix(qpos),
        [a + b - c for a, b, c in zip(torques, springs, held, strict=True)],
        [(*point, *row) for point, row in zip(contact_points(qpos), rows, strict=True)],
        [(3 + joint, *row) for joint, row in enumerate(zip(*limit_rows(qpos, qvel), strict=True))],
    )

    def goes_on(carry: tuple) -> Number:
        done, number, *_ = carry
        return ~done & (number < MOST_STEPS)

    def turn(carry: tuple) -> tuple:
        _, number, now, pushed = carry
        full = (number // TURNS_OF_A_KIND) % 2 == 0
        length = jnp.where(full, 1.0, 0.5).astype(now[0].dtype)
        found = tuple(a + length * b for a, b in zip(now, step(problem, list(now), pushed), strict=True))
        push = pushing(problem, list(found))
        same = functools.reduce(jnp.logical_and, [a == b for a, b in zip(push, pushed, strict=True)])
        return same & full, number + 1, found, push

    begin = tuple(jnp.zeros_like(held[0]) for _ in held) if guess is None else tuple(guess)
    start = (jnp.bool_(False), jnp.int32(0), begin, pushing(problem, list(begin)))
    return list(lax.while_loop(goes_on, turn, start)[2])
