"""The accelerations, by Newton's method on MuJoCo's convex constraint problem.

    minimise  1/2 (a - a0)' M (a - a0)  +  1/2 sum of weight * min(0, J a - target)^2

The cost is a parabola as long as the same rows push. So a step that changes none of them ends in the minimum itself,
and the next one has nothing left to do but to take out its rounding errors. That is when the search ends. Where it
starts does not matter for where it ends.

MuJoCo chooses the length of every step along its line. Full steps can go in circles: of a million random states (angles
within 1.1, velocities within 11) nine lead them from one set of rows to another and back, a metre deep in the floor.
Half steps leave a circle for the neighbourhood of the minimum, and full ones find it from there. So some of these
follow some of those, by turns, and only a full step ends the search: a short half step has half of its way before it.
"""

import functools
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from overclock.planar.engine.contacts import Row, Touch
from overclock.planar.engine.factor import factor, solve, times
from overclock.planar.engine.inertia import Inertia, Matrix, joined, of_point
from overclock.planar.engine.kinematics import Motion, Placed, Scalar, forces, motions, velocity, wrench
from overclock.planar.model import PlanarModel

# Play needed six steps at most in half a million searches, states deep in the floor thirteen in a million.
# Together they are a power of 2, whose remainder is a mask: C compilers make no vectors of a loop that divides.
FULL_STEPS, HALF_STEPS, MOST_ITERATIONS = 12, 4, 64
SHORT = {"float32": 2.0**-14, "float64": 2.0**-36}  # a step that ends the search, relative to what it leads to


class Problem(NamedTuple):
    """The part of the problem that is the same in all iterations."""

    model: PlanarModel
    placed: Placed
    matrix: Matrix
    smooth: list[Scalar]
    touches: list[Touch]
    rows: list[Row]


def accelerations(problem: Problem, start: Sequence[Scalar]) -> list[Scalar]:
    """The minimum, by Newton's method from any first accelerations."""

    def goes_on(carry: tuple[Scalar, Scalar, tuple[Scalar, ...]]) -> Scalar:
        done, iteration, _ = carry
        return ~done & (iteration < MOST_ITERATIONS)

    def turn(carry: tuple[Scalar, Scalar, tuple[Scalar, ...]]) -> tuple[Scalar, Scalar, tuple[Scalar, ...]]:
        _, iteration, now = carry
        full = (iteration & (FULL_STEPS + HALF_STEPS - 1)) < FULL_STEPS
        length = jnp.where(full, 1.0, 0.5).astype(now[0].dtype)
        step = [length * change for change in newton_step(problem, list(now))]
        found = tuple(a - change for a, change in zip(now, step, strict=True))
        short = _largest(step) <= SHORT[now[0].dtype.name] * _largest(found)
        return full & short, iteration + 1, found

    return list(jax.lax.while_loop(goes_on, turn, (jnp.bool_(False), jnp.int32(0), tuple(start)))[2])


def newton_step(problem: Problem, now: list[Scalar]) -> list[Scalar]:
    """The Newton step, exact if the rows that are active now are those that are active in the minimum."""
    model, edges = problem.model, _edges(problem, now)
    held = _held(problem, edges)
    inertial, pushes = times(model, problem.matrix, now), _pushes(problem, edges, held)
    slope = [a - b - c for a, b, c in zip(inertial, problem.smooth, pushes, strict=True)]
    return solve(model, factor(model, _curvature(problem, held)), slope)


def _largest(values: Sequence[Scalar]) -> Scalar:
    return functools.reduce(jnp.maximum, map(jnp.abs, values))


def _edges(problem: Problem, rates: list[Scalar]) -> list[Scalar]:
    """J a - target of every row: first the floor's, point by point, then all others.

    The pyramid of a point with friction has two edges across the plane, which are one row here, of twice the weight.
    """
    moving = motions(problem.model, problem.placed, rates)
    found: list[Scalar] = []
    for touch in problem.touches:
        along, up = velocity(moving[touch.body], touch.point)
        along, up = along + touch.tangent, up + touch.normal
        found.append(up)
        if touch.friction is not None:
            along = touch.friction * along
            found += [up + along, up - along]
    for row in problem.rows:
        found.append(sum(part * rates[dof] for dof, part in row.parts.items()) - row.target)
    return found


def _held(problem: Problem, edges: list[Scalar]) -> list[Scalar]:
    """The weights of the active rows, 0 for the others."""
    weights: list[Scalar] = []
    for touch in problem.touches:
        weights += [touch.weight] if touch.friction is None else [2 * touch.weight, touch.weight, touch.weight]
    weights += [row.weight for row in problem.rows]
    return [jnp.where(edge < 0, weight, 0.0) for weight, edge in zip(weights, edges, strict=True)]


def _pushes(problem: Problem, edges: list[Scalar], held: list[Scalar]) -> list[Scalar]:
    """The forces of the rows on the dofs."""
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
    """The Hessian of the cost: the mass matrix plus the stiffness of the active rows."""
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
