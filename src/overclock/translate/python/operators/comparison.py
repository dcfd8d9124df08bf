"""Comparisons: `==`, `<`, `is`, `in` and their like, and where an item is in a container."""

import ast
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import ELEMENTWISE, Const, Operand, Var
from overclock.translate.ir.store import DictCell, ManyCell, ObjectCell
from overclock.translate.ir.values import Gone, Known, Lazy, May, Num, Pick, Ref, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.flexible import item_by_item
from overclock.translate.python.memory.kinds import is_array, is_number, is_partial, is_sequence
from overclock.translate.python.memory.searching import any_item, equal_to_many, matching_flags
from overclock.translate.python.operators.options import map_options
from overclock.translate.python.operators.sequences import iterate
from overclock.translate.python.operators.truth import SEVERAL, chosen_flag, truth


def equal(machine: Machine, left: Value, right: Value) -> Operand:
    """Whether two values are equal, as one flag."""
    if is_partial(machine, left) or is_partial(machine, right):
        raise UnsupportedError(SEVERAL)
    if isinstance(left, May) or isinstance(right, May):
        return _equal_optional(machine, left, right)
    if isinstance(left, Known) and isinstance(right, Known):
        same = left.value == right.value
        return Const(bool(np.all(same)))
    mapped = map_options(machine, operator.eq, left, right)
    if mapped is not None:
        return truth(machine, mapped)
    if is_number(machine, left) and is_number(machine, right):
        out = machine.builder.apply("eq", machine.operand(left), machine.operand(right))
        if out.type.shape:
            raise UnsupportedError(SEVERAL)
        return machine.builder.flag(out)
    if is_sequence(machine, left) and is_sequence(machine, right):
        return _equal_sequences(machine, left, right)
    if isinstance(left, Ref) and isinstance(right, Ref):
        cell = machine.store[left]
        if isinstance(cell, ObjectCell) and "__eq__" in vars(cell.cls):
            return truth(machine, machine.call_function(cell.cls.__eq__, [left, right]))
        return Const(left == right)
    return Const(False)  # a number and a string, a list and a number ...: never equal


def _equal_sequences(machine: Machine, left: Value, right: Value) -> Operand:
    for one, other in ((left, right), (right, left)):
        if isinstance(cell := machine.cell(one), ManyCell):
            return equal_to_many(machine, cell, other)
    a, b = machine.items(left), machine.items(right)
    if len(a) != len(b):
        return Const(False)
    found: Operand = Const(True)
    for one, other in zip(a, b, strict=True):
        found = machine.builder.logical("and", found, equal(machine, one, other))
    return found


def _equal_optional(machine: Machine, left: Value, right: Value) -> Operand:
    if isinstance(left, May) and isinstance(right, May):
        b = machine.builder
        neither = b.logical("and", b.negated(left.present), b.negated(right.present))
        both = b.logical("and", left.present, right.present)
        return b.logical("or", neither, b.logical("and", both, equal(machine, left.value, right.value)))
    may, other = (left, right) if isinstance(left, May) else (right, left)
    assert isinstance(may, May)
    if isinstance(other, Known) and other.value is None:
        return machine.builder.negated(may.present)
    return machine.builder.logical("and", may.present, equal(machine, may.value, other))


def contains(machine: Machine, container: Value, item: Value) -> Operand:
    """Whether an item is in a container."""
    container = machine.present(container)
    match container:
        case Known(inner) if isinstance(item, Known):
            return Const(item.value in inner)
        case Known(inner) if isinstance(inner, range):
            return _in_range(machine, inner, item)
        case Known(inner) if isinstance(inner, dict | set | frozenset | list | tuple):
            return _any_equal(machine, list(inner), item)
        case Pick():
            mapped = map_options(machine, lambda box, one: one in box, container, item)
            if mapped is not None:
                return truth(machine, mapped)
        case Ref() if isinstance(cell := machine.store[container], ManyCell):
            return any_item(machine, cell, matching_flags(machine, cell, item))
        case Ref() if isinstance(cell := machine.store[container], DictCell):
            return _any_equal(machine, list(cell.items), item)
        case Ref() if isinstance(cell := machine.store[container], ObjectCell):
            return truth(machine, machine.call_function(cell.cls.__contains__, [container, item]))  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(container, Lazy):
        if container.kind == "set":
            return contains(machine, container.items[0], item)
        return _among(machine, iterate(machine, container), item)
    if is_number(machine, container):
        equal = machine.builder.apply("eq", machine.operand(container), machine.operand(item))
        return machine.builder.flag(machine.builder.let("any", np.any, equal))
    return _among(machine, machine.items(container), item)


