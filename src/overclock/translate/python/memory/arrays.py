"""Reading and writing parts: of arrays (NumPy's views share memory with their base) and of lists kept as arrays.

An index is a tuple of parts: an int, an operand (an int or an array computed at run time),
("slice", start, stop, step), ("new",) for None, ("rest",) for Ellipsis.
"""

import dataclasses
from typing import Any

import numpy as np

from overclock.recording.errors import AlwaysRaisesError, UnsupportedError
from overclock.recording.shapes import Array, Choice, Exactly, Fixed, Many, Maybe, Number, Record, Shape, leaves
from overclock.translate.ir.aliases import ITEMS
from overclock.translate.ir.layout import chosen, number, resized, stack, zeros
from overclock.translate.ir.nodes import Builder, Const, Operand, Var, common_dtype
from overclock.translate.ir.store import ArrayCell, ItemCell, ListCell, ManyCell, Store
from overclock.translate.ir.values import Elem, Gone, Known, May, Num, Pack, Pick, Ref, Value, View

Index = tuple[Any, ...]


@dataclasses.dataclass(frozen=True)
class Remake:
    """A step of a view that is no index: the same numbers in another shape, or with other axes."""

    op: str  # reshape or transpose
    to: tuple[int, ...]

    def real(self, array: np.ndarray) -> np.ndarray:
        """What NumPy makes of a concrete array."""
        return np.reshape(array, self.to) if self.op == "reshape" else np.transpose(array, self.to)

    def undone(self, shape: tuple[int, ...]) -> "Remake":
        """The way back to an array of a shape."""
        if self.op == "reshape":
            return Remake("reshape", shape)
        return Remake("transpose", tuple(int(axis) for axis in np.argsort(self.to)))


