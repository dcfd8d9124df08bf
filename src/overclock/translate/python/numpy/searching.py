"""NumPy's functions that look for things in arrays: np.where, np.nonzero, np.unique and their like."""

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, common_dtype
from overclock.translate.ir.values import Known, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.flexible import new_flexible, nonzero, where_mask
from overclock.translate.python.memory.kinds import is_flexible, static_value
from overclock.translate.python.memory.padded import many_cell
from overclock.translate.python.memory.searching import extreme, masked_items, valid_flags
from overclock.translate.python.memory.views import own_array
from overclock.translate.python.numpy.plain import plain_call


def numpy_where(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    if len(args) == 1:
        return numpy_nonzero(machine, args, {})
    condition = machine.builder.truths(machine.operand(args[0]))
    yes, no = machine.operand(args[1]), machine.operand(args[2])
    dtype = common_dtype(yes, no)
    yes, no = machine.builder.cast(yes, dtype), machine.builder.cast(no, dtype)
    return machine.fresh(machine.arrays.where(condition, yes, no))


def numpy_nonzero(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    box = machine.present(args[0])
    if not is_flexible(machine, box):
        return nonzero(machine, machine.builder.truths(machine.operand(box)))
    cell = many_cell(machine, box)
    flags = machine.builder.truths(cell.leaves[0])
    return nonzero(machine, machine.builder.let("and", np.logical_and, flags, valid_flags(machine, cell)))


def numpy_unique(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    box = machine.present(args[0])
    if is_flexible(machine, box):
        cell = many_cell(machine, box)
        items = masked_items(machine, cell, extreme(np.dtype(cell.leaves[0].type.dtype), "min"))
        valid = valid_flags(machine, cell)
    else:
        items = machine.builder.let("ravel", np.ravel, machine.array(box))
        valid = Const(np.ones(items.type.shape, bool))
    if items.type.kind not in "biu" or len(args) > 1:
        raise UnsupportedError("np.unique of numbers that are no whole ones, or with more arguments")
    items = machine.builder.let("sort", np.sort, items)
    before, behind = (machine.arrays.getitem(items, (("slice", *cut, None),)) for cut in ((None, -1), (1, None)))
    new = machine.builder.apply("ne", behind, before)
    first = machine.builder.let("concatenate", lambda *a: np.concatenate(a), Const(np.ones(1, bool)), new, several=True)
    return where_mask(machine, own_array(machine, items), machine.builder.let("and", np.logical_and, first, valid))


def numpy_digitize(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    """By a search in the limits, as NumPy does it; falling limits are counted from the other end."""
    given = dict(zip(("x", "bins", "right"), args, strict=False)) | keywords
    limits = np.asarray(static_value(machine, given["bins"]))
    side = "left" if static_value(machine, given.get("right", Known(False))) else "right"
    if limits.ndim != 1 or not len(limits) or np.isnan(limits).any():
        raise UnsupportedError("np.digitize with limits that are no row of numbers")
    rises, falls = (np.diff(limits) >= 0).all(), (np.diff(limits) <= 0).all()
    if not rises and not falls:
        raise UnsupportedError("np.digitize with limits that are not in order")
    value = machine.array(given["x"])
    dtype = np.result_type(limits, np.dtype(value.type.dtype))  # JAX would meet floats and whole numbers elsewhere
    ordered = Known((limits if rises else limits[::-1]).astype(dtype))
    searched = [ordered, machine.fresh(machine.builder.cast(value, dtype.name))]
    found = plain_call(machine, np.searchsorted, searched, {"side": Known(side)})
    if rises:
        return found
    return machine.fresh(machine.builder.apply("sub", Const(np.int64(len(limits))), machine.operand(found)))


def numpy_flatnonzero(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    flags = machine.builder.let("ravel", np.ravel, machine.builder.truths(machine.operand(args[0])))
    (found,) = nonzero(machine, flags).items
    return found


def numpy_argwhere(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    columns = [
        many_cell(machine, one) for one in nonzero(machine, machine.builder.truths(machine.operand(args[0]))).items
    ]
    places = machine.builder.let(
        "stack", lambda *a: np.stack(a, axis=1), *(one.leaves[0] for one in columns), several=True, axis=1
    )
    return new_flexible(machine, places, columns[0].length)


def numpy_isin(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    item, box = machine.array(args[0]), machine.builder.let("ravel", np.ravel, machine.array(args[1]))
    spread = machine.arrays.getitem(item, (("rest",), ("new",)))
    equal = machine.builder.apply("eq", spread, box)
    return machine.fresh(machine.builder.let("any", lambda a: np.any(a, axis=-1), equal, axis=-1))


RULES = {
    "where": numpy_where, "nonzero": numpy_nonzero, "unique": numpy_unique, "digitize": numpy_digitize,
    "flatnonzero": numpy_flatnonzero, "argwhere": numpy_argwhere, "isin": numpy_isin,
}  # fmt: skip
