"""The accelerations: Newton's method on MuJoCo's convex problem, exact as soon as the right rows are known.

    minimise  1/2 (a - a0)' M (a - a0)  +  1/2 sum of weight * min(0, J a - target)^2

The cost is a parabola as long as the same rows push, so a step that changes none of them ends in the minimum itself,
and no tolerance is needed. Otherwise the step is shortened or lengthened along its line by one step of Newton's method
there. MuJoCo iterates until an estimate of the error is below its tolerance (1e-8 unless set otherwise).

Where the search starts does not matter for where it ends, up to rounding: a long step carries a larger error. In
float32 it is followed by another one, which is short.
"""

import functools
import operator
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from overclock.planar.contacts import Row, Touch
from overclock.planar.factor import factor, solve, times
from overclock.planar.inertia import Inertia, Matrix, joined, of_point
from overclock.planar.kinematics import Motion, Placed, Scalar, forces, motions, velocity, wrench
from overclock.planar.model import PlanarModel

MOST_ITERATIONS = 30  # see tests/planar/test_solver.py for how many are needed
SHORT = 1 / 64  # of the result; the error of a step is up to some hundred ulp of it


class Problem(NamedTuple):
    """What is the same in all iterations."""

    model: PlanarModel
    placed: Placed
    matrix: Matrix
    smooth: list[Scalar]
    touches: list[Touch]
    rows: list[Row]


def accelerations(problem: Problem, start: Sequence[Scalar]) -> list[Scalar]:
    """The minimum, sought from any accelerations."""

    def goes_on(carry: tuple[Scalar, Scalar, tuple[Scalar, ...]]) -> Scalar:
        done, iteration, _ = carry
        return ~done & (iteration < MOST_ITERATIONS)

    def turn(carry: tuple[Scalar, Scalar, tuple[Scalar, ...]]) -> tuple[Scalar, Scalar, tuple[Scalar, ...]]:
        _, iteration, now = carry
        done, after = _improve(problem, list(now))
        return done, iteration + 1, tuple(after)

    return list(jax.lax.while_loop(goes_on, turn, (jnp.bool_(False), jnp.int32(0), tuple(start)))[2])


def _improve(problem: Problem, now: list[Scalar]) -> tuple[Scalar, list[Scalar]]:
    """(whether this is the minimum, the next accelerations)."""
    model = problem.model
    before = _edges(problem, now, targets=True)
    held = _held(problem, before)
    inertial = [a - b for a, b in zip(times(model, problem.matrix, now), problem.smooth, strict=True)]
    slope = [a - b for a, b in zip(inertial, _pushes(problem, before, held), strict=True)]
    step = [-change for change in solve(model, factor(model, _curvature(problem, held)), slope)]
    moves = _edges(problem, step, targets=False)
    after = [a + b for a, b in zip(before, moves, strict=True)]
    held_after = _held(problem, after)
    same = _all([a == b for a, b in zip(held, held_after, strict=True)])

    # How far to go, if other rows push at the end: one step of Newton's method along the line, from its end.
    second = _dot(step, times(model, problem.matrix, step))
    first = second + _dot(step, inertial)
    for weight, edge, move in zip(held_after, after, moves, strict=True):
        pushing = weight * move
        first, second = first + pushing * edge, second + pushing * move
    length = jnp.where(same, 1.0, 1 - first / second).astype(now[0].dtype)
    found = [a + length * change for a, change in zip(now, step, strict=True)]
    return (same & _short(step, found) if now[0].dtype == jnp.float32 else same), found


def _short(step: list[Scalar], found: list[Scalar]) -> Scalar:
    """Whether the rounding errors of a step do not show in what it leads to."""
    largest = functools.partial(functools.reduce, jnp.maximum)
    return largest(map(jnp.abs, step)) <= SHORT * largest(map(jnp.abs, found))


def _all(flags: list[Scalar]) -> Scalar:
    return functools.reduce(operator.and_, flags)


def _dot(one: list[Scalar], other: list[Scalar]) -> Scalar:
    return sum(a * b for a, b in zip(one, other, strict=True))


def _edges(problem: Problem, rates: list[Scalar], targets: bool) -> list[Scalar]:
    """J a - target (or J a alone) of every row: those of the floor, point by point, then all others.

    The pyramid of a point with friction has two edges across the plane, which are one row here, of twice the weight.
    """
    moving = motions(problem.model, problem.placed, rates)
    found: list[Scalar] = []
    for touch in problem.touches:
        along, up = velocity(moving[touch.body], touch.point)
        if targets:
            along, up = along + touch.tangent, up + touch.normal
        found.append(up)
        if touch.friction is not None:
            along = touch.friction * along
            found += [up + along, up - along]
    for row in problem.rows:
        pulled = sum(part * rates[dof] for dof, part in row.parts.items())
        found.append(pulled - row.target if targets else pulled)
    return found


def _held(problem: Problem, edges: list[Scalar]) -> list[Scalar]:
    """The weights of the rows that push, 0 of the others."""
    weights: list[Scalar] = []
    for touch in problem.touches:
        weights += [touch.weight] if touch.friction is None else [2 * touch.weight, touch.weight, touch.weight]
    weights += [row.weight for row in problem.rows]
    return [jnp.where(edge < 0, weight, 0.0) for weight, edge in zip(weights, edges, strict=True)]


def _pushes(problem: Problem, edges: list[Scalar], held: list[Scalar]) -> list[Scalar]:
    """What the rows do to the dofs."""
    wrenches: list[Motion | None] = [None] * len(problem.model.bodies)
    pushing = [-weight * edge for weight, edge in zip(held, edges, strict=True)]
    left = iter(pushing)
    for touch in problem.touches:
        force = (0.0, next(left))
        if touch.friction is not None:
            one, other = next(left), next(left)
            force = (touch.friction * (one - other), force[1] + one + other)
        known, added = wrenches[touch.body], wrench(force, touch.point)
        wrenches[touch.body] = added if known is None else Motion(*(a + b for a, b in zip(known, added, strict=True)))
    found = forces(problem.model, problem.placed, wrenches)
    for row, push in zip(problem.rows, left, strict=True):
        for dof, part in row.parts.items():
            found[dof] = found[dof] + part * push
    return found


def _curvature(problem: Problem, held: list[Scalar]) -> Matrix:
    """Of the cost: the mass matrix and the stiffness of the rows that push."""
    model = problem.model
    stiffness = [Inertia(*[0.0] * 6)] * len(model.bodies)
    left = iter(held)
    for touch in problem.touches:
        xx, xz, zz = 0.0, 0.0, next(left)
        if touch.friction is not None:
            one, other = next(left), next(left)
            xz, both = touch.friction * (one - other), one + other
            xx, zz = touch.friction**2 * both, zz + both
        stiffness[touch.body] = stiffness[touch.body].plus(of_point(touch.point, xx, xz, zz))
    found = {**problem.matrix}
    for place, entry in joined(model, problem.placed, stiffness).items():
        found[place] = found[place] + entry
    for row, weight in zip(problem.rows, left, strict=True):
        for i, part in row.parts.items():
            for j in row.parts:
                if (i, j) in found:
                    found[i, j] = found[i, j] + weight * part * row.parts[j]
    return found
