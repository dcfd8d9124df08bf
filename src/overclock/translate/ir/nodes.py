"""The program between Python and the printers: typed variables, and statements in nested blocks.

Branches and loops stay regions (`If`, `Loop`), so that one printer may turn a branch into `jnp.where` and another into
an `if`. Every dtype conversion is written out: NumPy and JAX promote differently, and only NumPy is right here.
"""

import contextlib
import dataclasses
import itertools
import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import PYTHON_DTYPES

SIGNED_RANGE = 2**62
SMALL = ("int8", "uint8", "int16", "uint16", "int32", "uint32")  # whose whole range is worth knowing
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "truediv": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "power": operator.pow, "eq": operator.eq, "ne": operator.ne,
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "minimum": min, "maximum": max,
}  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Type:
    """Of a value: `python` where it is Python's own number, which bends to the dtype of what it meets."""

    dtype: str
    shape: tuple[int, ...] = ()
    python: bool = False

    @property
    def kind(self) -> str:
        """NumPy's letter: b, i, u or f."""
        return np.dtype(self.dtype).kind


_numbers = itertools.count()


@dataclasses.dataclass(eq=False)
class Var:
    """A value computed at run time. `low` and `high` bound an integer where that is known."""

    type: Type
    hint: str = ""
    low: int | None = None
    high: int | None = None
    origin: "tuple[Var, int] | None" = None  # this is another whole number plus a constant
    number: int = dataclasses.field(default_factory=lambda: next(_numbers))
    label: str = ""  # a name for lack of a better one; other than a hint, it gives no reason for a line of its own

    def __repr__(self) -> str:
        return f"{self.hint or 'v'}{self.number}"


@dataclasses.dataclass(frozen=True, eq=False)
class Const:
    """A number or an array known while translating."""

    value: Any
    name: str = ""  # of the attribute or the global of the source that it is

    @property
    def type(self) -> Type:
        """The type of the number or the array."""
        return type_of(self.value)

    def __repr__(self) -> str:
        return f"{self.value!r}"


Operand = Var | Const


def type_of(value: Any) -> Type:
    """The type of a concrete number or array."""
    for cls, dtype in PYTHON_DTYPES.items():
        if type(value) is cls:
            return Type(dtype, (), True)
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise UnsupportedError(f"{value!r} is no number")
    return Type(str(array.dtype), array.shape)


