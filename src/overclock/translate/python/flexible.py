"""Arrays whose length is not known: what a mask, `np.where` or a slice with bounds of the run time gives.

They are kept like lists of changing length, and do what arrays do, item by item. A part of an array between several
bounds of the run time (`Window`) is a mask over the whole; arrays of one such length on top of each other are `Rows`.
"""

import ast
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import FLEXIBLE, Array, Choice, Number
from overclock.translate.ir.layout import resized
from overclock.translate.ir.nodes import Const, Operand, bounds, distance
from overclock.translate.ir.values import ArrayCell, Known, ManyCell, Pack, Ref, Rows, Value, View, Window, same_operand
from overclock.translate.python.lists import Lists

SEVERAL = "the truth of an array of several numbers"


class Flexible(Lists):
    """What arrays of changing length mean."""

    # ---- what they are ----

    def is_flexible(self, value: Value) -> bool:
        """An array of changing length."""
        return isinstance(value, Ref) and isinstance(cell := self.store[value], ManyCell) and cell.kind == FLEXIBLE

    def is_partial(self, value: Value) -> bool:
        """An array whose shape is not known."""
        return isinstance(value, Window | Rows) or self.is_flexible(value)

    def flexible(self, leaf: Operand, length: Operand) -> Value:
        """An array of the first `length` items of an operand."""
        if isinstance(length, Const):
            return self.fresh(resized(self.builder, leaf, int(length.value)))
        size = leaf.type.shape
        of = Number(leaf.type.dtype) if len(size) == 1 else Array(leaf.type.dtype, size[1:])
        return self.store.new(ManyCell(of, size[0], [self.unpython(leaf)], length, FLEXIBLE))

    def unpython(self, operand: Operand) -> Operand:
        """A number as NumPy's own."""
        return self.builder.cast(operand, operand.type.dtype, False)

    def is_numbers(self, value: Value) -> bool:
        """A list or an array of changing length, of numbers."""
        if not isinstance(value, Ref) or not isinstance(cell := self.store[value], ManyCell):
            return False
        return isinstance(cell.of, Number) or (isinstance(cell.of, Array) and cell.kind == FLEXIBLE)

    def as_flexible(self, value: Value) -> Value:
        """A list of changing length as an array."""
        cell = self.many(value)
        if not self.is_numbers(value):
            raise UnsupportedError("an array of things that are no numbers, of a length that is not known")
        return self.flexible(cell.leaves[0], cell.length)

    # ---- operators ----

    def binary(self, node: ast.operator, left: Value, right: Value) -> Value:
        """left <op> right."""
        values = [self.present(left), self.present(right)]
        operate = functools.partial(super().binary, node)
        return self._item_by_item(values, operate) if any(map(self.is_partial, values)) else operate(left, right)

    def unary(self, node: ast.unaryop, value: Value) -> Value:
        """<op> value."""
        operate = functools.partial(super().unary, node)
        plain = isinstance(node, ast.Not) or not self.is_partial(self.present(value))
        return operate(value) if plain else self._item_by_item([self.present(value)], operate)

    def compare(self, node: ast.cmpop, left: Value, right: Value) -> Value:
        """left <op> right."""
        compare = functools.partial(super().compare, node)
        plain = isinstance(node, ast.In | ast.NotIn | ast.Is | ast.IsNot)
        if plain or not (self.is_partial(left) or self.is_partial(right)):
            return compare(left, right)
        return self._item_by_item([self.present(left), self.present(right)], compare)

    def iterate(self, value: Value) -> list[Value]:
        """The items of something of known length, in order."""
        return list(value.items) if isinstance(value, Rows) else super().iterate(value)

    def truth(self, value: Value) -> Operand:
        """bool(value)."""
        if self.is_partial(value):
            raise UnsupportedError(SEVERAL)
        return super().truth(value)

    def equal(self, left: Value, right: Value) -> Operand:
        """Whether two values are equal, as one flag."""
        if self.is_partial(left) or self.is_partial(right):
            raise UnsupportedError(SEVERAL)
        return super().equal(left, right)

    def _item_by_item(self, values: list[Value], operate: Callable[..., Value]) -> Value:
        """An operator on arrays of one length that is not known, and on numbers."""
        first = next(one for one in values if self.is_partial(one))
        whole = self._content(first)
        shown: list[Value] = []
        for value in values:
            if self.is_partial(value):
                if not self._as_long(first, value):
                    raise UnsupportedError("two arrays whose lengths are not known are combined")
                shown.append(self.store.new(ArrayCell(self._content(value))))
                continue
            size = self.operand(value).type.shape
            if size != whole.type.shape[len(whole.type.shape) - len(size) :] or len(size) == len(whole.type.shape):
                raise UnsupportedError("an array whose length is not known is combined with another array")
            shown.append(value)
        result = self.operand(operate(*shown))
        if isinstance(first, Window):
            return Window(self.store.new(ArrayCell(result)), first.mask)
        return self.flexible(result, self.many(first).length)

    def _content(self, value: Value) -> Operand:
        if isinstance(value, Rows) or (isinstance(value, Ref) and not self.is_numbers(value)):
            raise UnsupportedError("an array of a shape that is not known, or of things that are no numbers, is used")
        return self.operand(value.base) if isinstance(value, Window) else self.many(value).leaves[0]

    def _as_long(self, one: Value, other: Value) -> bool:
        if isinstance(one, Window) and isinstance(other, Window):
            return same_operand(one.mask, other.mask)
        if isinstance(one, Ref) and isinstance(other, Ref):
            a, b = self.many(one), self.many(other)
            return a.capacity == b.capacity and same_operand(a.length, b.length)
        return False

    # ---- parts between bounds of the run time ----

    def open_slices(self, index: Value) -> list[int]:
        """Which parts of an index are slices whose bounds are not known."""
        return [
            at
            for at, part in enumerate(index_parts(index))
            if is_slice(part) and not all(isinstance(one, Known) for one in part.items)  # pyright: ignore[reportAttributeAccessIssue]
        ]

    def narrowed(self, owner: Value, index: Value) -> tuple[Value, Value]:
        """array[i, start:stop] is array[i][start:stop]."""
        parts, ahead = index_parts(index), 0
        while ahead < len(parts) and self.is_number(parts[ahead]) and not self.operand(parts[ahead]).type.shape:
            ahead += 1
        if ahead in (0, len(parts)):
            return owner, index
        rest = parts[ahead:]
        inner = self.array_item(owner, self.array_index(owner, Pack(tuple(parts[:ahead]))))
        return inner, rest[0] if len(rest) == 1 else Pack(tuple(rest))

    def between(self, value: Value, index: Value) -> Value:
        """array[..., start:stop, ...]."""
        value, index = self.narrowed(value, index)
        parts, opened = index_parts(index), self.open_slices(index)
        base = self.operand(value)
        if len(opened) > 1 or (opened[0] and all(map(is_slice, parts))):
            return Window(value, self.span_mask(base.type.shape, parts))
        (at,) = opened
        full = self.array_index(value, Pack(tuple(WHOLE if k == at else part for k, part in enumerate(parts))))
        if any(isinstance(part, tuple) for part in full[:at]):
            raise UnsupportedError("a slice of an array with bounds that are not known, behind another slice")
        found = self.arrays.getitem(base, full) if len(parts) > 1 else base
        size = found.type.shape[0]
        low, high = self._bounds(parts[at], size)
        gap = self._gap(parts[at])
        length = self.builder.joined("maximum", max, self.builder.joined("sub", operator.sub, high, low), Const(0))
        capacity = size if gap is None else min(size, max(gap, 1))
        places = self.builder.joined("add", operator.add, Const(np.arange(capacity)), low)
        places = self.builder.joined("minimum", np.minimum, places, Const(np.int64(size - 1)))
        made = self.flexible(self.arrays.getitem(found, (places,)), self.builder.cast(length, "int64"))
        self.store.copied(made, value)
        return made

    def _gap(self, cut: Any) -> int | None:
        """How far apart the bounds of a slice are, where that is known although they are not."""
        start, stop, _ = cut.items
        if any(isinstance(one, Known) and one.value is None for one in (start, stop)):
            return None
        return distance(self.operand(start), self.operand(stop))

    def _bounds(self, cut: Any, size: int) -> tuple[Operand, Operand]:
        start, stop, step = cut.items
        if not (isinstance(step, Known) and step.value in (None, 1)):
            raise UnsupportedError("a slice with bounds that are not known and a step")
        return self._limit(start, 0, size), self._limit(stop, size, size)

    def _limit(self, bound: Value, default: int, size: int) -> Operand:
        """Where a slice starts or stops: negative ones count from the end, none is outside."""
        if isinstance(bound, Known):
            return Const(default if bound.value is None else slice(bound.value, None).indices(size)[0])
        b, at = self.builder, self.builder.cast(self.operand(bound), "int64")
        least = bounds(at)[0]
        if least is None or least < 0:
            wrapped = b.joined("add", operator.add, at, Const(np.int64(size)))
            at = self.where(b.joined("lt", operator.lt, at, Const(np.int64(0))), wrapped, at)
            at = b.joined("maximum", np.maximum, at, Const(np.int64(0)))
        return b.joined("minimum", np.minimum, at, Const(np.int64(size)))

    def span_mask(self, size: tuple[int, ...], parts: list[Value]) -> Operand:
        """A flag per item of an array: whether it lies between the bounds of an index of slices."""
        if not all(map(is_slice, parts)):
            raise UnsupportedError("slices with bounds that are not known, together with other places")
        found: Operand = Const(np.ones(size, bool))
        for axis, part in enumerate(parts):
            places = Const(np.arange(size[axis]).reshape([-1 if k == axis else 1 for k in range(len(size))]))
            low, high = self._bounds(part, size[axis])
            for op, function, limit in (("ge", operator.ge, low), ("lt", operator.lt, high)):
                inside = self.builder.joined(op, function, places, limit)
                found = self.builder.let("and", np.logical_and, found, inside)
        return found

    def write_between(self, owner: Value, index: Value, value: Value) -> None:
        """array[..., start:stop, ...] = number: a mask along that axis."""
        owner, index = self.narrowed(owner, index)
        assert isinstance(owner, Ref | View)
        parts, opened = index_parts(index), self.open_slices(index)
        ref, steps = (owner.base, owner.steps) if isinstance(owner, View) else (owner, ())
        base, operand = self.operand(owner), self.operand(value)
        # An array of the whole shape is what `array[start:stop] += ...` computed everywhere.
        if operand.type.shape and not (all(map(is_slice, parts)) and operand.type.shape == base.type.shape):
            raise UnsupportedError("a slice with bounds that are not known is assigned an array")
        if all(map(is_slice, parts)):
            mask = self.span_mask(base.type.shape, parts)
            self.arrays.assign(ref, steps, self.where(mask, self.arrays.full_like(base, operand), base), self.store)
            return
        if len(opened) > 1:
            raise UnsupportedError("several slices with bounds that are not known, together with other places")
        (at,) = opened
        full = self.array_index(owner, Pack(tuple(WHOLE if k == at else part for k, part in enumerate(parts))))
        now = self.arrays.getitem(base, full)
        axis = sum(isinstance(part, tuple) for part in full[:at])
        mask = self.span_mask(now.type.shape, [*([WHOLE] * axis), parts[at]])
        new = self.where(mask, self.arrays.full_like(now, operand), now)
        self.arrays.assign(ref, (*steps, full), new, self.store)

    # ---- places given by an array of changing length ----

    def taken(self, value: Value, index: Value) -> Value | None:
        """array[places], where the number of places is not known; None where it is."""
        parts = index_parts(index)
        if not any(map(self.is_numbers, parts)):
            return None
        cells = [self.many(part) for part in parts if self.is_numbers(part)]
        base, length = self.operand(value), cells[0].length
        if len(cells) != len(parts) or any(not same_operand(cell.length, length) for cell in cells):
            raise UnsupportedError("places whose number is not known, together with others")
        if any(cell.leaves[0].type.kind not in "iu" or len(cell.leaves[0].type.shape) != 1 for cell in cells):
            raise UnsupportedError("places of which it is not known how many there are, and that are no numbers")
        capacity = max(cell.capacity for cell in cells)
        places = [resized(self.builder, cell.leaves[0], capacity) for cell in cells]
        return self.flexible(self.arrays.getitem(base, tuple(places)), length)

    def taken_objects(self, table: np.ndarray, places: Value) -> Value:
        """table[places] for a table of texts."""
        cell = self.many(places)
        options, codes = np.unique(table, return_inverse=True)
        if table.ndim != 1 or table.dtype.kind not in "US":
            raise UnsupportedError("things that are no numbers are taken at places whose number is not known")
        leaf = self.arrays.getitem(Const(codes), (cell.leaves[0],))
        return self.store.new(ManyCell(Choice(tuple(options.tolist())), cell.capacity, [leaf], cell.length, FLEXIBLE))

    def where_mask(self, value: Value, mask: Operand) -> Value:
        """array[mask]: how many items there are is not known."""
        base = self.operand(value)
        if len(mask.type.shape) > 1:
            if base.type.shape != mask.type.shape:
                raise UnsupportedError("rows of an array where a mask of several dimensions holds")
            base, mask = (self.builder.let("ravel", np.ravel, one) for one in (base, mask))
        (places,) = self.nonzero(mask).items
        if not self.is_flexible(places):
            return self.fresh(self.arrays.getitem(base, (self.operand(places),)))
        cell = self.many(places)
        return self.flexible(self.arrays.getitem(base, (cell.leaves[0],)), cell.length)

    def nonzero(self, flags: Operand) -> Pack:
        """The places where flags hold, one array for each axis."""
        size = flags.type.shape
        length = self.builder.cast(self.builder.let("sum", np.sum, flags), "int64")
        flat = flags if len(size) == 1 else self.builder.let("ravel", np.ravel, flags)
        order = self.builder.let(
            "argsort",
            lambda a: np.argsort(a, kind="stable"),
            self.builder.let("not", np.logical_not, flat),
            stable=True,
        )
        found: list[Value] = []
        for axis in range(len(size)):
            table = np.indices(size)[axis].ravel()
            column = order if len(size) == 1 else self.arrays.getitem(Const(table), (order,))
            found.append(self.flexible(column, length))
        return Pack(tuple(found))

    def scatter(self, base: Operand, index: Value, value: Value) -> Operand:
        """A copy of base with base[places] = value; of places that are named twice, the last one counts."""
        cell = self.many(index)
        places, size = cell.leaves[0], base.type.shape
        if len(size) != 1 or len(places.type.shape) != 1 or places.type.kind not in "iu":
            raise UnsupportedError("an array is written at places whose number is not known, in several dimensions")
        if not self.is_numbers(value) and self.operand(value).type.shape:
            raise UnsupportedError("an array is written at places whose number is not known")
        b = self.builder
        places = b.joined("mod", operator.mod, b.cast(places, "int64"), Const(np.int64(size[0])))
        here = b.joined("eq", operator.eq, places, Const(np.arange(size[0])[:, None]))
        here = b.let("and", np.logical_and, here, self.valid(cell))
        written = b.let("any", lambda a: np.any(a, axis=1), here, axis=1)
        if not self.is_numbers(value):
            return self.where(written, self.arrays.full_like(base, self.operand(value)), base)
        new = self.many(value)
        if not self._as_long(index, value):
            raise UnsupportedError("two arrays whose lengths are not known are combined")
        backwards = self.arrays.getitem(here, (("slice", None, None, None), ("slice", None, None, -1)))
        from_end = b.let("argmax", lambda a: np.argmax(a, axis=1), backwards, axis=1)
        last = b.joined("sub", operator.sub, Const(np.int64(cell.capacity - 1)), from_end)
        moved = b.cast(self.arrays.getitem(new.leaves[0], (last,)), base.type.dtype)
        return self.where(written, moved, base)

    def filled(self, window: Window, padding: Any) -> Operand:
        """The whole array of a window, with `padding` outside it."""
        base = self.operand(window.base)
        return self.where(window.mask, base, Const(np.dtype(base.type.dtype).type(padding)))

    def array_index(self, value: Value, index: Value) -> tuple[Any, ...]:
        raise NotImplementedError


WHOLE = Pack((Known(None), Known(None), Known(None)), slice)


def index_parts(index: Value) -> list[Value]:
    """What stands between brackets, part by part."""
    if isinstance(index, Known) and isinstance(index.value, tuple):
        return [Known(part) for part in index.value]
    return list(index.items) if isinstance(index, Pack) and index.cls is not slice else [index]


def is_slice(part: Value) -> bool:
    """start:stop:step."""
    return isinstance(part, Pack) and part.cls is slice
