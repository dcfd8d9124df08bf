"""Solving with a symmetric matrix over the dofs of a tree: L' D L from the leaves up, which leaves its zeros zeros."""

from kinematics import Number
from model import ABOVE, DOFS

Factor = tuple[list[list[Number]], list[Number]]  # L below its unit diagonal, and the inverse of D


def factor(matrix: list[list[Number]]) -> Factor:
    """The factors of a positive definite matrix, of which only what a tree has is looked at."""
    left = [list(row) for row in matrix]
    lower = [[0.0] * DOFS for _ in range(DOFS)]
    inverse = [0.0] * DOFS
    for k in reversed(range(DOFS)):
        inverse[k] = 1 / left[k][k]
        for number, i in enumerate(ABOVE[k]):
            lower[k][i] = left[k][i] * inverse[k]
            for j in ABOVE[k][number:]:
                left[i][j] = left[i][j] - lower[k][i] * left[k][j]
    return lower, inverse


def solve(factors: Factor, right: list[Number]) -> list[Number]:
    """x of A x = right."""
    lower, inverse = factors
    x = list(right)
    for k in reversed(range(DOFS)):
        for i in ABOVE[k]:
            x[i] = x[i] - lower[k][i] * x[k]
    x = [value * one for value, one in zip(x, inverse, strict=True)]
    for k in range(DOFS):
        for i in ABOVE[k]:
            x[k] = x[k] - lower[k][i] * x[i]
    return x


def times(matrix: list[list[Number]], x: list[Number]) -> list[Number]:
    """A x."""
    found = [matrix[i][i] * x[i] for i in range(DOFS)]
    for i in range(DOFS):
        for j in ABOVE[i]:
            found[i] = found[i] + matrix[i][j] * x[j]
            found[j] = found[j] + matrix[i][j] * x[i]
    return found
