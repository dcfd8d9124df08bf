"""The abstract store: cells for everything mutable, the locals of active calls, draws made so far, overflow flags.

Aliases and in-place changes mean what they mean in Python, because names of one thing hold one `Ref`. A `Store` can be
copied: the two arms of a branch run on copies, which are joined behind it.
"""

import dataclasses
import itertools
from typing import Any

from overclock.recording.errors import Place, UnsupportedError
from overclock.recording.shapes import LIST, Shape, of_python
from overclock.translate.ir.aliases import TWO_NAMES, WHOLE, Echoes, Journal, changeable
from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.values import Bound, Elem, Known, May, Pack, Ref, Value, View


@dataclasses.dataclass
class ArrayCell:
    """The content of a NumPy array."""

    operand: Operand


@dataclasses.dataclass
class ListCell:
    """A list of known length."""

    items: list[Value]
    kind: str = LIST


@dataclasses.dataclass
class ManyCell:
    """A list of changing length, as arrays with a leading axis of `capacity`."""

    of: Shape
    capacity: int
    leaves: list[Operand]
    length: Operand
    kind: str = LIST
    grows: bool = False  # made in this run or in this turn of a loop: room for one more is made when it is needed


@dataclasses.dataclass
class ItemCell:
    """An item of a list kept as arrays. Where it was removed from the list, it lives on in `shadow`."""

    list: Ref
    index: Operand
    attached: Operand
    shadow: "list[Operand] | None" = None


@dataclasses.dataclass
class DictCell:
    """A dict whose keys are known."""

    items: dict[Any, Value]
    default: Any = None  # of a defaultdict


@dataclasses.dataclass
class ObjectCell:
    """An object. What is not in `fields` is a constant of `like`, a live instance."""

    cls: type
    fields: dict[str, Value]
    like: Any = None


Cell = ArrayCell | ListCell | ManyCell | ItemCell | DictCell | ObjectCell
_cells = itertools.count(1)


class Store:
    """Everything a statement can change: locals of all active calls, cells, draws made so far, overflow flags."""

    def __init__(self) -> None:
        self.frames: list[dict[str, Value]] = []
        self.cells: dict[int, Cell] = {}
        self.drawn: dict[str, Operand] = {}  # site -> how often it drew
        self.overflow: Operand = Const(False)
        self.full: dict[int, Operand] = {}  # lists of the state -> whether they needed more room than they have
        self.echoes = Echoes()
        self.journal = Journal()  # shared by all copies

    def copy(self) -> "Store":
        """A copy that changes of this do not reach."""
        twin = Store()
        twin.frames = [dict(frame) for frame in self.frames]
        twin.cells = {number: _copied(cell) for number, cell in self.cells.items()}
        twin.drawn, twin.overflow, twin.full = dict(self.drawn), self.overflow, dict(self.full)
        twin.echoes, twin.journal = self.echoes.copy(), self.journal
        return twin

    def new(self, cell: Cell) -> Ref:
        """A reference to a new cell."""
        ref = Ref(next(_cells))
        self.cells[ref.cell] = cell
        return ref

    def __getitem__(self, ref: Ref) -> Cell:
        if ref.cell in self.echoes.stale:
            raise UnsupportedError(TWO_NAMES, self._changed_at(ref.cell))
        return self.cells[ref.cell]

    def change(self, ref: Ref, event: str = WHOLE) -> None:
        """To be called before a cell is changed, or (ITEMS) something inside an item of a list kept as arrays."""
        self.echoes.change(ref.cell, event)
        self.journal.changed.setdefault(ref.cell, self.journal.place)

    def _changed_at(self, cell: int) -> Place | None:
        changed = self.journal.changed
        return next((changed[other] for other in sorted(self.echoes.of(cell)) if other in changed), None)

    def reached(self, value: Value) -> set[int]:
        """The cells that a value consists of."""
        found: set[int] = set()
        left = [value]
        while left:
            match left.pop():
                case Ref(cell) if cell not in found:
                    found.add(cell)
                    left += parts(self.cells[cell])
                case View(base):
                    left.append(base)
                case Pack(items):
                    left += items
                case May(_, inner) | Bound(_, inner):
                    left.append(inner)
        return found

    def borrowed(self, value: Value) -> set[int]:
        """The lists kept as arrays that a value names items of."""
        match value:
            case Elem(base):
                item = self.cells[base.cell]
                return {item.list.cell} if isinstance(item, ItemCell) else set()
            case Pack(items):
                return {cell for item in items for cell in self.borrowed(item)}
            case May(_, inner):
                return self.borrowed(inner)
        return set()

    def copied(self, made: Value, value: Value, where: "Store | None" = None) -> None:
        """`made` is a copy of a value (of another store)."""
        where = where or self
        mine = self.reached(made)
        for cell in mine:
            for other in where.reached(value):
                self.echoes.link(cell, other)
            for listed in where.borrowed(value):
                self.echoes.hold(listed, cell)
        if self.constant(value):
            self.echoes.constant |= mine

    def constant(self, value: Value) -> bool:
        """Whether a value is, or has inside, a constant that could be changed."""
        match value:
            case Known(inner):
                return changeable(of_python(inner))
            case Pack(items):
                return any(map(self.constant, items))
            case May(_, inner):
                return self.constant(inner)
        inner = (part for cell in self.reached(value) for part in parts(self.cells[cell]))
        return any(self.constant(part) for part in inner if not isinstance(part, Ref))  # those are reached as well

    def held(self, listed: Ref, value: Value) -> None:
        """A list kept as arrays got a copy of a value."""
        for cell in self.reached(value):
            self.echoes.hold(listed.cell, cell)
        for other in self.borrowed(value):
            self.echoes.siblings(listed.cell, other)


def parts(cell: Cell) -> "list[Value]":
    """The values inside a cell."""
    match cell:
        case ListCell(items):
            return list(items)
        case DictCell(items):
            return list(items.values())
        case ObjectCell(_, fields):
            return list(fields.values())
    return []


def _copied(cell: Cell) -> Cell:
    if isinstance(cell, ListCell):
        return ListCell(list(cell.items), cell.kind)
    if isinstance(cell, DictCell):
        return DictCell(dict(cell.items), cell.default)
    if isinstance(cell, ObjectCell):
        return ObjectCell(cell.cls, dict(cell.fields), cell.like)
    if isinstance(cell, ManyCell):
        return dataclasses.replace(cell, leaves=list(cell.leaves))
    if isinstance(cell, ItemCell):
        return dataclasses.replace(cell, shadow=None if cell.shadow is None else list(cell.shadow))
    return dataclasses.replace(cell)
