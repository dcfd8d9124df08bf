"""Loops: the fixed point of what a loop carries from turn to turn.

The body is run on abstract values until the shapes of what it carries no longer widen; then it is emitted once.
"""

from collections.abc import Callable
from typing import Any

from overclock.recording import shapes
from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import Exactly, Number, Shape, leaves
from overclock.translate.ir.aliases import changeable
from overclock.translate.ir.layout import widen_constants
from overclock.translate.ir.nodes import Const, Loop, Operand, Type, Var
from overclock.translate.ir.store import ListCell, ManyCell, Store
from overclock.translate.ir.values import Closure, Elem, Gone, Known, Ref, Value, View
from overclock.translate.python.flow import slots
from overclock.translate.python.flow.loop_echoes import LoopEchoes
from overclock.translate.python.flow.slots import HOLDING, Slot, unusable
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.padded import DEFAULT_CAPACITY, keep_as_arrays

ROUNDS = 20  # of looking for what a loop carries, before its values count as ever-changing
LARGEST_CAPACITY = 256  # of a list that grows in loops inside loops


class TestChangesError(UnsupportedError):
    """A loop whose test has effects must be written in another way."""


def fixed_point_loop(
    machine: Machine,
    header: Callable[[], Operand],
    body: Callable[[], None],
    note: str = "",
    most: int | None = None,
    inner_names: frozenset[str] = frozenset(),
) -> None:
    """While `header` holds, `body`. `most`: how often at most; `inner_names`: locals nobody reads afterwards."""
    entry = machine.store
    carried: dict[Slot, Shape] = {}
    dropped: set[Slot] = set()  # locals of another kind in every turn: none may read what the one before left
    echoes, stale = LoopEchoes(entry), entry.echoes.stale
    with machine.inside_loop(note, most):
        for _ in range(ROUNDS):
            machine.store = entry.copy()
            variables = _carry(machine, carried, dropped, entry, echoes)
            started = machine.store.copy()
            with machine.builder.inside() as header_block:
                test = header()
            if slots.has_effects(started, machine.store):
                raise TestChangesError("the test of a loop changes something")
            if isinstance(test, Const) and not test.value and not carried:
                machine.store = entry
                return
            with machine.builder.inside() as body_block:
                body()
            after = machine.store
            if _keep_growing_lists_as_arrays(machine, entry, started, after, most):
                # Items of a list that is kept as arrays from now on are carried with it.
                carried = {slot: shape for slot, shape in carried.items() if _outlives(slot, entry)}
                dropped = {slot for slot in dropped if _outlives(slot, entry)}
                continue
            wider = _widened(machine, carried, dropped, entry, started, after, inner_names)
            news = echoes.learn({slot: slots.read(slot, after) for slot in wider if slot[0] in HOLDING}, after)
            if wider == carried and not news:
                break
            carried = wider
        else:
            raise UnsupportedError("the kinds of the values of this loop keep changing")
    spoiled, entry.echoes.stale = entry.echoes.stale, stale  # before the first turn, nothing was spoiled by it
    first = [
        one
        for slot, shape in carried.items()
        for one in slots.lower(machine, slot, slots.read(slot, entry), shape, entry)
    ]
    entry.echoes.stale = spoiled
    with machine.builder.inside(body_block):
        following = [
            one
            for slot, shape in carried.items()
            for one in slots.lower(machine, slot, slots.read(slot, after), shape, after)
        ]
    outs = [Var(var.type, var.hint, var.low, var.high) for var in variables]
    machine.builder.emit(Loop(variables, first, header_block, test, body_block, following, outs, note))
    machine.store = entry
    _leave(machine, carried, dropped, list(outs), after, echoes)


def _carry(
    machine: Machine, carried: dict[Slot, Shape], dropped: set[Slot], entry: Store, echoes: LoopEchoes
) -> list[Var]:
    """Inside the loop, carried slots hold variables."""
    variables: list[Var] = []
    values: dict[Slot, Value] = {}
    for slot, shape in carried.items():
        hint = str(slot[-1]) if slot[0] in ("local", "field") else ""
        mine = [Var(Type(leaf.dtype, leaf.shape, _python(shape)), hint) for leaf in leaves(shape)]
        if slot[0] in slots.COUNTS:
            mine[0].label = slot[0]
        variables += mine
        value = slots.lift(machine, slot, shape, list(mine), machine.store)
        if slot[0] in HOLDING:
            values[slot] = value
    for cell in machine.store.cells.values():
        if isinstance(cell, ManyCell):
            cell.grows = False  # what goes around has one capacity in all turns
    for slot in dropped:
        slots.write(slot, Gone("what the turn before left in it is not followed"), machine.store)
    echoes.begin(values, {slot: slots.read(slot, entry) for slot in values}, machine.store)
    return variables


