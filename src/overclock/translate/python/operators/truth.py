"""Truth: what `bool()` gives, and flags of the interpreter's own."""

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import Fixed
from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.store import DictCell, ListCell, ManyCell, ObjectCell
from overclock.translate.ir.values import Elem, Gone, Known, May, Pack, Pick, Ref, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import is_number, is_partial

SEVERAL = "the truth of an array of several numbers"


def truth(machine: Machine, value: Value) -> Operand:
    """What bool(value) gives, as an operand."""
    if is_partial(machine, value):
        raise UnsupportedError(SEVERAL)
    match value:
        case Known(inner):
            return Const(bool(inner))
        case Pack(items):
            return Const(bool(items))
        case May(present, inner):
            behind = truth(machine, inner)
            return machine.builder.logical("and", present, behind)
        case Pick(index, options):
            return chosen_flag(machine, [bool(one) for one in options], index)
        case Gone(reason):
            raise UnsupportedError(reason)
        case Elem(_, _, Fixed(items)):
            return Const(bool(items))
        case Ref():
            cell = machine.store[value]
            if isinstance(cell, ListCell | DictCell):
                return Const(bool(cell.items))
            if isinstance(cell, ManyCell):
                return machine.builder.apply("gt", cell.length, Const(0))
            if isinstance(cell, ObjectCell):
                return _truth_of_object(machine, value, cell)
    if not is_number(machine, value):
        return Const(True)
    operand = machine.operand(value)
    if operand.type.shape not in ((), (1,)):
        raise UnsupportedError(SEVERAL)
    if operand.type.shape == (1,):
        operand = machine.arrays.getitem(operand, (0,))
    if operand.type.kind == "b":
        return machine.builder.flag(operand)
    return machine.builder.flag(machine.builder.apply("ne", operand, Const(0)))


def _truth_of_object(machine: Machine, value: Value, cell: ObjectCell) -> Operand:
    """An object is true unless its class says otherwise."""
    for name in ("__bool__", "__len__"):
        method = getattr(cell.cls, name, None)
        if method is not None:
            return truth(machine, machine.call_function(method, [value]))
    return Const(True)


def chosen_flag(machine: Machine, table: list[bool], index: Operand) -> Operand:
    """One of several constant flags."""
    found = machine.arrays.lookup(np.array(table), index)
    return Const(bool(found.value)) if isinstance(found, Const) else machine.builder.flag(found)


def read_flag(machine: Machine, name: str) -> Operand:
    """A flag that is kept as a local of the active call; false where it was never set."""
    value = machine.locals.get(name, Known(False))
    return truth(machine, value) if not isinstance(value, Gone) else Const(False)
