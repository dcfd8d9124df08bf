"""Operators of Python on values: arithmetic, comparison, truth, and choosing among constants."""

import ast
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import FLEXIBLE, Array, Fixed
from overclock.translate.ir.layout import Layout, number
from overclock.translate.ir.nodes import Const, Operand, Var, bounds
from overclock.translate.ir.values import (
    ArrayCell,
    DictCell,
    Elem,
    Gone,
    Known,
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
from overclock.translate.python.arrays import Arrays
from overclock.translate.python.control import Control

BINARY: dict[type, tuple[str, Callable[..., Any]]] = {
    ast.Add: ("add", operator.add),
    ast.Sub: ("sub", operator.sub),
    ast.Mult: ("mul", operator.mul),
    ast.Div: ("truediv", operator.truediv),
    ast.FloorDiv: ("floordiv", operator.floordiv),
    ast.Mod: ("mod", operator.mod),
    ast.Pow: ("power", operator.pow),
    ast.MatMult: ("matmul", operator.matmul),
    ast.BitAnd: ("and", operator.and_),
    ast.BitOr: ("or", operator.or_),
    ast.BitXor: ("xor", operator.xor),
    ast.LShift: ("lshift", operator.lshift),
    ast.RShift: ("rshift", operator.rshift),
}
UNARY: dict[type, tuple[str, Callable[..., Any]]] = {
    ast.USub: ("neg", operator.neg),
    ast.UAdd: ("pos", operator.pos),
    ast.Invert: ("invert", operator.invert),
}
COMPARE: dict[type, tuple[str, Callable[..., Any]]] = {
    ast.Eq: ("eq", operator.eq),
    ast.NotEq: ("ne", operator.ne),
    ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le),
    ast.Gt: ("gt", operator.gt),
    ast.GtE: ("ge", operator.ge),
}
LARGEST = 2**63
LARGE_FACTOR = 2**48  # products with larger constants overflow with everything but small numbers
SMALL_FACTOR = 2**16  # products with smaller constants are taken for small; nobody counts to 2**47 in a step
NUMERIC = (bool, int, float, np.generic, np.ndarray)


