"""Between abstract values and shapes: the shape of a value, a value as operands of a shape, and back."""

from typing import Any

import numpy as np

from overclock.recording import shapes
from overclock.recording.errors import UnsupportedError
from overclock.recording.reference_cycles import CYCLE
from overclock.recording.shapes import Array, Choice, Exactly, Fixed, Many, Maybe, Number, Record, Shape, leaves, same
from overclock.translate.ir import values
from overclock.translate.ir.nodes import Builder, Const, Let, Operand, Type, Var, ranged
from overclock.translate.ir.store import ArrayCell, DictCell, ListCell, ManyCell, ObjectCell, Store
from overclock.translate.ir.values import Elem, FunctionValue, Gone, Known, May, Num, Pack, Pick, Ref, Value


class Layout:
    """Emits into one builder. The store is given with every call: the arms of a branch have stores of their own."""

    def __init__(self, builder: Builder, arrays: Any) -> None:
        self.builder = builder
        self._arrays = arrays  # reads of views and of items of lists
        self._above: list[int] = []  # the cells that hold the one whose shape is asked for

    # ---- shapes of values ----

    def shape(self, value: Value, store: Store) -> Shape:
        """What a value looks like."""
        match value:
            case Known(inner):
                return Exactly(inner)
            case Num(operand):
                return Number(operand.type.dtype, operand.type.python)
            case Pack(items):
                return Fixed(tuple(self.shape(item, store) for item in items))
            case May(_, inner):
                return Maybe(self.shape(inner, store))
            case Pick(_, options):
                return Choice(options)
            case values.View():
                read = self._arrays.read(value, store).type
                return Array(read.dtype, read.shape)
            case Elem(_, _, shape):
                return shape
            case Ref(cell) if cell in self._above:
                raise UnsupportedError(CYCLE, store.journal.changed.get(cell))
            case Ref(cell):
                self._above.append(cell)
                try:
                    return self._cell_shape(store[value], store)
                finally:
                    self._above.pop()
            case _ if isinstance(value, FunctionValue):
                return Exactly(value)
            case _:
                raise UnsupportedError(f"a {type(value).__name__.lower()} cannot be stored or passed on here")

    def _cell_shape(self, cell: Any, store: Store) -> Shape:
        match cell:
            case ArrayCell(operand):
                return Array(operand.type.dtype, operand.type.shape)
            case ListCell(items, kind):
                return Fixed(tuple(self.shape(item, store) for item in items), kind)
            case ManyCell():
                return Many(cell.of, cell.capacity, cell.kind)
            case DictCell(items):
                return Record(shapes.DICT, tuple((key, self.shape(item, store)) for key, item in items.items()))
            case ObjectCell(cls, fields):
                name = f"{cls.__module__}:{cls.__qualname__}"
                return Record(name, tuple((key, self.shape(item, store)) for key, item in fields.items()))
        raise AssertionError(cell)

    # ---- values as operands ----

    def lower(self, value: Value, shape: Shape, store: Store) -> list[Operand]:
        """The leaves of a value that is to have this shape."""
        if isinstance(value, Gone):
            return [zeros(leaf.dtype, leaf.shape) for leaf in leaves(shape)]
        if isinstance(value, Elem) and value.shape == shape:
            return self._arrays.gathered(value, store)
        match shape:
            case Exactly():
                return []
            case Number(dtype, python):
                return [self.builder.cast(self._scalar(value, store), dtype, python)]
            case Array(dtype, _):
                return [self.builder.cast(self._arrays.operand(value, store), dtype)]
            case Maybe(of):
                if isinstance(value, Known) and value.value is None:
                    return [Const(False), *(zeros(leaf.dtype, leaf.shape) for leaf in leaves(of))]
                if isinstance(value, May):
                    return [value.present, *self.lower(value.value, of, store)]
                return [Const(True), *self.lower(value, of, store)]
            case Fixed(inner, _):
                items = self.items(value, store)
                if len(items) != len(inner):
                    raise UnsupportedError(f"a sequence of {len(inner)} has {len(items)} items here")
                pairs = zip(items, inner, strict=True)
                return [one for item, part in pairs for one in self.lower(item, part, store)]
            case Many():
                return self._lower_many(value, shape, store)
            case Record(_, fields):
                return [one for key, part in fields for one in self.lower(self.field(value, key, store), part, store)]
            case Choice(options):
                return [self._position(value, options)]
        raise AssertionError(shape)

    def _scalar(self, value: Value, store: Store) -> Operand:
        if isinstance(value, Num):
            return value.operand
        if isinstance(value, Known):
            return Const(value.value, value.name)
        return self._arrays.operand(value, store)

    def _lower_many(self, value: Value, shape: Many, store: Store) -> list[Operand]:
        cell = store[value] if isinstance(value, Ref) else None
        if isinstance(cell, ManyCell):
            return [self.builder.cast(cell.length, "int64"), *self._refit(cell, shape)]
        items = self.items(value, store)
        if len(items) > shape.capacity:
            raise UnsupportedError(f"a list of {len(items)} items where up to {shape.capacity} are kept")
        rows = [self.lower(item, shape.of, store) for item in items]
        columns = []
        for at, leaf in enumerate(leaves(shape.of)):
            column = [self.builder.cast(row[at], leaf.dtype) for row in rows]
            padding: list[Operand] = [zeros(leaf.dtype, leaf.shape)] * (shape.capacity - len(column))
            columns.append(stack(self.builder, [*column, *padding], leaf.dtype))
        return [Const(np.int64(len(items))), *columns]

    def _refit(self, cell: ManyCell, shape: Many) -> list[Operand]:
        """The leaves of a list, in another capacity or with wider dtypes."""
        have, want = leaves(cell.of), leaves(shape.of)
        if [(leaf.name, leaf.shape) for leaf in have] != [(leaf.name, leaf.shape) for leaf in want]:
            if not have and not cell.leaves:
                return [zeros(leaf.dtype, (shape.capacity, *leaf.shape)) for leaf in want]
            return self._rebuilt(cell, shape)
        found = []
        for operand, leaf in zip(cell.leaves, want, strict=True):
            found.append(self.builder.cast(resized(self.builder, operand, shape.capacity), leaf.dtype))
        return found

    def _rebuilt(self, cell: ManyCell, shape: Many) -> list[Operand]:
        """Items that become optional: the old ones are all present."""
        if isinstance(shape.of, Maybe) and not isinstance(cell.of, Maybe):
            inner = self._refit(cell, Many(shape.of.of, shape.capacity, shape.kind))
            return [Const(np.ones(shape.capacity, bool)), *inner]
        raise UnsupportedError(
            f"the items of a list are {shapes.describe(cell.of)} here and {shapes.describe(shape.of)} there"
        )

    def _position(self, value: Value, options: tuple[Any, ...]) -> Operand:
        def place(one: Any) -> int:
            for at, option in enumerate(options):
                if same(one, option):
                    return at
            raise UnsupportedError(f"{one!r} is none of the values this can have")

        if isinstance(value, Known):
            return Const(np.int64(place(value.value)))
        if isinstance(value, FunctionValue):
            return Const(np.int64(place(value)))
        assert isinstance(value, Pick)
        table = np.array([place(one) for one in value.options])
        if (table == np.arange(len(table))).all():
            return self.builder.cast(value.index, "int64")
        return self._arrays.lookup(table, value.index)

    # ---- operands as values ----

    def lift(self, shape: Shape, operands: list[Operand], store: Store) -> Value:
        """A value of a shape, with new cells for what is mutable."""
        left = list(operands)
        value = self._lift(shape, left, store)
        assert not left
        return value

    def _lift(self, shape: Shape, left: list[Operand], store: Store) -> Value:
        match shape:
            case Exactly(inner):
                return inner if isinstance(inner, FunctionValue) else Known(inner)
            case Number(_, python):
                return number(self.builder.cast(left[0], left.pop(0).type.dtype, python))
            case Array():
                return store.new(ArrayCell(left.pop(0)))
            case Maybe(of):
                present = left.pop(0)
                value = self._lift(of, left, store)
                if isinstance(present, Const):
                    return value if present.value else Known(None)
                return May(present, value)
            case Fixed(items, kind):
                inner = [self._lift(item, left, store) for item in items]
                return Pack(tuple(inner)) if kind == shapes.TUPLE else store.new(ListCell(inner, kind))
            case Many(of, capacity, kind):
                length = ranged(left.pop(0), 0, capacity)
                count = len(leaves(of))
                mine = [left.pop(0) for _ in range(count)]
                return store.new(ManyCell(of, capacity, mine, length, kind))
            case Record(cls, fields):
                found = {key: self._lift(part, left, store) for key, part in fields}
                if cls == shapes.DICT:
                    return store.new(DictCell(found))
                from overclock.env.registry import load

                return store.new(ObjectCell(load(cls), found))
            case Choice(options):
                return chosen(left.pop(0), options)
        raise AssertionError(shape)

    # ---- parts ----

    def items(self, value: Value, store: Store) -> list[Value]:
        """The items of a sequence of known length."""
        match value:
            case Pack(items):
                return list(items)
            case Known(inner) if isinstance(inner, list | tuple) or type(inner).__name__ == "deque":
                return [Known(item) for item in inner]
            case Ref() if isinstance(cell := store[value], ListCell):
                return list(cell.items)
            case Ref() if isinstance(cell := store[value], ManyCell) and isinstance(cell.length, Const):
                return [self._arrays.item(value, Const(at), store) for at in range(int(cell.length.value))]
            case Elem(_, _, Fixed(items)):
                return [self._arrays.part(value, at, store) for at in range(len(items))]
            case Pick(index, options) if all(isinstance(one, list | tuple) for one in options):
                if len({len(one) for one in options}) == 1:
                    return [self._arrays.options(index, list(column)) for column in zip(*options, strict=True)]
            case values.View() | Ref() | Elem():
                operand = self._arrays.operand(value, store)
                if len(operand.type.shape) == 1:
                    return [number(self._arrays.getitem(operand, (at,))) for at in range(operand.type.shape[0])]
            case Known(inner) if isinstance(inner, np.ndarray):
                return [Known(item) for item in inner]
        raise UnsupportedError("a sequence of known length is needed here")

    def field(self, value: Value, key: Any, store: Store) -> Value:
        """A field of a dict or an object."""
        match value:
            case Ref() if isinstance(cell := store[value], DictCell):
                return cell.items[key]
            case Ref() if isinstance(cell := store[value], ObjectCell):
                if key in cell.fields:
                    return cell.fields[key]
                return Known(getattr(cell.like, key))
            case Known(inner) if isinstance(inner, dict):
                return Known(inner[key])
            case Known(inner):
                return Known(getattr(inner, key))
            case Elem():
                return self._arrays.part(value, key, store)
        raise UnsupportedError(f"the part {key!r} of something that has no parts")


