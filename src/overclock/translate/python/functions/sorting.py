"""Sorting: what `list.sort` and `sorted` do, stable, by a key where one is given."""

import operator

import numpy as np

from overclock.recording import shapes
from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import Number
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.store import ListCell, ManyCell
from overclock.translate.ir.values import Known, Ref, Value, constants
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import is_sequence
from overclock.translate.python.memory.padded import arrayify, many_cell
from overclock.translate.python.memory.searching import valid_flags
from overclock.translate.python.operators.sequences import iterate


def sort_list(machine: Machine, ref: Ref, keywords: dict[str, Value]) -> None:
    """Sort a list in place, with the keywords of list.sort."""
    backwards = keywords.get("reverse", Known(False))
    key = keywords.get("key")
    if not isinstance(backwards, Known):
        raise UnsupportedError("a sort whose direction is not known")
    cell = machine.store[ref]
    if isinstance(cell, ListCell):
        if all(isinstance(one, Known) for one in cell.items) and key is None:
            cell.items[:] = map(Known, sorted(constants(cell.items), reverse=backwards.value))
            return
        if not cell.items:
            return
        arrayify(machine, ref)
    cell = many_cell(machine, ref)
    rates = _rates(machine, ref, cell, key)
    if backwards.value:
        signed = [machine.builder.cast(one, "float64" if one.type.kind == "f" else "int64") for one in rates]
        rates = [machine.builder.let("neg", operator.neg, one) for one in signed]
    outside = machine.builder.let("not", np.logical_not, valid_flags(machine, cell))
    order = machine.builder.let("lexsort", lambda *keys: np.lexsort(keys), *reversed([outside, *rates]))
    cell.leaves = [machine.arrays.getitem(leaf, (order,)) for leaf in cell.leaves]
    machine.arrays.forget_items(ref, machine.store)


def _rates(machine: Machine, ref: Ref, cell: ManyCell, key: Value | None) -> list[Operand]:
    """Arrays to sort by, the most important first."""
    if key is None:
        if isinstance(cell.of, Number):
            return [cell.leaves[0]]
        if isinstance(cell.of, shapes.Fixed) and all(isinstance(one, Number) for one in cell.of.items):
            return list(cell.leaves)
        raise UnsupportedError("a sort of things that are no numbers")
    rows: list[list[Operand]] = []
    for at in range(cell.capacity):
        rate = machine.call(key, [machine.arrays.item(ref, Const(at), machine.store)], {})
        parts = iterate(machine, rate) if is_sequence(machine, rate) else [rate]
        rows.append([machine.operand(part) for part in parts])
    return [machine.arrays.stacked([number(row[k]) for row in rows], machine.store) for k in range(len(rows[0]))]
