"""Branches and loops: running both arms on copies of the store and merging, and finding what a loop carries.

A *slot* is one thing a statement can change: a local, an item, a field, the content of an array or of a list, how often
a site drew, the overflow flags. What differs between two stores is found slot by slot.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from overclock.recording import shapes
from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import Array, Exactly, Fixed, Many, Number, Shape, leaves
from overclock.translate.ir.aliases import changeable
from overclock.translate.ir.layout import Layout, number, zeros
from overclock.translate.ir.nodes import Block, Builder, Const, If, Loop, Operand, Type, Var
from overclock.translate.ir.values import (
    UNSET,
    ArrayCell,
    Closure,
    DictCell,
    Elem,
    Gone,
    ItemCell,
    Known,
    ListCell,
    ManyCell,
    Num,
    ObjectCell,
    Ref,
    Store,
    Value,
    View,
    parts,
    same_operand,
    same_value,
)  # fmt: skip
from overclock.translate.python.loop_echoes import LoopEchoes

Slot = tuple[Any, ...]
HOLDING = ("local", "item", "key", "field")  # slots that hold values; what others hold belongs to a cell
ROUNDS = 20  # of looking for what a loop carries, before its values count as ever-changing
LARGEST_CAPACITY = 256  # of a list that grows in loops inside loops
DEFAULT_CAPACITY = 32  # of a list that grows in a loop whose length nothing bounds


class TestChangesError(UnsupportedError):
    """A loop whose test has effects must be written in another way."""


class Control:
    """Branching and looping over a store that it owns."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.store = Store()
        self.kept: set[int] = set()  # cells of the state
        self.layout: Layout

    # ---- branches ----

    def branch(self, condition: Operand, then: Callable[[], None], orelse: Callable[[], None], note: str = "") -> None:
        """Run one arm where a condition is known, else both, and merge what they leave behind."""
        if isinstance(condition, Const):
            (then if condition.value else orelse)()
            return
        before = self.store
        self.store = before.copy()
        with self.builder.inside() as yes_block:
            then()
        yes = self.store
        self.store = before.copy()
        with self.builder.inside() as no_block:
            orelse()
        no = self.store
        statement = If(condition, yes_block, no_block, [], [], [], note)
        self.builder.emit(statement)
        self.store = self._merged(statement, yes, no)

    def _merged(self, statement: If, yes: Store, no: Store) -> Store:
        for number_ in yes.cells.keys() & no.cells.keys():
            self._align(number_, (yes, statement.then), (no, statement.orelse))
        result = no.copy()
        result.cells = {**{n: c for n, c in yes.copy().cells.items() if n not in result.cells}, **result.cells}
        result.echoes |= yes.echoes
        pairs: dict[tuple[int, int], Value] = {}
        for slot in dict.fromkeys([*_slots(yes), *_slots(no)]):
            if slot[0] != "local" and not (_exists(slot, yes) and _exists(slot, no)):
                continue  # a cell of one arm alone: nothing outside refers to it except through a merged copy
            a, b = _get(slot, yes), _get(slot, no)
            if _same(a, b):
                continue
            if isinstance(a, Ref) and isinstance(b, Ref) and (a.cell, b.cell) in pairs:
                _set(slot, pairs[a.cell, b.cell], result)
                continue
            merged = self._merge_slot(statement, slot, a, b, yes, no, result)
            if isinstance(a, Ref) and isinstance(b, Ref) and isinstance(merged, Ref):
                pairs[a.cell, b.cell] = merged
        return result

    def _merge_slot(self, statement: If, slot: Slot, a: Any, b: Any, yes: Store, no: Store, result: Store) -> Any:
        gone = self._stale(a, b, yes, no) if slot[0] == "local" else _unusable(a, b)
        if gone is not None:
            _set(slot, gone, result)
            return gone
        for one, other, where in ((a, b, no), (b, a, yes)):
            if other is UNSET and _common(one, where):
                _set(slot, one, result)  # it has a value in one arm only; there it names something of before
                return one
        try:
            shape = self._joined(slot, a, b, yes, no)
        except UnsupportedError as error:
            if slot[0] != "local":
                raise
            gone = Gone(error.reason)  # most locals are not read again
            _set(slot, gone, result)
            return gone
        with self.builder.inside(statement.then):
            ones = self._lowered(slot, a, shape, yes)
        with self.builder.inside(statement.orelse):
            others = self._lowered(slot, b, shape, no)
        found = [self._phi(statement, one, other) for one, other in zip(ones, others, strict=True)]
        value = self._lift_into(slot, shape, found, result)
        if slot[0] in HOLDING:
            result.copied(value, a, yes)
            result.copied(value, b, no)
        if slot[0] == "many":
            value.grows = a.grows and b.grows
        return value

    def _stale(self, a: Any, b: Any, yes: Store, no: Store) -> Gone | None:
        """A local that cannot be kept: it names an item of a list that has moved, or different memory in each arm."""
        if (gone := _unusable(a, b)) is not None:
            return gone
        if isinstance(a, Closure) or isinstance(b, Closure):
            return Gone("it is a function that was defined in one branch only")
        return None

    def _phi(self, statement: If, yes: Operand, no: Operand) -> Operand:
        if same_operand(yes, no):
            return yes
        if isinstance(yes, Const) and isinstance(no, Const) and yes.type.dtype == "bool" and not yes.type.shape:
            condition = statement.condition
            assert isinstance(condition, Var)
            return condition if yes.value else self.builder.let("not", np.logical_not, condition, python=True)
        if yes is statement.condition and isinstance(no, Const) and no.value:
            return Const(True)
        size = np.broadcast_shapes(yes.type.shape, no.type.shape)
        out = Var(Type(yes.type.dtype, size, yes.type.python and no.type.python), _hint(yes, no))
        out.low, out.high = _range(yes, no)
        statement.outs.append(out)
        statement.yes.append(yes)
        statement.no.append(no)
        return out

    # ---- loops ----

    def loop(
        self,
        header: Callable[[], Operand],
        body: Callable[[], None],
        note: str = "",
        most: int | None = None,
        inner_names: frozenset[str] = frozenset(),
    ) -> None:
        """While `header` holds, `body`. `most`: how often at most; `inner_names`: locals nobody reads afterwards."""
        entry = self.store
        carried: dict[Slot, Shape] = {}
        dropped: set[Slot] = set()  # locals of another kind in every turn: none may read what the one before left
        echoes, stale = LoopEchoes(entry), entry.echoes.stale
        for _ in range(ROUNDS):
            self.store = entry.copy()
            variables = self._carry(carried, dropped, entry, echoes)
            started = self.store.copy()
            with self.builder.inside() as header_block:
                test = header()
            if self.effects(started, self.store):
                raise TestChangesError("the test of a loop changes something")
            if isinstance(test, Const) and not test.value and not carried:
                self.store = entry
                return
            with self.builder.inside() as body_block:
                body()
            after = self.store
            if self._grown(entry, started, after, most):
                # Items of a list that is kept as arrays from now on are carried with it.
                carried = {slot: shape for slot, shape in carried.items() if self._outlives(slot, entry)}
                dropped = {slot for slot in dropped if self._outlives(slot, entry)}
                continue
            wider = self._widened(carried, dropped, entry, started, after, inner_names)
            news = echoes.learn({slot: _get(slot, after) for slot in wider if slot[0] in HOLDING}, after)
            if wider == carried and not news:
                break
            carried = wider
        else:
            raise UnsupportedError("the kinds of the values of this loop keep changing")
        spoiled, entry.echoes.stale = entry.echoes.stale, stale  # before the first turn, nothing was spoiled by it
        first = [one for slot, shape in carried.items() for one in self._lowered(slot, _get(slot, entry), shape, entry)]
        entry.echoes.stale = spoiled
        with self.builder.inside(body_block):
            following = [
                one for slot, shape in carried.items() for one in self._lowered(slot, _get(slot, after), shape, after)
            ]
        outs = [Var(var.type, var.hint, var.low, var.high) for var in variables]
        self.builder.emit(Loop(variables, first, header_block, test, body_block, following, outs, note))
        self.store = entry
        self._leave(carried, dropped, list(outs), after, echoes)

    def _carry(self, carried: dict[Slot, Shape], dropped: set[Slot], entry: Store, echoes: LoopEchoes) -> list[Var]:
        """Inside the loop, carried slots hold variables."""
        variables: list[Var] = []
        values: dict[Slot, Value] = {}
        for slot, shape in carried.items():
            hint = str(slot[-1]) if slot[0] in ("local", "field") else ""
            mine = [Var(Type(leaf.dtype, leaf.shape, _python(shape)), hint) for leaf in leaves(shape)]
            if slot[0] in ("drawn", "overflow", "full"):
                mine[0].label = slot[0]
            variables += mine
            value = self._lift_into(slot, shape, list(mine), self.store)
            if slot[0] in HOLDING:
                values[slot] = value
        for cell in self.store.cells.values():
            if isinstance(cell, ManyCell):
                cell.grows = False  # what goes around has one capacity in all turns
        for slot in dropped:
            _set(slot, Gone("what the turn before left in it is not followed"), self.store)
        echoes.begin(values, {slot: _get(slot, entry) for slot in values}, self.store)
        return variables

    def _widened(
        self,
        carried: dict[Slot, Shape],
        dropped: set[Slot],
        entry: Store,
        started: Store,
        after: Store,
        inner_names: frozenset[str],
    ) -> dict[Slot, Shape]:
        wider = dict(carried)
        for slot in _slots(after):
            if slot in dropped or not self._outlives(slot, entry):
                continue
            a, b = _get(slot, started), _get(slot, after)
            if _same(a, b) and not (slot in carried and slot[0] in HOLDING and after.reached(b)):
                continue
            inner = slot[0] == "local" and slot[2] in inner_names
            new = slot[0] == "local" and isinstance(a, Gone)
            if (inner or new) and isinstance(b, Elem | View | Closure | Gone):
                dropped.add(slot)
                continue
            try:
                shape = self._turned(slot, carried.get(slot), a, b, started, after)
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

    def _outlives(self, slot: Slot, entry: Store) -> bool:
        """Whether a slot was there before the loop."""
        return slot[1] < len(entry.frames) if slot[0] == "local" else _exists(slot, entry)

    def _turned(self, slot: Slot, known: Shape | None, a: Any, b: Any, started: Store, after: Store) -> Shape:
        """The shape that holds what was there before a turn and what is there after it."""
        if (gone := _unusable(a, b)) is not None:
            raise UnsupportedError(gone.reason)
        shape = self._shape(slot, b, after)
        if not isinstance(a, Gone):
            shape = shapes.join(self._shape(slot, a, started), shape)
        if isinstance(shape, Exactly):
            shape = shapes.of_python(shape.value)
        return _widen_constants(shape if known is None else shapes.join(known, shape))

    def _leave(
        self, carried: dict[Slot, Shape], dropped: set[Slot], outs: list[Var], after: Store, echoes: LoopEchoes
    ) -> None:
        values: dict[Slot, Value] = {}
        before = {slot: _get(slot, self.store) for slot in carried if slot[0] in HOLDING}
        for slot, shape in carried.items():
            mine = [outs.pop(0) for _ in leaves(shape)]
            value = self._lift_into(slot, shape, list(mine), self.store)
            if slot[0] in HOLDING:
                values[slot] = value
        echoes.begin(values, before, self.store)
        for at, frame in enumerate(self.store.frames):
            for name, value in after.frames[at].items():
                slot = ("local", at, name)
                if slot in dropped or (name not in frame and slot not in carried and not isinstance(value, Known)):
                    frame[name] = Gone("it was assigned inside a loop")

    def effects(self, before: Store, after: Store) -> bool:
        """Whether something that was there before has changed."""
        return not all(
            _same(_get(slot, before), _get(slot, after))
            for slot in _slots(after)
            if slot[0] in ("local", "drawn", "overflow", "full") or slot[1] in before.cells
        )

    def _grown(self, entry: Store, started: Store, after: Store, most: int | None) -> bool:
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
                items = [self.layout.shape(item, after) for item in other.items]
                capacity = len(cell.items) + (DEFAULT_CAPACITY if most is None else most * max(1, more))
            else:
                assert isinstance(other, ManyCell)
                turns, more = most or DEFAULT_CAPACITY, max(1, other.capacity - len(before.items))
                items, capacity = [other.of], len(cell.items) + min(turns * more, max(turns, LARGEST_CAPACITY))
            items += [self.layout.shape(item, entry) for item in cell.items]
            of = _widen_constants(shapes.join_all(items)) if items else Exactly(None)
            self.as_many(Ref(cell_number), of, capacity, entry)
        return found

    def as_many(self, ref: Ref, of: Shape, capacity: int, store: Store) -> None:
        """Keep a list as arrays from now on."""
        cell = store[ref]
        assert isinstance(cell, ListCell)
        length, *columns = self.layout.lower(ref, Many(of, capacity, cell.kind), store)
        store.cells[ref.cell] = ManyCell(of, capacity, columns, length, cell.kind, self._new(ref))
        for item in cell.items:
            store.held(ref, item)

    def _align(self, cell_number: int, yes: tuple[Store, Block], no: tuple[Store, Block]) -> None:
        """Before two stores are merged: a list is kept in one way in both."""
        store_a, store_b = yes[0], no[0]
        a, b = store_a.cells[cell_number], store_b.cells[cell_number]
        if not isinstance(a, ListCell | ManyCell) or not isinstance(b, ListCell | ManyCell):
            return
        if isinstance(a, ListCell) and isinstance(b, ListCell) and len(a.items) == len(b.items):
            return
        ref = Ref(cell_number)
        joined = shapes.join(self.layout.shape(ref, store_a), self.layout.shape(ref, store_b))
        assert isinstance(joined, Many)
        of = _widen_constants(joined.of)
        for store, block in (yes, no):
            with self.builder.inside(block):
                length, *columns = self.layout.lower(ref, Many(of, joined.capacity, joined.kind), store)
            cell = store.cells[cell_number]
            for item in parts(cell):
                store.held(ref, item)
            grows = cell.grows if isinstance(cell, ManyCell) else self._new(ref)
            store.cells[cell_number] = ManyCell(of, joined.capacity, columns, length, joined.kind, grows)

    def _new(self, ref: Ref) -> bool:
        """Whether a list was made in this run: nobody has counted on its capacity yet."""
        return ref.cell not in self.kept

    # ---- slots as operands ----

    def _joined(self, slot: Slot, a: Any, b: Any, yes: Store, no: Store) -> Shape:
        if isinstance(a, Gone) or isinstance(b, Gone):
            return self._shape(slot, b, no) if isinstance(a, Gone) else self._shape(slot, a, yes)
        return shapes.join(self._shape(slot, a, yes), self._shape(slot, b, no))

    def _shape(self, slot: Slot, value: Any, store: Store) -> Shape:
        if slot[0] == "array":
            return Array(value.type.dtype, value.type.shape)
        if slot[0] in ("drawn", "overflow", "full"):
            return Number(value.type.dtype, True)
        if slot[0] == "many":
            return Many(value.of, value.capacity, value.kind)
        if slot[0] == "tracked":
            return self._tracked_shape(value, store)
        return self.layout.shape(value, store)

    def _tracked_shape(self, item: ItemCell, store: Store) -> Shape:
        cell = store[item.list]
        assert isinstance(cell, ManyCell)
        parts: list[Shape] = [Number("int64", True), Number("bool", True)]
        parts += [Array(leaf.dtype, leaf.shape) if leaf.shape else Number(leaf.dtype) for leaf in leaves(cell.of)]
        return Fixed(tuple(parts))

    def _lowered(self, slot: Slot, value: Any, shape: Shape, store: Store) -> list[Operand]:
        if slot[0] == "array":
            assert isinstance(shape, Array)
            return [self.builder.cast(value, shape.dtype)]
        if slot[0] in ("drawn", "overflow", "full"):
            return [value]
        if slot[0] == "many":
            return self.layout.lower(Ref(slot[1]), shape, store)
        if slot[0] == "tracked":
            cell = store[value.list]
            assert isinstance(cell, ManyCell)
            shadow = value.shadow or [zeros(leaf.dtype, leaf.shape) for leaf in leaves(cell.of)]
            return [self.builder.cast(value.index, "int64", True), value.attached, *shadow]
        return self.layout.lower(value, shape, store)

    def _lift_into(self, slot: Slot, shape: Shape, operands: list[Operand], store: Store) -> Any:
        if slot[0] in ("array", "drawn", "overflow", "full"):
            value: Any = operands[0]
        elif slot[0] == "many":
            assert isinstance(shape, Many)
            length, *columns = operands
            if isinstance(length, Var):
                length.low, length.high = 0, shape.capacity
            value = ManyCell(shape.of, shape.capacity, columns, length, shape.kind)
        elif slot[0] == "tracked":
            old = store.cells[slot[1]]
            assert isinstance(old, ItemCell)
            index, attached, *shadow = operands
            value = ItemCell(old.list, index, attached, shadow or None)
        else:
            value = self.layout.lift(shape, operands, store)
        _set(slot, value, store)
        return value


