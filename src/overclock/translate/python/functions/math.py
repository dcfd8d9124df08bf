"""What the functions of the module `math` mean."""

import math
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.values import Known, Value
from overclock.translate.python.machine import Machine

MATH = {
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "log2", "log10", "sqrt",
    "hypot", "pow", "fabs", "copysign", "log1p", "expm1", "degrees", "radians", "fmod", "isnan", "isinf", "isfinite",
}  # fmt: skip
MATH_NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power", "fabs": "abs",
    "degrees": "rad2deg", "radians": "deg2rad",
}  # fmt: skip


def math_call(machine: Machine, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of function(*args, **keywords) for a function of `math`."""
    name = function.__name__
    known = machine.computed(function, args, keywords)
    if known is not None:
        return known
    operands = [machine.operand(one) for one in args]
    if name in ("floor", "ceil", "trunc"):
        if operands[0].type.kind in "biu":
            return number(machine.builder.cast(operands[0], "int64", True))
        rounded = machine.builder.let(name, getattr(np, name), operands[0])
        return number(machine.builder.cast(rounded, "int64", True))
    if name == "isclose":
        return _is_close(machine, args, keywords)
    if name not in MATH or keywords:
        raise UnsupportedError(f"math.{name}")
    operands = [machine.builder.cast(one, "float64", True) for one in operands]
    found = machine.builder.let(MATH_NAMES.get(name) or name, function, *operands)
    kind = "bool" if name.startswith("is") else "float64"
    return number(machine.builder.cast(found, kind, True))


def _is_close(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    """math.isclose, as Python computes it; infinities are close to themselves alone."""
    given = [keywords.get("rel_tol", Known(1e-9)), keywords.get("abs_tol", Known(0.0)), *args]
    near, floor, a, b = (machine.builder.cast(machine.operand(one), "float64", True) for one in given)
    gap = machine.builder.let("abs", abs, machine.builder.apply("sub", a, b))
    sizes = [machine.builder.let("abs", abs, one) for one in (a, b)]
    scaled = machine.builder.apply("mul", near, machine.builder.apply("maximum", *sizes))
    within = machine.builder.apply("le", gap, machine.builder.apply("maximum", scaled, floor))
    finite = machine.builder.let("isfinite", math.isfinite, gap)
    equal = machine.builder.apply("eq", a, b)
    return number(machine.builder.logical("or", equal, machine.builder.logical("and", finite, within)))
