"""Expressions of Python as values: names, attributes, items, comprehensions. Left to right, as Python does."""

import ast
import builtins
import enum
import operator
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from overclock.recording.errors import AlwaysRaisesError, StartAnewError, UnsupportedError
from overclock.recording.generators import GENERATORS
from overclock.recording.reference_cycles import CYCLE, reference_cycle
from overclock.recording.shapes import Array, Fixed, Record, is_plain_object
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Loop, Operand, Var
from overclock.translate.ir.values import (
    UNSET,
    ArrayCell,
    Bound,
    Closure,
    DictCell,
    Elem,
    Gone,
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
    Rows,
    Span,
    Super,
    Value,
    View,
)  # fmt: skip
from overclock.translate.python.arrays import Remake
from overclock.translate.python.flexible import Flexible, index_parts
from overclock.translate.python.frames import Frame, is_library, own_names

TEXT = Gone("it is a text made from values of the run time")
DRAWN = Gone("it comes from drawing or logging, which is left out")
STOPPING = (any, all)  # these look at a generator's items only as far as needed
CONSUMING = (sum, min, max, list, tuple, sorted, set, frozenset, dict)
PLAIN = (str, bytes, bool, int, float, tuple, enum.Enum, np.generic, np.ndarray)  # nothing changes by a call
ARRAY_FACTS = ("shape", "size", "ndim", "T", "dtype", "flat")


