"""Built-in functions that look at several values: `min`, `max`, `sum`, `any`, `all`, and sorting."""

import ast
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
from overclock.translate.python.memory.kinds import is_number, is_sequence
from overclock.translate.python.memory.padded import arrayify, many_cell
from overclock.translate.python.memory.searching import extreme, masked_items, valid_flags
from overclock.translate.python.operators.arithmetic import binary
from overclock.translate.python.operators.comparison import compare
from overclock.translate.python.operators.options import choose_value
from overclock.translate.python.operators.sequences import iterate
from overclock.translate.python.operators.truth import truth


def builtin_min(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _extreme(machine, args, keywords, ast.Lt())


def builtin_max(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _extreme(machine, args, keywords, ast.Gt())


def _extreme(machine: Machine, args: list[Value], keywords: dict[str, Value], better: ast.cmpop) -> Value:
    key = keywords.get("key")
    if len(args) == 1:
        box = machine.present(args[0])
        if isinstance(box, Ref) and isinstance(cell := machine.store[box], ManyCell):
            return _extreme_of_many(machine, box, cell, key, better, keywords)
        args = iterate(machine, box)
    if not args:
        if "default" in keywords:
            return keywords["default"]
        raise UnsupportedError("the smallest or largest of nothing")
    rated = [(one, one if key is None else machine.call(key, [one], {})) for one in args]
    best, best_rate = rated[0]
    for one, rate in rated[1:]:
        if key is None and is_number(machine, best) and is_number(machine, one):
            a, b = machine.operand(best), machine.operand(one)
            if a.type.python == b.type.python and a.type.dtype == b.type.dtype and a.type.kind in "iu":
                op = "minimum" if isinstance(better, ast.Lt) else "maximum"
                best = best_rate = number(machine.builder.apply(op, a, b))
                continue
        wins = truth(machine, compare(machine, better, rate, best_rate))
        best_rate = choose_value(machine, wins, rate, best_rate)
        best = best_rate if key is None else choose_value(machine, wins, one, best)
    return best


def _extreme_of_many(
    machine: Machine, ref: Ref, cell: ManyCell, key: Value | None, better: ast.cmpop, keywords: dict[str, Value]
) -> Value:
    if key is not None:
        raise UnsupportedError("min or max with a key over a list of changing length")
    if not isinstance(cell.of, Number):
        raise UnsupportedError("the smallest or largest of things that are no numbers")
    dtype = np.dtype(cell.of.dtype)
    smallest = isinstance(better, ast.Lt)
    filled = masked_items(machine, cell, extreme(dtype, "min" if smallest else "max"))
    found = machine.builder.let("min" if smallest else "max", np.min if smallest else np.max, filled)
    value = number(machine.builder.cast(found, cell.of.dtype, cell.of.python))
    if "default" in keywords:
        return choose_value(machine, truth(machine, ref), value, keywords["default"])
    return value


def builtin_sum(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    box = machine.present(args[0])
    start: Value = args[1] if len(args) > 1 else keywords.get("start", Known(0))
    if isinstance(cell := machine.cell(box), ManyCell):
        filled = masked_items(machine, cell, 0)
        filled = machine.builder.cast(filled, "int64") if filled.type.kind == "b" else filled
        total = machine.builder.let("sum", np.sum, filled)
        assert isinstance(cell.of, Number)
        dtype = "int64" if cell.of.dtype == "bool" else cell.of.dtype
        return binary(machine, ast.Add(), start, number(machine.builder.cast(total, dtype, cell.of.python)))
    total_value = start
    for one in iterate(machine, box):
        total_value = binary(machine, ast.Add(), total_value, one)
    return total_value


def builtin_any(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _flags(machine, args[0], "or")


def builtin_all(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _flags(machine, args[0], "and")


def _flags(machine: Machine, box: Value, op: str) -> Value:
    box = machine.present(box)
    if isinstance(cell := machine.cell(box), ManyCell):
        filled = masked_items(machine, cell, op == "and")
        function = np.any if op == "or" else np.all
        return number(machine.builder.flag(machine.builder.let(function.__name__, function, filled)))
    found: Operand = Const(op == "and")
    for one in iterate(machine, box):
        found = machine.builder.logical(op, found, truth(machine, one))
    return number(found)


RULES = {min: builtin_min, max: builtin_max, sum: builtin_sum, any: builtin_any, all: builtin_all}


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