def _widened(
    machine: Machine,
    carried: dict[Slot, Shape],
    dropped: set[Slot],
    entry: Store,
    started: Store,
    after: Store,
    inner_names: frozenset[str],
) -> dict[Slot, Shape]:
    wider = dict(carried)
    for slot in slots.every(after):
        if slot in dropped or not _outlives(slot, entry):
            continue
        a, b = slots.read(slot, started), slots.read(slot, after)
        if slots.same(a, b) and not (slot in carried and slot[0] in HOLDING and after.reached(b)):
            continue
        inner = slot[0] == "local" and slot[2] in inner_names
        new = slot[0] == "local" and isinstance(a, Gone)
        if (inner or new) and isinstance(b, Elem | View | Closure | Gone):
            dropped.add(slot)
            continue
        try:
            shape = _turned(machine, slot, carried.get(slot), a, b, started, after)
        except UnsupportedError:
            if not inner:
                raise
            dropped.add(slot)
            continue
        if inner and slot not in carried and changeable(shape):
            dropped.add(slot)
        else:
            wider[slot] = shape
    for slot in dropped:
        wider.pop(slot, None)
    return wider


def _outlives(slot: Slot, entry: Store) -> bool:
    """Whether a slot was there before the loop."""
    return slot[1] < len(entry.frames) if slot[0] == "local" else slots.exists(slot, entry)


def _turned(machine: Machine, slot: Slot, known: Shape | None, a: Any, b: Any, started: Store, after: Store) -> Shape:
    """The shape that holds what was there before a turn and what is there after it."""
    if (gone := unusable(a, b)) is not None:
        raise UnsupportedError(gone.reason)
    shape = slots.shape_of(machine, slot, b, after)
    if not isinstance(a, Gone):
        shape = shapes.join(slots.shape_of(machine, slot, a, started), shape)
    if isinstance(shape, Exactly):
        shape = shapes.of_python(shape.value)
    return widen_constants(shape if known is None else shapes.join(known, shape))


def _leave(
    machine: Machine, carried: dict[Slot, Shape], dropped: set[Slot], outs: list[Var], after: Store, echoes: LoopEchoes
) -> None:
    values: dict[Slot, Value] = {}
    before = {slot: slots.read(slot, machine.store) for slot in carried if slot[0] in HOLDING}
    for slot, shape in carried.items():
        mine = [outs.pop(0) for _ in leaves(shape)]
        value = slots.lift(machine, slot, shape, list(mine), machine.store)
        if slot[0] in HOLDING:
            values[slot] = value
    echoes.begin(values, before, machine.store)
    for at, frame in enumerate(machine.store.frames):
        for name, value in after.frames[at].items():
            slot = ("local", at, name)
            if slot in dropped or (name not in frame and slot not in carried and not isinstance(value, Known)):
                frame[name] = Gone("it was assigned inside a loop")


def _keep_growing_lists_as_arrays(
    machine: Machine, entry: Store, started: Store, after: Store, most: int | None
) -> bool:
    """Lists whose length changes inside the loop are kept as arrays from the start."""
    found = False
    for cell_number, cell in list(entry.cells.items()):
        other, before = after.cells.get(cell_number), started.cells.get(cell_number)
        if not isinstance(cell, ListCell) or not isinstance(before, ListCell):
            continue
        if isinstance(other, ListCell) and len(other.items) == len(before.items):
            continue
        found = True
        if isinstance(other, ListCell):
            more = len(other.items) - len(before.items)
            items = [machine.layout.shape(item, after) for item in other.items]
            capacity = len(cell.items) + (DEFAULT_CAPACITY if most is None else most * max(1, more))
        else:
            assert isinstance(other, ManyCell)
            turns, more = most or DEFAULT_CAPACITY, max(1, other.capacity - len(before.items))
            items, capacity = [other.of], len(cell.items) + min(turns * more, max(turns, LARGEST_CAPACITY))
        items += [machine.layout.shape(item, entry) for item in cell.items]
        of = widen_constants(shapes.join_all(items)) if items else Exactly(None)
        keep_as_arrays(machine, Ref(cell_number), of, capacity, entry)
    return found


def _python(shape: Shape) -> bool:
    return isinstance(shape, Number) and shape.python
