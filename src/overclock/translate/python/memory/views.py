"""What stands between brackets behind an array, and views: what shares the memory of an array, and what copies it."""

from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.ir.store import ArrayCell
from overclock.translate.ir.values import Elem, Known, Pack, Ref, Value, View
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.arrays import Remake, real_index
from overclock.translate.python.memory.kinds import is_sequence, static_value

WHOLE = Pack((Known(None), Known(None), Known(None)), slice)


def index_parts(index: Value) -> list[Value]:
    """What stands between brackets, part by part."""
    if isinstance(index, Known) and isinstance(index.value, tuple):
        return [Known(part) for part in index.value]
    return list(index.items) if isinstance(index, Pack) and index.cls is not slice else [index]


def is_slice(part: Value) -> bool:
    """Whether a part of an index is a slice."""
    return isinstance(part, Pack) and part.cls is slice


def array_index(machine: Machine, value: Value, index: Value) -> tuple[Any, ...]:
    """An index of an array as `arrays.py` writes it down."""
    parts = list(index.items) if isinstance(index, Pack) and index.cls is not slice else [index]
    if isinstance(index, Known) and isinstance(index.value, tuple):
        parts = [Known(part) for part in index.value]
    return tuple(_index_part(machine, part) for part in parts)


def _index_part(machine: Machine, part: Value) -> Any:
    if isinstance(part, Pack) and part.cls is slice:
        if not all(isinstance(one, Known) for one in part.items):
            raise UnsupportedError("a slice of an array with bounds that are not known")
        return ("slice", *(one.value for one in part.items))  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(part, Known):
        if part.value is None:
            return ("new",)
        if part.value is ...:
            return ("rest",)
        if isinstance(part.value, slice):
            return ("slice", part.value.start, part.value.stop, part.value.step)
        if isinstance(part.value, int | np.integer) and not isinstance(part.value, bool):
            return int(part.value)
    operand = machine.operand(part)
    if operand.type.shape == (0,) and is_sequence(machine, part):
        operand = Const(np.zeros(0, np.int64))  # an empty list names no places; an empty array of floats is wrong
    if operand.type.kind == "b" and operand.type.shape:
        raise UnsupportedError("the items of an array where a mask holds: their number is not known")
    if operand.type.kind == "f":
        raise UnsupportedError("an index that is a float")
    return operand if isinstance(operand, Var) or operand.type.shape else int(operand.value)


def wrapped_index(machine: Machine, index: Value, size: int) -> Operand:
    """A position in something of known length."""
    operand = machine.operand(index)
    if isinstance(operand, Var) and operand.low is not None and operand.low >= 0:
        return operand
    operand = machine.builder.cast(operand, "int64", True)
    return machine.builder.apply("mod", operand, Const(size)) if size else operand


REMADE = ("ravel", "reshape", "transpose")


def remade(machine: Machine, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    """What owner.ravel(), owner.reshape(...) or owner.transpose(...) gives."""
    if keywords.keys() - {"shape", "axes"} or (name == "ravel" and args):
        raise UnsupportedError(f"np.{name} in another order")
    given = [static_value(machine, one) for one in (*args, *keywords.values())]
    to = tuple(given[0]) if len(given) == 1 and isinstance(given[0], tuple | list) else tuple(given)
    size = machine.operand(owner).type.shape
    if name == "transpose":
        axes = to if to and to != (None,) else tuple(reversed(range(len(size))))
        return viewed(machine, owner, Remake("transpose", tuple(axis % len(size) for axis in axes)))
    to = np.zeros(size).reshape(-1 if name == "ravel" else to).shape
    return viewed(machine, owner, Remake("reshape", to))


def viewed(machine: Machine, owner: Value, step: Remake) -> Value:
    """An array in another shape, or with other axes."""
    if step.op == "transpose" and len(step.to) > 1:
        machine.store.journal.turned = True
    shared = machine.arrays.stepped(machine.operand(owner), step)
    if not isinstance(owner, Ref | View) or not shared.type.shape:
        return sharing(machine, own_array(machine, shared), owner)
    view = owner if isinstance(owner, View) else View(owner, ())
    # Results of NumPy keep the order of axes of what they were computed from: then nobody knows what is a view.
    unsure = machine.store.journal.turned and step.op == "reshape" and len(machine.operand(view.base).type.shape) > 1
    if unsure:
        return sharing(machine, own_array(machine, shared), owner)
    if machine.arrays.is_view(view, step, machine.store):
        return View(view.base, (*view.steps, step))
    return own_array(machine, shared)


def sharing(machine: Machine, made: Value, owner: Value) -> Value:
    """A result that may share memory with an argument: changing one spoils the other."""
    if isinstance(made, Ref) and isinstance(owner, Ref | View | Elem | Known):
        machine.store.copied(made, owner)
    return made


def own_array(machine: Machine, operand: Operand) -> Value:
    """An array of its own, also where it has no dimensions."""
    return machine.store.new(ArrayCell(operand)) if operand.type.shape else machine.fresh(operand)


def part_of_array(machine: Machine, value: Value, index: tuple[Any, ...]) -> Value:
    """A part of an array: a view, or a number."""
    basic = all(not isinstance(part, Var | Const) or not part.type.shape for part in index)
    if isinstance(value, Known) and basic and not any(isinstance(part, Var | Const) for part in index):
        return machine.part_of(value, value.value[real_index(index, [])], index)
    found = machine.arrays.getitem(machine.operand(value), index)
    if not found.type.shape:
        return machine.fresh(found)
    if not basic:
        return machine.fresh(found)
    if isinstance(value, Known | Elem):
        made = machine.fresh(found)
        machine.store.copied(made, value)
        return made
    if isinstance(value, View):
        return View(value.base, (*value.steps, index))
    assert isinstance(value, Ref)
    return View(value, (index,))
