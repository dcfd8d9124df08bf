"""Comparisons: `<`, `==`, `is`, `in` and their like."""

import ast
import functools
import operator
from collections.abc import Callable
from typing import Any

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.values import Gone, Known, May, Num, Pick, Ref, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.flexible import item_by_item
from overclock.translate.python.memory.kinds import is_array, is_number, is_partial, is_sequence
from overclock.translate.python.operators.equality import contains, equal
from overclock.translate.python.operators.options import map_options
from overclock.translate.python.operators.truth import chosen_flag, truth

COMPARE: dict[type[ast.cmpop], tuple[str, Callable[..., Any]]] = {
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
}


def compare(machine: Machine, node: ast.cmpop, left: Value, right: Value) -> Value:
    """left <op> right; item by item where one is an array whose shape is not known."""
    if isinstance(node, ast.In | ast.NotIn):
        found = contains(machine, right, left)
    elif isinstance(node, ast.Is | ast.IsNot):
        found = _identical(machine, left, right)
    elif is_partial(machine, left) or is_partial(machine, right):
        values = [machine.present(left), machine.present(right)]
        return item_by_item(machine, values, functools.partial(_compare, machine, node))
    else:
        return _compare(machine, node, left, right)
    return number(machine.builder.negated(found) if isinstance(node, ast.NotIn | ast.IsNot) else found)


def _compare(machine: Machine, node: ast.cmpop, left: Value, right: Value) -> Value:
    if isinstance(node, ast.Eq | ast.NotEq) and any(
        isinstance(one, Known) and one.value is None for one in (left, right)
    ):
        found = _identical(machine, left, right)
        return number(machine.builder.negated(found) if isinstance(node, ast.NotEq) else found)
    op, function = COMPARE[type(node)]
    if isinstance(left, May) or isinstance(right, May):
        if op in ("eq", "ne"):
            found = equal(machine, left, right)
            return number(found if op == "eq" else machine.builder.negated(found))
        left, right = machine.present(left), machine.present(right)
    if isinstance(left, Known) and isinstance(right, Known):
        return machine.constant(function(left.value, right.value))
    mapped = map_options(machine, function, left, right)
    if mapped is not None:
        return mapped
    numbers = is_number(machine, left) and is_number(machine, right)
    if op in ("eq", "ne") and not numbers and not is_array(machine, left) and not is_array(machine, right):
        found = equal(machine, left, right)
        return number(found if op == "eq" else machine.builder.negated(found))
    if is_sequence(machine, left) and is_sequence(machine, right):
        return number(_ordered(machine, op, left, right))
    out = machine.builder.joined(op, function, machine.operand(left), machine.operand(right))
    return machine.fresh(out)


def _ordered(machine: Machine, op: str, left: Value, right: Value) -> Operand:
    """Tuples and lists compare by their first difference."""
    a, b = machine.items(left), machine.items(right)
    strict = {"lt": ast.Lt, "le": ast.Lt, "gt": ast.Gt, "ge": ast.Gt}[op]()
    found: Operand = Const(
        {"lt": len(a) < len(b), "le": len(a) <= len(b), "gt": len(a) > len(b), "ge": len(a) >= len(b)}[op]
    )
    for one, other in reversed(list(zip(a, b, strict=False))):
        first = truth(machine, compare(machine, strict, one, other))
        found = machine.builder.logical("or", first, machine.builder.logical("and", equal(machine, one, other), found))
    return found


def _identical(machine: Machine, left: Value, right: Value) -> Operand:
    if isinstance(left, Known) and left.value is None:
        left, right = right, left
    if isinstance(right, Known) and right.value is None:
        if isinstance(left, May):
            return machine.builder.negated(left.present)
        if isinstance(left, Gone):
            raise UnsupportedError(left.reason)
        if isinstance(left, Pick):
            return chosen_flag(machine, [one is None for one in left.options], left.index)
        return Const(isinstance(left, Known) and left.value is None)
    if isinstance(left, Known) and isinstance(right, Known):
        return Const(left.value is right.value)
    if isinstance(left, Ref) and isinstance(right, Ref):
        if right.cell in machine.store.echoes.of(left.cell):
            raise UnsupportedError("`is` between things of which one is a copy of the other here")
        return Const(left == right)
    if isinstance(right, Known) and isinstance(right.value, bool) and isinstance(left, Num):
        if left.operand.type.kind == "b" and not left.operand.type.python:
            raise UnsupportedError("`is` with a bool that is NumPy's own, or is so at times")
        if left.operand.type.kind == "b":
            return left.operand if right.value else machine.builder.negated(left.operand)
        return Const(False)
    mapped = map_options(machine, operator.is_, left, right)
    if mapped is not None:
        return truth(machine, mapped)
    raise UnsupportedError("`is` between things computed at run time")
