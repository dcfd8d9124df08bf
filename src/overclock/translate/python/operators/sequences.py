"""Sequences: lengths, items in order, concatenation, copies, choosing an item by a position of the run time."""

from typing import Any

import numpy as np

from overclock.recording import shapes
from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import FLEXIBLE, LIST, Exactly, Fixed, Many, leaves
from overclock.translate.ir.layout import number, stack, widen_constants
from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.store import DictCell, ListCell, ManyCell, ObjectCell
from overclock.translate.ir.values import Elem, Known, Lazy, Pack, Pick, Ref, Rows, Span, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import is_number, is_sequence, is_tuple
from overclock.translate.python.memory.padded import append, extend_by_many, sharing_items
from overclock.translate.python.memory.views import part_of_array
from overclock.translate.python.operators.options import from_options


def length_of(machine: Machine, value: Value) -> Value:
    """What len(value) gives, as a value."""
    value = machine.present(value)
    match value:
        case Known(inner):
            return Known(len(inner))
        case Pack(items):
            return Known(len(items))
        case Lazy("chain", items):
            ends = [machine.operand(length_of(machine, item)) for item in items]
            return number(machine.builder.apply("add", *ends))
        case Lazy("items" | "values", (box,)):
            return length_of(machine, box)
        case Lazy(kind):
            raise UnsupportedError(f"the length of a {kind}")
        case Pick(index, options):
            return from_options(machine, index, [len(one) for one in options])
        case Elem(_, _, Fixed(items)):
            return Known(len(items))
        case Span():
            return number(span_length(machine, value))
        case Ref():
            cell = machine.store[value]
            if isinstance(cell, ListCell | DictCell):
                return Known(len(cell.items))
            if isinstance(cell, ManyCell):
                return number(machine.builder.cast(cell.length, "int64", True))
            if isinstance(cell, ObjectCell):
                return machine.call_function(cell.cls.__len__, [value])  # pyright: ignore[reportAttributeAccessIssue]
    size = machine.operand(value).type.shape
    if not size:
        raise UnsupportedError("the length of a number")
    return Known(size[0])


def span_length(machine: Machine, span: Span) -> Operand:
    """How many numbers a range has."""
    b = machine.builder
    ends = (span.stop, span.start) if span.step > 0 else (span.start, span.stop)
    gap = b.apply("sub", *ends)
    size = abs(span.step)
    if size != 1:
        gap = b.apply("floordiv", b.apply("add", gap, Const(size - 1)), Const(size))
    return b.apply("maximum", gap, Const(0))


def iterate(machine: Machine, value: Value) -> list[Value]:
    """The items of something of known length, in order."""
    value = machine.present(value)
    match value:
        case Lazy():
            return _written_out(machine, value)
        case Rows(items):
            return list(items)
        case Known(inner) if isinstance(inner, np.ndarray):
            return [machine.part_of(value, row, at) for at, row in enumerate(inner)]
        case Known(inner):
            return [machine.part_of(value, item, at) for at, item in enumerate(inner)]
        case Pick():
            return [from_options(machine, value.index, list(column)) for column in zip(*value.options, strict=True)]
        case Ref() if isinstance(cell := machine.store[value], DictCell):
            return [Known(key) for key in cell.items]
        case Ref() if isinstance(cell := machine.store[value], ManyCell):
            if isinstance(cell.length, Const):
                return [machine.arrays.item(value, Const(at), machine.store) for at in range(int(cell.length.value))]
            raise UnsupportedError("a list of changing length where a known length is needed")
    if is_sequence(machine, value):
        return machine.items(value)
    if is_number(machine, value):
        return rows_of(machine, value)
    raise UnsupportedError(f"iteration over a {type(value).__name__.lower()}")


