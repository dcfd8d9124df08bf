"""Arrays whose length is not known: what a mask, `np.where` or a slice with bounds of the run time gives.

They are kept like lists of changing length, and do what arrays do, item by item. A part of an array between several
bounds of the run time (`Window`) is a mask over the whole; arrays of one such length on top of each other are `Rows`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import FLEXIBLE, Array, Choice, Number
from overclock.translate.ir.layout import resized
from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.store import ArrayCell, ManyCell
from overclock.translate.ir.values import Pack, Ref, Rows, Value, Window, same_operand
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.indices import index_parts
from overclock.translate.python.memory.kinds import is_flexible, is_numbers, is_partial
from overclock.translate.python.memory.padded import many_cell
from overclock.translate.python.memory.searching import valid_flags


def new_flexible(machine: Machine, leaf: Operand, length: Operand) -> Value:
    """An array of the first `length` items of an operand."""
    if isinstance(length, Const):
        return machine.fresh(resized(machine.builder, leaf, int(length.value)))
    size = leaf.type.shape
    of = Number(leaf.type.dtype) if len(size) == 1 else Array(leaf.type.dtype, size[1:])
    return machine.store.new(ManyCell(of, size[0], [machine.builder.as_numpy(leaf)], length, FLEXIBLE))


def unpython(machine: Machine, operand: Operand) -> Operand:
    """A number as NumPy's own."""
    return machine.builder.cast(operand, operand.type.dtype, False)


def as_flexible(machine: Machine, value: Value) -> Value:
    """A list of changing length as an array."""
    cell = many_cell(machine, value)
    if not is_numbers(machine, value):
        raise UnsupportedError("an array of things that are no numbers, of a length that is not known")
    return new_flexible(machine, cell.leaves[0], cell.length)


def item_by_item(machine: Machine, values: list[Value], operate: Callable[..., Value]) -> Value:
    """An operator on arrays of one length that is not known, and on numbers."""
    first = next(one for one in values if is_partial(machine, one))
    whole = _content(machine, first)
    shown: list[Value] = []
    for value in values:
        if is_partial(machine, value):
            if not _as_long(machine, first, value):
                raise UnsupportedError("two arrays whose lengths are not known are combined")
            shown.append(machine.store.new(ArrayCell(_content(machine, value))))
            continue
        size = machine.operand(value).type.shape
        if size != whole.type.shape[len(whole.type.shape) - len(size) :] or len(size) == len(whole.type.shape):
            raise UnsupportedError("an array whose length is not known is combined with another array")
        shown.append(value)
    result = machine.operand(operate(*shown))
    if isinstance(first, Window):
        return Window(machine.store.new(ArrayCell(result)), first.mask)
    return new_flexible(machine, result, many_cell(machine, first).length)


def _content(machine: Machine, value: Value) -> Operand:
    if isinstance(value, Rows) or (isinstance(value, Ref) and not is_numbers(machine, value)):
        raise UnsupportedError("an array of a shape that is not known, or of things that are no numbers, is used")
    return machine.operand(value.base) if isinstance(value, Window) else many_cell(machine, value).leaves[0]


def _as_long(machine: Machine, one: Value, other: Value) -> bool:
    if isinstance(one, Window) and isinstance(other, Window):
        return same_operand(one.mask, other.mask)
    if isinstance(one, Ref) and isinstance(other, Ref):
        a, b = many_cell(machine, one), many_cell(machine, other)
        return a.capacity == b.capacity and same_operand(a.length, b.length)
    return False


def taken(machine: Machine, value: Value, index: Value) -> Value | None:
    """array[places], where the number of places is not known; None where it is."""
    parts = index_parts(index)
    if not any(is_numbers(machine, part) for part in parts):
        return None
    cells = [many_cell(machine, part) for part in parts if is_numbers(machine, part)]
    base, length = machine.operand(value), cells[0].length
    if len(cells) != len(parts) or any(not same_operand(cell.length, length) for cell in cells):
        raise UnsupportedError("places whose number is not known, together with others")
    if any(cell.leaves[0].type.kind not in "iu" or len(cell.leaves[0].type.shape) != 1 for cell in cells):
        raise UnsupportedError("places of which it is not known how many there are, and that are no numbers")
    capacity = max(cell.capacity for cell in cells)
    places = [resized(machine.builder, cell.leaves[0], capacity) for cell in cells]
    return new_flexible(machine, machine.arrays.getitem(base, tuple(places)), length)