def _among(machine: Machine, items: list[Value], item: Value) -> Operand:
    found: Operand = Const(False)
    for one in items:
        found = machine.builder.logical("or", found, equal(machine, one, item))
    return found


def _in_range(machine: Machine, inner: range, item: Value) -> Operand:
    b, operand = machine.builder, machine.operand(item)
    low = b.apply("ge", operand, Const(min(inner, default=0)))
    high = b.apply("le", operand, Const(max(inner, default=-1)))
    found = machine.builder.logical("and", low, high)
    if abs(inner.step) != 1:
        rest = b.apply("mod", b.apply("sub", operand, Const(inner.start)), Const(abs(inner.step)))
        found = machine.builder.logical("and", found, b.apply("eq", rest, Const(0)))
    return found


def _any_equal(machine: Machine, options: list[Any], item: Value) -> Operand:
    """Whether an item is one of several constants."""
    position = position_among(machine, options, item, need=False)
    return position[1]


def position_among(machine: Machine, options: list[Any], item: Value, need: bool = True) -> tuple[Operand, Operand]:
    """(where an item stands among constants, whether it does)."""
    if isinstance(item, Known):
        places = [at for at, one in enumerate(options) if one == item.value]
        return Const(places[0] if places else 0), Const(bool(places))
    if isinstance(item, Pick):
        places = [options.index(one) if one in options else 0 for one in item.options]
        inside = [one in options for one in item.options]
        return machine.arrays.lookup(np.array(places), item.index), chosen_flag(machine, inside, item.index)
    if isinstance(item, May):
        at, inside = position_among(machine, options, item.value)
        return at, machine.builder.logical("and", item.present, inside)
    parts = machine.items(item) if is_sequence(machine, item) else None
    if parts is None:
        usable = [(at, one) for at, one in enumerate(options) if isinstance(one, bool | int | float | np.generic)]
        operands = [machine.operand(item)]
    else:
        usable = [(at, one) for at, one in enumerate(options) if isinstance(one, tuple) and len(one) == len(parts)]
        operands = [machine.operand(part) for part in parts]
    if not usable:
        return Const(0), Const(False)
    rows = np.array([one for _, one in usable])
    if parts is None:
        rows = rows[:, None]
    if rows.dtype.kind not in "biuf":
        raise UnsupportedError("a lookup by things that are no numbers")
    if (
        len(operands) == 1
        and rows.dtype.kind in "iu"
        and (rows[:, 0] == np.arange(len(rows))).all()
        and len(usable) == len(options)
    ):
        only = operands[0]
        low = machine.builder.apply("ge", only, Const(0))
        high = machine.builder.apply("lt", only, Const(len(rows)))
        inside = Const(True) if _within(only, len(rows)) else machine.builder.logical("and", low, high)
        return only, inside
    equal: Operand | None = None
    for column, operand in enumerate(operands):
        one = machine.builder.apply("eq", Const(rows[:, column]), operand)
        equal = one if equal is None else machine.builder.let("and", np.logical_and, equal, one)
    assert equal is not None
    inside = machine.builder.flag(machine.builder.let("any", np.any, equal))
    at = machine.builder.let("argmax", np.argmax, equal)
    if [place for place, _ in usable] != list(range(len(usable))):
        at = machine.arrays.lookup(np.array([place for place, _ in usable]), at)
    return at, inside


def _within(operand: Operand, size: int) -> bool:
    return isinstance(operand, Var) and operand.low is not None and operand.low >= 0 and (operand.high or size) < size


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
    none = any(isinstance(one, Known) and one.value is None for one in (left, right))
    if none and isinstance(node, ast.Eq | ast.NotEq):
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
    found: Operand = Const(ELEMENTWISE[op](len(a), len(b)))
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
