"""Slices of arrays whose bounds are only known at run time."""

import operator
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Operand, bounds, distance
from overclock.translate.ir.values import Known, Pack, Ref, Value, View, Window
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.flexible import new_flexible
from overclock.translate.python.memory.indices import WHOLE, array_index, index_parts, is_slice
from overclock.translate.python.memory.kinds import is_number
from overclock.translate.python.memory.views import part_of_array


def open_slices(machine: Machine, index: Value) -> list[int]:
    """Which parts of an index are slices whose bounds are not known."""
    return [
        at
        for at, part in enumerate(index_parts(index))
        if is_slice(part) and not all(isinstance(one, Known) for one in part.items)  # pyright: ignore[reportAttributeAccessIssue]
    ]


def narrowed(machine: Machine, owner: Value, index: Value) -> tuple[Value, Value]:
    """array[i, start:stop] is array[i][start:stop]."""
    parts, ahead = index_parts(index), 0
    while ahead < len(parts) and is_number(machine, parts[ahead]) and not machine.operand(parts[ahead]).type.shape:
        ahead += 1
    if ahead in (0, len(parts)):
        return owner, index
    rest = parts[ahead:]
    inner = part_of_array(machine, owner, array_index(machine, owner, Pack(tuple(parts[:ahead]))))
    return inner, rest[0] if len(rest) == 1 else Pack(tuple(rest))


def between(machine: Machine, value: Value, index: Value) -> Value:
    """array[..., start:stop, ...]."""
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
