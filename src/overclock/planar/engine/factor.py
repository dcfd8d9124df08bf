"""Linear systems over the dofs of a tree: a sparse L' D L factorisation from the leaves up, without fill-in."""

from collections.abc import Sequence
from typing import NamedTuple

from overclock.planar.engine.inertia import Matrix
from overclock.planar.engine.kinematics import Scalar
from overclock.planar.model import PlanarModel


class Factor(NamedTuple):
    """L below its unit diagonal, and the inverse of D."""

    lower: Matrix
    inverse: list[Scalar]


def factor(model: PlanarModel, matrix: Matrix) -> Factor:
    """The factors of a positive definite matrix."""
    left, lower = dict(matrix), {}
    inverse: list[Scalar] = [0.0] * model.dofs
    for k in reversed(range(model.dofs)):
        inverse[k] = 1 / left[k, k]
        chain = model.above[k]
        for place, i in enumerate(chain):
            lower[k, i] = left[k, i] * inverse[k]
            for j in chain[place:]:
                left[i, j] = left[i, j] - lower[k, i] * left[k, j]
    return Factor(lower, inverse)


def solve(model: PlanarModel, factors: Factor, right: Sequence[Scalar]) -> list[Scalar]:
    """The solution x of A x = right, from the factors of A."""
    x = list(right)
    for k in reversed(range(model.dofs)):
        for i in model.above[k]:
            x[i] = x[i] - factors.lower[k, i] * x[k]
    x = [value * inverse for value, inverse in zip(x, factors.inverse, strict=True)]
    for k in range(model.dofs):
        for i in model.above[k]:
            x[k] = x[k] - factors.lower[k, i] * x[i]
    return x


def times(model: PlanarModel, matrix: Matrix, x: Sequence[Scalar]) -> list[Scalar]:
    """The product of the matrix and a vector."""
    found = [matrix[i, i] * x[i] for i in range(model.dofs)]
    for i in range(model.dofs):
        for j in model.above[i]:
            found[i] = found[i] + matrix[i, j] * x[j]
            found[j] = found[j] + matrix[i, j] * x[i]
    return found
