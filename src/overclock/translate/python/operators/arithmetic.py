"""Arithmetic: what `+`, `*`, `-x` and their like mean. A new operator is one row of `BINARY` or `UNARY`."""

import ast
import dataclasses
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Operand, Var, bounds
from overclock.translate.ir.store import ObjectCell
from overclock.translate.ir.values import Known, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.flexible import item_by_item
from overclock.translate.python.memory.kinds import is_partial, is_sequence
from overclock.translate.python.operators.options import map_options
from overclock.translate.python.operators.sequences import sequence_operator

LARGEST = 2**63
LARGE_FACTOR = 2**48  # products with larger constants overflow with everything but small numbers
SMALL_FACTOR = 2**16  # products with smaller constants are taken for small; nobody counts to 2**47 in a step


def binary(machine: Machine, node: ast.operator, left: Value, right: Value) -> Value:
    """left <op> right; item by item where one is an array whose shape is not known."""
    left, right = machine.present(left), machine.present(right)
    operate = functools.partial(_binary, machine, BINARY[type(node)])
    if is_partial(machine, left) or is_partial(machine, right):
        return item_by_item(machine, [left, right], operate)
    return operate(left, right)


def _binary(machine: Machine, kind: "Operator", left: Value, right: Value) -> Value:
    op = kind.op
    if isinstance(left, Known) and isinstance(right, Known):
        return machine.constant(kind.function(left.value, right.value))
    mapped = map_options(machine, kind.function, left, right)
    if mapped is not None:
        return mapped
    if is_sequence(machine, left) and (is_sequence(machine, right) or op == "mul") and op in ("add", "mul"):
        return sequence_operator(machine, op, left, right)
    if op == "mul" and is_sequence(machine, right) and isinstance(left, Known):
        return sequence_operator(machine, op, right, left)
    special = _operator_of_class(machine, op, left, right)
    if special is not None:
        return special
    return machine.fresh(kind.rule(machine, kind, machine.operand(left), machine.operand(right)))


# ---- rules for numbers and arrays ----


def _elementwise(machine: Machine, kind: "Operator", a: Operand, b: Operand) -> Operand:
    return machine.builder.joined(kind.op, kind.function, a, b)


def _matrix_product(machine: Machine, kind: "Operator", a: Operand, b: Operand) -> Operand:
    return machine.builder.joined(kind.op, np.matmul, a, b)


def _shift(machine: Machine, kind: "Operator", a: Operand, b: Operand) -> Operand:
    if a.type.python and b.type.python:
        raise UnsupportedError("a shift of Python's unlimited integers by a number that is not known")
    return _elementwise(machine, kind, a, b)


def _product(machine: Machine, kind: "Operator", a: Operand, b: Operand) -> Operand:
    if all(one.type.python and one.type.kind == "i" for one in (a, b)):
        _watch_product(machine, a, b)
    return _elementwise(machine, kind, a, b)


def _watch_product(machine: Machine, a: Operand, b: Operand) -> None:
    """Python's integers have no end, ours have 64 bits: a product that may need more raises the overflow flag."""
    factor, other = (a, b) if isinstance(a, Const) else (b, a)
    (low, high), most = bounds(other), SMALL_FACTOR
    if isinstance(factor, Const):
        most = abs(int(factor.value))
    elif bounds(factor) != (None, None) and None not in bounds(factor):
        most = max(map(abs, bounds(factor)))  # pyright: ignore[reportArgumentType]
    elif not isinstance(factor, Const):
        _too_large(machine, machine.builder.cast(factor, "float64"), machine.builder.cast(other, "float64"))
        return
    if most >= LARGE_FACTOR and (low is None or high is None):
        raise UnsupportedError("a product of whole numbers that may need more than 64 bits")
    if most < SMALL_FACTOR or (low is not None and high is not None and max(-low, high) * most < LARGEST):
        return
    _too_large(machine, machine.builder.cast(other, "float64"), Const(float(most)))


def _too_large(machine: Machine, a: Operand, b: Operand) -> None:
    size = machine.builder.let("abs", np.abs, machine.builder.apply("mul", a, b))
    over = machine.builder.apply("ge", size, Const(float(LARGEST)))
    machine.store.overflow = machine.builder.logical("or", machine.store.overflow, machine.builder.flag(over))


