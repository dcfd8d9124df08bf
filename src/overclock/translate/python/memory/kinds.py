"""What kind of thing an abstract value is, and what is known about it."""

from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import FLEXIBLE, Array, Choice, Fixed, Number
from overclock.translate.ir.nodes import Const
from overclock.translate.ir.store import ArrayCell, DictCell, ListCell, ManyCell, ObjectCell
from overclock.translate.ir.values import TEXT, Elem, Known, Num, Pack, Pick, Ref, Rows, Value, View, Window
from overclock.translate.python.machine import Machine

NUMERIC = (bool, int, float, np.generic, np.ndarray)


def is_number(machine: Machine, value: Value) -> bool:
    """Whether a value is a number or an array."""
    match value:
        case Known(inner):
            return isinstance(inner, NUMERIC) and np.asarray(inner).dtype.kind in "biuf"
        case Num() | View() | Elem(_, _, Array()):
            return True
        case Ref():
            return isinstance(machine.store[value], ArrayCell)
    return False


def is_array(machine: Machine, value: Value) -> bool:
    if isinstance(value, Known):
        return isinstance(value.value, np.ndarray) and value.value.ndim > 0
    return (
        isinstance(value, View | Elem | Ref) and is_number(machine, value) and bool(machine.operand(value).type.shape)
    )


def is_sequence(machine: Machine, value: Value) -> bool:
    """Whether a value is a list or a tuple."""
    match value:
        case Pack():
            return True
        case Known(inner):
            return isinstance(inner, list | tuple) or type(inner).__name__ == "deque"
        case Elem(_, _, shape):
            return isinstance(shape, Fixed)
        case Ref():
            cell = machine.store[value]
            return isinstance(cell, ListCell) or (isinstance(cell, ManyCell) and cell.kind != FLEXIBLE)
        case Pick(_, options):
            return all(isinstance(one, list | tuple) for one in options)
    return False


def is_flexible(machine: Machine, value: Value) -> bool:
    """An array of changing length."""
    return isinstance(cell := machine.cell(value), ManyCell) and cell.kind == FLEXIBLE


def is_partial(machine: Machine, value: Value) -> bool:
    """An array whose shape is not known."""
    return isinstance(value, Window | Rows) or is_flexible(machine, value)


def is_numbers(machine: Machine, value: Value) -> bool:
    """A list or an array of changing length, of numbers."""
    if not isinstance(value, Ref) or not isinstance(cell := machine.store[value], ManyCell):
        return False
    return isinstance(cell.of, Number) or (isinstance(cell.of, Array) and cell.kind == FLEXIBLE)


def is_mask(machine: Machine, index: Value) -> bool:
    if not is_number(machine, index):
        return False
    kind = machine.operand(index).type
    return kind.kind == "b" and bool(kind.shape)


def is_flag(value: Value) -> bool:
    if isinstance(value, Known):
        return isinstance(value.value, bool | np.bool_)
    return isinstance(value, Num) and value.operand.type.kind == "b"


def is_text(machine: Machine, value: Value) -> bool:
    """Texts, of which at least one is chosen at run time, and lists of such."""
    match value:
        case Pick(_, options):
            return all(isinstance(one, str) for one in options)
        case Ref() if isinstance(cell := machine.store[value], ListCell):
            return any(is_text(machine, one) for one in cell.items)
        case Ref() if isinstance(cell := machine.store[value], ManyCell) and isinstance(cell.of, Choice):
            return all(isinstance(one, str) for one in cell.of.options)
    return value is TEXT


def is_tuple(machine: Machine, value: Value) -> bool:
    return isinstance(value, Pack) or (isinstance(value, Known) and isinstance(value.value, tuple))


def known_value(machine: Machine, value: Value) -> tuple[bool, Any]:
    """(whether everything about a value is known, the value)."""
    match value:
        case Known(inner):
            return True, inner
        case Pack(items) if not isinstance(value.cls, str):
            found = [known_value(machine, item) for item in items]
            return all(ok for ok, _ in found), tuple(one for _, one in found)
        case Ref():
            cell = machine.store[value]
            if isinstance(cell, ArrayCell):
                return isinstance(cell.operand, Const), getattr(cell.operand, "value", None)
            if isinstance(cell, ListCell):
                found = [known_value(machine, item) for item in cell.items]
                return all(ok for ok, _ in found), [one for _, one in found]
            if isinstance(cell, DictCell):
                pairs = {key: known_value(machine, item) for key, item in cell.items.items()}
                return all(ok for ok, _ in pairs.values()), {key: one for key, (_, one) in pairs.items()}
        case View():
            operand = machine.operand(value)
            return isinstance(operand, Const), getattr(operand, "value", None)
    return False, None


def static_value(machine: Machine, value: Value) -> Any:
    """An argument that must be known."""
    ok, inner = known_value(machine, value)
    if not ok:
        raise UnsupportedError("an argument of a NumPy function that must be known is not")
    return inner


def class_of(machine: Machine, value: Value) -> tuple[type, Any]:
    """The class of an object, and a live instance where there is one."""
    if isinstance(cell := machine.cell(value), ObjectCell):
        return cell.cls, cell.like
    if isinstance(value, Known):
        return type(value.value), value.value
    raise UnsupportedError("an object is needed here")
