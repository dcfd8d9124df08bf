"""Lists of changing length, kept as arrays with a leading axis of their capacity and a length."""

import numpy as np

from overclock.recording import shapes
from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import Many, Shape
from overclock.translate.ir.aliases import changeable
from overclock.translate.ir.layout import resized, widen_constants
from overclock.translate.ir.nodes import Const, Operand, Var, bounds, ranged
from overclock.translate.ir.store import ListCell, ManyCell, Store
from overclock.translate.ir.values import Known, Ref, Value
from overclock.translate.python.machine import Machine

DEFAULT_CAPACITY = 32  # of a list that grows in a loop whose length nothing bounds


def many_cell(machine: Machine, ref: Value) -> ManyCell:
    """The cell of a list kept as arrays."""
    assert isinstance(ref, Ref)
    cell = machine.store[ref]
    assert isinstance(cell, ManyCell)
    return cell


def is_new(machine: Machine, ref: Ref) -> bool:
    """Whether a list was made in this run: nobody has counted on its capacity yet."""
    return ref.cell not in machine.kept


def keep_as_arrays(machine: Machine, ref: Ref, of: Shape, capacity: int, store: Store) -> None:
    """Keep a list as arrays from now on."""
    cell = store[ref]
    assert isinstance(cell, ListCell)
    length, *columns = machine.layout.lower(ref, Many(of, capacity, cell.kind), store)
    store.cells[ref.cell] = ManyCell(of, capacity, columns, length, cell.kind, is_new(machine, ref))
    for item in cell.items:
        store.held(ref, item)


def arrayify(machine: Machine, ref: Ref, capacity: int | None = None) -> None:
    """Keep a list of known length as arrays from now on."""
    cell = machine.store[ref]
    assert isinstance(cell, ListCell)
    if not cell.items:
        raise UnsupportedError("an empty list is changed at a place that is not known")
    of = widen_constants(shapes.join_all([machine.shape(item) for item in cell.items]))
    keep_as_arrays(machine, ref, of, capacity or len(cell.items), machine.store)


def ensure_shape(machine: Machine, ref: Ref, shape: Shape) -> None:
    """A list that is about to take an item of another shape is widened first."""
    cell = many_cell(machine, ref)
    empty = isinstance(cell.length, Const) and int(cell.length.value) == 0
    joined = widen_constants(shape) if empty and not cell.leaves else widen_constants(shapes.join(cell.of, shape))
    if joined == cell.of:
        return
    length, *columns = machine.lower(ref, Many(joined, cell.capacity, cell.kind))
    machine.store.cells[ref.cell] = ManyCell(joined, cell.capacity, columns, length, cell.kind, cell.grows)


def append(machine: Machine, ref: Ref, value: Value) -> None:
    """Append an item; where there may be no room for it, an overflow flag is raised."""
    cell = machine.store[ref]
    if isinstance(cell, ListCell):
        cell.items.append(machine.settled(value))
        return
    ensure_shape(machine, ref, machine.shape(value))
    cell = many_cell(machine, ref)
    if cell.grows and bounds(cell.length)[1] in (None, cell.capacity):
        cell.capacity += 1
        cell.leaves = [resized(machine.builder, leaf, cell.capacity) for leaf in cell.leaves]
    machine.lengthened.setdefault(ref.cell, []).append(machine.builder.apply("add", cell.length, Const(1)))
    full = machine.builder.apply("ge", cell.length, Const(cell.capacity))
    full = machine.builder.flag(full)
    if ref.cell in machine.kept:  # of a list of the state: without a meaning where nobody reads that list
        machine.store.full[ref.cell] = machine.builder.logical(
            "or", machine.store.full.get(ref.cell, Const(False)), full
        )
    else:
        machine.store.overflow = machine.builder.logical("or", machine.store.overflow, full)
    for at, operand in enumerate(machine.lower(value, cell.of)):
        cell.leaves[at] = machine.arrays.setitem(cell.leaves[at], (cell.length,), operand)
    _set_length(machine, cell, machine.builder.apply("add", cell.length, Const(1)))
    machine.store.held(ref, value)


def _set_length(machine: Machine, cell: ManyCell, length: Operand) -> None:
    cell.length = ranged(machine.builder.apply("minimum", length, Const(cell.capacity)), 0, cell.capacity)


def extend_by_many(machine: Machine, ref: Ref, other: Ref) -> None:
    """Behind the items of one list come those of another."""
    source = many_cell(machine, other)
    if isinstance(machine.store[ref], ListCell):
        items = [machine.shape(item) for item in machine.items(ref)]
        of = widen_constants(shapes.join_all([*items, source.of]))
        keep_as_arrays(machine, ref, of, len(items) + source.capacity, machine.store)
    ensure_shape(machine, ref, source.of)
    cell, source = many_cell(machine, ref), many_cell(machine, other)
    # A list that nobody has counted on yet gets room; one of the state has the room it has.
    capacity = cell.capacity + source.capacity if is_new(machine, ref) else cell.capacity
    columns = machine.lower(other, Many(cell.of, source.capacity))[1:]
    places = machine.builder.apply("sub", Const(np.arange(capacity)), cell.length)
    own = machine.builder.apply("lt", Const(np.arange(capacity)), cell.length)
    clipped = machine.builder.joined("maximum", np.maximum, places, Const(np.int64(0)))
    for at, column in enumerate(columns):
        base = resized(machine.builder, cell.leaves[at], capacity)
        moved = machine.arrays.getitem(resized(machine.builder, column, capacity), (clipped,))
        cell.leaves[at] = machine.arrays.where(machine.arrays.spread(own, base), base, moved)
    if changeable(cell.of):
        machine.store.echoes.siblings(ref.cell, other.cell)
    length = machine.builder.apply("add", cell.length, source.length)
    machine.lengthened.setdefault(ref.cell, []).append(length)
    if capacity == cell.capacity:
        full = machine.builder.apply("gt", length, Const(capacity))
        machine.store.overflow = machine.builder.logical("or", machine.store.overflow, machine.builder.flag(full))
    cell.capacity = capacity
    _set_length(machine, cell, length)


