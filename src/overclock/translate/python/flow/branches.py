"""Branches: both arms run on copies of the store, which are joined behind them, with an SSA phi where they differ."""

from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording import shapes
from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import Many, Shape
from overclock.translate.ir.layout import widen_constants
from overclock.translate.ir.nodes import Block, Const, If, Operand, Type, Var, bounds
from overclock.translate.ir.store import ListCell, ManyCell, Store, parts
from overclock.translate.ir.values import UNSET, Closure, Gone, Ref, Value, same_operand
from overclock.translate.python.flow import slots
from overclock.translate.python.flow.slots import HOLDING, Slot, unusable
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.padded import is_new


def branch(
    machine: Machine, condition: Operand, then: Callable[[], None], orelse: Callable[[], None], note: str = ""
) -> None:
    """Run one arm where a condition is known, else both, and join the stores that they leave behind."""
    if isinstance(condition, Const):
        (then if condition.value else orelse)()
        return
    before = machine.store
    machine.store = before.copy()
    with machine.builder.inside() as yes_block:
        then()
    yes = machine.store
    machine.store = before.copy()
    with machine.builder.inside() as no_block:
        orelse()
    no = machine.store
    statement = If(condition, yes_block, no_block, [], [], [], note)
    machine.builder.emit(statement)
    machine.store = _join(machine, statement, yes, no)


def _join(machine: Machine, statement: If, yes: Store, no: Store) -> Store:
    for number_ in yes.cells.keys() & no.cells.keys():
        _align(machine, number_, (yes, statement.then), (no, statement.orelse))
    result = no.copy()
    result.cells = {**{n: c for n, c in yes.copy().cells.items() if n not in result.cells}, **result.cells}
    result.echoes |= yes.echoes
    pairs: dict[tuple[int, int], Value] = {}
    for slot in dict.fromkeys([*slots.every(yes), *slots.every(no)]):
        if slot[0] != "local" and not (slots.exists(slot, yes) and slots.exists(slot, no)):
            continue  # a cell of one arm alone: nothing outside refers to it except through a merged copy
        a, b = slots.read(slot, yes), slots.read(slot, no)
        if slots.same(a, b):
            continue
        if isinstance(a, Ref) and isinstance(b, Ref) and (a.cell, b.cell) in pairs:
            slots.write(slot, pairs[a.cell, b.cell], result)
            continue
        merged = _join_slot(machine, statement, slot, a, b, yes, no, result)
        if isinstance(a, Ref) and isinstance(b, Ref) and isinstance(merged, Ref):
            pairs[a.cell, b.cell] = merged
    return result


def _join_slot(
    machine: Machine, statement: If, slot: Slot, a: Any, b: Any, yes: Store, no: Store, result: Store
) -> Any:
    gone = unusable(a, b)
    if gone is None and slot[0] == "local" and (isinstance(a, Closure) or isinstance(b, Closure)):
        gone = Gone("it is a function that was defined in one branch only")
    if gone is not None:
        slots.write(slot, gone, result)
        return gone
    for one, other, where in ((a, b, no), (b, a, yes)):
        if other is UNSET and _common(one, where):
            slots.write(slot, one, result)  # it has a value in one arm only; there it names something of before
            return one
    try:
        shape = _joined_shape(machine, slot, a, b, yes, no)
    except UnsupportedError as error:
        if slot[0] != "local":
            raise
        gone = Gone(error.reason)  # most locals are not read again
        slots.write(slot, gone, result)
        return gone
    with machine.builder.inside(statement.then):
        ones = slots.lower(machine, slot, a, shape, yes)
    with machine.builder.inside(statement.orelse):
        others = slots.lower(machine, slot, b, shape, no)
    found = [_phi(machine, statement, one, other) for one, other in zip(ones, others, strict=True)]
    value = slots.lift(machine, slot, shape, found, result)
    if slot[0] in HOLDING:
        result.copied(value, a, yes)
        result.copied(value, b, no)
    if isinstance(a, ManyCell) and isinstance(b, ManyCell):
        value.grows = a.grows and b.grows
    return value


def _phi(machine: Machine, statement: If, yes: Operand, no: Operand) -> Operand:
    """The result of a branch that is one operand or the other: a phi, or something simpler that is the same."""
    if same_operand(yes, no):
        return yes
    if isinstance(yes, Const) and isinstance(no, Const) and yes.type.dtype == "bool" and not yes.type.shape:
        condition = statement.condition
        assert isinstance(condition, Var)
        return condition if yes.value else machine.builder.negated(condition)
    if yes is statement.condition and isinstance(no, Const) and no.value:
        return Const(True)
    size = np.broadcast_shapes(yes.type.shape, no.type.shape)
    out = Var(Type(yes.type.dtype, size, yes.type.python and no.type.python), _hint(yes, no))
    out.low, out.high = _range(yes, no)
    statement.outs.append(out)
    statement.yes.append(yes)
    statement.no.append(no)
    return out


def _align(machine: Machine, cell_number: int, yes: tuple[Store, Block], no: tuple[Store, Block]) -> None:
    """Before two stores are joined: a list is kept in one way in both."""
    store_a, store_b = yes[0], no[0]
    a, b = store_a.cells[cell_number], store_b.cells[cell_number]
    if not isinstance(a, ListCell | ManyCell) or not isinstance(b, ListCell | ManyCell):
        return
    if isinstance(a, ListCell) and isinstance(b, ListCell) and len(a.items) == len(b.items):
        return
    ref = Ref(cell_number)
    joined = shapes.join(machine.layout.shape(ref, store_a), machine.layout.shape(ref, store_b))
    assert isinstance(joined, Many)
    of = widen_constants(joined.of)
    for store, block in (yes, no):
        with machine.builder.inside(block):
            length, *columns = machine.layout.lower(ref, Many(of, joined.capacity, joined.kind), store)
        cell = store.cells[cell_number]
        for item in parts(cell):
            store.held(ref, item)
        grows = cell.grows if isinstance(cell, ManyCell) else is_new(machine, ref)
        store.cells[cell_number] = ManyCell(of, joined.capacity, columns, length, joined.kind, grows)


def _joined_shape(machine: Machine, slot: Slot, a: Any, b: Any, yes: Store, no: Store) -> Shape:
    if isinstance(a, Gone) or isinstance(b, Gone):
        return slots.shape_of(machine, slot, b, no) if isinstance(a, Gone) else slots.shape_of(machine, slot, a, yes)
    return shapes.join(slots.shape_of(machine, slot, a, yes), slots.shape_of(machine, slot, b, no))


def _common(value: Value, other: Store) -> bool:
    """Whether another store knows what a value names."""
    return isinstance(value, Ref) and value.cell in other.cells


def _hint(a: Operand, b: Operand) -> str:
    names = [one.hint for one in (a, b) if isinstance(one, Var) and one.hint]
    return names[0] if names else ""


def _range(a: Operand, b: Operand) -> tuple[int | None, int | None]:
    (low_a, high_a), (low_b, high_b) = bounds(a), bounds(b)
    low = None if low_a is None or low_b is None else min(low_a, low_b)
    high = None if high_a is None or high_b is None else max(high_a, high_b)
    return low, high
