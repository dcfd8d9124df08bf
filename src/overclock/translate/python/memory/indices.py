"""What stands between brackets behind an array or a list."""

from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.ir.values import Known, Pack, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import is_sequence

WHOLE = Pack((Known(None), Known(None), Known(None)), slice)


def index_parts(index: Value) -> list[Value]:
    """What stands between brackets, part by part."""
    if isinstance(index, Known) and isinstance(index.value, tuple):
        return [Known(part) for part in index.value]
    return list(index.items) if isinstance(index, Pack) and index.cls is not slice else [index]


def is_slice(part: Value) -> bool:
    """start:stop:step."""
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