class Operators(Control):
    """What operators mean."""

    def __init__(self) -> None:
        super().__init__()
        self.arrays = Arrays(self.builder)
        self.layout = Layout(self.builder, self.arrays)
        self.arrays.layout = self.layout
        self.arrays.options = self.from_options

    # ---- numbers ----

    def operand(self, value: Value) -> Operand:
        """A number or an array as an operand."""
        return self.arrays.operand(self.present(value), self.store)

    def present(self, value: Value) -> Value:
        """The value behind None-or-value, where Python would fail on None."""
        while isinstance(value, May):
            value = value.value
        if isinstance(value, Gone):
            raise UnsupportedError(value.reason)
        return value

    def fresh(self, operand: Operand) -> Value:
        """A new number or array as a value."""
        if isinstance(operand, Const) and not isinstance(operand.value, np.ndarray):
            return Known(operand.value)
        if operand.type.shape == () and not isinstance(operand, Const):
            return Num(operand)
        if isinstance(operand, Const) and operand.value.shape == ():
            return Known(operand.value[()])
        return self.store.new(ArrayCell(operand))

    def is_number(self, value: Value) -> bool:
        """Whether a value is a number or an array."""
        match value:
            case Known(inner):
                return isinstance(inner, NUMERIC) and np.asarray(inner).dtype.kind in "biuf"
            case Num() | View() | Elem(_, _, Array()):
                return True
            case Ref():
                return isinstance(self.store[value], ArrayCell)
        return False

    def binary(self, node: ast.operator, left: Value, right: Value) -> Value:
        """left <op> right."""
        op, function = BINARY[type(node)]
        left, right = self.present(left), self.present(right)
        if isinstance(left, Known) and isinstance(right, Known):
            return self.constant(function(left.value, right.value))
        mapped = self.map_options(lambda a, b: function(a, b), left, right)
        if mapped is not None:
            return mapped
        if self.is_sequence(left) and (self.is_sequence(right) or op == "mul") and op in ("add", "mul"):
            return self.sequence_operator(op, left, right)
        if op == "mul" and self.is_sequence(right) and isinstance(left, Known):
            return self.sequence_operator(op, right, left)
        special = self.special_operator(op, left, right)
        if special is not None:
            return special
        a, b = self.operand(left), self.operand(right)
        if op == "power":
            return self._power(a, b)
        if op == "matmul":
            return self.fresh(self.builder.joined("matmul", np.matmul, a, b))
        if op in ("lshift",) and a.type.python and b.type.python:
            raise UnsupportedError("a shift of Python's unlimited integers by a number that is not known")
        if op == "mul" and all(one.type.python and one.type.kind == "i" for one in (a, b)):
            self._watch_product(a, b)
        return self.fresh(self.builder.joined(op, function, a, b))

    def _watch_product(self, a: Operand, b: Operand) -> None:
        """Python's integers have no end, ours have 64 bits: a product that may need more raises the overflow flag."""
        factor, other = (a, b) if isinstance(a, Const) else (b, a)
        (low, high), most = bounds(other), SMALL_FACTOR
        if isinstance(factor, Const):
            most = abs(int(factor.value))
        elif bounds(factor) != (None, None) and None not in bounds(factor):
            most = max(map(abs, bounds(factor)))  # pyright: ignore[reportArgumentType]
        elif not isinstance(factor, Const):
            self._too_large(self.builder.cast(factor, "float64"), self.builder.cast(other, "float64"))
            return
        if most >= LARGE_FACTOR and (low is None or high is None):
            raise UnsupportedError("a product of whole numbers that may need more than 64 bits")
        if most < SMALL_FACTOR or (low is not None and high is not None and max(-low, high) * most < LARGEST):
            return
        self._too_large(self.builder.cast(other, "float64"), Const(float(most)))

    def _too_large(self, a: Operand, b: Operand) -> None:
        size = self.builder.let("abs", np.abs, self.builder.joined("mul", operator.mul, a, b))
        over = self.builder.joined("ge", operator.ge, size, Const(float(LARGEST)))
        self.store.overflow = self.logical("or", self.store.overflow, self.builder.cast(over, "bool", True))

    def special_operator(self, op: str, left: Value, right: Value) -> Value | None:
        """Operators that a class defines itself."""
        for one, other, prefix in ((left, right, ""), (right, left, "r")):
            if isinstance(one, Ref) and isinstance(cell := self.store[one], ObjectCell):
                method = getattr(cell.cls, f"__{prefix}{op}__", None)
                if method is not None:
                    return self.call_function(method, [one, other], {})
        return None

    def _power(self, base: Operand, exponent: Operand) -> Value:
        if isinstance(exponent, Const) and np.ndim(exponent.value) == 0:
            if base.type.python and base.type.kind == "i" and exponent.value > 2:
                root = Const(float(LARGEST ** (1 / exponent.value)))
                self._too_large(self.builder.cast(base, "float64"), Const(LARGEST / root.value))
            if exponent.value == 2 and base.type.kind != "b":
                dtype = base.type
                if isinstance(exponent.value, float) and dtype.kind in "iu":
                    base = self.builder.cast(base, "float64", dtype.python)
                return self.fresh(self.builder.let("square", lambda a: a * a, base))
            if exponent.value == 0.5 and base.type.kind == "f":
                return self.fresh(self.builder.joined("power", operator.pow, base, exponent))
        elif base.type.python and base.type.kind == "i" and exponent.type.kind == "i" and exponent.type.python:
            least = bounds(exponent)[0]
            if least is None or least < 0:
                raise UnsupportedError("a power of Python's integers with an exponent that is not known: int or float?")
            size = self.builder.joined(
                "power", operator.pow, self.builder.cast(base, "float64"), self.builder.cast(exponent, "float64")
            )
            self._too_large(size, Const(1.0))
        return self.fresh(self.builder.joined("power", operator.pow, base, exponent))

    def unary(self, node: ast.unaryop, value: Value) -> Value:
        """<op> value."""
        if isinstance(node, ast.Not):
            return self.not_(self.truth(value))
        op, function = UNARY[type(node)]
        value = self.present(value)
        if isinstance(value, Known):
            return self.constant(function(value.value))
        mapped = self.map_options(function, value)
        if mapped is not None:
            return mapped
        operand = self.operand(value)
        if op == "pos":
            return self.fresh(operand)
        if operand.type.kind == "b" and operand.type.python:
            operand = self.builder.cast(operand, "int64", True)
        out = self.builder.let(op, function, operand)
        if isinstance(out, Var) and op == "neg" and isinstance(operand, Var) and operand.low is not None:
            out.low, out.high = None if operand.high is None else -operand.high, -operand.low
        return self.fresh(out)

    def not_(self, operand: Operand) -> Value:
        """The opposite of a flag."""
        return number(self.negated(operand))

    def negated(self, operand: Operand) -> Operand:
        """As an operand."""
        if isinstance(operand, Const):
            return Const(not operand.value)
        return self.builder.let("not", np.logical_not, operand, python=True)

    def logical(self, op: str, a: Operand, b: Operand) -> Operand:
        """`and` or `or` of two flags."""
        for one, other in ((a, b), (b, a)):
            if isinstance(one, Const):
                if op == "and":
                    return other if one.value else Const(False)
                return Const(True) if one.value else other
        function = np.logical_and if op == "and" else np.logical_or
        return self.builder.let(op, function, a, b, python=True)

    # ---- truth and comparison ----

    def truth(self, value: Value) -> Operand:
        """bool(value)."""
        match value:
            case Known(inner):
                return Const(bool(inner))
            case Pack(items):
                return Const(bool(items))
            case May(present, inner):
                behind = self.truth(inner)
                return self.logical("and", present, behind)
            case Pick(index, options):
                return self.flags([bool(one) for one in options], index)
            case Gone(reason):
                raise UnsupportedError(reason)
            case Elem(_, _, Fixed(items)):
                return Const(bool(items))
            case Ref():
                cell = self.store[value]
                if isinstance(cell, ListCell | DictCell):
                    return Const(bool(cell.items))
                if isinstance(cell, ManyCell):
                    return self.builder.joined("gt", operator.gt, cell.length, Const(0))
                if isinstance(cell, ObjectCell):
                    return self.object_truth(value, cell)
        if not self.is_number(value):
            return Const(True)
        operand = self.operand(value)
        if operand.type.shape not in ((), (1,)):
            raise UnsupportedError("the truth of an array of several numbers")
        if operand.type.shape == (1,):
            operand = self.arrays.getitem(operand, (0,))
        if operand.type.kind == "b":
            return self.builder.cast(operand, "bool", True)
        return self.builder.cast(self.builder.joined("ne", operator.ne, operand, Const(0)), "bool", True)

    def object_truth(self, value: Value, cell: ObjectCell) -> Operand:
        """An object is true unless its class says otherwise."""
        for name in ("__bool__", "__len__"):
            method = getattr(cell.cls, name, None)
            if method is not None:
                return self.truth(self.call_function(method, [value], {}))
        return Const(True)

    def flags(self, table: list[bool], index: Operand) -> Operand:
        """One of several constant flags."""
        found = self.arrays.lookup(np.array(table), index)
        return Const(bool(found.value)) if isinstance(found, Const) else self.builder.cast(found, "bool", True)

    def compare(self, node: ast.cmpop, left: Value, right: Value) -> Value:
        """left <op> right."""
        if isinstance(node, ast.In | ast.NotIn):
            inside = self.contains(right, left)
            return number(self.negated(inside)) if isinstance(node, ast.NotIn) else number(inside)
        none = any(isinstance(one, Known) and one.value is None for one in (left, right))
        if isinstance(node, ast.Is | ast.IsNot) or (none and isinstance(node, ast.Eq | ast.NotEq)):
            found = self._identical(left, right)
            return number(self.negated(found)) if isinstance(node, ast.IsNot | ast.NotEq) else number(found)
        op, function = COMPARE[type(node)]
        if isinstance(left, May) or isinstance(right, May):
            if op in ("eq", "ne"):
                found = self.equal(left, right)
                return number(found if op == "eq" else self.negated(found))
            left, right = self.present(left), self.present(right)
        if isinstance(left, Known) and isinstance(right, Known):
            return self.constant(function(left.value, right.value))
        mapped = self.map_options(function, left, right)
        if mapped is not None:
            return mapped
        if op in ("eq", "ne") and not (self.is_number(left) and self.is_number(right)):
            arrays = any(self._is_array(one) for one in (left, right))
            if not arrays:
                found = self.equal(left, right)
                return number(found if op == "eq" else self.negated(found))
        if self.is_sequence(left) and self.is_sequence(right):
            return number(self._ordered(op, left, right))
        out = self.builder.joined(op, function, self.operand(left), self.operand(right))
        return self.fresh(out)

    def _ordered(self, op: str, left: Value, right: Value) -> Operand:
        """Tuples and lists compare by their first difference."""
        a, b = self.layout.items(left, self.store), self.layout.items(right, self.store)
        strict = {"lt": ast.Lt, "le": ast.Lt, "gt": ast.Gt, "ge": ast.Gt}[op]()
        found: Operand = Const(
            {"lt": len(a) < len(b), "le": len(a) <= len(b), "gt": len(a) > len(b), "ge": len(a) >= len(b)}[op]
        )
        for one, other in reversed(list(zip(a, b, strict=False))):
            first = self.truth(self.compare(strict, one, other))
            found = self.logical("or", first, self.logical("and", self.equal(one, other), found))
        return found

    def _is_array(self, value: Value) -> bool:
        if isinstance(value, Known):
            return isinstance(value.value, np.ndarray) and value.value.ndim > 0
        return isinstance(value, View | Elem | Ref) and self.is_number(value) and bool(self.operand(value).type.shape)

    def _identical(self, left: Value, right: Value) -> Operand:
        if isinstance(left, Known) and left.value is None:
            left, right = right, left
        if isinstance(right, Known) and right.value is None:
            if isinstance(left, May):
                return self.negated(left.present)
            if isinstance(left, Gone):
                raise UnsupportedError(left.reason)
            if isinstance(left, Pick):
                return self.flags([one is None for one in left.options], left.index)
            return Const(isinstance(left, Known) and left.value is None)
        if isinstance(left, Known) and isinstance(right, Known):
            return Const(left.value is right.value)
        if isinstance(left, Ref) and isinstance(right, Ref):
            if right.cell in self.store.echoes.of(left.cell):
                raise UnsupportedError("`is` between things of which one is a copy of the other here")
            return Const(left == right)
        if isinstance(right, Known) and isinstance(right.value, bool) and isinstance(left, Num):
            if left.operand.type.kind == "b" and not left.operand.type.python:
                raise UnsupportedError("`is` with a bool that is NumPy's own, or is so at times")
            if left.operand.type.kind == "b":
                return left.operand if right.value else self.negated(left.operand)
            return Const(False)
        mapped = self.map_options(operator.is_, left, right)
        if mapped is not None:
            return self.truth(mapped)
        raise UnsupportedError("`is` between things computed at run time")

    def equal(self, left: Value, right: Value) -> Operand:
        """Whether two values are equal, as one flag."""
        if isinstance(left, May) or isinstance(right, May):
            return self._equal_optional(left, right)
        if isinstance(left, Known) and isinstance(right, Known):
            same = left.value == right.value
            return Const(bool(np.all(same)))
        mapped = self.map_options(operator.eq, left, right)
        if mapped is not None:
            return self.truth(mapped)
        if self.is_number(left) and self.is_number(right):
            out = self.builder.joined("eq", operator.eq, self.operand(left), self.operand(right))
            if out.type.shape:
                raise UnsupportedError("the truth of an array of several numbers")
            return self.builder.cast(out, "bool", True)
        if self.is_sequence(left) and self.is_sequence(right):
            return self.equal_sequences(left, right)
        if isinstance(left, Ref) and isinstance(right, Ref):
            cell = self.store[left]
            if isinstance(cell, ObjectCell) and "__eq__" in vars(cell.cls):
                return self.truth(self.call_function(cell.cls.__eq__, [left, right], {}))
            return Const(left == right)
        return Const(False)  # a number and a string, a list and a number ...: never equal

    def equal_sequences(self, left: Value, right: Value) -> Operand:
        """Item by item."""
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Ref) and isinstance(cell := self.store[one], ManyCell):
                return self.equal_to_many(cell, other)
        a, b = self.layout.items(left, self.store), self.layout.items(right, self.store)
        if len(a) != len(b):
            return Const(False)
        found: Operand = Const(True)
        for one, other in zip(a, b, strict=True):
            found = self.logical("and", found, self.equal(one, other))
        return found

    def _equal_optional(self, left: Value, right: Value) -> Operand:
        if isinstance(left, May) and isinstance(right, May):
            neither = self.logical("and", self.negated(left.present), self.negated(right.present))
            both = self.logical("and", left.present, right.present)
            return self.logical("or", neither, self.logical("and", both, self.equal(left.value, right.value)))
        may, other = (left, right) if isinstance(left, May) else (right, left)
        assert isinstance(may, May)
        if isinstance(other, Known) and other.value is None:
            return self.negated(may.present)
        return self.logical("and", may.present, self.equal(may.value, other))

    # ---- constants chosen at run time ----

    def map_options(self, function: Callable[..., Any], *values: Value) -> Value | None:
        """A pure function of constants, one of which is chosen at run time; None where that is not the case."""
        picks = [value for value in values if isinstance(value, Pick)]
        if not picks:
            return None
        if len(picks) == 2 and len(values) == 2:
            return self._map_two(function, picks[0], picks[1])
        if len(picks) != 1 or any(not isinstance(value, Known | Pick) for value in values):
            return None
        pick = picks[0]
        results = []
        for option in pick.options:
            arguments = [option if value is pick else value.value for value in values]  # pyright: ignore[reportAttributeAccessIssue]
            results.append(function(*arguments))
        return self.from_options(pick.index, results)

    def _map_two(self, function: Callable[..., Any], a: Pick, b: Pick) -> Value:
        results = [function(one, other) for one in a.options for other in b.options]
        return self.from_options(self.combined(a.index, len(b.options), b.index), results)

    def combined(self, outer: Operand, size: int, inner: Operand) -> Operand:
        """The position outer * size + inner."""
        outer, inner = self.builder.cast(outer, "int64", True), self.builder.cast(inner, "int64", True)
        scaled = self.builder.joined("mul", operator.mul, outer, Const(size))
        return self.builder.joined("add", operator.add, scaled, inner)

    def from_options(self, index: Operand, options: Any) -> Value:
        """One of several constants: numbers become a table, other things stay a choice."""
        options = list(options)
        if isinstance(index, Const):
            return self.constant(options[int(index.value)])
        if all(one is options[0] for one in options) or _all_same(options):
            return Known(options[0])
        if all(isinstance(one, bool | int | float) or _is_numpy_number(one) for one in options):
            python = all(isinstance(one, bool | int | float) and not isinstance(one, np.generic) for one in options)
            kinds = {type(one) for one in options}
            if len(kinds) == 1 or bool not in kinds:
                found = self.arrays.lookup(np.array(options), index)
                return number(self.builder.cast(found, str(np.array(options).dtype), python))
        if all(isinstance(one, np.ndarray) and one.shape == options[0].shape for one in options) and all(
            one.dtype.kind in "biuf" for one in options
        ):
            made = self.fresh(self.arrays.lookup(np.stack(options), index))
            if isinstance(made, Ref):
                self.store.echoes.constant |= {made.cell}
            return made
        if all(one is None or isinstance(one, bool | int | float) for one in options):
            present = self.flags([one is not None for one in options], index)
            filled = self.from_options(index, [0 if one is None else one for one in options])
            return May(present, filled) if isinstance(present, Var) else filled  # pyright: ignore[reportArgumentType]
        if any(one is None for one in options):
            present = self.flags([one is not None for one in options], index)
            stand_in = next(one for one in options if one is not None)
            value = self.from_options(index, [stand_in if one is None else one for one in options])
            return May(present, value) if isinstance(present, Var) else value
        return Pick(index, tuple(options))

    def constant(self, value: Any) -> Value:
        """A freshly computed constant; mutable ones get a cell of their own."""
        if isinstance(value, np.ndarray):
            return self.fresh(Const(value))
        if type(value) is list:
            return self.store.new(ListCell([self.constant(item) for item in value]))
        if type(value) is dict:
            return self.store.new(DictCell({key: self.constant(item) for key, item in value.items()}))
        if type(value) is tuple:
            items = tuple(self.constant(item) for item in value)
            return Known(value) if all(isinstance(item, Known) for item in items) else Pack(items)
        return Known(value)

    # ---- sequences ----

    def new_list(self, items: list[Value]) -> Ref:
        """A new list. (Evaluating the items may replace the store, so they are evaluated before it is asked for.)"""
        return self.store.new(ListCell([self.settled(item) for item in items]))

    def settled(self, value: Value) -> Value:
        raise NotImplementedError

    def set_local(self, name: str, value: Value) -> None:
        """Assign a local of the active call; as `new_list`, after its value was evaluated."""
        self.store.frames[-1][name] = value

    def is_sequence(self, value: Value) -> bool:
        """Lists and tuples."""
        match value:
            case Pack():
                return True
            case Known(inner):
                return isinstance(inner, list | tuple) or type(inner).__name__ == "deque"
            case Elem(_, _, shape):
                return isinstance(shape, Fixed)
            case Ref():
                cell = self.store[value]
                return isinstance(cell, ListCell) or (isinstance(cell, ManyCell) and cell.kind != FLEXIBLE)
            case Pick(_, options):
                return all(isinstance(one, list | tuple) for one in options)
        return False

    def sequence_operator(self, op: str, left: Value, right: Value) -> Value:
        raise NotImplementedError

    def equal_to_many(self, cell: ManyCell, other: Value) -> Operand:
        raise NotImplementedError

    def contains(self, container: Value, item: Value) -> Operand:
        raise NotImplementedError

    def call_function(self, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
        raise NotImplementedError


def _is_numpy_number(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype.kind in "biuf"


def _all_same(options: list[Any]) -> bool:
    from overclock.recording.shapes import same

    return all(same(one, options[0]) for one in options[1:])


__all__ = ["Operators", "Span"]
