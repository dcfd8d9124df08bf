"""Slots: what differs between two stores is found slot by slot.

A slot is one thing a statement can change: a local, an item, a field, the content of an array or of a list, how often
a site drew, the overflow flags.
"""

from collections.abc import Iterator
from typing import Any

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import Array, Fixed, Many, Number, Shape, leaves
from overclock.translate.ir.layout import zeros
from overclock.translate.ir.nodes import Const, Operand, Var, ranged
from overclock.translate.ir.store import ArrayCell, DictCell, ItemCell, ListCell, ManyCell, ObjectCell, Store
from overclock.translate.ir.values import UNSET, Gone, Known, Ref, same_operand, same_value
from overclock.translate.python.machine import Machine

Slot = tuple[Any, ...]  # its kind, and what tells it from others of its kind
HOLDING = ("local", "item", "key", "field")  # slots that hold values; what others hold belongs to a cell
COUNTS = ("drawn", "overflow", "full")  # slots that hold one operand each


def every(store: Store) -> Iterator[Slot]:
    """Every slot of a store."""
    for at, frame in enumerate(store.frames):
        yield from (("local", at, name) for name in frame)
    for cell_number, cell in store.cells.items():
        match cell:
            case ArrayCell():
                yield ("array", cell_number)
            case ListCell(items):
                yield from (("item", cell_number, at) for at in range(len(items)))
            case DictCell(items):
                yield from (("key", cell_number, key) for key in items)
            case ObjectCell(_, fields):
                yield from (("field", cell_number, key) for key in fields)
            case ManyCell():
                yield ("many", cell_number)
            case ItemCell():
                yield ("tracked", cell_number)
    yield from (("drawn", site) for site in store.drawn)
    yield from (("full", cell_number) for cell_number in store.full)
    yield ("overflow",)


def exists(slot: Slot, store: Store) -> bool:
    """Whether a store has a slot; a dict that may or may not have a key is refused."""
    if slot[0] in COUNTS or slot[0] == "local":
        return True
    if slot[1] not in store.cells:
        return False
    cell = store.cells[slot[1]]
    match slot[0]:
        case "item":
            return isinstance(cell, ListCell) and slot[2] < len(cell.items)
        case "key":
            if isinstance(cell, DictCell) and slot[2] not in cell.items:
                raise UnsupportedError(f"a dict gets the key {slot[2]!r} only sometimes")
            return isinstance(cell, DictCell)
        case "field":
            return isinstance(cell, ObjectCell)
    return True


def read(slot: Slot, store: Store) -> Any:
    """What a slot of a store holds."""
    match slot:
        case ("local", at, name):
            return store.frames[at].get(name, UNSET) if at < len(store.frames) else UNSET
        case ("array", cell):
            return store.cells[cell].operand  # pyright: ignore[reportAttributeAccessIssue]
        case ("item", cell, at):
            return store.cells[cell].items[at]  # pyright: ignore[reportAttributeAccessIssue]
        case ("key", cell, key):
            return store.cells[cell].items[key]  # pyright: ignore[reportAttributeAccessIssue]
        case ("field", cell, key):
            found: ObjectCell = store.cells[cell]  # pyright: ignore[reportAssignmentType]
            if key in found.fields:
                return found.fields[key]
            return Known(getattr(found.like, key)) if hasattr(found.like, key) else UNSET
        case ("many" | "tracked", cell):
            return store.cells[cell]
        case ("drawn", site):
            return store.drawn.get(site, Const(0))
        case ("full", cell):
            return store.full.get(cell, Const(False))
        case ("overflow",):
            return store.overflow
    raise AssertionError(slot)


def write(slot: Slot, value: Any, store: Store) -> None:
    """Make a slot of a store hold something else."""
    match slot:
        case ("local", at, name):
            store.frames[at][name] = value
        case ("array", cell):
            store.cells[cell].operand = value  # pyright: ignore[reportAttributeAccessIssue]
        case ("item", cell, at):
            store.cells[cell].items[at] = value  # pyright: ignore[reportAttributeAccessIssue]
        case ("key", cell, key):
            store.cells[cell].items[key] = value  # pyright: ignore[reportAttributeAccessIssue]
        case ("field", cell, key):
            store.cells[cell].fields[key] = value  # pyright: ignore[reportAttributeAccessIssue]
        case ("many" | "tracked", cell):
            store.cells[cell] = value
        case ("drawn", site):
            store.drawn[site] = value
        case ("full", cell):
            store.full[cell] = value
        case ("overflow",):
            store.overflow = value
        case _:
            raise AssertionError(slot)


