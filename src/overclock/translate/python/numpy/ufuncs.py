"""NumPy's ufuncs, of one array and of two, and np.clip."""

from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Var, sample, type_of
from overclock.translate.ir.values import Known, Value
from overclock.translate.python.machine import Machine

BINARY_UFUNCS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "true_divide": "truediv",
    "floor_divide": "floordiv", "mod": "mod", "remainder": "mod", "power": "power", "minimum": "minimum",
    "maximum": "maximum", "arctan2": "arctan2", "hypot": "hypot", "equal": "eq", "not_equal": "ne", "less": "lt",
    "less_equal": "le", "greater": "gt", "greater_equal": "ge", "bitwise_and": "and", "bitwise_or": "or",
    "bitwise_xor": "xor", "fmod": "fmod", "copysign": "copysign", "left_shift": "lshift", "right_shift": "rshift",
}  # fmt: skip
LOGICAL_UFUNCS = {"logical_and": "and", "logical_or": "or", "logical_xor": "xor"}
UNARY_UFUNCS = {
    "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "exp2", "log", "log2", "log10",
    "log1p", "expm1", "sqrt", "cbrt", "square", "sign", "floor", "ceil", "trunc", "rint", "isnan", "isinf", "isfinite",
    "rad2deg", "deg2rad", "degrees", "radians", "negative", "absolute", "abs", "fabs", "logical_not", "invert",
    "reciprocal",
}  # fmt: skip
UNARY_NAMES = {
    "negative": "neg", "absolute": "abs", "fabs": "abs", "logical_not": "not", "degrees": "rad2deg",
    "radians": "deg2rad",
}  # fmt: skip


def binary_ufunc(machine: Machine, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
    """A function of two arrays, item by item."""
    name = function.__name__
    if len(args) != 2:
        raise UnsupportedError(f"np.{name} with values of the run time")
    found = machine.builder.joined(BINARY_UFUNCS[name], function, *map(machine.operand, args))
    return machine.fresh(machine.builder.as_numpy(found))


def logical_ufunc(machine: Machine, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
    """A function of the truth of the items of two arrays."""
    name = function.__name__
    if len(args) != 2:
        raise UnsupportedError(f"np.{name} with values of the run time")
    flags = [machine.builder.truths(machine.operand(one)) for one in args]
    return machine.fresh(machine.builder.as_numpy(machine.builder.let(LOGICAL_UFUNCS[name], function, *flags)))


def unary_ufunc(machine: Machine, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
    """A function of one array, item by item."""
    name, operand = function.__name__, machine.operand(args[0])
    if name == "logical_not":
        operand = machine.builder.truths(operand)
    if operand.type.kind in "biu" and isinstance(operand, Var):
        result = type_of(function(sample(operand)))
        if result.kind == "f":
            operand = machine.builder.cast(operand, result.dtype)
    found = machine.builder.let(UNARY_NAMES.get(name, name), function, operand)
    return machine.fresh(machine.builder.as_numpy(found))


def numpy_clip(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    low = args[1] if len(args) > 1 else keywords.get("a_min", keywords.get("min", Known(None)))
    high = args[2] if len(args) > 2 else keywords.get("a_max", keywords.get("max", Known(None)))
    found = machine.operand(args[0])
    for bound, op, function in ((low, "maximum", np.maximum), (high, "minimum", np.minimum)):
        if not (isinstance(bound, Known) and bound.value is None):
            found = machine.builder.joined(op, function, found, machine.operand(bound))
    return machine.fresh(machine.builder.as_numpy(found))


RULES = {"clip": numpy_clip}
FAMILIES = {
    **dict.fromkeys(BINARY_UFUNCS, binary_ufunc),
    **dict.fromkeys(LOGICAL_UFUNCS, logical_ufunc),
    **dict.fromkeys(UNARY_UFUNCS, unary_ufunc),
}
