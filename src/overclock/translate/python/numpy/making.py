"""NumPy's functions that make arrays or ask about their shapes: np.array, np.full, np.ndim and their like."""

from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.ir.store import ManyCell
from overclock.translate.ir.values import Known, Num, Pack, Rows, Value, same_operand
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.flexible import as_flexible
from overclock.translate.python.memory.kinds import is_flexible, is_number, is_numbers, is_sequence, static_value
from overclock.translate.python.memory.padded import many_cell
from overclock.translate.python.memory.views import own_array
from overclock.translate.python.operators.sequences import iterate

MAKERS = ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "full_like", "empty_like", "arange", "linspace",
          "eye", "identity", "tri", "indices", "meshgrid")  # fmt: skip


def make_array(machine: Machine, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
    """An array of a known size; one whose size and content are both known was made by NumPy already."""
    name = function.__name__
    if name in ("zeros_like", "ones_like", "empty_like", "full_like"):
        base = machine.operand(args[0])
        fill = {"zeros_like": 0, "ones_like": 1, "empty_like": 0}.get(name)
        value = Const(np.dtype(base.type.dtype).type(fill)) if fill is not None else machine.operand(args[1])
        return machine.fresh(machine.arrays.full_like(Const(np.zeros(base.type.shape, base.type.dtype)), value))
    if name == "full":
        size = static_value(machine, args[0])
        value = machine.array(args[1])
        shape = (size,) if isinstance(size, int | np.integer) else tuple(size)
        return machine.fresh(machine.arrays.full_like(Const(np.zeros(shape, value.type.dtype)), value))
    raise UnsupportedError(f"np.{name} with a size that is not known")


def numpy_array(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    box = machine.present(args[0])
    if isinstance(cell := machine.cell(box), ManyCell) and isinstance(cell.length, Var):
        if len(args) > 1 or keywords:
            raise UnsupportedError("np.array of something whose length is not known, with more arguments")
        return as_flexible(machine, box)
    if is_sequence(machine, box) and (rows := flexible_rows(machine, box)) is not None:
        return rows
    operand = machine.array(args[0])
    if len(args) > 1:
        operand = machine.builder.cast(operand, np.dtype(static_value(machine, args[1])).name)
    depth, copy = keywords.get("ndmin"), keywords.get("copy")
    if depth is not None and len(operand.type.shape) < static_value(machine, depth):
        raise UnsupportedError("np.array with ndmin")
    if copy is not None and static_value(machine, copy) is not True:
        raise UnsupportedError("np.array with copy=")
    return own_array(machine, operand)


def numpy_asarray(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    value = machine.present(args[0])
    if len(args) > 1:
        raise UnsupportedError("np.asarray with a dtype that has no name")
    if is_flexible(machine, value):
        return value
    if is_number(machine, value) and machine.operand(value).type.shape:
        return value
    return numpy_array(machine, args, {})


def numpy_copy(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return numpy_array(machine, args, {})


def flexible_rows(machine: Machine, box: Value) -> Rows | None:
    """Arrays of a length that is not known, on top of each other."""
    items = machine.items(box) if not is_numbers(machine, box) else []
    if not any(is_flexible(machine, one) for one in items):
        return None
    length = next(many_cell(machine, one).length for one in items if is_flexible(machine, one))
    if not all(is_flexible(machine, one) and same_operand(many_cell(machine, one).length, length) for one in items):
        raise UnsupportedError("arrays whose lengths are not known are put on top of each other")
    return Rows(tuple(as_flexible(machine, one) for one in items))


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
    left = machine.array(args[0])
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
        total = machine.builder.apply("add", scaled, machine.array(part))
    return machine.fresh(total)


RULES = {
    "array": numpy_array, "copy": numpy_copy, "asarray": numpy_asarray, "ascontiguousarray": numpy_asarray,
    "asanyarray": numpy_asarray, "ndim": numpy_ndim, "shape": numpy_shape, "size": numpy_size,
    "isscalar": numpy_isscalar, "unravel_index": numpy_unravel_index, "ravel_multi_index": numpy_ravel_multi_index,
}  # fmt: skip