class Arrays:
    """Emits reads and writes of parts into one builder."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.layout: Any = None  # set by whoever makes both
        self.options: Any = None  # one of several constants, as a value

    # ---- arrays and views ----

    def operand(self, value: Value, store: Store) -> Operand:
        """Numbers, arrays and sequences of numbers as one operand, as `np.asarray` would see them."""
        match value:
            case Known(inner, name) if isinstance(inner, list | tuple):
                return Const(np.asarray(inner), name)
            case Known(inner, name) if isinstance(inner, bool | int | float | np.ndarray | np.generic):
                return Const(inner, name)
            case Num(operand):
                return operand
            case Ref() if isinstance(cell := store[value], ArrayCell):
                return cell.operand
            case View():
                return self.read(value, store)
            case Elem(_, _, Array()):
                return self._leaf(value, store)
            case Elem(_, _, Fixed()):
                return self.stacked(self.layout.items(value, store), store)
            case Pack(items):
                return self.stacked(list(items), store)
            case Ref() if isinstance(cell := store[value], ListCell):
                return self.stacked(cell.items, store)
            case Ref() if isinstance(cell := store[value], ManyCell):
                if isinstance(cell.length, Const) and len(cell.leaves) == 1:
                    return resized(self.builder, cell.leaves[0], int(cell.length.value))
                raise UnsupportedError("a list or an array of changing length is used as a whole")
            case Gone(reason):
                raise UnsupportedError(reason)
            case May():
                raise UnsupportedError("a value that may be None is used as a number")
        raise UnsupportedError(f"{_named(value)} is used as a number")

    def stacked(self, items: list[Value], store: Store) -> Operand:
        """The array of several items."""
        rows = [self.operand(item, store) for item in items]
        if all(isinstance(row, Const) for row in rows):
            return Const(np.array([row.value for row in rows]))  # pyright: ignore[reportAttributeAccessIssue]
        dtype = common_dtype(*rows)
        return stack(self.builder, [self.builder.cast(row, dtype) for row in rows], dtype)

    def read(self, view: View, store: Store) -> Operand:
        """What a view shows now."""
        cell = store[view.base]
        assert isinstance(cell, ArrayCell)
        found = cell.operand
        for step in view.steps:
            found = self.stepped(found, step)
        return found

    def stepped(self, base: Operand, step: Any) -> Operand:
        """One step of a view."""
        if not isinstance(step, Remake):
            return self.getitem(base, step)
        named: dict[str, Any] = {"shape": step.to} if step.op == "reshape" else {"axes": step.to}
        return self.builder.let(step.op, step.real, base, **named)

    def is_view(self, view: View, step: Remake, store: Store) -> bool:
        """Whether NumPy shares memory here: some orders of numbers lie nowhere in it, and are copies."""
        cell = store[view.base]
        assert isinstance(cell, ArrayCell)
        real = base = np.zeros(cell.operand.type.shape)
        for one in view.steps:
            parts = () if isinstance(one, Remake) else [0 for part in one if isinstance(part, Var | Const)]
            real = one.real(real) if isinstance(one, Remake) else real[real_index(one, list(parts))]
        return bool(np.shares_memory(step.real(real), base))

    def getitem(self, base: Operand, index: Index) -> Operand:
        """The part of an array at an index."""
        dynamic = [part for part in index if isinstance(part, Var | Const)]
        compute = lambda array, *parts: np.asarray(array)[real_index(index, list(parts))]  # noqa: E731
        try:
            return self.builder.let("getitem", compute, base, *dynamic, fill=0, index=index)
        except IndexError as error:
            raise AlwaysRaisesError(f"IndexError: {error}") from error

    def setitem(self, base: Operand, index: Index, value: Operand) -> Operand:
        """A copy of base with base[index] = value."""
        value = self.builder.cast(value, base.type.dtype)
        dynamic = [part for part in index if isinstance(part, Var | Const)]

        def put(array: Any, new: Any, *parts: Any) -> Any:
            changed = np.array(array)
            changed[real_index(index, list(parts))] = new
            return changed

        try:
            return self.builder.let("setitem", put, base, value, *dynamic, fill=0, index=index)
        except IndexError as error:
            raise AlwaysRaisesError(f"IndexError: {error}") from error

    def assign(self, ref: Ref, steps: tuple[Index, ...], value: Operand, store: Store) -> None:
        """Write through a view (or into the whole array)."""
        store.change(ref)
        cell = store[ref]
        assert isinstance(cell, ArrayCell)
        cell.operand = self._assigned(cell.operand, steps, value)

    def _assigned(self, base: Operand, steps: tuple[Any, ...], value: Operand) -> Operand:
        if not steps:
            return self.full_like(base, value)
        step = steps[0]
        if isinstance(step, Remake):
            changed = self._assigned(self.stepped(base, step), steps[1:], value)
            return self.stepped(changed, step.undone(base.type.shape))
        inner = value if len(steps) == 1 else self._assigned(self.getitem(base, step), steps[1:], value)
        return self.setitem(base, step, inner)

    def full_like(self, base: Operand, value: Operand) -> Operand:
        """A value spread over the shape and in the dtype of an array."""
        value = self.builder.cast(value, base.type.dtype)
        size = base.type.shape
        if value.type.shape == size:
            return value
        return self.builder.let("broadcast_to", lambda a: np.array(np.broadcast_to(a, size)), value, shape=size)

    def where(self, condition: Operand, yes: Operand, no: Operand) -> Operand:
        """np.where on operands of one dtype."""
        if isinstance(condition, Const) and np.ndim(condition.value) == 0:
            taken, size = yes if condition.value else no, np.broadcast_shapes(yes.type.shape, no.type.shape)
            return self.full_like(Const(np.zeros(size, taken.type.dtype)), taken) if size else taken
        return self.builder.let("where", np.where, condition, yes, no)

    def spread(self, flags: Operand, like: Operand) -> Operand:
        """Flags of the first axes (or one flag), as an array that broadcasts against all of `like`."""
        extra = len(like.type.shape) - len(flags.type.shape)
        return self.getitem(flags, (("rest",), *([("new",)] * extra))) if extra and flags.type.shape else flags

    def lookup(self, table: np.ndarray, index: Operand) -> Operand:
        """An entry of a constant table; a table of flags with one odd entry is a comparison."""
        if isinstance(index, Const):
            return Const(table[int(index.value)])
        if (table == table[:1]).all():
            return Const(table[0])
        if table.ndim == 1 and table.dtype == bool:
            for flag, op in ((True, "eq"), (False, "ne")):
                places = np.flatnonzero(table == flag)
                if len(places) == 1:
                    compared = np.equal if flag else np.not_equal
                    return self.builder.joined(op, compared, index, Const(np.dtype(index.type.dtype).type(places[0])))
        if table.ndim == 1 and table.dtype.kind in "iu" and (table == np.arange(len(table))).all():
            return self.builder.cast(index, str(table.dtype))
        return self.getitem(Const(table), (index,))

    # ---- items of lists kept as arrays ----

    def item(self, ref: Ref, index: Operand, store: Store) -> Value:
        """An item of a list: a value, or the list's own memory where it is mutable."""
        cell = store[ref]
        assert isinstance(cell, ManyCell)
        return self._at(self.item_cell(ref, index, store), (), cell.of, store)

    def item_cell(self, ref: Ref, index: Operand, store: Store) -> Ref:
        """A name for an item, which stays with it when others move."""
        return store.new(ItemCell(ref, index, Const(True)))

    def put(self, ref: Ref, index: Operand, value: Value, store: Store) -> None:
        """Replace the item at a place of a list."""
        cell = store[ref]
        assert isinstance(cell, ManyCell)
        for at, operand in enumerate(self.layout.lower(value, cell.of, store)):
            cell.leaves[at] = self.setitem(cell.leaves[at], (index,), operand)

    def part(self, elem: Elem, key: Any, store: Store) -> Value:
        """A field of a mutable item."""
        return self._at(elem.base, (*elem.path, key), _inner(elem.shape, key), store)

    def _at(self, base: Ref, path: tuple[Any, ...], shape: Shape, store: Store) -> Value:
        here = Elem(base, path, shape)
        match shape:
            case Exactly(inner):
                return Known(inner)
            case Number(dtype, python):
                return number(self.builder.cast(self._leaf(here, store), dtype, python))
            case Choice(options):
                return chosen(self._leaf(here, store), options)
            case Maybe(of):
                (present,) = self._gather(here, store, 1)
                value = self._at(base, (*path, "?"), of, store)
                if isinstance(present, Const):
                    return value if present.value else Known(None)
                return May(present, value)
            case Fixed(items, "tuple"):
                return Pack(tuple(self._at(base, (*path, at), one, store) for at, one in enumerate(items)))
        return here

    def _leaf(self, elem: Elem, store: Store) -> Operand:
        (found,) = self._gather(elem, store)
        return found

    def _gather(self, elem: Elem, store: Store, count: int | None = None) -> list[Operand]:
        item, cell, start, stop = self._span(elem, store)
        stop = stop if count is None else start + count
        return [self._read_leaf(item, cell, at) for at in range(start, stop)]

    def _read_leaf(self, item: ItemCell, cell: ManyCell, at: int) -> Operand:
        found = self.getitem(cell.leaves[at], (item.index,))
        if isinstance(item.attached, Const) and item.attached.value:
            return found
        assert item.shadow is not None
        return self.builder.let("where", np.where, item.attached, found, item.shadow[at])

    def detached(self, elem: Elem, store: Store) -> Value:
        """A copy of an item, with memory of its own."""
        return self.layout.lift(elem.shape, self._gather(elem, store), store)

    def gathered(self, elem: Elem, store: Store) -> list[Operand]:
        """The leaves of an item."""
        return self._gather(elem, store)

    def write_part(self, elem: Elem, key: Any, value: Value, store: Store) -> None:
        """elem[key] = value, in the list's own memory."""
        self.write(Elem(elem.base, (*elem.path, key), _inner(elem.shape, key)), value, store)

    def write(self, elem: Elem, value: Value, store: Store) -> None:
        """Replace what lies at an item or a part of it."""
        item, cell, start, _ = self._span(elem, store)
        store.change(item.list, ITEMS)
        for at, operand in enumerate(self.layout.lower(value, elem.shape, store), start):
            leaf = cell.leaves[at]
            operand = self.builder.cast(operand, leaf.type.dtype)
            if item.shadow is None:
                cell.leaves[at] = self.setitem(leaf, (item.index,), operand)
                continue
            now = self.getitem(leaf, (item.index,))
            kept = self.builder.let("where", np.where, item.attached, operand, now)
            cell.leaves[at] = self.setitem(leaf, (item.index,), kept)
            item.shadow[at] = operand

    def _span(self, elem: Elem, store: Store) -> tuple[ItemCell, ManyCell, int, int]:
        item = store[elem.base]
        assert isinstance(item, ItemCell)
        cell = store[item.list]
        if not isinstance(cell, ManyCell):
            raise UnsupportedError("an item of a list is used after the list was replaced")
        start, shape = 0, cell.of
        for key in elem.path:
            start += _before(shape, key)
            shape = _inner(shape, key)
        return item, cell, start, start + len(leaves(shape))

    def follow_removal(self, ref: Ref, index: Operand, store: Store) -> None:
        """Before the item at a place of a list is removed: names of items stay with their items."""
        for item in self._tracked(ref, store):
            self._detach(item, ref, index, store)
            behind = self.builder.apply("gt", item.index, index)
            shift = self.builder.cast(behind, "int64")
            item.index = self.builder.apply("sub", item.index, shift)

    def _detach(self, item: ItemCell, ref: Ref, index: Operand, store: Store) -> None:
        """What a name says about the item at a place that goes is kept beside the list."""
        cell = store[ref]
        assert isinstance(cell, ManyCell)
        same = self.builder.apply("eq", item.index, index)
        here = self.builder.let("and", np.logical_and, item.attached, same, python=True)
        now = [self.getitem(leaf, (item.index,)) for leaf in cell.leaves]
        old = item.shadow or [zeros(leaf.type.dtype, leaf.type.shape[1:]) for leaf in cell.leaves]
        item.shadow = [self.builder.let("where", np.where, here, a, b) for a, b in zip(now, old, strict=True)]
        stays = self.builder.let("not", np.logical_not, here, python=True)
        item.attached = self.builder.let("and", np.logical_and, item.attached, stays, python=True)

    def follow_replacement(self, ref: Ref, index: Operand, store: Store) -> None:
        """Before the item at a place of a list is replaced: names of the old one stay with it."""
        for item in self._tracked(ref, store):
            self._detach(item, ref, index, store)

    def follow_insertion(self, ref: Ref, index: Operand, store: Store) -> None:
        """Before something is inserted at a place of a list."""
        for item in self._tracked(ref, store):
            behind = self.builder.apply("ge", item.index, index)
            item.index = self.builder.apply("add", item.index, self.builder.cast(behind, "int64"))

    def forget_items(self, ref: Ref, store: Store) -> None:
        """After a list was put into another order, names of its items cannot be used any more."""
        tracked = {id(item) for item in self._tracked(ref, store)}
        for frame in store.frames:
            for name, value in frame.items():
                bases = [base for base in _bases(value) if id(store[base]) in tracked]
                if bases:
                    frame[name] = Gone("it names an item of a list that was put into another order")

    def _tracked(self, ref: Ref, store: Store) -> list[ItemCell]:
        """The items of a list that some local names."""
        bases = {base for frame in store.frames for value in frame.values() for base in _bases(value)}
        cells = [store.cells[base.cell] for base in sorted(bases, key=lambda base: base.cell)]
        return [cell for cell in cells if isinstance(cell, ItemCell) and cell.list == ref]