@dataclasses.dataclass(eq=False)
class Callee:
    """One call of a function of the source: its statements stand where it is called, and remember it."""

    name: str
    arguments: dict[str, list[Operand]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(eq=False)
class Let:
    """`out = op(*args, **keywords)`; what is in `keywords` is static."""

    out: Var
    op: str
    args: tuple[Operand, ...]
    keywords: dict[str, Any] = dataclasses.field(default_factory=dict)
    calls: tuple[Callee, ...] = ()  # that this is inside of, from the outermost


@dataclasses.dataclass(eq=False)
class If:
    """`outs` are `yes` where the condition holds, else `no`; each arm computes its own in its block."""

    condition: Operand
    then: "Block"
    orelse: "Block"
    outs: list[Var]
    yes: list[Operand]
    no: list[Operand]
    note: str = ""
    calls: tuple[Callee, ...] = ()


@dataclasses.dataclass(eq=False)
class Loop:
    """While `test` (computed by `header` from the carried values) holds, `body` computes the next carried values."""

    carried: list[Var]
    first: list[Operand]
    header: "Block"
    test: Operand
    body: "Block"
    following: list[Operand]
    outs: list[Var]
    note: str = ""
    count: int | None = None  # of a loop that runs exactly so often, with the first carried value as its index
    calls: tuple[Callee, ...] = ()


@dataclasses.dataclass(eq=False)
class Note:
    """A comment of the source that stands here."""

    text: str


@dataclasses.dataclass(eq=False)
class Helper:
    """A function of its own in a printed program, made from statements that are a function in the source."""

    name: str
    source: str  # its name there
    params: list[Var]
    block: "Block"
    results: list[Var]
    draws: dict[str, int] = dataclasses.field(default_factory=dict)  # sites whose draws it reads: how many there are
    guarded: bool = False  # whether it has loops that shall not turn where its result is not wanted
    arguments: dict[Var, str] = dataclasses.field(default_factory=dict)  # what the source calls parameters


@dataclasses.dataclass(eq=False)
class Call:
    """A call of a helper: `outs = helper(*args)`."""

    outs: list[Var]
    helper: Helper
    args: list[Var]
    calls: tuple[Callee, ...] = ()


Statement = Let | If | Loop | Note | Call
Block = list[Statement]


def size(block: "Block") -> int:
    """How many statements there are, those inside others included."""
    inner = {If: ("then", "orelse"), Loop: ("header", "body")}
    return sum(1 + sum(size(getattr(one, part)) for part in inner.get(type(one), ())) for one in block)


def sample(operand: Operand, fill: int = 1) -> Any:
    """Some value of an operand's type: what NumPy does with it tells the type of a result."""
    if isinstance(operand, Const):
        return operand.value
    kind = operand.type
    if kind.python:
        return {"b": bool, "i": int, "f": float}[kind.kind](fill)
    array = np.full(kind.shape, fill, kind.dtype)
    return array if kind.shape else array[()]


class Builder:
    """Emits statements into the innermost open block; what is known already is computed at once."""

    def __init__(self) -> None:
        self._blocks: list[Block] = [[]]
        self._calls: tuple[Callee, ...] = ()

    @property
    def block(self) -> Block:
        """The innermost open block, where statements go."""
        return self._blocks[-1]

    @contextlib.contextmanager
    def inside(self, block: Block | None = None) -> Iterator[Block]:
        """Statements go into this (or a new) block."""
        self._blocks.append([] if block is None else block)
        try:
            yield self._blocks[-1]
        finally:
            self._blocks.pop()

    @contextlib.contextmanager
    def calling(self, callee: Callee) -> Iterator[None]:
        """Statements belong to this call, for as long as it lasts."""
        before, self._calls = self._calls, (*self._calls, callee)
        try:
            yield
        finally:
            self._calls = before

    def emit(self, statement: Statement) -> None:
        """Append a statement to the innermost open block."""
        if not isinstance(statement, Note):
            statement.calls = self._calls
        self.block.append(statement)

    def let(
        self,
        op: str,
        function: Callable[..., Any],
        *args: Operand,
        hint: str = "",
        fill: int = 1,
        python: bool | None = None,
        **keywords: Any,
    ) -> Operand:
        """`function` (NumPy's or Python's) folds constants and tells the result's type; `op` is for the printers."""
        if all(isinstance(one, Const) for one in args):
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return Const(function(*(one.value for one in args)))  # pyright: ignore[reportAttributeAccessIssue]
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = type_of(function(*(sample(one, fill) for one in args)))
        if python is not None:
            found = dataclasses.replace(found, python=python)
        out = Var(found, hint)
        self.emit(Let(out, op, args, keywords))
        return out

    def cast(self, operand: Operand, dtype: str, python: bool = False) -> Operand:
        """The same value in another dtype."""
        if isinstance(operand, Const):
            if type(operand.value) is int and not -(2**63) <= operand.value < 2**63:
                raise UnsupportedError(f"{operand.value} is a whole number that needs more than 64 bits")
            return recast(operand, dtype, python)
        if operand.type.dtype == dtype:
            if operand.type.python == python:
                return operand
            out = Var(dataclasses.replace(operand.type, python=python), operand.hint, operand.low, operand.high)
            out.origin = operand.origin or (operand, 0)
            self.emit(Let(out, "same", (operand,)))
            return out
        out = Var(Type(dtype, operand.type.shape, python and not operand.type.shape), operand.hint)
        if np.dtype(dtype).kind in "iu" and operand.type.kind in "biu":
            out.low, out.high = fitting(bounds(operand), dtype)
            out.origin = operand.origin or (operand, 0)
        self.emit(Let(out, "cast", (operand,), {"dtype": dtype}))
        return out

    def joined(
        self, op: str, function: Callable[..., Any], *args: Operand, hint: str = "", into: str | None = None
    ) -> Operand:
        """An element-wise operation on operands of one dtype: theirs by NumPy's rules, or `into`."""
        if all(isinstance(one, Const) for one in args):
            return self.let(op, function, *args)
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = type_of(function(*(sample(one) for one in args)))
        common = into or common_dtype(*args)
        if op in ("truediv", "power") or (result.kind == "f" and np.dtype(common).kind != "f"):
            common = result.dtype
        if np.dtype(common).kind == "b" and result.kind in "iu":
            common = result.dtype
        if op in COMPARISONS and np.dtype(common).kind in "iu" and not all(_fits(one, common) for one in args):
            common = "int64"  # a Python number beyond a small type is compared as it is
        cast = [self.cast(one, common, one.type.python) for one in args]
        out = Var(result, hint)
        out.low, out.high = fitting(_range(op, cast), result.dtype)
        out.origin = _shifted(op, args) if result.dtype == "int64" and not result.shape else None
        self.emit(Let(out, op, tuple(cast)))
        return out

    def apply(self, op: str, *args: Operand) -> Operand:
        """One of Python's operators (`ELEMENTWISE`), element by element."""
        return self.joined(op, ELEMENTWISE[op], *args)

    def flag(self, operand: Operand) -> Operand:
        """A bool as Python's own."""
        return self.cast(operand, "bool", True)

    def logical(self, op: str, a: Operand, b: Operand) -> Operand:
        """`and` or `or` of two flags."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Const):
                if op == "and":
                    return other if one.value else Const(False)
                return Const(True) if one.value else other
        return self.let(op, np.logical_and if op == "and" else np.logical_or, a, b, python=True)

    def negated(self, operand: Operand) -> Operand:
        """The opposite of a flag."""
        if isinstance(operand, Const):
            return Const(not operand.value)
        return self.let("not", np.logical_not, operand, python=True)

    def truths(self, operand: Operand) -> Operand:
        """The truth of every item of an array."""
        return operand if operand.type.kind == "b" else self.apply("ne", operand, Const(0))

    def as_numpy(self, operand: Operand) -> Operand:
        """A number as a scalar of NumPy, which does not bend to the dtype of what it meets."""
        return self.cast(operand, operand.type.dtype)


def recast(const: Const, dtype: str, python: bool = False) -> Const:
    """A constant in another dtype; it keeps its name where it is still the same number."""
    before = np.asarray(const.value)
    value = before.astype(dtype)
    same = bool((value == before).all())
    shown = value if value.shape else value.item() if python else value[()]
    return Const(shown, const.name if same else "")


def _fits(operand: Operand, dtype: str) -> bool:
    """Whether a Python number can surely be cast to an integer type."""
    if not operand.type.python or operand.type.kind != "i":
        return True
    (low, high), limits = bounds(operand), np.iinfo(dtype)
    return low is not None and high is not None and limits.min <= low and high <= limits.max


def fitting(found: tuple[int | None, int | None], dtype: str) -> tuple[int | None, int | None]:
    """A range, if numbers of a type reach it without wrapping around."""
    if np.dtype(dtype).kind in "iu":
        limits = np.iinfo(dtype)
        if any(bound is not None and not limits.min <= bound <= limits.max for bound in found):
            return None, None
    return found


def common_dtype(*args: Operand) -> str:
    """The dtype NumPy computes in: Python's own numbers bend to the others."""
    values = [sample(one) for one in args]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return str(np.result_type(*(one.dtype if isinstance(one, np.ndarray | np.generic) else one for one in values)))


def bounds(operand: Operand) -> tuple[int | None, int | None]:
    """The range of an integer or a bool, as far as known."""
    if isinstance(operand, Const):
        value = np.asarray(operand.value)
        return (int(value.min()), int(value.max())) if value.dtype.kind in "biu" and value.size else (None, None)
    if operand.type.kind == "b":
        return 0, 1
    if operand.low is None and operand.high is None and operand.type.dtype in SMALL:
        limits = np.iinfo(operand.type.dtype)
        return limits.min, limits.max
    return operand.low, operand.high


def ranged(operand: Operand, low: int, high: int | None) -> Operand:
    """An operand, of which it is known from now on in which range it is."""
    if isinstance(operand, Var):
        operand.low, operand.high = low, high
    return operand


def distance(a: Operand, b: Operand) -> int | None:
    """b - a, where that is known although a and b are not."""
    if not isinstance(a, Var) or not isinstance(b, Var):
        return None
    (root_a, more_a), (root_b, more_b) = (one.origin or (one, 0) for one in (a, b))
    return more_b - more_a if root_a is root_b else None


def _shifted(op: str, args: Sequence[Operand]) -> tuple[Var, int] | None:
    for one, other in (args, args[::-1]) if op == "add" else (args,) if op == "sub" else ():
        if isinstance(one, Var) and isinstance(other, Const) and one.type.dtype == "int64" and other.type.kind in "iu":
            root, more = one.origin or (one, 0)
            return root, more + (int(other.value) if op == "add" else -int(other.value))
    return None


def _range(op: str, args: Sequence[Operand]) -> tuple[int | None, int | None]:
    """The range of a result, for index arithmetic."""
    if len(args) != 2 or any(one.type.kind not in "biu" for one in args):
        return None, None
    (low_a, high_a), (low_b, high_b) = bounds(args[0]), bounds(args[1])
    if op == "mod" and low_b is not None and low_b == high_b and low_b > 0:
        return 0, low_b - 1
    if None in (low_a, high_a, low_b, high_b):
        return None, None
    assert low_a is not None and high_a is not None and low_b is not None and high_b is not None  # noqa: PT018
    corners = {
        "add": (low_a + low_b, high_a + high_b),
        "sub": (low_a - high_b, high_a - low_b),
        "minimum": (min(low_a, low_b), min(high_a, high_b)),
        "maximum": (max(low_a, low_b), max(high_a, high_b)),
    }
    if op == "mul":
        products = [a * b for a in (low_a, high_a) for b in (low_b, high_b)]
        corners["mul"] = (min(products), max(products))
    found = corners.get(op, (None, None))
    if found[0] is not None and max(abs(found[0]), abs(found[1] or 0)) > SIGNED_RANGE:
        return None, None
    return found
