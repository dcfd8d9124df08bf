"""Calls: who is called, and what Python's built-in functions, methods of containers and `math` mean."""

import ast
import builtins
import collections
import copy
import dataclasses
import inspect
import math
import operator
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from overclock.recording import shapes
from overclock.recording.errors import UnsupportedError
from overclock.recording.generators import owner_of
from overclock.recording.shapes import DEQUE, Number
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.values import (
    ArrayCell,
    Bound,
    Closure,
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
    constants,
)  # fmt: skip
from overclock.translate.python.expressions import TEXT
from overclock.translate.python.frames import is_drawing
from overclock.translate.python.methods import Methods
from overclock.translate.python.numpy_calls import extreme
from overclock.translate.python.purity import only_computes

IGNORED = (print, input)
MATH = {
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp", "log", "log2", "log10", "sqrt",
    "hypot", "pow", "fabs", "copysign", "log1p", "expm1", "degrees", "radians", "fmod", "isnan", "isinf", "isfinite",
}  # fmt: skip
MATH_NAMES = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power", "fabs": "abs",
    "degrees": "rad2deg", "radians": "deg2rad",
}  # fmt: skip


def _named(function: Any) -> str:
    return getattr(function, "__qualname__", str(function))


class Calls(Methods):
    """What calls mean."""

    def is_ignored(self, function: Value) -> bool:
        """Drawing, logging and printing are left out, with whatever their arguments would compute."""
        if isinstance(function, Known):
            inner = function.value
            return inner in IGNORED if isinstance(inner, BuiltinFunctionType) else is_drawing(inner)
        if isinstance(function, Bound):
            if isinstance(function.owner, Known) and is_drawing(type(function.owner.value)):
                return True
            name = getattr(function.function, "__name__", function.function)
            return name in ("render", "_render_frame", "_render", "render_frame", "_render_gui", "close_viewer")
        return False

    def call(self, function: Value, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        """function(*args, **keywords)."""
        function = self.present(function)
        match function:
            case Closure():
                return self.call_function(None, args, keywords, closure=function)  # pyright: ignore[reportCallIssue]
            case Bound(method, owner) if isinstance(method, FunctionType):
                return self.call_function(method, [owner, *args], keywords)
            case Bound(name, owner):
                return self.method(str(name), owner, args, keywords, node)
            case Pick(index, options):
                return self._call_one_of(index, options, args, keywords, node)
            case Known(inner):
                return self._call_known(inner, args, keywords, node)
        if isinstance(function, Ref) and isinstance(cell := self.store[function], ObjectCell):
            return self.call_function(cell.cls.__call__, [function, *args], keywords)
        raise UnsupportedError("a call of something that is no function")

    def _call_one_of(
        self, index: Operand, options: tuple[Any, ...], args: list[Value], keywords: dict[str, Value], node: ast.Call
    ) -> Value:
        """A function chosen at run time: each under its own condition."""
        name = f"$call{id(node)}{len(self.frames)}"

        def one(option: Any) -> None:
            function = option if isinstance(option, Bound | Closure) else Known(option)
            self.locals[name] = self.call(function, args, keywords, node)

        def choose(left: list[tuple[int, Any]]) -> None:
            at, option = left[0]
            if len(left) == 1:
                one(option)
                return
            here = self.builder.cast(self.builder.joined("eq", operator.eq, index, Const(at)), "bool", True)
            self.branch(here, lambda: one(option), lambda: choose(left[1:]))

        choose(list(enumerate(options)))
        return self.locals.pop(name)

    def _call_known(self, inner: Any, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        owner = owner_of(inner)
        if owner is not None:
            return self.draw(inner, owner, args, keywords, node)
        if isinstance(inner, MethodType):
            receiver = Known(inner.__self__)
            return self.call_function(inner.__func__, [receiver, *args], keywords)
        named = getattr(self, f"_builtin_{getattr(inner, '__name__', '')}", None)
        if named is not None and getattr(builtins, inner.__name__, None) is inner:
            return named(args, keywords)
        if getattr(inner, "__module__", None) == "math" or inner in vars(math).values():
            return self._math(inner, args, keywords)
        if self.is_numpy(inner):
            return self.numpy_call(inner, args, keywords)
        if inner in (copy.copy, copy.deepcopy):
            return self.copied(args[0], deep=inner is copy.deepcopy)
        if inner is collections.deque:
            return self._deque(args, keywords)
        if inner is collections.defaultdict:
            return self.store.new(DictCell({}, args[0].value if args and isinstance(args[0], Known) else None))
        if isinstance(inner, type):
            return self.construct(inner, args, keywords)
        if isinstance(inner, FunctionType):
            if inner.__module__ == "gymnasium.utils.seeding":
                raise UnsupportedError("a generator is made inside the rules")
            return self.call_function(inner, args, keywords)
        if isinstance(made := inspect.getattr_static(type(inner), "__call__", None), FunctionType):
            return self.call_function(made, [Known(inner), *args], keywords)
        if not only_computes(inner):
            raise UnsupportedError(f"a call of {_named(inner)}, whose result is not decided by the program alone")
        if all(isinstance(one, Known) for one in (*args, *keywords.values())):
            return self.constant(
                inner(*(one.value for one in args), **{name: one.value for name, one in keywords.items()})  # pyright: ignore[reportAttributeAccessIssue]
            )
        raise UnsupportedError(f"a call of {_named(inner)}")

    def construct(self, cls: type, args: list[Value], keywords: dict[str, Value]) -> Value:
        """A new object."""
        if all(isinstance(one, Known) for one in (*args, *keywords.values())) and (
            cls.__module__ in ("builtins", "enum", "fractions", "decimal") or hasattr(cls, "__members__")
        ):
            return self.constant(cls(*(one.value for one in args), **{k: v.value for k, v in keywords.items()}))  # pyright: ignore[reportAttributeAccessIssue]
        if hasattr(cls, "__members__") and len(args) == 1:
            members = list(cls)  # pyright: ignore[reportArgumentType]
            at, _ = self.position([one.value for one in members], args[0])
            return self.from_options(at, members)
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            fields: tuple[str, ...] = cls._fields  # pyright: ignore[reportAttributeAccessIssue]
            defaults: dict[str, Any] = getattr(cls, "_field_defaults", {})
            items = dict(zip(fields, args, strict=False)) | keywords
            return Pack(tuple(items.get(name, Known(defaults.get(name))) for name in fields), cls)
        if issubclass(cls, BaseException):
            return Known(None)
        if cls.__module__ == "builtins":
            raise UnsupportedError(f"a call of {cls.__name__}")
        owner = self.store.new(ObjectCell(cls, {}))
        if dataclasses.is_dataclass(cls) and "__init__" in vars(cls):
            self._construct_dataclass(owner, cls, args, keywords)
        elif isinstance(cls.__init__, FunctionType):
            self.call_function(cls.__init__, [owner, *args], keywords)
        return owner

    def _construct_dataclass(self, owner: Ref, cls: type, args: list[Value], keywords: dict[str, Value]) -> None:
        cell = self.store[owner]
        assert isinstance(cell, ObjectCell)
        fields = [field for field in dataclasses.fields(cls) if field.init]  # pyright: ignore[reportArgumentType]
        given = dict(zip([field.name for field in fields], args, strict=False)) | keywords
        for field in fields:
            if field.name in given:
                cell.fields[field.name] = given[field.name]
            elif field.default is not dataclasses.MISSING:
                cell.fields[field.name] = Known(field.default)
            elif field.default_factory is not dataclasses.MISSING:
                cell.fields[field.name] = self.call(
                    Known(field.default_factory), [], {}, ast.Call(ast.Name("x"), [], [])
                )
        if hasattr(cls, "__post_init__"):
            self.call_function(cls.__post_init__, [owner], {})  # pyright: ignore[reportAttributeAccessIssue]

    def copied(self, value: Value, deep: bool) -> Value:
        """copy.copy and copy.deepcopy."""
        if isinstance(value, Elem):
            return self.arrays.detached(value, self.store)
        if isinstance(value, Known):
            return self.constant(copy.deepcopy(value.value))
        if isinstance(value, Pack):
            return Pack(tuple(self.copied(item, deep) if deep else item for item in value.items), value.cls)
        if isinstance(value, May):
            return May(value.present, self.copied(value.value, deep))
        if isinstance(value, View):
            return self.fresh(self.operand(value))
        if not isinstance(value, Ref):
            return value
        cell = self.store[value]
        inner = (lambda one: self.copied(one, True)) if deep else (lambda one: one)
        match cell:
            case ArrayCell(operand):
                return self.store.new(ArrayCell(operand))
            case ListCell(items, kind):
                return self.store.new(ListCell([inner(item) for item in items], kind))
            case DictCell(items, default):
                return self.store.new(DictCell({key: inner(item) for key, item in items.items()}, default))
            case ObjectCell(cls, fields, like):
                return self.store.new(ObjectCell(cls, {key: inner(item) for key, item in fields.items()}, like))
            case ManyCell():
                return self.copy_list(value)
        raise AssertionError(cell)

    def _deque(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        if "maxlen" in keywords or len(args) > 1:
            raise UnsupportedError("a deque with a greatest length")
        items = self.iterate(args[0]) if args else []
        return self.store.new(ListCell(items, DEQUE))

    # ---- math ----

    def _math(self, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
        name = function.__name__
        if all(isinstance(one, Known) for one in (*args, *keywords.values())):
            named = dict(zip(keywords, constants(keywords.values()), strict=True))
            return self.constant(function(*constants(args), **named))
        operands = [self.operand(one) for one in args]
        if name in ("floor", "ceil", "trunc"):
            if operands[0].type.kind in "biu":
                return number(self.builder.cast(operands[0], "int64", True))
            rounded = self.builder.let(name, getattr(np, name), operands[0])
            return number(self.builder.cast(rounded, "int64", True))
        if name == "isclose":
            return self._is_close(args, keywords)
        if name not in MATH or keywords:
            raise UnsupportedError(f"math.{name}")
        operands = [self.builder.cast(one, "float64", True) for one in operands]
        found = self.builder.let(MATH_NAMES.get(name) or name, function, *operands)
        kind = "bool" if name.startswith("is") else "float64"
        return number(self.builder.cast(found, kind, True))

    def _is_close(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        """math.isclose, as Python computes it; infinities are close to themselves alone."""
        near, floor = (
            self.builder.cast(self.operand(keywords.get(name, Known(default))), "float64", True)
            for name, default in (("rel_tol", 1e-9), ("abs_tol", 0.0))
        )
        a, b = (self.builder.cast(self.operand(one), "float64", True) for one in args)
        gap = self.builder.let("abs", abs, self.builder.joined("sub", operator.sub, a, b))
        sizes = [self.builder.let("abs", abs, one) for one in (a, b)]
        scaled = self.builder.joined("mul", operator.mul, near, self.builder.joined("maximum", max, *sizes))
        within = self.builder.joined("le", operator.le, gap, self.builder.joined("maximum", max, scaled, floor))
        finite = self.builder.let("isfinite", math.isfinite, gap)
        equal = self.builder.joined("eq", operator.eq, a, b)
        return number(self.logical("or", equal, self.logical("and", finite, within)))

    # ---- built-in functions ----

    def _builtin_len(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self.length(args[0])

    def _builtin_abs(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        value = self.present(args[0])
        if isinstance(value, Known):
            return self.constant(abs(value.value))
        return self.fresh(self.builder.let("abs", abs, self.operand(value)))

    def _builtin_int(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self._to(args, "int64", int)

    def _builtin_float(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self._to(args, "float64", float)

    def _to(self, args: list[Value], dtype: str, python: type) -> Value:
        if not args:
            return Known(python())
        value = self.present(args[0])
        if isinstance(value, Known):
            return Known(python(*(one.value for one in args)))  # pyright: ignore[reportAttributeAccessIssue]
        mapped = self.map_options(python, value)
        if mapped is not None:
            return mapped
        operand = self.operand(value)
        if operand.type.shape not in ((), (1,)):
            raise UnsupportedError(f"{python.__name__}() of an array")
        if operand.type.shape:
            operand = self.arrays.getitem(operand, (0,))
        return number(self.builder.cast(operand, dtype, True))

    def _builtin_bool(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return number(self.truth(args[0])) if args else Known(False)

    def _builtin_str(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        value = args[0] if args else Known("")
        if isinstance(value, Known):
            return Known(str(value.value))
        mapped = self.map_options(str, value)
        return TEXT if mapped is None else mapped

    def _builtin_round(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        value = self.present(args[0])
        if all(isinstance(one, Known) for one in args):
            return Known(round(*constants(args)))
        operand = self.operand(value)
        if len(args) > 1:
            raise UnsupportedError("round() to a number of digits: Python rounds the decimal text")
        if operand.type.kind in "iu":
            return number(operand)
        return number(self.builder.cast(self.builder.let("round", np.round, operand), "int64", True))

    def _builtin_divmod(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return Pack((self.binary(ast.FloorDiv(), *args), self.binary(ast.Mod(), *args)))

    def _builtin_pow(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self.binary(ast.Pow(), *args)

    def _builtin_min(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self._extreme(args, keywords, ast.Lt())

    def _builtin_max(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self._extreme(args, keywords, ast.Gt())

    def _extreme(self, args: list[Value], keywords: dict[str, Value], better: ast.cmpop) -> Value:
        key = keywords.get("key")
        if len(args) == 1:
            box = self.present(args[0])
            if isinstance(box, Ref) and isinstance(cell := self.store[box], ManyCell):
                return self._extreme_of_many(box, cell, key, better, keywords)
            args = self.iterate(box)
        if not args:
            if "default" in keywords:
                return keywords["default"]
            raise UnsupportedError("the smallest or largest of nothing")
        call = ast.Call(ast.Name("key"), [], [])
        rated = [(one, one if key is None else self.call(key, [one], {}, call)) for one in args]
        best, best_rate = rated[0]
        for one, rate in rated[1:]:
            if key is None and self._plain(best) and self._plain(one):
                op, function = ("minimum", min) if isinstance(better, ast.Lt) else ("maximum", max)
                a, b = self.operand(best), self.operand(one)
                if a.type.python == b.type.python and a.type.dtype == b.type.dtype and a.type.kind in "iu":
                    best = best_rate = number(self.builder.joined(op, function, a, b))
                    continue
            wins = self.truth(self.compare(better, rate, best_rate))
            best_rate = self._choose(wins, rate, best_rate)
            best = best_rate if key is None else self._choose(wins, one, best)
        return best

    def _plain(self, value: Value) -> bool:
        return self.is_number(value)

    def _extreme_of_many(
        self, ref: Ref, cell: ManyCell, key: Value | None, better: ast.cmpop, keywords: dict[str, Value]
    ) -> Value:
        if key is not None:
            raise UnsupportedError("min or max with a key over a list of changing length")
        if not isinstance(cell.of, Number):
            raise UnsupportedError("the smallest or largest of things that are no numbers")
        dtype = np.dtype(cell.of.dtype)
        smallest = isinstance(better, ast.Lt)
        filled = self.masked(cell, extreme(dtype, "min" if smallest else "max"))
        found = self.builder.let("min" if smallest else "max", np.min if smallest else np.max, filled)
        value = number(self.builder.cast(found, cell.of.dtype, cell.of.python))
        if "default" in keywords:
            return self._choose(self.truth(ref), value, keywords["default"])
        return value

    def _builtin_sum(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        box = self.present(args[0])
        start: Value = args[1] if len(args) > 1 else keywords.get("start", Known(0))
        if isinstance(box, Ref) and isinstance(cell := self.store[box], ManyCell):
            filled = self.masked(cell, 0)
            total = self.builder.let(
                "sum", np.sum, self.builder.cast(filled, "int64") if filled.type.kind == "b" else filled
            )
            assert isinstance(cell.of, Number)
            dtype = "int64" if cell.of.dtype == "bool" else cell.of.dtype
            return self.binary(ast.Add(), start, number(self.builder.cast(total, dtype, cell.of.python)))
        total_value = start
        for one in self.iterate(box):
            total_value = self.binary(ast.Add(), total_value, one)
        return total_value

    def _builtin_any(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self._flags(args[0], "or")

    def _builtin_all(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self._flags(args[0], "and")

    def _flags(self, box: Value, op: str) -> Value:
        box = self.present(box)
        if isinstance(box, Ref) and isinstance(cell := self.store[box], ManyCell):
            filled = self.masked(cell, op == "and")
            function = np.any if op == "or" else np.all
            return number(self.builder.cast(self.builder.let(function.__name__, function, filled), "bool", True))
        found: Operand = Const(op == "and")
        for one in self.iterate(box):
            found = self.logical(op, found, self.truth(one))
        return number(found)

    def _builtin_range(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        args = [self.present(one) for one in args]
        if all(isinstance(one, Known) for one in args):
            return Known(range(*map(int, constants(args))))
        operands = [self.builder.cast(self.operand(one), "int64", True) for one in args]
        step = operands[2] if len(operands) > 2 else Const(1)
        if not isinstance(step, Const):
            raise UnsupportedError("a range with a step that is not known")
        start, stop = (Const(0), operands[0]) if len(operands) == 1 else (operands[0], operands[1])
        return Span(start, stop, int(step.value))

    def _builtin_enumerate(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        start = args[1] if len(args) > 1 else keywords.get("start", Known(0))
        return Lazy("enumerate", (args[0], start))

    def _builtin_zip(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        if isinstance(strict := keywords.get("strict", Known(False)), Known):
            return Lazy("zip", tuple(args))
        raise UnsupportedError(f"zip with {strict}")

    def _builtin_reversed(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        box = self.present(args[0])
        if isinstance(box, Known) and isinstance(box.value, range):
            return Known(box.value[::-1])
        return Lazy("reversed", (box,))

    def _builtin_map(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        call = ast.Call(ast.Name("f"), [], [])
        columns = [self.iterate(one) for one in args[1:]]
        return self.new_list([self.call(args[0], list(row), {}, call) for row in zip(*columns, strict=False)])

    def _builtin_list(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        if not args:
            return self.store.new(ListCell([]))
        box = self.present(args[0])
        if isinstance(box, Lazy) and box.kind == "reversed":
            inner = self.present(box.items[0])
            if isinstance(inner, Ref) and isinstance(self.store[inner], ManyCell):
                return self.reversed_list(inner)
        return self.copy_list(box)

    def _builtin_tuple(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        items = self.iterate(args[0]) if args else []
        if all(isinstance(one, Known) for one in items):
            return Known(tuple(one.value for one in items))  # pyright: ignore[reportAttributeAccessIssue]
        return Pack(tuple(items))

    def _builtin_dict(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return self.store.new(DictCell({**(self.entries(args[0]) if args else {}), **keywords}))

    def _builtin_set(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        items = self.iterate(args[0]) if args else []
        if items and all(isinstance(one, Known) for one in items):
            return Known(frozenset(one.value for one in items))  # pyright: ignore[reportAttributeAccessIssue]
        raise UnsupportedError("a set of values of the run time")

    def _builtin_sorted(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        copied = self.copy_list(args[0])
        self.sort(copied, keywords)
        return copied

    def sort(self, ref: Ref, keywords: dict[str, Value]) -> None:
        """list.sort: stable, by a key where one is given."""
        backwards = keywords.get("reverse", Known(False))
        key = keywords.get("key")
        if not isinstance(backwards, Known):
            raise UnsupportedError("a sort whose direction is not known")
        cell = self.store[ref]
        if isinstance(cell, ListCell):
            if all(isinstance(one, Known) for one in cell.items) and key is None:
                cell.items[:] = map(Known, sorted(constants(cell.items), reverse=backwards.value))
                return
            if not cell.items:
                return
            self.arrayify(ref)
        cell = self.many(ref)
        rates = self._rates(ref, cell, key)
        if backwards.value:
            rates = [
                self.builder.let(
                    "neg", operator.neg, self.builder.cast(one, "float64" if one.type.kind == "f" else "int64")
                )
                for one in rates
            ]
        outside = self.builder.let("not", np.logical_not, self.valid(cell))
        order = self.builder.let("lexsort", lambda *keys: np.lexsort(keys), *reversed([outside, *rates]))
        cell.leaves = [self.arrays.getitem(leaf, (order,)) for leaf in cell.leaves]
        self.arrays.forget_items(ref, self.store)

    def _rates(self, ref: Ref, cell: ManyCell, key: Value | None) -> list[Operand]:
        """Arrays to sort by, the most important first."""
        if key is None:
            if isinstance(cell.of, Number):
                return [cell.leaves[0]]
            if isinstance(cell.of, shapes.Fixed) and all(isinstance(one, Number) for one in cell.of.items):
                return list(cell.leaves)
            raise UnsupportedError("a sort of things that are no numbers")
        rows: list[list[Operand]] = []
        for at in range(cell.capacity):
            rate = self.call(key, [self.arrays.item(ref, Const(at), self.store)], {}, ast.Call(ast.Name("key"), [], []))
            parts = self.iterate(rate) if self.is_sequence(rate) else [rate]
            rows.append([self.operand(part) for part in parts])
        return [self.arrays.stacked([number(row[k]) for row in rows], self.store) for k in range(len(rows[0]))]

    def _builtin_isinstance(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        value, wanted = args
        if not isinstance(wanted, Known):
            raise UnsupportedError("isinstance with classes that are not known")
        match value:
            case Known(inner):
                return Known(isinstance(inner, wanted.value))
            case May(present, inner):
                inside = self._builtin_isinstance([inner, wanted], {})
                outside = isinstance(None, wanted.value)
                assert isinstance(inside, Known)
                if inside.value == outside:
                    return inside
                return number(present if inside.value else self.negated(present))
            case Pick(index, options):
                return number(self.flags([isinstance(one, wanted.value) for one in options], index))
            case Num(operand):
                example: Any = np.zeros((), operand.type.dtype)[()]
                return Known(isinstance(example.item() if operand.type.python else example, wanted.value))
            case Pack(_, cls):
                return Known(issubclass(cls if isinstance(cls, type) else tuple, wanted.value))
            case View():
                return Known(isinstance(np.zeros(1), wanted.value))
            case Ref():
                cell = self.store[value]
                kinds: dict[type, type] = {ArrayCell: np.ndarray, ListCell: list, ManyCell: list, DictCell: dict}
                cls = cell.cls if isinstance(cell, ObjectCell) else kinds[type(cell)]
                cls = np.ndarray if self.is_flexible(value) else cls
                return Known(issubclass(cls, wanted.value))
        raise UnsupportedError("isinstance of this")

    def _builtin_hasattr(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        value, name = args
        assert isinstance(name, Known)
        if isinstance(value, Known):
            return Known(hasattr(value.value, name.value))
        if isinstance(value, Ref) and isinstance(cell := self.store[value], ObjectCell):
            if name.value in cell.fields and cell.like is not None and not hasattr(cell.like, name.value):
                raise UnsupportedError(f"the attribute '{name.value}' exists only at times")
            return Known(
                name.value in cell.fields or hasattr(cell.like if cell.like is not None else cell.cls, name.value)
            )
        return Known(False)

    def _builtin_getattr(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        name = args[1]
        if not isinstance(name, Known):
            raise UnsupportedError("getattr with a name that is not known")
        if len(args) > 2 and not self._builtin_hasattr(args[:2], {}).value:  # pyright: ignore[reportAttributeAccessIssue]
            return args[2]
        return self.attribute(args[0], name.value)

    def _builtin_callable(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return Known(isinstance(args[0], Bound | Closure) or (isinstance(args[0], Known) and callable(args[0].value)))

    def _builtin_type(self, args: list[Value], keywords: dict[str, Value]) -> Value:
        return Known(self.class_of(args[0])[0])