def _bases(value: Value) -> list[Ref]:
    match value:
        case Elem(base):
            return [base]
        case May(_, inner):
            return _bases(inner)
        case Pack(items):
            return [base for item in items for base in _bases(item)]
    return []


def _inner(shape: Shape, key: Any) -> Shape:
    match shape:
        case Maybe(of) if key == "?":
            return of
        case Fixed(items, _) if isinstance(key, int):
            return items[key]
        case Record():
            found = shape.get(key)
            if found is not None:
                return found
    raise UnsupportedError(f"an item of a list has no part {key!r}")


def _before(shape: Shape, key: Any) -> int:
    """How many leaves of a shape come before those of a part."""
    match shape:
        case Maybe():
            return 1
        case Fixed(items, _):
            return sum(len(leaves(item)) for item in items[:key])
        case Record(_, fields):
            return sum(len(leaves(part)) for _, part in fields[: [name for name, _ in fields].index(key)])
    raise AssertionError(shape)


def real_index(index: Index, dynamic: list[Any]) -> tuple[Any, ...]:
    """An index as NumPy takes it, with values for what is computed at run time."""
    parts: list[Any] = []
    for part in index:
        if isinstance(part, Var | Const):
            parts.append(dynamic.pop(0))
        elif isinstance(part, tuple):
            parts.append(
                {"slice": lambda p: slice(*p[1:]), "new": lambda p: None, "rest": lambda p: ...}[part[0]](part)
            )
        else:
            parts.append(part)
    return tuple(parts)


def _named(value: Value) -> str:
    if isinstance(value, Known):
        return f"{value.value!r}"[:60]
    if isinstance(value, Pick):
        return "one of several constants that are no numbers"
    if isinstance(value, Many):
        return "a list"
    return f"a {type(value).__name__.lower()}"