def number(operand: Operand) -> Value:
    """A scalar operand as a value."""
    return Known(operand.value) if isinstance(operand, Const) else Num(operand)


def chosen(index: Operand, options: tuple[Any, ...]) -> Value:
    """A value that is one of several constants, by a position."""
    if isinstance(index, Const):
        inner = options[int(index.value)]
        return inner if isinstance(inner, FunctionValue) else Known(inner)
    return Pick(ranged(index, 0, len(options) - 1), options)


def zeros(dtype: str, shape: tuple[int, ...] = ()) -> Const:
    """Zeros of a shape, which fill what has no value."""
    value = np.zeros(shape, dtype)
    return Const(value if shape else value[()])


def stack(builder: Builder, rows: list[Operand], dtype: str) -> Operand:
    """Operands of one type along a new leading axis."""
    if all(isinstance(row, Const) for row in rows):
        return Const(np.stack([np.asarray(row.value, dtype) for row in rows]))  # pyright: ignore[reportAttributeAccessIssue]
    size = next(row.type.shape for row in rows if isinstance(row, Var))
    out = Var(Type(dtype, (len(rows), *size)))
    builder.emit(Let(out, "stack", tuple(rows)))
    return out


def resized(builder: Builder, operand: Operand, capacity: int) -> Operand:
    """A padded array with another leading length."""
    have = operand.type.shape[0]
    if have == capacity:
        return operand
    if have > capacity:
        return builder.let("getitem", lambda a: a[:capacity], operand, index=(("slice", None, capacity, None),))
    widths = [(0, capacity - have)] + [(0, 0)] * (len(operand.type.shape) - 1)
    return builder.let("pad", lambda a: np.pad(a, widths), operand, widths=widths)


def widen_constants(shape: Shape) -> Shape:
    """Constants inside a shape that may change become what they are instances of."""
    match shape:
        case Exactly(value):
            return shapes.of_python(value)
        case Fixed(items, kind):
            return Fixed(tuple(widen_constants(item) for item in items), kind)
        case Maybe(of):
            return Maybe(widen_constants(of))
        case Record(cls, fields):
            return Record(cls, tuple((key, widen_constants(part)) for key, part in fields))
        case Many(of, capacity, kind):
            return Many(widen_constants(of), capacity, kind)
    return shape