def remove_at(machine: Machine, ref: Ref, index: Operand) -> None:
    """del list[index]: what comes behind moves up."""
    cell = machine.store[ref]
    if isinstance(cell, ListCell):
        if not isinstance(index, Const):
            arrayify(machine, ref)
            cell = many_cell(machine, ref)
        else:
            del cell.items[int(index.value)]
            return
    assert isinstance(cell, ManyCell)
    machine.arrays.follow_removal(ref, index, machine.store)
    places = np.arange(cell.capacity)
    behind = machine.builder.apply("ge", Const(places), index)
    source = machine.builder.apply("add", Const(places), machine.builder.cast(behind, "int64"))
    source = machine.builder.joined("minimum", np.minimum, source, Const(np.int64(cell.capacity - 1)))
    cell.leaves = [machine.arrays.getitem(leaf, (source,)) for leaf in cell.leaves]
    shorter = machine.builder.apply("sub", cell.length, Const(1))
    cell.length = ranged(machine.builder.apply("maximum", shorter, Const(0)), 0, cell.capacity)


def insert_at(machine: Machine, ref: Ref, index: Operand, value: Value) -> None:
    """list.insert: what was there moves down."""
    cell = machine.store[ref]
    if isinstance(cell, ListCell):
        if not isinstance(index, Const):
            raise UnsupportedError("an insertion at a place that is not known")
        cell.items.insert(int(index.value), machine.settled(value))
        return
    length = many_cell(machine, ref).length
    index = machine.builder.apply("maximum", machine.builder.apply("minimum", index, length), Const(0))
    machine.arrays.follow_insertion(ref, index, machine.store)
    append(machine, ref, value)
    cell = many_cell(machine, ref)
    places = np.arange(cell.capacity)
    behind = machine.builder.apply("gt", Const(places), index)
    source = machine.builder.apply("sub", Const(places), machine.builder.cast(behind, "int64"))
    new = machine.lower(value, cell.of)
    for at, leaf in enumerate(cell.leaves):
        cell.leaves[at] = machine.arrays.setitem(machine.arrays.getitem(leaf, (source,)), (index,), new[at])


def place_in(machine: Machine, cell: ManyCell, index: Value) -> Operand:
    """A position in a list: negative ones count from its end."""
    if isinstance(index, Known):
        if index.value >= 0:
            return Const(int(index.value))
        return machine.builder.apply("add", cell.length, Const(int(index.value)))
    operand = machine.operand(index)
    if isinstance(operand, Var) and operand.low is not None and operand.low >= 0:
        return operand
    negative = machine.builder.apply("lt", operand, Const(0))
    wrapped = machine.builder.apply("add", operand, cell.length)
    return machine.arrays.where(
        negative, machine.builder.cast(wrapped, "int64"), machine.builder.cast(operand, "int64")
    )


def slice_of_many(machine: Machine, ref: Ref, start: Value, stop: Value, step: Value) -> Value:
    """A slice of a list kept as arrays."""
    cell = many_cell(machine, ref)
    if not (isinstance(step, Known) and step.value in (None, 1, -1)):
        raise UnsupportedError("a slice with a step")
    if step.value == -1:
        if not all(isinstance(one, Known) and one.value is None for one in (start, stop)):
            raise UnsupportedError("a backward slice with bounds")
        return reversed_list(machine, ref)
    low = _bound(machine, cell, start, Const(0))
    high = _bound(machine, cell, stop, cell.length)
    length = machine.builder.apply("maximum", machine.builder.apply("sub", high, low), Const(0))
    columns = list(cell.leaves)
    if not (isinstance(low, Const) and int(low.value) == 0):
        source = machine.builder.apply("add", Const(np.arange(cell.capacity)), low)
        source = machine.builder.joined("minimum", np.minimum, source, Const(np.int64(cell.capacity - 1)))
        columns = [machine.arrays.getitem(leaf, (source,)) for leaf in columns]
    return sharing_items(machine, ref, ManyCell(cell.of, cell.capacity, columns, length, cell.kind))


def sharing_items(machine: Machine, ref: Ref, cell: ManyCell) -> Ref:
    """A new list with items of another one."""
    made = machine.store.new(cell)
    if changeable(cell.of):
        machine.store.echoes.siblings(ref.cell, made.cell)
    return made


def _bound(machine: Machine, cell: ManyCell, bound: Value, default: Operand) -> Operand:
    if isinstance(bound, Known) and bound.value is None:
        return default
    at = place_in(machine, cell, bound)
    at = machine.builder.apply("maximum", at, Const(0))
    return machine.builder.apply("minimum", at, cell.length)


def reversed_list(machine: Machine, ref: Ref) -> Ref:
    """A new list of the items backwards."""
    cell = many_cell(machine, ref)
    last = machine.builder.apply("sub", cell.length, Const(1))
    source = machine.builder.apply("sub", last, Const(np.arange(cell.capacity)))
    source = machine.builder.joined("maximum", np.maximum, source, Const(np.int64(0)))
    columns = [machine.arrays.getitem(leaf, (source,)) for leaf in cell.leaves]
    return sharing_items(machine, ref, ManyCell(cell.of, cell.capacity, columns, cell.length, cell.kind))
