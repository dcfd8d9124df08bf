"""Assignments: `a = b`, `a: int = b`, `a += b`, and the targets on their left sides."""

import ast
from collections.abc import Callable

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.store import ListCell, ManyCell
from overclock.translate.ir.values import Elem, Known, Num, Pack, Pick, Ref, Rows, Value, View, Window
from overclock.translate.python.expressions.atoms import read_name
from overclock.translate.python.expressions.attributes import get_attribute
from overclock.translate.python.expressions.subscripts import evaluate_index, get_item
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.flexible import narrowed, open_slices
from overclock.translate.python.memory.kinds import is_flexible, is_mask, is_number
from overclock.translate.python.memory.padded import many_cell
from overclock.translate.python.memory.views import index_parts, is_slice
from overclock.translate.python.operators.arithmetic import binary
from overclock.translate.python.operators.sequences import extend, iterate
from overclock.translate.python.statements.blocks import MOST_LENGTHS, lengths_of
from overclock.translate.python.statements.writing import label_array, name_operand, set_attribute, set_item


def run_assign(machine: Machine, node: ast.Assign) -> None:
    value = machine.evaluate(node.value)
    held = machine.temporary_name()
    machine.locals[held] = value  # items of lists stay what they are while targets are assigned one by one
    machine.permuted = any(_permutes(target, node.value) for target in node.targets)
    for target in node.targets:
        machine.assign(target, value)
    machine.permuted = False
    machine.locals.pop(held)


def run_annotated_assign(machine: Machine, node: ast.AnnAssign) -> None:
    if node.value is not None:
        machine.assign(node.target, machine.evaluate(node.value))


def run_augmented_assign(machine: Machine, node: ast.AugAssign) -> None:
    target = node.target
    if isinstance(target, ast.Name):
        _augment(machine, read_name(machine, target.id), node, lambda value: machine.assign(target, value))
    elif isinstance(target, ast.Attribute):
        owner = machine.present(machine.evaluate(target.value))
        current = get_attribute(machine, owner, target.attr)
        _augment(machine, current, node, lambda value: set_attribute(machine, owner, target.attr, value))
    elif isinstance(target, ast.Subscript):
        owner = machine.present(machine.evaluate(target.value))
        index = evaluate_index(machine, target.slice)
        if isinstance(target.slice, ast.Slice) and not is_number(machine, owner):
            raise UnsupportedError("a slice of a list is changed in place")
        current = _masked_read(machine, owner, index) or get_item(machine, owner, index)
        _augment(machine, current, node, lambda value: set_item(machine, owner, index, value))


def _masked_read(machine: Machine, owner: Value, index: Value) -> Value | None:
    """array[mask] on the way to array[mask] += value: everything, of which only the masked part is written."""
    if is_number(machine, owner) and open_slices(machine, index):
        owner, index = narrowed(machine, owner, index)
        return machine.fresh(machine.operand(owner)) if all(map(is_slice, index_parts(index))) else None
    if is_number(machine, owner) and not isinstance(index, Pack) and is_mask(machine, index):
        return machine.fresh(machine.operand(owner))
    return None


def _augment(machine: Machine, current: Value, node: ast.AugAssign, store: Callable[[Value], None]) -> None:
    value = machine.evaluate(node.value)
    shown = machine.present(current)
    is_list = isinstance(machine.cell(shown), ListCell | ManyCell) and not is_flexible(machine, shown)
    if is_list and isinstance(node.op, ast.Add):
        extend(machine, machine.mutable(shown), value)
        return
    if isinstance(shown, Window | Rows):
        raise UnsupportedError("a part of an array whose shape is not known is changed in place")
    result = binary(machine, node.op, current, value)
    if is_flexible(machine, shown) and not isinstance(node.target, ast.Subscript):
        cell, new = many_cell(machine, machine.mutable(shown)), many_cell(machine, result)
        cell.leaves = [machine.builder.cast(new.leaves[0], cell.leaves[0].type.dtype)]
        return
    if isinstance(shown, Ref | View) and is_number(machine, shown) and machine.operand(shown).type.shape:
        # In place: the array keeps its dtype, and whoever else has it sees the change.
        target, steps = (shown, ()) if isinstance(shown, Ref) else (shown.base, shown.steps)
        # But array[integers] and array[mask] are copies: the result is written back by the index.
        if not (isinstance(node.target, ast.Subscript) and isinstance(shown, Ref)):
            machine.arrays.assign(machine.mutable(target), steps, machine.operand(result), machine.store)
            return
    if isinstance(shown, Elem) and is_number(machine, shown):
        machine.arrays.write(shown, result, machine.store)
        return
    store(result)


def assign(machine: Machine, target: ast.expr, value: Value) -> None:
    """Run `target = value` for any kind of target."""
    match target:
        case ast.Name(id=name):
            if isinstance(value, Num):
                name_operand(value.operand, name)
            label_array(machine, value, name)
            at = len(machine.frames) - 1
            if name in machine.frame.nonlocals:
                at = machine.frame.outer
                while at is not None and name not in machine.store.frames[at]:
                    at = machine.frames[at].outer
                assert at is not None
            machine.store.frames[at][name] = value
            if isinstance(value, Pick) and 1 < len(lengths_of(value.options)) <= MOST_LENGTHS:
                machine.ragged = name
        case ast.Attribute(value=owner, attr=name):
            set_attribute(machine, machine.present(machine.evaluate(owner)), name, value)
        case ast.Subscript(value=owner, slice=index):
            set_item(machine, machine.present(machine.evaluate(owner)), evaluate_index(machine, index), value)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            _unpack(machine, parts, value)
        case ast.Starred():
            raise UnsupportedError("a starred target")


def _unpack(machine: Machine, parts: list[ast.expr], value: Value) -> None:
    starred = [at for at, part in enumerate(parts) if isinstance(part, ast.Starred)]
    shown = machine.present(value)
    if not starred and isinstance(machine.cell(shown), ManyCell):
        # Another number of items would be an error, and a step that raises is no step.
        items = [get_item(machine, shown, Known(at)) for at in range(len(parts))]
    else:
        items = iterate(machine, value)
    if starred:
        at = starred[0]
        behind = len(parts) - at - 1
        middle = items[at : len(items) - behind]
        items = [*items[:at], machine.store.new(ListCell(middle)), *items[len(items) - behind :]]
        parts = [part.value if isinstance(part, ast.Starred) else part for part in parts]
    if len(items) != len(parts):
        raise UnsupportedError(f"{len(items)} values for {len(parts)} names")
    for part, item in zip(parts, items, strict=True):
        machine.assign(part, item)


def _permutes(target: ast.expr, value: ast.expr) -> bool:
    """a[i], a[j] = a[j], a[i]."""
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return False
    return sorted(map(ast.unparse, target.elts)) == sorted(map(ast.unparse, value.elts))


RULES = {ast.Assign: run_assign, ast.AnnAssign: run_annotated_assign, ast.AugAssign: run_augmented_assign}