def same(a: Any, b: Any) -> bool:
    """Whether what two slots hold is the same for sure."""
    if isinstance(a, Var | Const) and isinstance(b, Var | Const):
        return same_operand(a, b)
    if isinstance(a, ManyCell) and isinstance(b, ManyCell):
        return (
            a.of == b.of
            and a.capacity == b.capacity
            and same_operand(a.length, b.length)
            and all(map(same_operand, a.leaves, b.leaves))
        )
    if isinstance(a, ItemCell) and isinstance(b, ItemCell):
        same_shadow = a.shadow is b.shadow or (
            a.shadow is not None and b.shadow is not None and all(map(same_operand, a.shadow, b.shadow))
        )
        return same_operand(a.index, b.index) and same_operand(a.attached, b.attached) and same_shadow
    if isinstance(a, ManyCell | ItemCell) or isinstance(b, ManyCell | ItemCell):
        return False
    return not isinstance(a, Var | Const) and not isinstance(b, Var | Const) and same_value(a, b)


def unusable(a: Any, b: Any) -> Gone | None:
    """The reason that one of two values cannot be used, where there is one."""
    return next((one for one in (a, b) if isinstance(one, Gone) and one is not UNSET), None)


def has_effects(before: Store, after: Store) -> bool:
    """Whether something that was there before has changed."""
    return not all(
        same(read(slot, before), read(slot, after))
        for slot in every(after)
        if slot[0] == "local" or slot[0] in COUNTS or slot[1] in before.cells
    )


def shape_of(machine: Machine, slot: Slot, value: Any, store: Store) -> Shape:
    """The shape of what a slot holds."""
    if slot[0] == "array":
        return Array(value.type.dtype, value.type.shape)
    if slot[0] in COUNTS:
        return Number(value.type.dtype, True)
    if slot[0] == "many":
        return Many(value.of, value.capacity, value.kind)
    if slot[0] == "tracked":
        return _tracked_shape(machine, value, store)
    return machine.layout.shape(value, store)


def _tracked_shape(machine: Machine, item: ItemCell, store: Store) -> Shape:
    cell = store[item.list]
    assert isinstance(cell, ManyCell)
    parts: list[Shape] = [Number("int64", True), Number("bool", True)]
    parts += [Array(leaf.dtype, leaf.shape) if leaf.shape else Number(leaf.dtype) for leaf in leaves(cell.of)]
    return Fixed(tuple(parts))


def lower(machine: Machine, slot: Slot, value: Any, shape: Shape, store: Store) -> list[Operand]:
    """What a slot holds, as the operands of a shape."""
    if slot[0] == "array":
        assert isinstance(shape, Array)
        return [machine.builder.cast(value, shape.dtype)]
    if slot[0] in COUNTS:
        return [value]
    if slot[0] == "many":
        return machine.layout.lower(Ref(slot[1]), shape, store)
    if slot[0] == "tracked":
        cell = store[value.list]
        assert isinstance(cell, ManyCell)
        shadow = value.shadow or [zeros(leaf.dtype, leaf.shape) for leaf in leaves(cell.of)]
        return [machine.builder.cast(value.index, "int64", True), value.attached, *shadow]
    return machine.layout.lower(value, shape, store)


def lift(machine: Machine, slot: Slot, shape: Shape, operands: list[Operand], store: Store) -> Any:
    """Make a slot hold operands as a value of a shape; gives that value."""
    if slot[0] == "array" or slot[0] in COUNTS:
        value: Any = operands[0]
    elif slot[0] == "many":
        assert isinstance(shape, Many)
        length, *columns = operands
        value = ManyCell(shape.of, shape.capacity, columns, ranged(length, 0, shape.capacity), shape.kind)
    elif slot[0] == "tracked":
        old = store.cells[slot[1]]
        assert isinstance(old, ItemCell)
        index, attached, *shadow = operands
        value = ItemCell(old.list, index, attached, shadow or None)
    else:
        value = machine.layout.lift(shape, operands, store)
    write(slot, value, store)
    return value
