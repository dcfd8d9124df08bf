"""Arrays whose length is not known: what a mask, `np.where` or a slice with bounds of the run time gives.

They are kept like lists of changing length, and do what arrays do, item by item. A part of an array between several
bounds of the run time (`Window`) is a mask over the whole; arrays of one such length on top of each other are `Rows`.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import FLEXIBLE, Array, Choice, Number
from overclock.translate.ir.layout import resized
from overclock.translate.ir.nodes import Const, Operand, bounds, distance
from overclock.translate.ir.store import ArrayCell, ManyCell
from overclock.translate.ir.values import Known, Pack, Ref, Rows, Value, View, Window, same_operand
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import is_flexible, is_number, is_numbers, is_partial
from overclock.translate.python.memory.padded import many_cell
from overclock.translate.python.memory.searching import valid_flags
from overclock.translate.python.memory.views import WHOLE, array_index, index_parts, is_slice, part_of_array


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


def open_slices(machine: Machine, index: Value) -> list[int]:
    """Which parts of an index are slices whose bounds are not known."""
    return [
        at
        for at, part in enumerate(index_parts(index))
        if is_slice(part) and not all(isinstance(one, Known) for one in part.items)  # pyright: ignore[reportAttributeAccessIssue]
    ]


def narrowed(machine: Machine, owner: Value, index: Value) -> tuple[Value, Value]:
    """The array and the index that array[i, start:stop] comes to, which is array[i][start:stop]."""
    parts, ahead = index_parts(index), 0
    while ahead < len(parts) and is_number(machine, parts[ahead]) and not machine.operand(parts[ahead]).type.shape:
        ahead += 1
    if ahead in (0, len(parts)):
        return owner, index
    rest = parts[ahead:]
    inner = part_of_array(machine, owner, array_index(machine, owner, Pack(tuple(parts[:ahead]))))
    return inner, rest[0] if len(rest) == 1 else Pack(tuple(rest))


def between(machine: Machine, value: Value, index: Value) -> Value:
    """The part of an array between bounds of the run time: array[..., start:stop, ...]."""
    value, index = narrowed(machine, value, index)
    parts, opened = index_parts(index), open_slices(machine, index)
    base = machine.operand(value)
    if len(opened) > 1 or (opened[0] and all(map(is_slice, parts))):
        return Window(value, span_mask(machine, base.type.shape, parts))
    (at,) = opened
    full = array_index(machine, value, Pack(tuple(WHOLE if k == at else part for k, part in enumerate(parts))))
    if any(isinstance(part, tuple) for part in full[:at]):
        raise UnsupportedError("a slice of an array with bounds that are not known, behind another slice")
    found = machine.arrays.getitem(base, full) if len(parts) > 1 else base
    size = found.type.shape[0]
    low, high = _bounds(machine, parts[at], size)
    gap = _gap(machine, parts[at])
    length = machine.builder.apply("maximum", machine.builder.apply("sub", high, low), Const(0))
    capacity = size if gap is None else min(size, max(gap, 1))
    places = machine.builder.apply("add", Const(np.arange(capacity)), low)
    places = machine.builder.joined("minimum", np.minimum, places, Const(np.int64(size - 1)))
    made = new_flexible(machine, machine.arrays.getitem(found, (places,)), machine.builder.cast(length, "int64"))
    machine.store.copied(made, value)
    return made


def _gap(machine: Machine, cut: Any) -> int | None:
    """How far apart the bounds of a slice are, where that is known although they are not."""
    start, stop, _ = cut.items
    if any(isinstance(one, Known) and one.value is None for one in (start, stop)):
        return None
    return distance(machine.operand(start), machine.operand(stop))


def _bounds(machine: Machine, cut: Any, size: int) -> tuple[Operand, Operand]:
    start, stop, step = cut.items
    if not (isinstance(step, Known) and step.value in (None, 1)):
        raise UnsupportedError("a slice with bounds that are not known and a step")
    return _limit(machine, start, 0, size), _limit(machine, stop, size, size)


def _limit(machine: Machine, bound: Value, default: int, size: int) -> Operand:
    """Where a slice starts or stops: negative ones count from the end, none is outside."""
    if isinstance(bound, Known):
        return Const(default if bound.value is None else slice(bound.value, None).indices(size)[0])
    b, at = machine.builder, machine.builder.cast(machine.operand(bound), "int64")
    least = bounds(at)[0]
    if least is None or least < 0:
        wrapped = b.apply("add", at, Const(np.int64(size)))
        at = machine.arrays.where(b.apply("lt", at, Const(np.int64(0))), wrapped, at)
        at = b.joined("maximum", np.maximum, at, Const(np.int64(0)))
    return b.joined("minimum", np.minimum, at, Const(np.int64(size)))


def span_mask(machine: Machine, size: tuple[int, ...], parts: list[Value]) -> Operand:
    """A flag per item of an array: whether it lies between the bounds of an index of slices."""
    if not all(map(is_slice, parts)):
        raise UnsupportedError("slices with bounds that are not known, together with other places")
    found: Operand = Const(np.ones(size, bool))
    for axis, part in enumerate(parts):
        places = Const(np.arange(size[axis]).reshape([-1 if k == axis else 1 for k in range(len(size))]))
        low, high = _bounds(machine, part, size[axis])
        for op, function, limit in (("ge", operator.ge, low), ("lt", operator.lt, high)):
            inside = machine.builder.joined(op, function, places, limit)
            found = machine.builder.let("and", np.logical_and, found, inside)
    return found


def write_between(machine: Machine, owner: Value, index: Value, value: Value) -> None:
    """array[..., start:stop, ...] = number: a mask along that axis."""
    owner, index = narrowed(machine, owner, index)
    assert isinstance(owner, Ref | View)
    parts, opened = index_parts(index), open_slices(machine, index)
    ref, steps = (owner.base, owner.steps) if isinstance(owner, View) else (owner, ())
    base, operand = machine.operand(owner), machine.operand(value)
    # An array of the whole shape is what `array[start:stop] += ...` computed everywhere.
    if operand.type.shape and not (all(map(is_slice, parts)) and operand.type.shape == base.type.shape):
        raise UnsupportedError("a slice with bounds that are not known is assigned an array")
    if all(map(is_slice, parts)):
        mask = span_mask(machine, base.type.shape, parts)
        machine.arrays.assign(
            ref, steps, machine.arrays.where(mask, machine.arrays.full_like(base, operand), base), machine.store
        )
        return
    if len(opened) > 1:
        raise UnsupportedError("several slices with bounds that are not known, together with other places")
    (at,) = opened
    full = array_index(machine, owner, Pack(tuple(WHOLE if k == at else part for k, part in enumerate(parts))))
    now = machine.arrays.getitem(base, full)
    axis = sum(isinstance(part, tuple) for part in full[:at])
    mask = span_mask(machine, now.type.shape, [*([WHOLE] * axis), parts[at]])
    new = machine.arrays.where(mask, machine.arrays.full_like(now, operand), now)
    machine.arrays.assign(ref, (*steps, full), new, machine.store)
