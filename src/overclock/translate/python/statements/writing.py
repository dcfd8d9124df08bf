"""Changes in place: `owner.name = value`, `owner[index] = value`, `del owner[index]`."""

import ast
from typing import Any

from overclock.recording.errors import NeedsStateError, UnsupportedError
from overclock.recording.generators import GENERATORS
from overclock.recording.shapes import FLEXIBLE, Fixed, Record
from overclock.translate.ir.nodes import Operand, Var
from overclock.translate.ir.store import ArrayCell, DictCell, ListCell, ManyCell, ObjectCell
from overclock.translate.ir.values import Elem, Known, Num, Pack, Ref, Value, View
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory import padded
from overclock.translate.python.memory.flexible import open_slices, scatter, write_between
from overclock.translate.python.memory.kinds import is_mask, is_number, is_numbers
from overclock.translate.python.memory.views import array_index
from overclock.translate.python.operators.comparison import position_among
from overclock.translate.python.operators.sequences import iterate


def run_delete(machine: Machine, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, ast.Name):
            machine.locals.pop(target.id, None)
        elif isinstance(target, ast.Subscript):
            _delete_item(machine, machine.evaluate(target.value), machine.evaluate(target.slice))
        else:
            raise UnsupportedError("del of an attribute")


def _delete_item(machine: Machine, value: Value, index: Value) -> None:
    ref = machine.mutable(value)
    cell = machine.store[ref]
    if isinstance(cell, DictCell | ListCell) and isinstance(index, Known):
        del cell.items[index.value]
    elif isinstance(cell, ListCell | ManyCell):
        if isinstance(cell, ListCell):
            padded.arrayify(machine, ref)
        padded.remove_at(machine, ref, padded.place_in(machine, padded.many_cell(machine, ref), index))
    else:
        raise UnsupportedError("del of an item of this")


def set_attribute(machine: Machine, owner: Value, name: str, value: Value) -> None:
    """Run `owner.name = value`, by a property where the class has one."""
    if isinstance(value, Num):
        name_operand(value.operand, name)
    label_array(machine, value, name)
    if isinstance(value, Known) and isinstance(value.value, GENERATORS):
        cell = machine.cell(owner)
        if isinstance(cell, ObjectCell):
            cell.fields[name] = value
        return  # who draws is no state: draws are told apart by their places
    if isinstance(owner, Known):
        if id(owner.value) in machine.paths:
            raise NeedsStateError((*machine.paths[id(owner.value)], name))
        raise UnsupportedError(f"'{name}' of something that does not belong to the environment is changed")
    if isinstance(owner, Elem):
        machine.arrays.write_part(owner, name, value, machine.store)
        return
    cell = machine.store[machine.mutable(owner)]
    if not isinstance(cell, ObjectCell):
        raise UnsupportedError(f"the attribute '{name}' of this is changed")
    static = next((vars(base)[name] for base in cell.cls.__mro__ if name in vars(base)), None)
    if isinstance(static, property):
        if static.fset is None:
            raise UnsupportedError(f"the property '{name}' cannot be set")
        machine.call_function(static.fset, [owner, value])
        return
    if name not in cell.fields and cell.like is not None and id(cell.like) in machine.paths:
        raise NeedsStateError((*machine.paths[id(cell.like)], name))
    cell.fields[name] = machine.settled(value)


