"""What loops run through: ranges, lists, arrays, dicts, zip, enumerate."""

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.ir.store import DictCell, ListCell, ManyCell
from overclock.translate.ir.values import Known, Lazy, Pack, Ref, Span, Value, same_operand
from overclock.translate.python.expressions.subscripts import get_item
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import is_number
from overclock.translate.python.memory.views import part_of_array
from overclock.translate.python.operators.options import from_options
from overclock.translate.python.operators.sequences import iterate, length_of, select, span_length


@dataclasses.dataclass
class ItemSource:
    """What a loop runs through: how many items there are now, the one at a position, how many there can be."""

    count: Callable[[], Operand]
    get: Callable[[Operand], Value]
    most: Callable[[], int | None]
    before: int = 0  # how many there were when the loop began, where that is known


def _fixed(count: int, get: Callable[[Operand], Value]) -> ItemSource:
    """Something whose length does not change."""
    return ItemSource(lambda: Const(count), get, lambda: count)


def source_of_items(machine: Machine, value: Value) -> ItemSource:
    """How a loop gets the items of something; anything that cannot be run through is refused."""
    match value:
        case Known(inner) if isinstance(inner, range):
            return _fixed(len(inner), lambda at: _range_item(machine, inner.start, inner.step, at))
        case Known(inner) if isinstance(inner, dict | set | frozenset):
            return source_of_items(machine, Known(list(inner)))
        case Known(inner) if isinstance(inner, list | tuple | str):
            return _fixed(len(inner), lambda at: _constant_item(machine, value, inner, at))
        case Span(start, _, step):
            count = span_length(machine, value)
            return ItemSource(lambda: count, lambda at: _span_item(machine, start, step, at), lambda: None)
        case Lazy(kind, items) if kind in LAZY:
            return LAZY[kind](machine, *items)
        case Lazy("items" | "values" as kind, (Ref() as box,)):
            return _entries_source(machine, box, kind)
        case Ref() if isinstance(machine.store[value], ListCell | ManyCell):
            return ItemSource(
                lambda: machine.operand(length_of(machine, value)),
                lambda at: get_item(machine, value, number(at)),
                lambda: _capacity(machine, value),
            )
    if is_number(machine, value):
        size = machine.operand(value).type.shape
        if not size:
            raise UnsupportedError("iteration over a number")
        return _fixed(
            size[0], lambda at: part_of_array(machine, value, (at if isinstance(at, Var) else int(at.value),))
        )
    items = iterate(machine, value)
    return _fixed(len(items), lambda at: items[int(at.value)] if isinstance(at, Const) else select(machine, items, at))


def _range_item(machine: Machine, start: int, step: int, at: Operand) -> Value:
    scaled = at if step == 1 else machine.builder.apply("mul", at, Const(step))
    return number(scaled if start == 0 else machine.builder.apply("add", scaled, Const(start)))


def _span_item(machine: Machine, start: Operand, step: int, at: Operand) -> Value:
    scaled = machine.builder.apply("mul", at, Const(step))
    return number(machine.builder.apply("add", start, scaled))


def _constant_item(machine: Machine, box: Known, inner: Any, at: Operand) -> Value:
    if isinstance(at, Const):
        return machine.part_of(box, inner[int(at.value)], int(at.value))
    return from_options(machine, at, inner)


def _zip_source(machine: Machine, *items: Value) -> ItemSource:
    inner = [source_of_items(machine, machine.present(item)) for item in items]

    def count() -> Operand:
        counts = [one.count() for one in inner]
        return functools.reduce(lambda a, b: machine.builder.apply("minimum", a, b), counts)

    known = [most for one in inner if (most := one.most()) is not None]
    return ItemSource(count, lambda at: Pack(tuple(one.get(at) for one in inner)), lambda: min(known, default=None))


def _enumerate_source(machine: Machine, box: Value, start: Value) -> ItemSource:
    inner, first = source_of_items(machine, machine.present(box)), machine.operand(start)
    get = lambda at: Pack((number(machine.builder.apply("add", at, first)), inner.get(at)))  # noqa: E731
    return ItemSource(inner.count, get, inner.most)


def _reversed_source(machine: Machine, box: Value) -> ItemSource:
    """reversed() inside zip or enumerate."""
    box = machine.present(box)
    inner, before = source_of_items(machine, box), _length_now(machine, box)
    length = inner.count()
    last = machine.builder.apply("sub", length, Const(1))

    def count() -> Operand:
        if not same_operand(_length_now(machine, box), before):
            raise UnsupportedError("a list is changed while reversed() runs through it together with something else")
        return length

    return ItemSource(count, lambda at: inner.get(machine.builder.apply("sub", last, at)), inner.most)


def _length_now(machine: Machine, box: Value) -> Operand:
    """The length of a list as it is kept, to see whether it is still the same."""
    cell = machine.cell(box)
    return cell.length if isinstance(cell, ManyCell) else Const(len(cell.items) if isinstance(cell, ListCell) else 0)


def _entries_source(machine: Machine, box: Ref, kind: str) -> ItemSource:
    cell = machine.store[box]
    assert isinstance(cell, DictCell)
    keys = list(cell.items)

    def get(at: Operand) -> Value:
        now = machine.store[box]
        assert isinstance(now, DictCell)
        if list(now.items) != keys:
            raise UnsupportedError("a dict gets or loses keys while a loop runs through it")
        if isinstance(at, Var):
            value = select(machine, list(now.items.values()), at)
            return value if kind == "values" else Pack((from_options(machine, at, keys), value))
        key = keys[int(at.value)]
        return now.items[key] if kind == "values" else Pack((Known(key), now.items[key]))

    return _fixed(len(keys), get)


def _capacity(machine: Machine, value: Ref) -> int:
    cell = machine.store[value]
    return cell.capacity if isinstance(cell, ManyCell) else len(cell.items)  # pyright: ignore[reportAttributeAccessIssue]


LAZY = {"zip": _zip_source, "enumerate": _enumerate_source, "reversed": _reversed_source}
