"""NumPy's functions that put arrays together: np.concatenate, np.stack, np.pad and their like."""

from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, common_dtype
from overclock.translate.ir.values import Known, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import static_value
from overclock.translate.python.numpy.making import flexible_rows
from overclock.translate.python.operators.sequences import iterate


def numpy_concatenate(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    axis = keywords.get("axis", args[1] if len(args) > 1 else Known(0))
    return _joined(machine, np.concatenate, iterate(machine, args[0]), axis=static_value(machine, axis))


def numpy_stack(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    axis = keywords.get("axis", args[1] if len(args) > 1 else Known(0))
    if static_value(machine, axis) == 0 and (rows := flexible_rows(machine, args[0])) is not None:
        return rows
    return _joined(machine, np.stack, iterate(machine, args[0]), axis=static_value(machine, axis))


def numpy_hstack(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _joined(machine, np.hstack, iterate(machine, args[0]))


def numpy_column_stack(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _joined(machine, np.column_stack, iterate(machine, args[0]))


def numpy_vstack(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    if (rows := flexible_rows(machine, args[0])) is not None:
        return rows
    return _joined(machine, np.vstack, iterate(machine, args[0]))


def numpy_append(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    operands = [machine.array(one) for one in args[:2]]
    if keywords or len(args) > 2:
        raise UnsupportedError("np.append along an axis")
    flat = [machine.builder.let("ravel", np.ravel, one) for one in operands]
    return _joined(machine, np.concatenate, [machine.fresh(one) for one in flat])


def _joined(machine: Machine, function: Any, items: list[Value], **static: Any) -> Value:
    operands = [machine.array(one) for one in items]
    dtype = common_dtype(*operands)
    operands = [machine.builder.cast(one, dtype) for one in operands]
    compute = lambda *arrays: function(arrays, **static)  # noqa: E731
    return machine.fresh(machine.builder.let(function.__name__, compute, *operands, several=True, **static))


def numpy_pad(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    mode = static_value(machine, args[2] if len(args) > 2 else keywords.get("mode", Known("constant")))
    value = static_value(machine, keywords.get("constant_values", Known(0)))
    if mode != "constant" or np.ndim(value):
        raise UnsupportedError("np.pad in another way than with one constant")
    operand = machine.array(args[0])
    around = static_value(machine, args[1] if len(args) > 1 else keywords["pad_width"])
    widths = [tuple(map(int, pair)) for pair in np.broadcast_to(around, (len(operand.type.shape), 2))]
    if not value:
        return machine.fresh(machine.builder.let("pad", lambda array: np.pad(array, widths), operand, widths=widths))
    whole = Const(np.pad(np.zeros(operand.type.shape, operand.type.dtype), widths, constant_values=value))
    inner = zip(widths, operand.type.shape, strict=True)
    index = tuple(("slice", before, before + size, None) for (before, _), size in inner)
    return machine.fresh(machine.arrays.setitem(whole, index, operand))


RULES = {
    "concatenate": numpy_concatenate, "stack": numpy_stack, "hstack": numpy_hstack, "vstack": numpy_vstack,
    "column_stack": numpy_column_stack, "append": numpy_append, "pad": numpy_pad,
}  # fmt: skip
