"""What the interpreter computes with: values of the reference while its numbers are not known yet.

Mutable things live in cells of a `Store` and are passed around as `Ref`s, so aliases and in-place changes mean what
they mean in Python. A `Store` can be copied: the two arms of a branch run on copies.
"""

import dataclasses
import itertools
from collections.abc import Iterable
from typing import Any

from overclock.recording.errors import Place, UnsupportedError
from overclock.recording.shapes import LIST, Shape, of_python
from overclock.translate.ir.aliases import TWO_NAMES, WHOLE, Echoes, Journal, changeable
from overclock.translate.ir.nodes import Const, Operand, Var


@dataclasses.dataclass(frozen=True, eq=False)
class Known:
    """Anything that is known while translating: a number, a string, a function, a constant table of the instance."""

    value: Any
    name: str = ""  # of the attribute or the global that it was read from


@dataclasses.dataclass(frozen=True, eq=False)
class Num:
    """A scalar computed at run time."""

    operand: Var


@dataclasses.dataclass(frozen=True, eq=False)
class Pack:
    """A tuple. `cls` is a namedtuple's class."""

    items: "tuple[Value, ...]"
    cls: Any = None


@dataclasses.dataclass(frozen=True)
class Ref:
    """A mutable thing: the cell of that number."""

    cell: int


@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """A part of an array that shares its memory."""

    base: Ref
    steps: "tuple[Any, ...]"  # indices, one applied after the other, as `arrays.py` writes them down


@dataclasses.dataclass(frozen=True, eq=False)
class Elem:
    """A mutable item of a list kept as arrays, or a part of one: the memory of the list, as long as it is in there."""

    base: Ref  # an ItemCell
    path: "tuple[Any, ...]"
    shape: Shape


@dataclasses.dataclass(frozen=True, eq=False)
class May:
    """None, or a value where `present` holds."""

    present: Var
    value: "Value"


@dataclasses.dataclass(frozen=True, eq=False)
class Pick:
    """One of several constants, by a position computed at run time."""

    index: Operand
    options: tuple[Any, ...]


@dataclasses.dataclass(frozen=True, eq=False)
class Bound:
    """A method of a value."""

    function: Any  # a Python function, or the name of a method of a built-in type
    owner: "Value"


@dataclasses.dataclass(frozen=True, eq=False)
class Closure:
    """A function defined inside a function, with the locals it sees."""

    node: Any
    frame: int
    module: Any
    defaults: "tuple[Value, ...]" = ()
    home: Any = None  # the active call it was defined in; it cannot be used after that


@dataclasses.dataclass(frozen=True, eq=False)
class Lazy:
    """Something to run through that looks at other things only then: zip, enumerate, reversed, a dict's entries ...

    A "chain" is a list behind a list of other things; a "set" may have equal items, so it is only good for `in`.
    """

    kind: str
    items: "tuple[Value, ...]"


@dataclasses.dataclass(frozen=True, eq=False)
class Window:
    """The part of an array where a mask of the run time holds: several slices, whose shape is not known."""

    base: "Value"
    mask: Operand


@dataclasses.dataclass(frozen=True, eq=False)
class Rows:
    """Arrays of one length that is not known, on top of each other."""

    items: "tuple[Value, ...]"


@dataclasses.dataclass(frozen=True, eq=False)
class Span:
    """A `range` with bounds computed at run time."""

    start: Operand
    stop: Operand
    step: int


@dataclasses.dataclass(frozen=True, eq=False)
class Super:
    """`super()`: attributes are looked up behind a class in the order of an owner's bases."""

    after: type
    owner: "Value"


@dataclasses.dataclass(frozen=True, eq=False)
class Gone:
    """A name without a usable value: not assigned yet, or what it named is gone. Reading it is refused, saying why."""

    reason: str = "it has no value here"


Value = (
    Known | Num | Pack | Ref | View | Elem | May | Pick | Bound | Closure | Span | Lazy | Super | Gone | Window | Rows
)
UNSET = Gone()
NONE = Known(None)


@dataclasses.dataclass
class ArrayCell:
    """A NumPy array."""

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
        """An independent copy."""
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

    def reached(self, value: "Value") -> set[int]:
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

    def borrowed(self, value: "Value") -> set[int]:
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

    def copied(self, made: "Value", value: "Value", where: "Store | None" = None) -> None:
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

    def constant(self, value: "Value") -> bool:
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

    def held(self, listed: Ref, value: "Value") -> None:
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


def constants(values: Iterable[Value]) -> list[Any]:
    """What is known, of values that all are."""
    return [one.value for one in values if isinstance(one, Known)]


def same_operand(a: Operand, b: Operand) -> bool:
    """Whether two operands are the same value for sure."""
    from overclock.recording.shapes import same

    return a is b or (isinstance(a, Const) and isinstance(b, Const) and same(a.value, b.value))


def same_value(a: Value, b: Value) -> bool:
    """Whether two values are the same for sure."""
    from overclock.recording.shapes import same

    if a is b:
        return True
    if isinstance(a, Known) and isinstance(b, Known):
        return same(a.value, b.value)
    if isinstance(a, Num) and isinstance(b, Num):
        return a.operand is b.operand
    if isinstance(a, Ref) and isinstance(b, Ref):
        return a == b
    if isinstance(a, Pack) and isinstance(b, Pack):
        return len(a.items) == len(b.items) and all(map(same_value, a.items, b.items))
    if isinstance(a, View) and isinstance(b, View):
        return a.base == b.base and _same_part(a.steps, b.steps)
    if isinstance(a, Elem) and isinstance(b, Elem):
        return a.base == b.base and a.path == b.path
    if isinstance(a, May) and isinstance(b, May):
        return a.present is b.present and same_value(a.value, b.value)
    if isinstance(a, Pick) and isinstance(b, Pick):
        return same_operand(a.index, b.index) and same(a.options, b.options)
    if isinstance(a, Bound) and isinstance(b, Bound):
        return a.function == b.function and same_value(a.owner, b.owner)
    if isinstance(a, Closure) and isinstance(b, Closure):
        same_defaults = len(a.defaults) == len(b.defaults) and all(map(same_value, a.defaults, b.defaults))
        return a.node is b.node and a.home is b.home and same_defaults
    return isinstance(a, Gone) and isinstance(b, Gone) and (a is UNSET) == (b is UNSET)


def _same_part(a: Any, b: Any) -> bool:
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same_part, a, b))
    if isinstance(a, Var | Const) and isinstance(b, Var | Const):
        return same_operand(a, b)
    return type(a) is type(b) and a == b