def _written_out(machine: Machine, lazy: Lazy) -> list[Value]:
    """What a loop would run through, of known length."""
    match lazy:
        case Lazy("zip", items):
            return [Pack(row) for row in zip(*(iterate(machine, one) for one in items), strict=False)]
        case Lazy("enumerate", (box, Known(start))):
            return [Pack((Known(at), one)) for at, one in enumerate(iterate(machine, box), start)]
        case Lazy("reversed", (box,)):
            return iterate(machine, box)[::-1]
        case Lazy("chain", items):
            return [one for item in items for one in iterate(machine, item)]
        case Lazy("items" | "values" as kind, (Ref() as box,)):
            cell = machine.store[box]
            assert isinstance(cell, DictCell)
            pairs = cell.items.items()
            return [value if kind == "values" else Pack((Known(key), value)) for key, value in pairs]
    raise UnsupportedError(f"iteration over a {lazy.kind}")


def rows_of(machine: Machine, value: Value) -> list[Value]:
    """The rows of an array, as views."""
    size = machine.operand(value).type.shape
    if not size:
        raise UnsupportedError("iteration over a number")
    return [part_of_array(machine, value, (at,)) for at in range(size[0])]


def entries_of(machine: Machine, value: Value) -> dict[Any, Value]:
    """The entries of a dict."""
    if isinstance(value, Known):
        return {key: Known(item) for key, item in value.value.items()}
    if isinstance(cell := machine.cell(value), DictCell):
        return dict(cell.items)
    raise UnsupportedError("a dict is needed here")


def sequence_operator(machine: Machine, op: str, left: Value, right: Value) -> Value:
    """`+` of two sequences, or `*` of a sequence and a number."""
    machine.store.journal.join(left, right)
    many = [one for one in (left, right) if isinstance(machine.cell(one), ManyCell)]
    if op == "add" and many:
        if not _alike(machine, left, right):
            return Lazy("chain", (left, right))
        joined = copy_list(machine, left)
        extend(machine, joined, right)
        return joined
    items = machine.items(left)
    if op == "mul":
        if not isinstance(right, Known):
            raise UnsupportedError("a list repeated a number of times that is not known")
        items = items * right.value
    else:
        items = [*items, *machine.items(right)]
    return Pack(tuple(items)) if is_tuple(machine, left) else machine.store.new(ListCell(items))


def _alike(machine: Machine, left: Value, right: Value) -> bool:
    """Whether the items of two lists are laid out in the same way."""
    try:
        joined = shapes.join(machine.shape(left), machine.shape(right))
    except UnsupportedError:
        return False
    kinds = [one.of for one in (joined,) if isinstance(one, Many)]
    return not any(isinstance(one, Many) for one in kinds)


def select(machine: Machine, items: list[Value], index: Operand) -> Value:
    """One of several values, by a position computed at run time."""
    shape = widen_constants(shapes.join_all([machine.shape(item) for item in items]))
    if isinstance(shape, Exactly):
        return Known(shape.value)
    rows = [machine.lower(item, shape) for item in items]
    columns = [
        stack(machine.builder, list(column), leaf.dtype)
        for column, leaf in zip(zip(*rows, strict=True), leaves(shape), strict=True)
    ]
    made = machine.layout.lift(shape, [machine.arrays.getitem(column, (index,)) for column in columns], machine.store)
    for item in items:
        machine.store.copied(made, item)
    return made


def extend(machine: Machine, ref: Value, other: Value) -> None:
    """Append every item of something to a list."""
    assert isinstance(ref, Ref)
    if isinstance(other, Ref) and isinstance(machine.store[other], ManyCell):
        extend_by_many(machine, ref, other)
        return
    for item in iterate(machine, other):
        append(machine, ref, item)


def copy_list(machine: Machine, value: Value) -> Ref:
    """A new list with the same items."""
    if isinstance(value, Ref) and isinstance(cell := machine.store[value], ManyCell):
        kind = LIST if cell.kind == FLEXIBLE else cell.kind
        return sharing_items(machine, value, ManyCell(cell.of, cell.capacity, list(cell.leaves), cell.length, kind))
    return machine.new_list(list(iterate(machine, value)))