def taken_objects(machine: Machine, table: np.ndarray, places: Value) -> Value:
    """table[places] for a table of texts."""
    cell = many_cell(machine, places)
    options, codes = np.unique(table, return_inverse=True)
    if table.ndim != 1 or table.dtype.kind not in "US":
        raise UnsupportedError("things that are no numbers are taken at places whose number is not known")
    leaf = machine.arrays.getitem(Const(codes), (cell.leaves[0],))
    return machine.store.new(ManyCell(Choice(tuple(options.tolist())), cell.capacity, [leaf], cell.length, FLEXIBLE))


def where_mask(machine: Machine, value: Value, mask: Operand) -> Value:
    """array[mask]: how many items there are is not known."""
    base = machine.operand(value)
    if len(mask.type.shape) > 1:
        if base.type.shape != mask.type.shape:
            raise UnsupportedError("rows of an array where a mask of several dimensions holds")
        base, mask = (machine.builder.let("ravel", np.ravel, one) for one in (base, mask))
    (places,) = nonzero(machine, mask).items
    if not is_flexible(machine, places):
        return machine.fresh(machine.arrays.getitem(base, (machine.operand(places),)))
    cell = many_cell(machine, places)
    return new_flexible(machine, machine.arrays.getitem(base, (cell.leaves[0],)), cell.length)


def nonzero(machine: Machine, flags: Operand) -> Pack:
    """The places where flags hold, one array for each axis."""
    size = flags.type.shape
    length = machine.builder.cast(machine.builder.let("sum", np.sum, flags), "int64")
    flat = flags if len(size) == 1 else machine.builder.let("ravel", np.ravel, flags)
    order = machine.builder.let(
        "argsort",
        lambda a: np.argsort(a, kind="stable"),
        machine.builder.let("not", np.logical_not, flat),
        stable=True,
    )
    found: list[Value] = []
    for axis in range(len(size)):
        table = np.indices(size)[axis].ravel()
        column = order if len(size) == 1 else machine.arrays.getitem(Const(table), (order,))
        found.append(new_flexible(machine, column, length))
    return Pack(tuple(found))


def scatter(machine: Machine, base: Operand, index: Value, value: Value) -> Operand:
    """A copy of base with base[places] = value; of places that are named twice, the last one counts."""
    cell = many_cell(machine, index)
    places, size = cell.leaves[0], base.type.shape
    if len(size) != 1 or len(places.type.shape) != 1 or places.type.kind not in "iu":
        raise UnsupportedError("an array is written at places whose number is not known, in several dimensions")
    if not is_numbers(machine, value) and machine.operand(value).type.shape:
        raise UnsupportedError("an array is written at places whose number is not known")
    b = machine.builder
    places = b.apply("mod", b.cast(places, "int64"), Const(np.int64(size[0])))
    here = b.apply("eq", places, Const(np.arange(size[0])[:, None]))
    here = b.let("and", np.logical_and, here, valid_flags(machine, cell))
    written = b.let("any", lambda a: np.any(a, axis=1), here, axis=1)
    if not is_numbers(machine, value):
        return machine.arrays.where(written, machine.arrays.full_like(base, machine.operand(value)), base)
    new = many_cell(machine, value)
    if not _as_long(machine, index, value):
        raise UnsupportedError("two arrays whose lengths are not known are combined")
    backwards = machine.arrays.getitem(here, (("slice", None, None, None), ("slice", None, None, -1)))
    from_end = b.let("argmax", lambda a: np.argmax(a, axis=1), backwards, axis=1)
    last = b.apply("sub", Const(np.int64(cell.capacity - 1)), from_end)
    moved = b.cast(machine.arrays.getitem(new.leaves[0], (last,)), base.type.dtype)
    return machine.arrays.where(written, moved, base)


def filled(machine: Machine, window: Window, padding: Any) -> Operand:
    """The whole array of a window, with `padding` outside it."""
    base = machine.operand(window.base)
    return machine.arrays.where(window.mask, base, Const(np.dtype(base.type.dtype).type(padding)))
