"""Abstract values: what the interpreter computes with while the numbers of the reference are not known yet.

Mutable things live in cells of a `Store` (store.py) and are passed around as `Ref`s.
"""

import dataclasses
from collections.abc import Iterable
from typing import Any

from overclock.recording.shapes import Shape, same
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
FunctionValue = Bound | Closure | Super  # what is kept in a shape as it is, like a constant
UNSET = Gone()
TEXT = Gone("it is a text made from values of the run time")
DRAWN = Gone("it comes from drawing or logging, which is left out")


def constants(values: Iterable[Value]) -> list[Any]:
    """What is known, of values that all are."""
    return [one.value for one in values if isinstance(one, Known)]


def same_operand(a: Operand, b: Operand) -> bool:
    """Whether two operands are the same value for sure."""
    return a is b or (isinstance(a, Const) and isinstance(b, Const) and same(a.value, b.value))


def same_value(a: Value, b: Value) -> bool:
    """Whether two values are the same for sure."""
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
