"""Methods of arrays and numbers; one that NumPy has as a function too is that function (numpy/)."""

from collections.abc import Callable

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import Number
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Operand
from overclock.translate.ir.store import ListCell, ManyCell
from overclock.translate.ir.values import Known, Rows, Value, View
from overclock.translate.python.expressions.subscripts import get_item
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.flexible import as_flexible, new_flexible
from overclock.translate.python.memory.kinds import is_flexible, is_partial, static_value
from overclock.translate.python.memory.padded import many_cell
from overclock.translate.python.memory.views import REMADE, own_array, part_of_array, remade, sharing
from overclock.translate.python.numpy.calls import numpy_call
from overclock.translate.python.numpy.plain import plain_call
from overclock.translate.python.numpy.reductions import REDUCTIONS, reduction
from overclock.translate.python.numpy.searching import numpy_nonzero
from overclock.translate.python.numpy.ufuncs import numpy_clip


def array_method(machine: Machine, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of owner.name(*args, **keywords) where owner is an array or a number."""
    if is_partial(machine, owner):
        return _partial_method(machine, name, owner, args, keywords)
    if name in REMADE:
        return remade(machine, name, owner, args, keywords)
    elsewhere = (name == "clip" and "out" not in keywords) or (name == "flatten" and (args or keywords))
    if name in RULES and not elsewhere:
        return RULES[name](machine, owner, args, keywords)
    if hasattr(np, name):
        return numpy_call(machine, getattr(np, name), [owner, *args], keywords)
    raise UnsupportedError(f"the method '{name}' of an array")


def array_copy(machine: Machine, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    return own_array(machine, machine.operand(owner))


def array_item(machine: Machine, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    if args:
        owner = part_of_array(machine, array_flatten(machine, owner, [], {}), (static_value(machine, args[0]),))
    operand = machine.operand(owner)
    while operand.type.shape:
        operand = machine.arrays.getitem(operand, (0,))
    return number(machine.builder.cast(operand, _python_dtype(operand.type.kind), True))


def array_astype(machine: Machine, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    made = machine.fresh(machine.builder.cast(machine.operand(owner), _dtype(machine, args, keywords)))
    return sharing(machine, made, owner) if "copy" in keywords or len(args) > 1 else made


def _dtype(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> str:
    return np.dtype(static_value(machine, args[0] if args else keywords["dtype"])).name


def array_tolist(machine: Machine, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _tolist(machine, machine.operand(owner))


def _tolist(machine: Machine, operand: Operand) -> Value:
    if not operand.type.shape:
        return number(machine.builder.cast(operand, _python_dtype(operand.type.kind), True))
    rows = [_tolist(machine, machine.arrays.getitem(operand, (at,))) for at in range(operand.type.shape[0])]
    return machine.store.new(ListCell(rows))


def array_flatten(machine: Machine, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    return own_array(machine, machine.builder.let("ravel", np.ravel, machine.operand(owner)))


def array_nonzero(machine: Machine, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    return numpy_nonzero(machine, [owner], {})


def array_dot(machine: Machine, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    return plain_call(machine, np.dot, [owner, *args], keywords)


def array_is_integer(machine: Machine, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    floor = machine.builder.let("floor", np.floor, machine.operand(owner))
    return machine.fresh(machine.builder.apply("eq", floor, machine.operand(owner)))


# ---- that change an array ----


def array_fill(machine: Machine, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _replace(machine, owner, lambda: machine.arrays.full_like(machine.operand(owner), machine.operand(args[0])))


def array_sort(machine: Machine, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    def compute() -> Operand:
        axis = static_value(machine, args[0] if args else keywords.get("axis", Known(-1)))
        return machine.builder.let("sort", lambda a: np.sort(a, axis), machine.operand(owner), axis=axis)

    return _replace(machine, owner, compute)


def array_clip(machine: Machine, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    given = {name: value for name, value in keywords.items() if name != "out"}
    return _replace(machine, owner, lambda: machine.operand(numpy_clip(machine, [owner, *args], given)))


def _replace(machine: Machine, owner: Value, compute: Callable[[], Operand]) -> Value:
    target, steps = (owner.base, owner.steps) if isinstance(owner, View) else (owner, ())
    ref = machine.mutable(target)
    machine.arrays.assign(ref, steps, compute(), machine.store)
    return Known(None)


RULES = {
    "copy": array_copy, "__copy__": array_copy, "item": array_item, "astype": array_astype, "tolist": array_tolist,
    "flatten": array_flatten, "nonzero": array_nonzero, "dot": array_dot, "is_integer": array_is_integer,
    "fill": array_fill, "sort": array_sort, "clip": array_clip,
}  # fmt: skip


# ---- of an array whose shape is not known ----


def _partial_method(machine: Machine, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    if name in REDUCTIONS:
        return reduction(machine, getattr(np, name), [owner, *args], keywords)
    if is_flexible(machine, owner) and name in ("copy", "astype", "tolist"):
        cell = many_cell(machine, owner)
        if name == "copy":
            return as_flexible(machine, owner)
        if name == "astype":
            items = machine.builder.cast(cell.leaves[0], _dtype(machine, args, keywords))
            return new_flexible(machine, items, cell.length)
        if isinstance(cell.of, Number):
            to = _python_dtype(np.dtype(cell.of.dtype).kind)
            items = machine.builder.cast(cell.leaves[0], to)
            return machine.store.new(ManyCell(Number(to, True), cell.capacity, [items], cell.length))
    if name == "item" and not args:
        return get_item(machine, owner, Known((0, 0) if isinstance(owner, Rows) else 0))
    given = [static_value(machine, one) for one in args] if name in ("ravel", "flatten", "reshape") else None
    flat = given in ([], [-1], [(-1,)])
    if flat and isinstance(owner, Rows) and len(owner.items) == 1:
        return owner.items[0]
    raise UnsupportedError(f"the method '{name}' of an array whose length is not known")


def _python_dtype(kind: str) -> str:
    """What `item` and `tolist` make of a number of NumPy's."""
    return {"b": "bool", "f": "float64"}.get(kind, "int64")
