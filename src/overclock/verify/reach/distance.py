"""How far a condition of the reference is from either outcome: the branch distance that a search makes smaller.

A condition is evaluated once more by its syntax tree, in the names of the frame that is about to jump. Nothing of it
may change anything: only names, attributes, subscripts, arithmetic, comparisons and functions that are known to be pure
are evaluated, and functions of the reference that are one such expression. For anything else there is no distance.
"""

import ast
import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from overclock.verify.reach.pure_values import Names, UnknownValueError, called, inlined, iterated, value

OTHER_LENGTH = 8.0  # of two sequences, per element that only one has
MOST_PAIRS = 16
Pair = tuple[float, float]


@dataclasses.dataclass
class Distance:
    """How much is missing until a condition is true or false, and which numbers it compared."""

    to_true: float
    to_false: float
    pairs: list[Pair] = dataclasses.field(default_factory=list)

    def negated(self) -> "Distance":
        """The distances of `not` this condition."""
        return Distance(self.to_false, self.to_true, self.pairs)


def measure(node: ast.expr, names: Names) -> Distance | None:
    """The distance of a condition from both outcomes; None where it cannot be evaluated without side effects."""
    try:
        return _measured(node, names)
    except Exception:  # an expression of the user's source may raise whatever it likes
        return None


def measure_length(node: ast.expr, names: Names) -> Distance | None:
    """The same of a loop: `true` means that there is nothing to iterate over."""
    try:
        found = value(node, names)
        if not isinstance(found, Sequence | np.ndarray | Mapping | range):
            return None
        return Distance(float(len(found)), float(len(found) == 0), [(float(len(found)), 0.0)])
    except Exception:
        return None


def _measured(node: ast.expr, names: Names) -> Distance:
    match node:
        case ast.UnaryOp(ast.Not(), operand):
            return _measured(operand, names).negated()
        case ast.BoolOp(operator, operands):
            parts = (_measured_late(operand, names) for operand in operands)
            return _all(parts) if isinstance(operator, ast.And) else _any(parts)
        case ast.Compare(left, operators, right):
            operands = [value(one, names) for one in (left, *right)]
            return _all(
                compared(type(op), a, b) for op, a, b in zip(operators, operands[:-1], operands[1:], strict=True)
            )
        case ast.Call():
            return _of_call(node, names)
    return _of_truth(value(node, names))


def _of_call(node: ast.Call, names: Names) -> Distance:
    function, arguments = called(node, names)
    if function in ("all", "any") and len(arguments) == 1:
        join = _all if function == "all" else _any
        (argument,) = arguments
        if isinstance(argument, ast.GeneratorExp | ast.ListComp):
            return join(_measured(argument.elt, inner) for inner in iterated(argument.generators, names))
        return join(map(_of_truth, np.asarray(value(argument, names)).ravel().tolist()))
    if function == "bool" and len(arguments) == 1:
        return _measured(arguments[0], names)
    if function == "array_equal" and len(arguments) == 2:
        return compared(ast.Eq, *(value(argument, names) for argument in arguments))
    body = inlined(node, names)
    return _of_truth(value(node, names)) if body is None else _measured(*body)


def _measured_late(node: ast.expr, names: Names) -> Distance:
    """An operand of `and` or `or` that may make sense only where those before it hold."""
    try:
        return _measured(node, names)
    except (UnknownValueError, LookupError, TypeError, AttributeError):
        return Distance(1.0, 1.0)


def _all(parts: Iterator[Distance]) -> Distance:
    found = list(parts)
    pairs = [pair for part in found if part.to_true for pair in part.pairs] or [p for part in found for p in part.pairs]
    closest = min((part.to_false for part in found), default=1.0)
    return Distance(sum(part.to_true for part in found), closest, pairs[:MOST_PAIRS])


def _any(parts: Iterator[Distance]) -> Distance:
    return _all(part.negated() for part in parts).negated()


def _of_truth(found: Any) -> Distance:
    if isinstance(found, np.ndarray) and found.size == 1:
        found = found.item()
    if isinstance(found, bool | np.bool_ | None):
        return Distance(float(not found), float(bool(found)), [(float(bool(found)), float(not found))])
    if isinstance(found, int | float | np.number):
        return Distance(float(not found), abs(float(found)), [(float(found), 0.0)])
    if isinstance(found, Sequence | Mapping | set | frozenset):
        return Distance(float(not found), float(len(found)), [(float(len(found)), 0.0)])
    raise UnknownValueError(f"the truth of {type(found)}")


def compared(operator: type[ast.cmpop], a: Any, b: Any) -> Distance:
    """The distance of a comparison of two values."""
    if operator in (ast.NotEq, ast.IsNot, ast.NotIn, ast.GtE, ast.Gt):
        opposite = {ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In, ast.GtE: ast.Lt, ast.Gt: ast.LtE}
        return compared(opposite[operator], a, b).negated()
    if operator is ast.Is:
        return Distance(float(a is not b), float(a is b))
    if operator is ast.In:
        return _any(compared(ast.Eq, a, one) for one in (b.tolist() if isinstance(b, np.ndarray) else b))
    if operator is ast.Eq:
        missing, pairs = _apart(a, b)
        return Distance(missing, float(missing == 0), pairs)
    return _ordered(operator, a, b)


def _ordered(operator: type[ast.cmpop], a: Any, b: Any) -> Distance:
    first, second = float(a), float(b)
    whole = all(isinstance(one, int | np.integer | np.bool_) for one in (a, b))
    least = 1.0 if whole else 1e-9  # what is missing where both are equal
    ahead = first - second
    holds = ahead < 0 if operator is ast.Lt else ahead <= 0
    to_true = 0.0 if holds else ahead + (least if operator is ast.Lt else 0.0)
    to_false = (-ahead + (least if operator is ast.LtE else 0.0)) if holds else 0.0
    return Distance(to_true, to_false, [(first, second)])


def _apart(a: Any, b: Any) -> tuple[float, list[Pair]]:
    """How far two values are from being equal, and the numbers in which they differ."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape:
            return OTHER_LENGTH * (1 + abs(a.size - b.size)), []
        a, b = a.ravel().tolist(), b.ravel().tolist()
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        parts = [_apart(one, other) for one, other in zip(a, b, strict=False)]
        missing = sum(part[0] for part in parts) + OTHER_LENGTH * abs(len(a) - len(b))
        return missing, [pair for part in parts for pair in part[1]][:MOST_PAIRS]
    if isinstance(a, int | float | np.number | np.bool_) and isinstance(b, int | float | np.number | np.bool_):
        first, second = float(a), float(b)
        apart = abs(first - second)
        if not math.isfinite(apart):
            return float(first != second), []
        return apart, [(first, second)] if apart else []
    if type(a).__module__ != "builtins" or type(b).__module__ != "builtins":
        raise UnknownValueError(f"{type(a)} == {type(b)}")
    return float(a != b), []