def _widen_constants(shape: Shape) -> Shape:
    """Constants inside a shape that may change become what they are instances of."""
    match shape:
        case Exactly(value):
            return shapes.of_python(value)
        case Fixed(items, kind):
            return Fixed(tuple(_widen_constants(item) for item in items), kind)
        case shapes.Maybe(of):
            return shapes.Maybe(_widen_constants(of))
        case shapes.Record(cls, fields):
            return shapes.Record(cls, tuple((key, _widen_constants(part)) for key, part in fields))
        case Many(of, capacity, kind):
            return Many(_widen_constants(of), capacity, kind)
    return shape


def _unusable(a: Any, b: Any) -> Gone | None:
    """The reason that one of two values cannot be used, where there is one."""
    return next((one for one in (a, b) if isinstance(one, Gone) and one is not UNSET), None)


def _common(value: Value, other: Store) -> bool:
    """Whether another store knows what a value names."""
    return isinstance(value, Ref) and value.cell in other.cells


def _python(shape: Shape) -> bool:
    return isinstance(shape, Number) and shape.python


def _slots(store: Store) -> Iterator[Slot]:
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


def _exists(slot: Slot, store: Store) -> bool:
    if slot[0] in ("drawn", "overflow", "full", "local"):
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


def _get(slot: Slot, store: Store) -> Any:
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


def _set(slot: Slot, value: Any, store: Store) -> None:
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


def _same(a: Any, b: Any) -> bool:
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


def _hint(a: Operand, b: Operand) -> str:
    names = [one.hint for one in (a, b) if isinstance(one, Var) and one.hint]
    return names[0] if names else ""


def _range(a: Operand, b: Operand) -> tuple[int | None, int | None]:
    from overclock.translate.ir.nodes import bounds

    (low_a, high_a), (low_b, high_b) = bounds(a), bounds(b)
    low = None if low_a is None or low_b is None else min(low_a, low_b)
    high = None if high_a is None or high_b is None else max(high_a, high_b)
    return low, high


__all__ = ["Control", "Num", "number"]
