"""Lists, tuples and dicts: those of known length item by item, those of changing length as arrays with a length."""

import operator
from typing import Any

import numpy as np

from overclock.recording import shapes
from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import FLEXIBLE, LIST, Exactly, Fixed, Many, Number, Shape, leaves
from overclock.translate.ir.aliases import changeable
from overclock.translate.ir.layout import number, resized, stack
from overclock.translate.ir.nodes import Const, Operand, Var, bounds
from overclock.translate.ir.values import (
    ArrayCell,
    DictCell,
    Elem,
    Known,
    Lazy,
    ListCell,
    ManyCell,
    May,
    Num,
    ObjectCell,
    Pack,
    Pick,
    Ref,
    Span,
    Value,
    View,
)  # fmt: skip
from overclock.translate.python.arrays import real_index
from overclock.translate.python.control import DEFAULT_CAPACITY, _widen_constants
from overclock.translate.python.operators import Operators


class Lists(Operators):
    """What containers do."""

    # ---- of any kind ----

    def length(self, value: Value) -> Value:
        """len(value)."""
        value = self.present(value)
        match value:
            case Known(inner):
                return Known(len(inner))
            case Pack(items):
                return Known(len(items))
            case Lazy("chain", items):
                ends = [self.operand(self.length(item)) for item in items]
                return number(self.builder.joined("add", operator.add, *ends))
            case Lazy("items" | "values", (box,)):
                return self.length(box)
            case Lazy(kind):
                raise UnsupportedError(f"the length of a {kind}")
            case Pick(index, options):
                return self.from_options(index, [len(one) for one in options])
            case Elem(_, _, Fixed(items)):
                return Known(len(items))
            case Span():
                return number(self.span_length(value))
            case Ref():
                cell = self.store[value]
                if isinstance(cell, ListCell | DictCell):
                    return Known(len(cell.items))
                if isinstance(cell, ManyCell):
                    return number(self.builder.cast(cell.length, "int64", True))
                if isinstance(cell, ObjectCell):
                    return self.call_function(cell.cls.__len__, [value], {})  # pyright: ignore[reportAttributeAccessIssue]
        size = self.operand(value).type.shape
        if not size:
            raise UnsupportedError("the length of a number")
        return Known(size[0])

    def span_length(self, span: Span) -> Operand:
        """How many numbers a range has."""
        b = self.builder
        ends = (span.stop, span.start) if span.step > 0 else (span.start, span.stop)
        gap = b.joined("sub", operator.sub, *ends)
        size = abs(span.step)
        if size != 1:
            gap = b.joined(
                "floordiv", operator.floordiv, b.joined("add", operator.add, gap, Const(size - 1)), Const(size)
            )
        return b.joined("maximum", max, gap, Const(0))

    def contains(self, container: Value, item: Value) -> Operand:
        """item in container."""
        container = self.present(container)
        match container:
            case Known(inner) if isinstance(item, Known):
                return Const(item.value in inner)
            case Known(inner) if isinstance(inner, range):
                return self._in_range(inner, item)
            case Known(inner) if isinstance(inner, dict | set | frozenset | list | tuple):
                return self._any_equal(list(inner), item)
            case Pick():
                mapped = self.map_options(lambda box, one: one in box, container, item)
                if mapped is not None:
                    return self.truth(mapped)
            case Ref() if isinstance(cell := self.store[container], ManyCell):
                return self.any_item(cell, self.matches(cell, item))
            case Ref() if isinstance(cell := self.store[container], DictCell):
                return self._any_equal(list(cell.items), item)
            case Ref() if isinstance(cell := self.store[container], ObjectCell):
                return self.truth(self.call_function(cell.cls.__contains__, [container, item], {}))  # pyright: ignore[reportAttributeAccessIssue]
        if isinstance(container, Lazy):
            if container.kind == "set":
                return self.contains(container.items[0], item)
            return self._among(self.iterate(container), item)
        if self.is_number(container):
            equal = self.builder.joined("eq", operator.eq, self.operand(container), self.operand(item))
            return self.builder.cast(self.builder.let("any", np.any, equal), "bool", True)
        return self._among(self.layout.items(container, self.store), item)

    def _among(self, items: list[Value], item: Value) -> Operand:
        found: Operand = Const(False)
        for one in items:
            found = self.logical("or", found, self.equal(one, item))
        return found

    def _in_range(self, inner: range, item: Value) -> Operand:
        b, operand = self.builder, self.operand(item)
        low = b.joined("ge", operator.ge, operand, Const(min(inner, default=0)))
        high = b.joined("le", operator.le, operand, Const(max(inner, default=-1)))
        found = self.logical("and", low, high)
        if abs(inner.step) != 1:
            rest = b.joined(
                "mod", operator.mod, b.joined("sub", operator.sub, operand, Const(inner.start)), Const(abs(inner.step))
            )
            found = self.logical("and", found, b.joined("eq", operator.eq, rest, Const(0)))
        return found

    def _any_equal(self, options: list[Any], item: Value) -> Operand:
        """Whether an item is one of several constants."""
        position = self.position(options, item, need=False)
        return position[1]

    def position(self, options: list[Any], item: Value, need: bool = True) -> tuple[Operand, Operand]:
        """(where an item stands among constants, whether it does)."""
        if isinstance(item, Known):
            places = [at for at, one in enumerate(options) if one == item.value]
            return Const(places[0] if places else 0), Const(bool(places))
        if isinstance(item, Pick):
            places = [options.index(one) if one in options else 0 for one in item.options]
            inside = [one in options for one in item.options]
            return self.arrays.lookup(np.array(places), item.index), self.flags(inside, item.index)
        if isinstance(item, May):
            at, inside = self.position(options, item.value)
            return at, self.logical("and", item.present, inside)
        parts = self.layout.items(item, self.store) if self.is_sequence(item) else None
        if parts is None:
            usable = [(at, one) for at, one in enumerate(options) if isinstance(one, bool | int | float | np.generic)]
            operands = [self.operand(item)]
        else:
            usable = [(at, one) for at, one in enumerate(options) if isinstance(one, tuple) and len(one) == len(parts)]
            operands = [self.operand(part) for part in parts]
        if not usable:
            return Const(0), Const(False)
        rows = np.array([one for _, one in usable])
        if parts is None:
            rows = rows[:, None]
        if rows.dtype.kind not in "biuf":
            raise UnsupportedError("a lookup by things that are no numbers")
        if (
            len(operands) == 1
            and rows.dtype.kind in "iu"
            and (rows[:, 0] == np.arange(len(rows))).all()
            and len(usable) == len(options)
        ):
            only = operands[0]
            low = self.builder.joined("ge", operator.ge, only, Const(0))
            high = self.builder.joined("lt", operator.lt, only, Const(len(rows)))
            inside = Const(True) if _within(only, len(rows)) else self.logical("and", low, high)
            return only, inside
        equal: Operand | None = None
        for column, operand in enumerate(operands):
            one = self.builder.joined("eq", operator.eq, Const(rows[:, column]), operand)
            equal = one if equal is None else self.builder.let("and", np.logical_and, equal, one)
        assert equal is not None
        inside = self.builder.cast(self.builder.let("any", np.any, equal), "bool", True)
        at = self.builder.let("argmax", np.argmax, equal)
        if [place for place, _ in usable] != list(range(len(usable))):
            at = self.arrays.lookup(np.array([place for place, _ in usable]), at)
        return at, inside

    def settled(self, value: Value) -> Value:
        """A value to be kept in a container: an item of a list kept as arrays is only followed as a local."""
        match value:
            case Elem():
                made = self.arrays.detached(value, self.store)
                self.store.copied(made, value)
                return made
            case Pack(items, cls) if self.store.borrowed(value):
                return Pack(tuple(map(self.settled, items)), cls)
            case May(present, inner):
                return May(present, self.settled(inner))
        return value

    def part_of(self, value: Known, found: Any, key: Any) -> Value:
        """A part of a constant: still that constant's own memory."""
        raise NotImplementedError

    # ---- of known length ----

    def sequence_operator(self, op: str, left: Value, right: Value) -> Value:
        """Concatenation and repetition."""
        self.store.journal.join(left, right)
        many = [one for one in (left, right) if isinstance(one, Ref) and isinstance(self.store[one], ManyCell)]
        if op == "add" and many:
            if not self._alike(left, right):
                return Lazy("chain", (left, right))
            joined = self.copy_list(left)
            self.extend(joined, right)
            return joined
        items = self.layout.items(left, self.store)
        if op == "mul":
            if not isinstance(right, Known):
                raise UnsupportedError("a list repeated a number of times that is not known")
            items = items * right.value
        else:
            items = [*items, *self.layout.items(right, self.store)]
        return Pack(tuple(items)) if self._is_tuple(left) else self.store.new(ListCell(items))

    def _alike(self, left: Value, right: Value) -> bool:
        """Whether the items of two lists are laid out in the same way."""
        try:
            joined = shapes.join(self.layout.shape(left, self.store), self.layout.shape(right, self.store))
        except UnsupportedError:
            return False
        kinds = [one.of for one in (joined,) if isinstance(one, Many)]
        return not any(isinstance(one, Many) for one in kinds)

    def _is_tuple(self, value: Value) -> bool:
        return isinstance(value, Pack) or (isinstance(value, Known) and isinstance(value.value, tuple))

    def select(self, items: list[Value], index: Operand) -> Value:
        """One of several values, by a position computed at run time."""
        shape = _widen_constants(shapes.join_all([self.layout.shape(item, self.store) for item in items]))
        if isinstance(shape, Exactly):
            return Known(shape.value)
        rows = [self.layout.lower(item, shape, self.store) for item in items]
        columns = [
            stack(self.builder, list(column), leaf.dtype)
            for column, leaf in zip(zip(*rows, strict=True), leaves(shape), strict=True)
        ]
        made = self.layout.lift(shape, [self.arrays.getitem(column, (index,)) for column in columns], self.store)
        for item in items:
            self.store.copied(made, item)
        return made

    # ---- of changing length ----

    def many(self, ref: Value) -> ManyCell:
        """The cell of a list kept as arrays."""
        assert isinstance(ref, Ref)
        cell = self.store[ref]
        assert isinstance(cell, ManyCell)
        return cell

    def ensure_shape(self, ref: Ref, shape: Shape) -> None:
        """A list that is about to take an item of another shape is widened first."""
        cell = self.many(ref)
        empty = isinstance(cell.length, Const) and int(cell.length.value) == 0
        joined = _widen_constants(shape) if empty and not cell.leaves else _widen_constants(shapes.join(cell.of, shape))
        if joined == cell.of:
            return
        length, *columns = self.layout.lower(ref, Many(joined, cell.capacity, cell.kind), self.store)
        self.store.cells[ref.cell] = ManyCell(joined, cell.capacity, columns, length, cell.kind, cell.grows)

    def append(self, ref: Ref, value: Value) -> None:
        """list.append."""
        cell = self.store[ref]
        if isinstance(cell, ListCell):
            cell.items.append(self.settled(value))
            return
        self.ensure_shape(ref, self.layout.shape(value, self.store))
        cell = self.many(ref)
        if cell.grows and bounds(cell.length)[1] in (None, cell.capacity):
            cell.capacity += 1
            cell.leaves = [resized(self.builder, leaf, cell.capacity) for leaf in cell.leaves]
        full = self.builder.joined("ge", operator.ge, cell.length, Const(cell.capacity))
        full = self.builder.cast(full, "bool", True)
        if ref.cell in self.kept:  # of a list of the state: without a meaning where nobody reads that list
            self.store.full[ref.cell] = self.logical("or", self.store.full.get(ref.cell, Const(False)), full)
        else:
            self.store.overflow = self.logical("or", self.store.overflow, full)
        for at, operand in enumerate(self.layout.lower(value, cell.of, self.store)):
            cell.leaves[at] = self.arrays.setitem(cell.leaves[at], (cell.length,), operand)
        self._set_length(cell, self.builder.joined("add", operator.add, cell.length, Const(1)))
        self.store.held(ref, value)

    def _set_length(self, cell: ManyCell, length: Operand) -> None:
        cell.length = self.builder.joined("minimum", min, length, Const(cell.capacity))
        if isinstance(cell.length, Var):
            cell.length.low, cell.length.high = 0, cell.capacity

    def extend(self, ref: Value, other: Value) -> None:
        """list.extend."""
        assert isinstance(ref, Ref)
        if isinstance(other, Ref) and isinstance(self.store[other], ManyCell):
            self.extend_by_many(ref, other)
            return
        for item in self.iterate(other):
            self.append(ref, item)

    def extend_by_many(self, ref: Ref, other: Ref) -> None:
        """Behind the items of one list come those of another."""
        source = self.many(other)
        if isinstance(self.store[ref], ListCell):
            items = [self.layout.shape(item, self.store) for item in self.layout.items(ref, self.store)]
            of = _widen_constants(shapes.join_all([*items, source.of]))
            self.as_many(ref, of, len(items) + source.capacity, self.store)
        self.ensure_shape(ref, source.of)
        cell, source = self.many(ref), self.many(other)
        # A list that nobody has counted on yet gets room; one of the state has the room it has.
        capacity = cell.capacity + source.capacity if self._new(ref) else cell.capacity
        columns = self.layout.lower(other, Many(cell.of, source.capacity), self.store)[1:]
        places = self.builder.joined("sub", operator.sub, Const(np.arange(capacity)), cell.length)
        own = self.builder.joined("lt", operator.lt, Const(np.arange(capacity)), cell.length)
        clipped = self.builder.joined("maximum", np.maximum, places, Const(np.int64(0)))
        for at, column in enumerate(columns):
            base = resized(self.builder, cell.leaves[at], capacity)
            moved = self.arrays.getitem(resized(self.builder, column, capacity), (clipped,))
            cell.leaves[at] = self.where(self.spread(own, base), base, moved)
        if changeable(cell.of):
            self.store.echoes.siblings(ref.cell, other.cell)
        length = self.builder.joined("add", operator.add, cell.length, source.length)
        if capacity == cell.capacity:
            full = self.builder.joined("gt", operator.gt, length, Const(capacity))
            self.store.overflow = self.logical("or", self.store.overflow, self.builder.cast(full, "bool", True))
        cell.capacity = capacity
        self._set_length(cell, length)

    def spread(self, flags: Operand, like: Operand) -> Operand:
        """Flags along the first axis, as an array that broadcasts against all of `like`."""
        extra = len(like.type.shape) - 1
        return self.arrays.getitem(flags, (("rest",), *([("new",)] * extra))) if extra else flags

    def spread_over(self, flags: Operand, like: Operand) -> Operand:
        """Flags of the first axes (or one flag), as an array that broadcasts against all of `like`."""
        extra = len(like.type.shape) - len(flags.type.shape)
        return self.arrays.getitem(flags, (("rest",), *([("new",)] * extra))) if extra and flags.type.shape else flags

    def where(self, condition: Operand, yes: Operand, no: Operand) -> Operand:
        """np.where on operands of one dtype."""
        if isinstance(condition, Const) and np.ndim(condition.value) == 0:
            chosen, size = yes if condition.value else no, np.broadcast_shapes(yes.type.shape, no.type.shape)
            return self.arrays.full_like(Const(np.zeros(size, chosen.type.dtype)), chosen) if size else chosen
        return self.builder.let("where", np.where, condition, yes, no)

    def matches(self, cell: ManyCell, item: Value) -> Operand:
        """A flag per place: whether what lies there equals an item."""
        found: Operand = Const(np.ones(cell.capacity, bool))
        shape = self.layout.shape(item, self.store)
        try:
            joined = shapes.join(cell.of, shape)
        except UnsupportedError:
            return Const(np.zeros(cell.capacity, bool))
        if [leaf.shape for leaf in leaves(joined)] != [leaf.shape for leaf in leaves(cell.of)]:
            raise UnsupportedError("a list is searched for something of another kind")
        if isinstance(joined, shapes.Choice) and len(joined.options) != len(getattr(cell.of, "options", ())):
            return Const(np.zeros(cell.capacity, bool))
        wanted = self.layout.lower(item, joined, self.store)
        for leaf, operand in zip(cell.leaves, wanted, strict=True):
            equal = self.builder.joined("eq", operator.eq, leaf, operand)
            if len(equal.type.shape) > 1:
                axes = tuple(range(1, len(equal.type.shape)))
                equal = self.builder.let("all", lambda a, axes=axes: np.all(a, axis=axes), equal, axis=axes)
            found = equal if isinstance(found, Const) else self.builder.let("and", np.logical_and, found, equal)
        return found

    def valid(self, cell: ManyCell) -> Operand:
        """A flag per place: whether an item lies there."""
        return self.builder.joined("lt", operator.lt, Const(np.arange(cell.capacity)), cell.length)

    def any_item(self, cell: ManyCell, flags: Operand) -> Operand:
        """Whether any item is flagged."""
        both = self.builder.let("and", np.logical_and, flags, self.valid(cell))
        return self.builder.cast(self.builder.let("any", np.any, both), "bool", True)

    def first(self, cell: ManyCell, item: Value) -> Operand:
        """The place of the first item that equals one (it must be there)."""
        both = self.builder.let("and", np.logical_and, self.matches(cell, item), self.valid(cell))
        at = self.builder.let("argmax", np.argmax, both)
        assert isinstance(at, Var)
        at.low, at.high = 0, cell.capacity - 1
        return at

    def equal_to_many(self, cell: ManyCell, other: Value) -> Operand:
        """Lists are equal when their lengths and their items are."""
        if isinstance(other, Ref) and isinstance(second := self.store[other], ManyCell):
            same_length = self.builder.joined("eq", operator.eq, cell.length, second.length)
            capacity = max(cell.capacity, second.capacity)
            equal: Operand = Const(np.ones(capacity, bool))
            for a, b in zip(cell.leaves, second.leaves, strict=True):
                one = self.builder.joined(
                    "eq", operator.eq, resized(self.builder, a, capacity), resized(self.builder, b, capacity)
                )
                if len(one.type.shape) > 1:
                    raise UnsupportedError("a comparison of lists of arrays")
                equal = self.builder.let("and", np.logical_and, equal, one)
            beyond = self.builder.joined("ge", operator.ge, Const(np.arange(capacity)), cell.length)
            all_equal = self.builder.let("all", np.all, self.builder.let("or", np.logical_or, equal, beyond))
            return self.logical(
                "and", self.builder.cast(same_length, "bool", True), self.builder.cast(all_equal, "bool", True)
            )
        items = self.layout.items(other, self.store)
        same_length = self.builder.joined("eq", operator.eq, cell.length, Const(len(items)))
        found = self.builder.cast(same_length, "bool", True)
        if len(items) > cell.capacity:
            return Const(False)
        for at, item in enumerate(items):
            here = self.arrays.getitem(self.matches(cell, item), (at,))
            found = self.logical("and", found, here)
        return found

    def remove_at(self, ref: Ref, index: Operand) -> None:
        """del list[index]: what comes behind moves up."""
        cell = self.store[ref]
        if isinstance(cell, ListCell):
            if not isinstance(index, Const):
                self.arrayify(ref)
                cell = self.many(ref)
            else:
                del cell.items[int(index.value)]
                return
        assert isinstance(cell, ManyCell)
        self.arrays.follow_removal(ref, index, self.store)
        places = np.arange(cell.capacity)
        behind = self.builder.joined("ge", operator.ge, Const(places), index)
        source = self.builder.joined("add", operator.add, Const(places), self.builder.cast(behind, "int64"))
        source = self.builder.joined("minimum", np.minimum, source, Const(np.int64(cell.capacity - 1)))
        cell.leaves = [self.arrays.getitem(leaf, (source,)) for leaf in cell.leaves]
        shorter = self.builder.joined("sub", operator.sub, cell.length, Const(1))
        cell.length = self.builder.joined("maximum", max, shorter, Const(0))
        if isinstance(cell.length, Var):
            cell.length.low, cell.length.high = 0, cell.capacity

    def insert_at(self, ref: Ref, index: Operand, value: Value) -> None:
        """list.insert: what was there moves down."""
        cell = self.store[ref]
        if isinstance(cell, ListCell):
            if not isinstance(index, Const):
                raise UnsupportedError("an insertion at a place that is not known")
            cell.items.insert(int(index.value), self.settled(value))
            return
        length = self.many(ref).length
        index = self.builder.joined("maximum", max, self.builder.joined("minimum", min, index, length), Const(0))
        self.arrays.follow_insertion(ref, index, self.store)
        self.append(ref, value)
        cell = self.many(ref)
        places = np.arange(cell.capacity)
        behind = self.builder.joined("gt", operator.gt, Const(places), index)
        source = self.builder.joined("sub", operator.sub, Const(places), self.builder.cast(behind, "int64"))
        new = self.layout.lower(value, cell.of, self.store)
        for at, leaf in enumerate(cell.leaves):
            cell.leaves[at] = self.arrays.setitem(self.arrays.getitem(leaf, (source,)), (index,), new[at])

    def arrayify(self, ref: Ref, capacity: int | None = None) -> None:
        """Keep a list of known length as arrays from now on."""
        cell = self.store[ref]
        assert isinstance(cell, ListCell)
        if not cell.items:
            raise UnsupportedError("an empty list is changed at a place that is not known")
        of = _widen_constants(shapes.join_all([self.layout.shape(item, self.store) for item in cell.items]))
        self.as_many(ref, of, capacity or len(cell.items), self.store)

    def place(self, cell: ManyCell, index: Value) -> Operand:
        """A position in a list: negative ones count from its end."""
        if isinstance(index, Known):
            if index.value >= 0:
                return Const(int(index.value))
            return self.builder.joined("add", operator.add, cell.length, Const(int(index.value)))
        operand = self.operand(index)
        if isinstance(operand, Var) and operand.low is not None and operand.low >= 0:
            return operand
        negative = self.builder.joined("lt", operator.lt, operand, Const(0))
        wrapped = self.builder.joined("add", operator.add, operand, cell.length)
        return self.where(negative, self.builder.cast(wrapped, "int64"), self.builder.cast(operand, "int64"))

    def sliced(self, ref: Ref, start: Value, stop: Value, step: Value) -> Value:
        """A slice of a list kept as arrays."""
        cell = self.many(ref)
        if not (isinstance(step, Known) and step.value in (None, 1, -1)):
            raise UnsupportedError("a slice with a step")
        if step.value == -1:
            if not all(isinstance(one, Known) and one.value is None for one in (start, stop)):
                raise UnsupportedError("a backward slice with bounds")
            return self.reversed_list(ref)
        low = self._bound(cell, start, Const(0))
        high = self._bound(cell, stop, cell.length)
        length = self.builder.joined("maximum", max, self.builder.joined("sub", operator.sub, high, low), Const(0))
        columns = list(cell.leaves)
        if not (isinstance(low, Const) and int(low.value) == 0):
            source = self.builder.joined("add", operator.add, Const(np.arange(cell.capacity)), low)
            source = self.builder.joined("minimum", np.minimum, source, Const(np.int64(cell.capacity - 1)))
            columns = [self.arrays.getitem(leaf, (source,)) for leaf in columns]
        return self._sharing_items(ref, ManyCell(cell.of, cell.capacity, columns, length, cell.kind))

    def _sharing_items(self, ref: Ref, cell: ManyCell) -> Ref:
        """A new list with items of another one."""
        made = self.store.new(cell)
        if changeable(cell.of):
            self.store.echoes.siblings(ref.cell, made.cell)
        return made

    def _bound(self, cell: ManyCell, bound: Value, default: Operand) -> Operand:
        if isinstance(bound, Known) and bound.value is None:
            return default
        at = self.place(cell, bound)
        at = self.builder.joined("maximum", max, at, Const(0))
        return self.builder.joined("minimum", min, at, cell.length)

    def reversed_list(self, ref: Ref) -> Ref:
        """The items backwards."""
        cell = self.many(ref)
        last = self.builder.joined("sub", operator.sub, cell.length, Const(1))
        source = self.builder.joined("sub", operator.sub, last, Const(np.arange(cell.capacity)))
        source = self.builder.joined("maximum", np.maximum, source, Const(np.int64(0)))
        columns = [self.arrays.getitem(leaf, (source,)) for leaf in cell.leaves]
        return self._sharing_items(ref, ManyCell(cell.of, cell.capacity, columns, cell.length, cell.kind))

    def copy_list(self, value: Value) -> Ref:
        """A new list with the same items."""
        if isinstance(value, Ref) and isinstance(cell := self.store[value], ManyCell):
            kind = LIST if cell.kind == FLEXIBLE else cell.kind
            return self._sharing_items(value, ManyCell(cell.of, cell.capacity, list(cell.leaves), cell.length, kind))
        return self.new_list(list(self.iterate(value)))

    def masked(self, cell: ManyCell, padding: Any) -> Operand:
        """The items of a list of numbers, with `padding` where there is none."""
        if not isinstance(cell.of, Number):
            raise UnsupportedError("a sum or an order over a list of things that are no numbers")
        leaf = cell.leaves[0]
        return self.where(self.valid(cell), leaf, Const(np.dtype(leaf.type.dtype).type(padding)))

    def iterate(self, value: Value) -> list[Value]:
        """The items of something of known length, in order."""
        value = self.present(value)
        match value:
            case Lazy():
                return self._written_out(value)
            case Known(inner) if isinstance(inner, np.ndarray):
                return [self.part_of(value, row, at) for at, row in enumerate(inner)]
            case Known(inner):
                return [self.part_of(value, item, at) for at, item in enumerate(inner)]
            case Pick():
                return [self.from_options(value.index, list(column)) for column in zip(*value.options, strict=True)]
            case Ref() if isinstance(cell := self.store[value], DictCell):
                return [Known(key) for key in cell.items]
            case Ref() if isinstance(cell := self.store[value], ManyCell):
                if isinstance(cell.length, Const):
                    return [self.arrays.item(value, Const(at), self.store) for at in range(int(cell.length.value))]
                raise UnsupportedError("a list of changing length where a known length is needed")
        if self.is_sequence(value):
            return self.layout.items(value, self.store)
        if self.is_number(value):
            return self.rows(value)
        raise UnsupportedError(f"iteration over a {type(value).__name__.lower()}")

    def _written_out(self, lazy: Lazy) -> list[Value]:
        """What a loop would run through, of known length."""
        match lazy:
            case Lazy("zip", items):
                return [Pack(row) for row in zip(*(self.iterate(one) for one in items), strict=False)]
            case Lazy("enumerate", (box, Known(start))):
                return [Pack((Known(at), one)) for at, one in enumerate(self.iterate(box), start)]
            case Lazy("reversed", (box,)):
                return self.iterate(box)[::-1]
            case Lazy("chain", items):
                return [one for item in items for one in self.iterate(item)]
            case Lazy("items" | "values" as kind, (Ref() as box,)):
                cell = self.store[box]
                assert isinstance(cell, DictCell)
                pairs = cell.items.items()
                return [value if kind == "values" else Pack((Known(key), value)) for key, value in pairs]
        raise UnsupportedError(f"iteration over a {lazy.kind}")

    def rows(self, value: Value) -> list[Value]:
        """The rows of an array, as views."""
        size = self.operand(value).type.shape
        if not size:
            raise UnsupportedError("iteration over a number")
        return [self.array_item(value, (at,)) for at in range(size[0])]

    def array_item(self, value: Value, index: tuple[Any, ...]) -> Value:
        """A part of an array: a view, or a number."""
        basic = all(not isinstance(part, Var | Const) or not part.type.shape for part in index)
        if isinstance(value, Known) and basic and not any(isinstance(part, Var | Const) for part in index):
            return self.part_of(value, value.value[real_index(index, [])], index)
        found = self.arrays.getitem(self.operand(value), index)
        if not found.type.shape:
            return self.fresh(found)
        if not basic:
            return self.fresh(found)
        if isinstance(value, Known | Elem):
            made = self.fresh(found)
            self.store.copied(made, value)
            return made
        if isinstance(value, View):
            return View(value.base, (*value.steps, index))
        assert isinstance(value, Ref)
        return View(value, (index,))


def _within(operand: Operand, size: int) -> bool:
    return isinstance(operand, Var) and operand.low is not None and operand.low >= 0 and (operand.high or size) < size


__all__ = ["DEFAULT_CAPACITY", "ArrayCell", "Lists", "Num"]
