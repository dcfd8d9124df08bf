"""NumPy's functions about shapes and indices: np.shape, np.ndim, np.unravel_index and their like."""

import numpy as np

from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.values import Known, Num, Pack, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import static_value
from overclock.translate.python.numpy.operands import as_array
from overclock.translate.python.operators.sequences import iterate


def numpy_ndim(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return Known(len(machine.operand(args[0]).type.shape))


def numpy_shape(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return Known(machine.operand(args[0]).type.shape)


def numpy_size(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return Known(int(np.prod(machine.operand(args[0]).type.shape)))


def numpy_isscalar(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return Known(isinstance(args[0], Num))


def numpy_unravel_index(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    size = static_value(machine, args[1])
    left = as_array(machine, args[0])
    parts: list[Value] = []
    for extent in reversed(size):
        parts.append(machine.fresh(machine.builder.as_numpy(machine.builder.apply("mod", left, Const(int(extent))))))
        left = machine.builder.apply("floordiv", left, Const(int(extent)))
    return Pack(tuple(reversed(parts)))


def numpy_ravel_multi_index(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    size = static_value(machine, args[1])
    total: Operand = Const(np.int64(0))
    for part, extent in zip(iterate(machine, args[0]), size, strict=True):
        scaled = machine.builder.apply("mul", total, Const(int(extent)))
        total = machine.builder.apply("add", scaled, as_array(machine, part))
    return machine.fresh(total)


RULES = {
    "ndim": numpy_ndim,
    "shape": numpy_shape,
    "size": numpy_size,
    "isscalar": numpy_isscalar,
    "unravel_index": numpy_unravel_index,
    "ravel_multi_index": numpy_ravel_multi_index,
}