def set_item(machine: Machine, owner: Value, index: Value, value: Value) -> None:
    """Run `owner[index] = value`, whatever the owner is."""
    if isinstance(owner, Elem):
        _set_elem_item(machine, owner, index, value)
        return
    if isinstance(owner, View) and open_slices(machine, index):
        machine.mutable(owner.base)
        write_between(machine, owner, index, value)
        return
    if isinstance(owner, View):
        steps = (*owner.steps, *_write_steps(machine, owner, index))
        _write_array(machine, owner.base, steps, owner, index, value)
        return
    ref = machine.mutable(owner)
    cell = machine.store[ref]
    match cell:
        case ArrayCell() if open_slices(machine, index):
            write_between(machine, ref, index, value)
        case ArrayCell() if is_numbers(machine, index):
            machine.arrays.assign(ref, (), scatter(machine, machine.operand(ref), index, value), machine.store)
        case ArrayCell():
            _write_array(machine, ref, _write_steps(machine, ref, index), ref, index, value)
        case ListCell(items) if isinstance(index, Known):
            items[index.value] = machine.settled(value)
        case ListCell(items) if isinstance(index, Pack) and index.cls is slice:
            bounds = [part.value for part in index.items if isinstance(part, Known)]
            if len(bounds) != 3:
                raise UnsupportedError("a slice with bounds that are not known is assigned")
            items[slice(*bounds)] = iterate(machine, value)
        case ListCell():
            padded.arrayify(machine, ref)
            set_item(machine, ref, index, value)
        case ManyCell() if cell.kind == FLEXIBLE:
            _set_flexible(machine, cell, index, value)
        case ManyCell() if isinstance(index, Pack) and index.cls is slice:
            raise UnsupportedError("a slice of a list of changing length is assigned")
        case ManyCell():
            padded.ensure_shape(machine, ref, machine.shape(value))
            cell = padded.many_cell(machine, ref)
            place = padded.place_in(machine, cell, index)
            machine.arrays.follow_replacement(ref, place, machine.store)
            machine.arrays.put(ref, place, value, machine.store)
            if not machine.permuted:
                machine.store.held(ref, value)
        case DictCell(items):
            _set_key(machine, items, index, value)
        case ObjectCell(cls):
            machine.call_function(cls.__setitem__, [ref, index, value])  # pyright: ignore[reportAttributeAccessIssue]


def _set_flexible(machine: Machine, cell: ManyCell, index: Value, value: Value) -> None:
    if not is_number(machine, index) or machine.operand(index).type.shape:
        raise UnsupportedError("several places of an array whose length is not known are changed")
    cell.leaves[0] = machine.arrays.setitem(
        cell.leaves[0], (padded.place_in(machine, cell, index),), machine.operand(value)
    )


def _set_key(machine: Machine, items: dict[Any, Value], index: Value, value: Value) -> None:
    if isinstance(index, Known):
        items[index.value] = machine.settled(value)
        return
    position_among(machine, list(items), index)  # says what is wrong with the key itself
    raise UnsupportedError("a dict is changed under a key that is computed at run time")


def _set_elem_item(machine: Machine, owner: Elem, index: Value, value: Value) -> None:
    if isinstance(owner.shape, Fixed) and isinstance(index, Pack) and index.cls is slice:
        bounds = [part.value for part in index.items if isinstance(part, Known)]
        keys = list(range(len(owner.shape.items))[slice(*bounds)]) if len(bounds) == 3 else []
        items = iterate(machine, value)
        if len(items) != len(keys):
            raise UnsupportedError("a slice is replaced by another number of items")
        for key, item in zip(keys, items, strict=True):
            machine.arrays.write_part(owner, key, item, machine.store)
        return
    if isinstance(owner.shape, Fixed) and isinstance(index, Known):
        key = range(len(owner.shape.items))[index.value]
    elif isinstance(owner.shape, Record) and isinstance(index, Known):
        key = index.value
    else:
        raise UnsupportedError("an item of an item of a list is changed at a place that is not known")
    machine.arrays.write_part(owner, key, value, machine.store)


def _write_steps(machine: Machine, owner: Value, index: Value) -> tuple[Any, ...]:
    if not isinstance(index, Pack) and is_mask(machine, index):
        return ()
    return (array_index(machine, owner, index),)


def _write_array(machine: Machine, ref: Ref, steps: tuple[Any, ...], owner: Value, index: Value, value: Value) -> None:
    operand = machine.operand(value)
    if not isinstance(index, Pack) and is_mask(machine, index):
        base, mask = machine.operand(owner), machine.operand(index)
        mask = machine.arrays.spread(mask, base)
        if operand.type.shape and operand.type.shape != base.type.shape:
            raise UnsupportedError("an array of another shape is written where a mask holds")
        operand = machine.arrays.where(mask, machine.arrays.full_like(base, operand), base)
        steps = owner.steps if isinstance(owner, View) else ()
    machine.arrays.assign(machine.mutable(ref), steps, operand, machine.store)


def name_operand(operand: Operand, name: str) -> None:
    """Printed programs use the names of the source."""
    if isinstance(operand, Var) and not operand.hint:
        operand.hint = name


def label_array(machine: Machine, value: Value, name: str) -> None:
    """The same for an array and for a list that is kept as arrays."""
    cell = machine.cell(value)
    leaves = [cell.operand] if isinstance(cell, ArrayCell) else cell.leaves if isinstance(cell, ManyCell) else []
    for leaf in leaves:
        if isinstance(leaf, Var):
            leaf.label = leaf.label or name


RULES = {ast.Delete: run_delete}