def _operator_of_class(machine: Machine, op: str, left: Value, right: Value) -> Value | None:
    """Operators that a class defines itself."""
    for one, other, prefix in ((left, right, ""), (right, left, "r")):
        if isinstance(cell := machine.cell(one), ObjectCell):
            method = getattr(cell.cls, f"__{prefix}{op}__", None)
            if method is not None:
                return machine.call_function(method, [one, other])
    return None


def _power(machine: Machine, kind: "Operator", base: Operand, exponent: Operand) -> Operand:
    if isinstance(exponent, Const) and np.ndim(exponent.value) == 0:
        if base.type.python and base.type.kind == "i" and exponent.value > 2:
            root = Const(float(LARGEST ** (1 / exponent.value)))
            _too_large(machine, machine.builder.cast(base, "float64"), Const(LARGEST / root.value))
        if exponent.value == 2 and base.type.kind != "b":
            dtype = base.type
            if isinstance(exponent.value, float) and dtype.kind in "iu":
                base = machine.builder.cast(base, "float64", dtype.python)
            return machine.builder.let("square", lambda a: a * a, base)
    elif base.type.python and base.type.kind == "i" and exponent.type.kind == "i" and exponent.type.python:
        least = bounds(exponent)[0]
        if least is None or least < 0:
            raise UnsupportedError("a power of Python's integers with an exponent that is not known: int or float?")
        floats = [machine.builder.cast(one, "float64") for one in (base, exponent)]
        _too_large(machine, machine.builder.apply("power", *floats), Const(1.0))
    return _elementwise(machine, kind, base, exponent)


def unary(machine: Machine, node: ast.unaryop, value: Value) -> Value:
    """<op> value; item by item where that is an array whose shape is not known."""
    operate = functools.partial(_unary, machine, UNARY[type(node)])
    shown = machine.present(value)
    if is_partial(machine, shown):
        return item_by_item(machine, [shown], operate)
    found = operate(shown)
    if isinstance(node, ast.USub) and isinstance(value, Known) and isinstance(found, Known):
        # The negative of a constant with a name is written with it.
        return Known(found.value, f"-{value.name}") if value.name.isidentifier() else found
    return found


def _unary(machine: Machine, kind: "Operator", value: Value) -> Value:
    if isinstance(value, Known):
        return machine.constant(kind.function(value.value))
    mapped = map_options(machine, kind.function, value)
    if mapped is not None:
        return mapped
    operand = machine.operand(value)
    if kind.op == "pos":
        return machine.fresh(operand)
    if operand.type.kind == "b" and operand.type.python:
        operand = machine.builder.cast(operand, "int64", True)
    out = machine.builder.let(kind.op, kind.function, operand)
    if isinstance(out, Var) and kind.op == "neg" and isinstance(operand, Var) and operand.low is not None:
        out.low, out.high = None if operand.high is None else -operand.high, -operand.low
    return machine.fresh(out)


@dataclasses.dataclass(frozen=True)
class Operator:
    """An operator: its name in programs and classes, what it means for constants, and the rule for numbers."""

    op: str
    function: Callable[..., Any]
    rule: Callable[[Machine, "Operator", Operand, Operand], Operand] = _elementwise


BINARY: dict[type[ast.operator], Operator] = {
    ast.Add: Operator("add", operator.add),
    ast.Sub: Operator("sub", operator.sub),
    ast.Mult: Operator("mul", operator.mul, _product),
    ast.Div: Operator("truediv", operator.truediv),
    ast.FloorDiv: Operator("floordiv", operator.floordiv),
    ast.Mod: Operator("mod", operator.mod),
    ast.Pow: Operator("power", operator.pow, _power),
    ast.MatMult: Operator("matmul", operator.matmul, _matrix_product),
    ast.BitAnd: Operator("and", operator.and_),
    ast.BitOr: Operator("or", operator.or_),
    ast.BitXor: Operator("xor", operator.xor),
    ast.LShift: Operator("lshift", operator.lshift, _shift),
    ast.RShift: Operator("rshift", operator.rshift),
}
UNARY: dict[type[ast.unaryop], Operator] = {
    ast.USub: Operator("neg", operator.neg),
    ast.UAdd: Operator("pos", operator.pos),
    ast.Invert: Operator("invert", operator.invert),
}
