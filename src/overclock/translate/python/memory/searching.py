"""Flags for the items of lists of changing length: which are there, which equal something."""

from typing import Any

import numpy as np

from overclock.recording import shapes
from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import Number, leaves
from overclock.translate.ir.layout import resized
from overclock.translate.ir.nodes import Const, Operand, ranged
from overclock.translate.ir.store import ManyCell
from overclock.translate.ir.values import Value
from overclock.translate.python.machine import Machine


def valid_flags(machine: Machine, cell: ManyCell) -> Operand:
    """A flag per place: whether an item lies there."""
    return machine.builder.apply("lt", Const(np.arange(cell.capacity)), cell.length)


def matching_flags(machine: Machine, cell: ManyCell, item: Value) -> Operand:
    """A flag per place: whether what lies there equals an item."""
    found: Operand = Const(np.ones(cell.capacity, bool))
    shape = machine.shape(item)
    try:
        joined = shapes.join(cell.of, shape)
    except UnsupportedError:
        return Const(np.zeros(cell.capacity, bool))
    if [leaf.shape for leaf in leaves(joined)] != [leaf.shape for leaf in leaves(cell.of)]:
        raise UnsupportedError("a list is searched for something of another kind")
    if isinstance(joined, shapes.Choice) and len(joined.options) != len(getattr(cell.of, "options", ())):
        return Const(np.zeros(cell.capacity, bool))
    wanted = machine.lower(item, joined)
    for leaf, operand in zip(cell.leaves, wanted, strict=True):
        equal = machine.builder.apply("eq", leaf, operand)
        if len(equal.type.shape) > 1:
            axes = tuple(range(1, len(equal.type.shape)))
            equal = machine.builder.let("all", lambda a, axes=axes: np.all(a, axis=axes), equal, axis=axes)
        found = equal if isinstance(found, Const) else machine.builder.let("and", np.logical_and, found, equal)
    return found


def any_item(machine: Machine, cell: ManyCell, flags: Operand) -> Operand:
    """Whether any item is flagged."""
    both = machine.builder.let("and", np.logical_and, flags, valid_flags(machine, cell))
    return machine.builder.flag(machine.builder.let("any", np.any, both))


def first_equal(machine: Machine, cell: ManyCell, item: Value) -> Operand:
    """The place of the first item that equals one (it must be there)."""
    both = machine.builder.let("and", np.logical_and, matching_flags(machine, cell, item), valid_flags(machine, cell))
    return ranged(machine.builder.let("argmax", np.argmax, both), 0, cell.capacity - 1)


def masked_items(machine: Machine, cell: ManyCell, padding: Any) -> Operand:
    """The items of a list of numbers, with `padding` where there is none."""
    if not isinstance(cell.of, Number):
        raise UnsupportedError("a sum or an order over a list of things that are no numbers")
    leaf = cell.leaves[0]
    return machine.arrays.where(valid_flags(machine, cell), leaf, Const(np.dtype(leaf.type.dtype).type(padding)))


def equal_to_many(machine: Machine, cell: ManyCell, other: Value) -> Operand:
    """Lists are equal when their lengths and their items are."""
    if isinstance(second := machine.cell(other), ManyCell):
        same_length = machine.builder.apply("eq", cell.length, second.length)
        capacity = max(cell.capacity, second.capacity)
        equal: Operand = Const(np.ones(capacity, bool))
        for a, b in zip(cell.leaves, second.leaves, strict=True):
            one = machine.builder.apply(
                "eq", resized(machine.builder, a, capacity), resized(machine.builder, b, capacity)
            )
            if len(one.type.shape) > 1:
                raise UnsupportedError("a comparison of lists of arrays")
            equal = machine.builder.let("and", np.logical_and, equal, one)
        beyond = machine.builder.apply("ge", Const(np.arange(capacity)), cell.length)
        all_equal = machine.builder.let("all", np.all, machine.builder.let("or", np.logical_or, equal, beyond))
        return machine.builder.logical("and", machine.builder.flag(same_length), machine.builder.flag(all_equal))
    items = machine.items(other)
    same_length = machine.builder.apply("eq", cell.length, Const(len(items)))
    found = machine.builder.flag(same_length)
    if len(items) > cell.capacity:
        return Const(False)
    for at, item in enumerate(items):
        here = machine.arrays.getitem(matching_flags(machine, cell, item), (at,))
        found = machine.builder.logical("and", found, here)
    return found


def extreme(dtype: np.dtype, name: str) -> Any:
    """What no number is larger than (for `min`) or smaller than (for `max`)."""
    if dtype.kind == "f":
        return np.inf if name == "min" else -np.inf
    if dtype.kind == "b":
        return name == "min"
    return np.iinfo(dtype).max if name == "min" else np.iinfo(dtype).min
