"""Subscripts: `value[index]` for arrays, lists, dicts, tables of constants, and slices of them."""

import ast
from typing import Any

import numpy as np

from overclock.recording.errors import AlwaysRaisesError, UnsupportedError
from overclock.recording.shapes import Fixed, Record
from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.store import DictCell, ListCell, ManyCell, ObjectCell
from overclock.translate.ir.values import TEXT, Elem, Known, Pack, Pick, Ref, Rows, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.flexible import between, open_slices, taken, taken_objects, where_mask
from overclock.translate.python.memory.kinds import is_number, is_numbers, is_sequence
from overclock.translate.python.memory.padded import arrayify, place_in, slice_of_many
from overclock.translate.python.memory.views import array_index, index_parts, part_of_array, wrapped_index
from overclock.translate.python.operators.comparison import position_among
from overclock.translate.python.operators.options import combined_index, from_options
from overclock.translate.python.operators.sequences import iterate, select


def evaluate_subscript(machine: Machine, node: ast.Subscript) -> Value:
    value = machine.present(machine.evaluate(node.value))
    if isinstance(node.slice, ast.Slice):
        bounds = [_slice_bound(machine, part) for part in (node.slice.lower, node.slice.upper, node.slice.step)]
        return _sliced(machine, value, *bounds)
    return get_item(machine, value, evaluate_index(machine, node.slice))


def _slice_bound(machine: Machine, node: ast.expr | None) -> Value:
    return Known(None) if node is None else machine.evaluate(node)


def evaluate_index(machine: Machine, node: ast.expr) -> Value:
    """What stands between brackets; a tuple of slices stays one."""
    if isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice | ast.Starred) for part in node.elts):
        return Pack(tuple(evaluate_index(machine, part) for part in node.elts))
    if isinstance(node, ast.Slice):
        bounds = [_slice_bound(machine, part) for part in (node.lower, node.upper, node.step)]
        return Pack(tuple(bounds), slice)
    return machine.evaluate(node)


def _sliced(machine: Machine, value: Value, start: Value, stop: Value, step: Value) -> Value:
    if is_number(machine, value):
        return get_item(machine, value, Pack((start, stop, step), slice))
    if isinstance(value, Ref) and isinstance(machine.store[value], ManyCell):
        return slice_of_many(machine, value, start, stop, step)
    if not all(isinstance(one, Known) for one in (start, stop, step)):
        raise UnsupportedError("a slice with bounds that are not known")
    bounds: list[Any] = [one.value for one in (start, stop, step) if isinstance(one, Known)]
    cut = slice(*bounds)
    if isinstance(value, Known):
        return _shallow(machine, value, value.value[cut])
    if isinstance(value, Pick):
        return from_options(machine, value.index, [one[cut] for one in value.options])
    items = machine.items(value)[cut]
    return Pack(tuple(items)) if isinstance(value, Pack) else machine.store.new(ListCell(items))


def _shallow(machine: Machine, value: Known, made: Any) -> Value:
    """A new list of items of a constant one: the items are still the constant's."""
    if type(made) is not list:
        return Known(made)
    return machine.new_list([machine.part_of(value, item, at) for at, item in enumerate(made)])


