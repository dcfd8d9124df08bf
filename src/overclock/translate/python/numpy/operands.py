"""What NumPy's functions make of their arguments, and numbers that are neutral in a reduction."""

from typing import Any

import numpy as np

from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.values import Value
from overclock.translate.python.machine import Machine


def as_array(machine: Machine, value: Value) -> Operand:
    """np.asarray(value) as an operand."""
    operand = machine.operand(value)
    return machine.builder.as_numpy(operand) if operand.type.python else operand


def flag_array(machine: Machine, operand: Operand) -> Operand:
    """The truth of every item of an array."""
    if operand.type.kind == "b":
        return operand
    return machine.builder.apply("ne", operand, Const(0))


def extreme(dtype: np.dtype, name: str) -> Any:
    """What no number is larger than (for `min`) or smaller than (for `max`)."""
    if dtype.kind == "f":
        return np.inf if name == "min" else -np.inf
    if dtype.kind == "b":
        return name == "min"
    return np.iinfo(dtype).max if name == "min" else np.iinfo(dtype).min


def python_dtype(kind: str) -> str:
    """What `item` and `tolist` make of a number of NumPy's."""
    return {"b": "bool", "f": "float64"}.get(kind, "int64")
