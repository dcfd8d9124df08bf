"""NumPy's functions of arrays with further arguments that must be known: np.roll, np.sort, np.dot and their like."""

from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Operand, Var, common_dtype
from overclock.translate.ir.values import Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import known_value, static_value

# Name -> how many arrays come first.
PLAIN = {
    "transpose": 1, "ravel": 1, "flip": 1, "fliplr": 1, "flipud": 1, "rot90": 1, "roll": 1, "sort": 1, "argsort": 1,
    "diff": 1, "squeeze": 1, "expand_dims": 1, "reshape": 1, "repeat": 1, "tile": 1, "swapaxes": 1, "moveaxis": 1,
    "triu": 1, "tril": 1, "trace": 1, "diag": 1, "dot": 2, "inner": 2, "outer": 2, "cross": 2, "matmul": 2, "kron": 2,
    "broadcast_to": 1, "nan_to_num": 1, "searchsorted": 2, "interp": 3, "round": 1, "around": 1,
    "convolve": 2, "take": 2, "isclose": 2, "atleast_1d": 1, "atleast_2d": 1, "diagonal": 1, "cumsum": 1,
}  # fmt: skip
# What stands behind the arrays, in order.
STATIC_NAMES = {
    "transpose": ("axes",), "flip": ("axis",), "rot90": ("k", "axes"), "roll": ("shift", "axis"), "sort": ("axis",),
    "argsort": ("axis",), "diff": ("n", "axis"), "squeeze": ("axis",), "expand_dims": ("axis",), "reshape": ("shape",),
    "repeat": ("repeats", "axis"), "tile": ("reps",), "swapaxes": ("axis1", "axis2"),
    "moveaxis": ("source", "destination"), "triu": ("k",), "tril": ("k",), "trace": ("offset",), "diag": ("k",),
    "broadcast_to": ("shape",), "searchsorted": ("side",), "round": ("decimals",),
    "around": ("decimals",), "convolve": ("mode",), "take": ("axis",), "isclose": ("rtol", "atol"),
    "diagonal": ("offset",),
    "cumsum": ("axis",),
}  # fmt: skip


def plain_call(machine: Machine, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
    """A function that NumPy itself describes: it is asked for the type of the result, and printed by its name."""
    name = function.__name__
    count = PLAIN[name]
    operands = [machine.array(one) for one in args[:count]]
    further = (_static_or_none(machine, one) for one in args[count:])
    static = dict(zip(STATIC_NAMES.get(name, ()), further, strict=False))
    if len(args) - count > len(static):
        raise UnsupportedError(f"np.{name} with {len(args)} arguments")
    static |= {key: static_value(machine, one) for key, one in keywords.items()}
    if name == "roll" and isinstance(static.get("shift"), Var):
        return _roll(machine, operands[0], static["shift"], static.get("axis"))
    if any(isinstance(one, Var) for one in static.values()):
        raise UnsupportedError(f"np.{name} with an argument that must be known")
    static = {key: one for key, one in static.items() if one is not None}
    if count > 1 and name in ("dot", "inner", "outer", "cross", "matmul", "kron", "convolve"):
        dtype = common_dtype(*operands)
        operands = [machine.builder.cast(one, dtype) for one in operands]
    compute = lambda *arrays: np.asarray(function(*arrays, **static))[()]  # noqa: E731
    return machine.fresh(machine.builder.as_numpy(machine.builder.let(name, compute, *operands, **static)))


def _static_or_none(machine: Machine, value: Value) -> Any:
    ok, inner = known_value(machine, value)
    return inner if ok else machine.operand(value)


def _roll(machine: Machine, operand: Operand, shift: Var, axis: Any) -> Value:
    compute = lambda array, by: np.roll(array, int(by), axis=axis)  # noqa: E731
    keywords = {} if axis is None else {"axis": axis}
    return machine.fresh(machine.builder.let("roll", compute, operand, shift, **keywords))