class Expressions(Flexible):
    """What expressions mean."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: list[Frame] = []
        self.paths: dict[int, tuple[Any, ...]] = {}  # id of a constant container of the instance -> where it hangs
        self.stand_ins: dict[int, Value] = {}  # id of a live object -> what it is in this run
        self._alive: list[Any] = []  # parts of constants, whose ids must not be given to anything else
        self._temporary = 0

    @property
    def frame(self) -> Frame:
        """The innermost active call."""
        return self.frames[-1]

    @property
    def locals(self) -> dict[str, Value]:
        """Its local names."""
        return self.store.frames[-1]

    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""
        method: Callable[[Any], Value] | None = getattr(self, f"visit_{type(node).__name__}", None)
        try:
            if method is None:
                raise UnsupportedError(f"{type(node).__name__} is not supported")
            return method(node)
        except UnsupportedError as error:
            self.locate(error, node)
            raise
        except (StartAnewError, RecursionError):
            raise
        except Exception as error:
            raise self.locate(UnsupportedError(f"{type(error).__name__}: {error}"), node) from error

    def locate(self, error: UnsupportedError, node: ast.AST) -> UnsupportedError:
        """Say where it happened; what happens inside a library is located where that is called."""
        if not is_library(self.frame.source.file):
            error.locate(self.frame.source.place(node))
        return error

    # ---- names and literals ----

    def visit_Constant(self, node: ast.Constant) -> Value:
        return Known(node.value)

    def visit_Name(self, node: ast.Name) -> Value:
        return self.name(node.id)

    def name(self, name: str) -> Value:
        """What a name means here."""
        at: int | None = len(self.frames) - 1
        while at is not None:
            if name in self.store.frames[at]:
                found = self.store.frames[at][name]
                if isinstance(found, Gone) and found is not TEXT:  # texts do no harm until they are used
                    raise UnsupportedError(f"'{name}' cannot be read: {found.reason}")
                return found
            if name in own_names(self.frames[at].source.node):
                raise UnsupportedError(f"'{name}' has no value here")
            at = self.frames[at].outer
        if name in self.frame.globals:
            return Known(self.frame.globals[name])
        if hasattr(builtins, name):
            return Known(getattr(builtins, name))
        raise UnsupportedError(f"the name '{name}' has no value here")

    def visit_Tuple(self, node: ast.Tuple) -> Value:
        items = self._items(node.elts)
        if all(isinstance(item, Known) for item in items):
            return Known(tuple(item.value for item in items))  # pyright: ignore[reportAttributeAccessIssue]
        return Pack(tuple(items))

    def visit_List(self, node: ast.List) -> Value:
        return self.new_list(self._items(node.elts))

    def visit_Set(self, node: ast.Set) -> Value:
        items = self._items(node.elts)
        if all(isinstance(item, Known) for item in items):
            return Known(frozenset(item.value for item in items))  # pyright: ignore[reportAttributeAccessIssue]
        return Lazy("set", (Pack(tuple(items)),))

    def _items(self, nodes: list[ast.expr]) -> list[Value]:
        items: list[Value] = []
        for node in nodes:
            items += self.iterate(self.evaluate(node.value)) if isinstance(node, ast.Starred) else [self.evaluate(node)]
        return items

    def visit_Dict(self, node: ast.Dict) -> Value:
        found: dict[Any, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                found |= self.entries(self.evaluate(value))
            else:
                name = self.evaluate(key)
                if not isinstance(name, Known):
                    raise UnsupportedError("a dict with a key that is computed at run time")
                found[name.value] = self.settled(self.evaluate(value))
        return self.store.new(DictCell(found))

    def shallow(self, value: Known, made: Any) -> Value:
        """A new list of items of a constant one: the items are still the constant's."""
        if type(made) is not list:
            return Known(made)
        return self.new_list([self.part_of(value, item, at) for at, item in enumerate(made)])

    def part_of(self, value: Known, found: Any, key: Any) -> Value:
        """A part of a constant: still that constant's own memory."""
        if id(value.value) in self.paths and isinstance(found, list | dict | np.ndarray | set):
            self._alive.append(found)
            self.paths.setdefault(id(found), (*self.paths[id(value.value)], ("item", key)))
        return Known(found)

    def entries(self, value: Value) -> dict[Any, Value]:
        """The entries of a dict."""
        if isinstance(value, Known):
            return {key: Known(item) for key, item in value.value.items()}
        if isinstance(value, Ref) and isinstance(cell := self.store[value], DictCell):
            return dict(cell.items)
        raise UnsupportedError("a dict is needed here")

    def visit_JoinedStr(self, node: ast.JoinedStr) -> Value:
        parts = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                parts.append(str(part.value))
                continue
            assert isinstance(part, ast.FormattedValue)
            value = self.evaluate(part.value)
            if not isinstance(value, Known) or part.format_spec is not None or part.conversion != -1:
                return TEXT
            parts.append(format(value.value))
        return Known("".join(parts))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        assert isinstance(node.target, ast.Name)
        self.locals[node.target.id] = value
        return value

    # ---- operators ----

    def visit_BinOp(self, node: ast.BinOp) -> Value:
        left = self.evaluate(node.left)
        return self.binary(node.op, left, self.evaluate(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            return number(self.condition(node))
        return self.unary(node.op, self.evaluate(node.operand))

    def visit_Compare(self, node: ast.Compare) -> Value:
        return self._compared(self.evaluate(node.left), node.ops, node.comparators)

    def _compared(self, left: Value, ops: list[ast.cmpop], nodes: list[ast.expr]) -> Value:
        """a < b < c: what comes behind a comparison that fails is not evaluated."""
        right = self.evaluate(nodes[0])
        first = self.compare(ops[0], left, right)
        if len(ops) == 1:
            return first
        return self._short("and", first, lambda: self._compared(right, ops[1:], nodes[1:]))

    def visit_BoolOp(self, node: ast.BoolOp) -> Value:
        return self._bool(node, node.values, self.evaluate)

    def condition(self, node: ast.expr) -> Operand:
        """bool(node): here `and` and `or` need not give one of their operands."""
        if isinstance(node, ast.BoolOp):
            return self.truth(self._bool(node, node.values, lambda one: number(self.condition(one))))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.negated(self.condition(node.operand))
        return self.truth(self.evaluate(node))

    def _bool(self, node: ast.BoolOp, nodes: list[ast.expr], evaluate: Callable[[ast.expr], Value]) -> Value:
        op = "and" if isinstance(node.op, ast.And) else "or"
        first = evaluate(nodes[0])
        return first if len(nodes) == 1 else self._short(op, first, lambda: self._bool(node, nodes[1:], evaluate))

    def _short(self, op: str, first: Value, further: Callable[[], Value]) -> Value:
        """first <op> further(), which is evaluated only where it counts."""
        test = self.truth(first)
        if isinstance(test, Const):
            return further() if bool(test.value) == (op == "and") else first
        plain = self._without_effects(further)
        if plain is not None:
            rest, block = plain
            if _is_flag(first) and _is_flag(rest):
                self.builder.block.extend(block)
                return number(self.logical(op, test, self.truth(rest)))
        name = self._temporary_name()
        self.locals[name] = first
        again = lambda: self.set_local(name, further())  # noqa: E731
        self.branch(test, again if op == "and" else _nothing, _nothing if op == "and" else again)
        return self.locals.pop(name)

    def _without_effects(self, run: Callable[[], Value]) -> tuple[Value, list[Any]] | None:
        """What an expression gives, and the statements for it, where it changes nothing and has no loop."""
        value, block, changes = self.tried(run)
        if changes or any(isinstance(one, Loop) for one in block):
            return None
        return value, block

    def tried(self, run: Callable[[], Value]) -> tuple[Value, list[Any], bool]:
        """What an expression would give, the statements for it, and whether it would change something."""
        before = self.store
        self.store = before.copy()
        try:
            with self.builder.inside() as block:
                value = run()
            return value, block, self.effects(before, self.store)
        finally:
            self.store = before

    def _temporary_name(self) -> str:
        self._temporary += 1
        return f"${self._temporary}"

    def tested(self, node: ast.If | ast.IfExp) -> Operand:
        """The condition of an `if`; whether it is known is noted."""
        condition = self.condition(node.test)
        known = bool(condition.value) if isinstance(condition, Const) else None
        self.store.journal.test(self.frame.source.place(node), known)
        return condition

    def visit_IfExp(self, node: ast.IfExp) -> Value:
        name = self._temporary_name()
        self.locals[name] = UNSET
        self.branch(
            self.tested(node),
            lambda: self.set_local(name, self.evaluate(node.body)),
            lambda: self.set_local(name, self.evaluate(node.orelse)),
        )
        return self.locals.pop(name)

    # ---- functions ----

    def visit_Lambda(self, node: ast.Lambda) -> Value:
        defaults = tuple(self.evaluate(one) for one in node.args.defaults)
        return Closure(node, len(self.frames) - 1, self.frame.globals, defaults, self.frame)

    def visit_Call(self, node: ast.Call) -> Value:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and "super" not in self.locals:
            return self._super(node)
        function = self.evaluate(node.func)
        if self.is_ignored(function):
            return DRAWN
        args: list[Value] = []
        for one in node.args:
            args += (
                self.iterate(self.evaluate(one.value)) if isinstance(one, ast.Starred) else [self._given(function, one)]
            )
        keywords: dict[str, Value] = {}
        for one in node.keywords:
            if one.arg is None:
                keywords |= self.entries(self.evaluate(one.value))
            else:
                keywords[one.arg] = self.evaluate(one.value)
        return self.call(function, args, keywords, node)

    def _super(self, node: ast.Call) -> Value:
        if node.args:
            cls, owner = (self.evaluate(one) for one in node.args)
            assert isinstance(cls, Known)
            return Super(cls.value, owner)
        source, cls = self.frame.source.node, self.frame.cls
        if cls is None:
            raise UnsupportedError("super() outside a method")
        return Super(cls, self.locals[source.args.args[0].arg])

    def call(self, function: Value, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
        raise NotImplementedError

    def is_ignored(self, function: Value) -> bool:
        raise NotImplementedError

    def viewed(self, owner: Value, step: Remake) -> Value:
        raise NotImplementedError

    # ---- attributes ----

    def visit_Attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.evaluate(node.value), node.attr)

    def attribute(self, value: Value, name: str) -> Value:
        """value.name."""
        value = self.present(value)
        match value:
            case Known(inner):
                return self._constant_attribute(value, inner, name)
            case Super(after, owner):
                return self._super_attribute(after, owner, name)
            case Pick():
                return self._attribute_of_options(value, name)
            case Elem(_, _, Record() as shape) if shape.get(name) is not None:
                return self.arrays.part(value, name, self.store)
            case Elem(_, _, Record(cls)) if cls != "dict":
                from overclock.env.registry import load

                return self._class_attribute(load(cls), value, name)
            case Ref() if isinstance(cell := self.store[value], ObjectCell):
                if name in cell.fields:
                    return cell.fields[name]
                return self._class_attribute(cell.cls, value, name, cell.like)
            case Pack(items, cls) if cls is not None and name in cls._fields:
                return items[cls._fields.index(name)]
        if self.is_number(value) and name in ARRAY_FACTS:
            return self._array_fact(value, name)
        if self.is_flexible(value) and name in ARRAY_FACTS:
            return self._flexible_fact(value, name)
        return Bound(name, value)

    def _attribute_of_options(self, value: Pick, name: str) -> Value:
        """What every option has under a name; methods of objects are run like any function, each on its object."""
        if all(isinstance(one, PLAIN) for one in value.options):
            found = [getattr(one, name) for one in value.options]
            return Bound(name, value) if all(map(callable, found)) else self.from_options(value.index, found)
        parts = [self.attribute(Known(one), name) for one in value.options]
        if all(isinstance(one, Known) for one in parts):
            return self.from_options(value.index, [one.value for one in parts])  # pyright: ignore[reportAttributeAccessIssue]
        if all(isinstance(one, Bound) for one in parts):
            return Pick(value.index, tuple(parts))
        return self.select(parts, value.index)

    def _array_fact(self, value: Value, name: str) -> Value:
        operand = self.operand(value)
        size = operand.type.shape
        match name:
            case "shape":
                return Known(size)
            case "size":
                return Known(int(np.prod(size)))
            case "ndim":
                return Known(len(size))
            case "dtype":
                return Known(np.dtype(operand.type.dtype))
            case "T":
                return self.viewed(value, Remake("transpose", tuple(reversed(range(len(size))))))
        raise UnsupportedError(f"the attribute '{name}' of an array")

    def _flexible_fact(self, value: Value, name: str) -> Value:
        cell = self.many(value)
        inner = cell.leaves[0].type.shape[1:]
        match name:
            case "shape":
                return Pack((self.length(value), *map(Known, inner)))
            case "size" if not inner:
                return self.length(value)
            case "ndim":
                return Known(1 + len(inner))
            case "dtype":
                return Known(np.dtype(cell.leaves[0].type.dtype))
        raise UnsupportedError(f"the attribute '{name}' of an array whose length is not known")

    def _constant_attribute(self, value: Known, inner: Any, name: str) -> Value:
        if isinstance(inner, bool | int | float | np.generic | np.ndarray | list | tuple | dict | set | str):
            attribute = getattr(inner, name)
            return Bound(name, value) if callable(attribute) else Known(attribute)
        if isinstance(inner, (ModuleType, type, *GENERATORS)):
            return Known(getattr(inner, name))
        static = _static(type(inner), name)
        if isinstance(static, FunctionType):
            return Bound(static, value)
        if isinstance(static, property) and name != "np_random":
            assert static.fget is not None
            return self.call_function(static.fget, [value], {})
        found = getattr(inner, name)
        if id(found) in self.stand_ins:
            return self.stand_ins[id(found)]
        self._refuse_state(found, type(inner), name)
        if id(inner) in self.paths and (isinstance(found, list | dict | np.ndarray | set) or is_plain_object(found)):
            self.paths.setdefault(id(found), (*self.paths[id(inner)], name))
        return Known(found)

    def _class_attribute(self, cls: type, owner: Value, name: str, like: Any = None) -> Value:
        static = _static(cls, name)
        if isinstance(static, property):
            if name == "np_random" and like is not None:
                return Known(getattr(like, name))
            assert static.fget is not None
            return self.call_function(static.fget, [owner], {})
        if isinstance(static, staticmethod):
            return Known(static.__func__)
        if isinstance(static, classmethod):
            return Bound(static.__func__, Known(cls))
        if isinstance(static, FunctionType) and not (like is not None and name in vars(like)):
            return Bound(static, owner)
        if hasattr(static, "__get__") and not callable(static) and not isinstance(static, MemberDescriptorType):
            raise UnsupportedError(
                f"'{name}' is computed by a {type(static).__name__}: once, or whenever it is asked for?"
            )
        if static is None and hasattr(cls, "__getattr__") and name not in getattr(like, "__dict__", {}):
            raise UnsupportedError(f"'{name}' is found by __getattr__")
        if like is not None and hasattr(like, name):
            found = getattr(like, name)
            if id(found) in self.stand_ins:
                return self.stand_ins[id(found)]
            self._refuse_state(found, cls, name)
            if id(like) in self.paths and (isinstance(found, list | dict | np.ndarray | set) or is_plain_object(found)):
                self.paths.setdefault(id(found), (*self.paths[id(like)], name))
            return Known(found)
        if static is not None:
            return Known(static)
        raise UnsupportedError(f"{cls.__name__} has no attribute '{name}' that is known here")

    def _refuse_state(self, found: Any, cls: type, name: str) -> None:
        """A live object that is part of the state is no constant, whoever else refers to it."""
        if not is_plain_object(found):
            return
        if any(isinstance(cell, ObjectCell) and cell.like is found for cell in self.store.cells.values()):
            reason = CYCLE if reference_cycle(found) else "one object that is reached in two ways"
            raise UnsupportedError(f"{reason}: '{name}' of a {cls.__name__} is a {type(found).__name__} that changes")

    def _super_attribute(self, after: type, owner: Value, name: str) -> Value:
        cls, _ = self.class_of(owner)
        order = cls.__mro__[cls.__mro__.index(after) + 1 :]
        for base in order:
            if name in vars(base):
                static = vars(base)[name]
                if isinstance(static, FunctionType):
                    return Bound(static, owner)
                if isinstance(static, property):
                    assert static.fget is not None
                    return self.call_function(static.fget, [owner], {})
                if isinstance(static, classmethod | staticmethod):
                    return Known(static.__func__)
                return Bound(name, Known(None)) if callable(static) else Known(static)
        raise UnsupportedError(f"super() has no '{name}'")

    def class_of(self, value: Value) -> tuple[type, Any]:
        """The class of an object, and a live instance where there is one."""
        if isinstance(value, Ref) and isinstance(cell := self.store[value], ObjectCell):
            return cell.cls, cell.like
        if isinstance(value, Known):
            return type(value.value), value.value
        raise UnsupportedError("an object is needed here")

    # ---- items ----

    def visit_Subscript(self, node: ast.Subscript) -> Value:
        value = self.present(self.evaluate(node.value))
        if isinstance(node.slice, ast.Slice):
            bounds = [self._slice_bound(part) for part in (node.slice.lower, node.slice.upper, node.slice.step)]
            return self._sliced(value, *bounds)
        return self.item(value, self._index(node.slice))

    def _slice_bound(self, node: ast.expr | None) -> Value:
        return Known(None) if node is None else self.evaluate(node)

    def _index(self, node: ast.expr) -> Value:
        """What stands between brackets; a tuple of slices stays one."""
        if isinstance(node, ast.Tuple) and any(isinstance(part, ast.Slice | ast.Starred) for part in node.elts):
            return Pack(tuple(self._index(part) for part in node.elts))
        if isinstance(node, ast.Slice):
            bounds = [self._slice_bound(part) for part in (node.lower, node.upper, node.step)]
            return Pack(tuple(bounds), slice)
        return self.evaluate(node)

    def _sliced(self, value: Value, start: Value, stop: Value, step: Value) -> Value:
        if self.is_number(value):
            return self.item(value, Pack((start, stop, step), slice))
        if isinstance(value, Ref) and isinstance(self.store[value], ManyCell):
            return self.sliced(value, start, stop, step)
        if not all(isinstance(one, Known) for one in (start, stop, step)):
            raise UnsupportedError("a slice with bounds that are not known")
        bounds: list[Any] = [one.value for one in (start, stop, step) if isinstance(one, Known)]
        cut = slice(*bounds)
        if isinstance(value, Known):
            return self.shallow(value, value.value[cut])
        if isinstance(value, Pick):
            return self.from_options(value.index, [one[cut] for one in value.options])
        items = self.layout.items(value, self.store)[cut]
        return Pack(tuple(items)) if isinstance(value, Pack) else self.store.new(ListCell(items))

    def item(self, value: Value, index: Value) -> Value:
        """value[index]."""
        value = self.present(value)
        index = index if isinstance(index, Pack) else self.present(index)
        if isinstance(value, Known) and isinstance(index, Known):
            try:
                return self.part_of(value, value.value[index.value], index.value)
            except (IndexError, KeyError) as error:
                raise AlwaysRaisesError(f"{type(error).__name__}: {error}") from error
        if isinstance(value, Pick):
            return self._item_of_options(value, index)
        if self.is_number(value):
            return self._item_of_array(value, index)
        if isinstance(value, Rows):
            first, *further = index_parts(index)
            row = self.item(Pack(value.items), first)
            return self.item(row, Pack(tuple(further)) if len(further) > 1 else further[0]) if further else row
        if isinstance(value, Known) and isinstance(value.value, dict):
            keys = list(value.value)
            at, _ = self.position(keys, index)
            return self.from_options(at, [value.value[key] for key in keys])
        if isinstance(value, Known) and isinstance(value.value, np.ndarray) and self.is_numbers(index):
            return self.taken_objects(value.value, index)
        if isinstance(value, Known) and isinstance(value.value, np.ndarray):
            return self._item_of_objects(value.value, index)
        if isinstance(value, Known) and isinstance(value.value, list | tuple | str | range):
            return self._item_of_constants(list(value.value), index)
        if isinstance(value, Ref) and isinstance(cell := self.store[value], DictCell):
            return self._dict_item(cell, index)
        if isinstance(value, Ref) and isinstance(cell := self.store[value], ManyCell):
            return self.arrays.item(value, self.place(cell, index), self.store)
        if isinstance(value, Ref) and isinstance(cell := self.store[value], ObjectCell):
            return self.call_function(cell.cls.__getitem__, [value, index], {})  # pyright: ignore[reportAttributeAccessIssue]
        if isinstance(value, Elem) and isinstance(value.shape, Record):
            assert isinstance(index, Known)
            return self.arrays.part(value, index.value, self.store)
        items = self.layout.items(value, self.store)
        if isinstance(index, Known):
            if isinstance(value, Elem):
                assert isinstance(value.shape, Fixed)
                return self.arrays.part(value, range(len(items))[index.value], self.store)
            return items[index.value]
        if isinstance(value, Ref):
            self.arrayify(value)
            return self.item(value, index)
        return self.select(items, self._wrapped(index, len(items)))

    def _item_of_array(self, value: Value, index: Value) -> Value:
        if self.open_slices(index):
            return self.between(value, index)
        taken = self.taken(value, index)
        if taken is not None:
            return taken
        if self.is_number(index) and (mask := self.operand(index)).type.kind == "b" and mask.type.shape:
            return self.where_mask(value, mask)
        return self.array_item(value, self.array_index(value, index))

    def _wrapped(self, index: Value, size: int) -> Operand:
        """A position in something of known length."""
        operand = self.operand(index)
        if isinstance(operand, Var) and operand.low is not None and operand.low >= 0:
            return operand
        operand = self.builder.cast(operand, "int64", True)
        return self.builder.joined("mod", operator.mod, operand, Const(size)) if size else operand

    def _item_of_constants(self, options: list[Any], index: Value) -> Value:
        return self.from_options(self._wrapped(index, len(options)), options)

    def _item_of_objects(self, table: np.ndarray, index: Value) -> Value:
        """An entry, or a row, of an array of texts or objects."""
        parts = self.iterate(index) if self.is_sequence(index) else [index]
        if len(parts) > table.ndim or any(isinstance(part, Pack) or self.operand(part).type.shape for part in parts):
            if table.dtype.kind in "US":
                return TEXT
            raise UnsupportedError("a part of an array of things that are no numbers")
        at: Operand = Const(0)
        for part, size in zip(parts, table.shape, strict=False):
            place = Const(range(size)[part.value]) if isinstance(part, Known) else self._wrapped(part, size)
            at = self.combined(at, size, place)
        flat = table.reshape(-1, *table.shape[len(parts) :])
        return self.from_options(at, flat.tolist() if flat.ndim == 1 and table.dtype.kind != "S" else list(flat))

    def _item_of_options(self, value: Pick, index: Value) -> Value:
        if isinstance(index, Known):
            return self.from_options(value.index, [one[index.value] for one in value.options])
        keys = [list(one) if isinstance(one, dict) else list(range(len(one))) for one in value.options]
        if any(one != keys[0] for one in keys):
            longest = max(keys, key=len)
            if any(one != longest[: len(one)] for one in keys):
                raise UnsupportedError("tables with different keys are indexed at run time")
            keys = [longest]
            flat = [one[key] if key in _keys(one) else one[_keys(one)[0]] for one in value.options for key in longest]
        else:
            flat = [one[key] for one in value.options for key in keys[0]]
        at = (
            self._wrapped(index, len(keys[0]))
            if keys[0] == list(range(len(keys[0])))
            else self.position(keys[0], index)[0]
        )
        return self.from_options(self.combined(value.index, len(keys[0]), at), flat)

    def _dict_item(self, cell: DictCell, index: Value) -> Value:
        if isinstance(index, Known):
            if index.value not in cell.items:
                if cell.default is not None:
                    cell.items[index.value] = self.constant(cell.default())
                    return cell.items[index.value]
                raise UnsupportedError(f"the key {index.value!r} may be missing")
            return cell.items[index.value]
        at, _ = self.position(list(cell.items), index)
        return self.select(list(cell.items.values()), at)

    def array_index(self, value: Value, index: Value) -> tuple[Any, ...]:
        """An index of an array as `arrays.py` writes it down."""
        parts = list(index.items) if isinstance(index, Pack) and index.cls is not slice else [index]
        if isinstance(index, Known) and isinstance(index.value, tuple):
            parts = [Known(part) for part in index.value]
        return tuple(self._index_part(part) for part in parts)

    def _index_part(self, part: Value) -> Any:
        if isinstance(part, Pack) and part.cls is slice:
            if not all(isinstance(one, Known) for one in part.items):
                raise UnsupportedError("a slice of an array with bounds that are not known")
            return ("slice", *(one.value for one in part.items))  # pyright: ignore[reportAttributeAccessIssue]
        if isinstance(part, Known):
            if part.value is None:
                return ("new",)
            if part.value is ...:
                return ("rest",)
            if isinstance(part.value, slice):
                return ("slice", part.value.start, part.value.stop, part.value.step)
            if isinstance(part.value, int | np.integer) and not isinstance(part.value, bool):
                return int(part.value)
        operand = self.operand(part)
        if operand.type.shape == (0,) and self.is_sequence(part):
            operand = Const(np.zeros(0, np.int64))  # an empty list names no places; an empty array of floats is wrong
        if operand.type.kind == "b" and operand.type.shape:
            raise UnsupportedError("the items of an array where a mask holds: their number is not known")
        if operand.type.kind == "f":
            raise UnsupportedError("an index that is a float")
        return operand if isinstance(operand, Var) or operand.type.shape else int(operand.value)

    # ---- comprehensions ----

    def visit_ListComp(self, node: ast.ListComp) -> Value:
        return self.comprehension(node.generators, node.elt)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> Value:
        raise UnsupportedError("a generator that is not used up at once")

    def _given(self, function: Value, node: ast.expr) -> Value:
        """An argument; a generator's items are computed here, where that is what the function does first of all."""
        if not isinstance(node, ast.GeneratorExp):
            return self.evaluate(node)
        inner = function.value if isinstance(function, Known) else None
        if inner in STOPPING:
            return self.new_list([self.until(node, inner is any)])
        if inner not in CONSUMING and not (isinstance(function, Bound) and function.function in ("join", "extend")):
            raise UnsupportedError("a generator that is not used up at once")
        return self.comprehension(node.generators, node.elt)

    def visit_SetComp(self, node: ast.SetComp) -> Value:
        return Lazy("set", (self.comprehension(node.generators, node.elt),))

    def visit_DictComp(self, node: ast.DictComp) -> Value:
        pairs = self.comprehension(node.generators, ast.Tuple([node.key, node.value], ast.Load()))
        found: dict[Any, Value] = {}
        for pair in self.iterate(pairs):
            key, value = self.iterate(pair)
            if not isinstance(key, Known):
                raise UnsupportedError("a dict with keys that are computed at run time")
            found[key.value] = value
        return self.store.new(DictCell(found))

    def comprehension(self, generators: list[ast.comprehension], element: ast.expr) -> Value:
        raise NotImplementedError

    def until(self, node: ast.GeneratorExp, wanted: bool) -> Value:
        raise NotImplementedError


def _static(cls: type, name: str) -> Any:
    for base in cls.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return None


def _keys(box: Any) -> list[Any]:
    return list(box) if isinstance(box, dict) else list(range(len(box)))


def _is_flag(value: Value) -> bool:
    if isinstance(value, Known):
        return isinstance(value.value, bool | np.bool_)
    return isinstance(value, Num) and value.operand.type.kind == "b"


def _nothing() -> None:
    pass


__all__ = ["Array", "ArrayCell", "BuiltinFunctionType", "Expressions", "May", "Span", "View"]