def get_item(machine: Machine, value: Value, index: Value) -> Value:
    """What `value[index]` gives, whatever the value is."""
    value = machine.present(value)
    index = index if isinstance(index, Pack) else machine.present(index)
    if isinstance(value, Known) and isinstance(index, Known):
        try:
            return machine.part_of(value, value.value[index.value], index.value)
        except (IndexError, KeyError) as error:
            raise AlwaysRaisesError(f"{type(error).__name__}: {error}") from error
    if isinstance(value, Pick):
        return _item_of_options(machine, value, index)
    if is_number(machine, value):
        return _item_of_array(machine, value, index)
    if isinstance(value, Rows):
        first, *further = index_parts(index)
        row = get_item(machine, Pack(value.items), first)
        return get_item(machine, row, Pack(tuple(further)) if len(further) > 1 else further[0]) if further else row
    if isinstance(value, Known) and isinstance(value.value, dict):
        keys = list(value.value)
        at, _ = position_among(machine, keys, index)
        return from_options(machine, at, [value.value[key] for key in keys])
    if isinstance(value, Known) and isinstance(value.value, np.ndarray) and is_numbers(machine, index):
        return taken_objects(machine, value.value, index)
    if isinstance(value, Known) and isinstance(value.value, np.ndarray):
        return _item_of_objects(machine, value.value, index)
    if isinstance(value, Known) and isinstance(value.value, list | tuple | str | range):
        return from_options(machine, wrapped_index(machine, index, len(value.value)), list(value.value))
    if isinstance(cell := machine.cell(value), DictCell):
        return _dict_item(machine, cell, index)
    if isinstance(value, Ref) and isinstance(cell := machine.store[value], ManyCell):
        return machine.arrays.item(value, place_in(machine, cell, index), machine.store)
    if isinstance(cell := machine.cell(value), ObjectCell):
        return machine.call_function(cell.cls.__getitem__, [value, index])  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(value, Elem) and isinstance(value.shape, Record):
        assert isinstance(index, Known)
        return machine.arrays.part(value, index.value, machine.store)
    items = machine.items(value)
    if isinstance(index, Known):
        if isinstance(value, Elem):
            assert isinstance(value.shape, Fixed)
            return machine.arrays.part(value, range(len(items))[index.value], machine.store)
        return items[index.value]
    if isinstance(value, Ref):
        arrayify(machine, value)
        return get_item(machine, value, index)
    return select(machine, items, wrapped_index(machine, index, len(items)))


def _item_of_array(machine: Machine, value: Value, index: Value) -> Value:
    if open_slices(machine, index):
        return between(machine, value, index)
    found = taken(machine, value, index)
    if found is not None:
        return found
    if is_number(machine, index) and (mask := machine.operand(index)).type.kind == "b" and mask.type.shape:
        return where_mask(machine, value, mask)
    return part_of_array(machine, value, array_index(machine, value, index))


def _item_of_objects(machine: Machine, table: np.ndarray, index: Value) -> Value:
    """An entry, or a row, of an array of texts or objects."""
    parts = iterate(machine, index) if is_sequence(machine, index) else [index]
    if len(parts) > table.ndim or any(isinstance(part, Pack) or machine.operand(part).type.shape for part in parts):
        if table.dtype.kind in "US":
            return TEXT
        raise UnsupportedError("a part of an array of things that are no numbers")
    at: Operand = Const(0)
    for part, size in zip(parts, table.shape, strict=False):
        place = Const(range(size)[part.value]) if isinstance(part, Known) else wrapped_index(machine, part, size)
        at = combined_index(machine, at, size, place)
    flat = table.reshape(-1, *table.shape[len(parts) :])
    return from_options(machine, at, flat.tolist() if flat.ndim == 1 and table.dtype.kind != "S" else list(flat))


def _item_of_options(machine: Machine, value: Pick, index: Value) -> Value:
    if isinstance(index, Known):
        return from_options(machine, value.index, [one[index.value] for one in value.options])
    keys = [list(one) if isinstance(one, dict) else list(range(len(one))) for one in value.options]
    if any(one != keys[0] for one in keys):
        longest = max(keys, key=len)
        if any(one != longest[: len(one)] for one in keys):
            raise UnsupportedError("tables with different keys are indexed at run time")
        keys = [longest]
        flat = [one[key] if key in _keys(one) else one[_keys(one)[0]] for one in value.options for key in longest]
    else:
        flat = [one[key] for one in value.options for key in keys[0]]
    if keys[0] == list(range(len(keys[0]))):
        at = wrapped_index(machine, index, len(keys[0]))
    else:
        at, _ = position_among(machine, keys[0], index)
    return from_options(machine, combined_index(machine, value.index, len(keys[0]), at), flat)


def _dict_item(machine: Machine, cell: DictCell, index: Value) -> Value:
    if isinstance(index, Known):
        if index.value not in cell.items:
            if cell.default is not None:
                cell.items[index.value] = machine.constant(cell.default())
                return cell.items[index.value]
            raise UnsupportedError(f"the key {index.value!r} may be missing")
        return cell.items[index.value]
    at, _ = position_among(machine, list(cell.items), index)
    return select(machine, list(cell.items.values()), at)


def _keys(box: Any) -> list[Any]:
    return list(box) if isinstance(box, dict) else list(range(len(box)))


RULES = {ast.Subscript: evaluate_subscript}
