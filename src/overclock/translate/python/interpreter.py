"""Statements and calls of Python: the abstract interpreter itself.

Functions are run in place. `return`, `break` and `continue` are flags of the active call; statements behind one that
may have left run under the condition that it has not.
"""

import ast
import enum
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import AlwaysRaisesError, NeedsStateError, StartAnewError, UnsupportedError
from overclock.recording.generators import GENERATORS
from overclock.recording.shapes import FLEXIBLE, Fixed, Record
from overclock.translate.ir.nodes import Callee, Const, Note, Operand, Type, Var
from overclock.translate.ir.values import (
    UNSET,
    ArrayCell,
    Bound,
    Closure,
    DictCell,
    Elem,
    Gone,
    Known,
    ListCell,
    ManyCell,
    Num,
    ObjectCell,
    Pack,
    Pick,
    Ref,
    Rows,
    Value,
    View,
    Window,
)  # fmt: skip
from overclock.translate.python.flexible import index_parts, is_slice
from overclock.translate.python.frames import RETURNED, VALUE, Frame, is_library, source_of
from overclock.translate.python.matching import Matching
from overclock.translate.python.private import mangled

MOST_NESTED = 20  # calls of one function inside itself
MOST_LENGTHS = 4  # of lists that one name stands for, each followed on its own


class Interpreter(Matching):
    """Runs functions of the reference on values that are not known yet."""

    def __init__(self) -> None:
        super().__init__()
        self.assumptions: list[str] = []
        self._permuted = False  # whether items of lists change their places now, and none gets a second one
        self._trying = 0  # how many handlers of exceptions there are around what is run
        self._ragged: str | None = None  # a local that was just assigned lists of different lengths

    # ---- calls ----

    def call_function(
        self,
        function: Any,
        args: list[Value],
        keywords: dict[str, Value],
        cls: type | None = None,
        closure: Closure | None = None,
    ) -> Value:
        """Run a Python function here."""
        if closure is not None:
            source = self._closure_source(closure)
            frame = Frame(source, closure.module, None, closure.frame)
            defaults: list[Value] = list(closure.defaults)
        else:
            source = source_of(function)
            frame = Frame(source, function.__globals__, cls or self._defining_class(function, args))
            defaults = [Known(one) for one in function.__defaults__ or ()]
        if sum(one.source.node is source.node for one in self.frames) > MOST_NESTED:
            raise UnsupportedError("functions that call themselves without an end that is known")
        bound = self._bind(source.node.args, args, keywords, defaults, function, source)
        if closure is None and function is not None and function.__closure__:
            for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
                if name != "__class__":
                    bound.setdefault(name, Known(cell.cell_contents))
        self.frames.append(frame)
        self.store.frames.append({**bound, RETURNED: Known(False), VALUE: UNSET})
        try:
            if isinstance(source.node, ast.Lambda):
                return self.evaluate(source.node.body)
            with self.builder.calling(Callee(source.node.name, self._operands(bound))):
                self.run(source.node.body)
                left = self.flag(RETURNED)
                self.branch(left, lambda: None, lambda: self.set_local(VALUE, Known(None)))
            return self.locals[VALUE]
        except UnsupportedError as error:
            inside = [is_library(one.source.file) for one in self.frames[-2:]]
            if error.place is None and inside[-1] and not all(inside) and function is not None:
                error.reason = f"inside {function.__module__}.{function.__qualname__}: {error.reason}"
            raise
        finally:
            self.frames.pop()
            self.store.frames.pop()

    def _operands(self, bound: dict[str, Value]) -> dict[str, list[Operand]]:
        """What arguments are made of, as far as it has names in a printed program."""
        found: dict[str, list[Operand]] = {}
        for name, value in bound.items():
            cell = self.store[value] if isinstance(value, Ref) else None
            if isinstance(value, Num):
                found[name] = [value.operand]
            elif isinstance(cell, ArrayCell):
                found[name] = [cell.operand]
            elif isinstance(cell, ManyCell):
                found[name], found[f"{name}_length"] = cell.leaves[:1], [cell.length]
        return found

    def _closure_source(self, closure: Closure) -> Any:
        import dataclasses

        if closure.frame >= len(self.frames) or self.frames[closure.frame] is not closure.home:
            raise UnsupportedError("a function that is used after the call that it was made in")
        return dataclasses.replace(self.frames[closure.frame].source, node=closure.node)

    def _defining_class(self, function: Any, args: list[Value]) -> type | None:
        if not args or "." not in function.__qualname__:
            return None
        try:
            cls, _ = self.class_of(args[0])
        except UnsupportedError:
            return None
        own = (base for base in cls.__mro__ if vars(base).get(mangled(function.__name__, base.__name__)) is function)
        return next(own, None) or next(
            (base for base in cls.__mro__ if base.__qualname__ == function.__qualname__.rpartition(".")[0]), None
        )

    def _bind(
        self, spec: ast.arguments, args: list[Value], keywords: dict[str, Value], defaults: list[Value], function: Any,
        source: Any,
    ) -> dict[str, Value]:  # fmt: skip
        names = [one.arg for one in (*spec.posonlyargs, *spec.args)]
        bound: dict[str, Value] = dict(zip(names, args, strict=False))
        if len(args) > len(names) and spec.vararg is None:
            raise UnsupportedError("too many arguments")
        if spec.vararg is not None:
            bound[spec.vararg.arg] = Pack(tuple(args[len(names) :]))
        extra: dict[Any, Value] = {}
        known = {*names, *(one.arg for one in spec.kwonlyargs)}
        for name, value in keywords.items():
            if name in known:
                bound[name] = value
            else:
                extra[name] = value
        if spec.kwarg is not None:
            bound[spec.kwarg.arg] = self.store.new(DictCell(extra))
        elif extra:
            raise UnsupportedError(f"an unknown argument '{next(iter(extra))}'")
        for name, default in zip(reversed(names), reversed(defaults), strict=False):
            bound.setdefault(name, default)
        inner = getattr(function, "__kwdefaults__", None) or {}
        for one, node in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            if one.arg not in bound and one.arg in inner:
                bound[one.arg] = Known(inner[one.arg])
            elif one.arg not in bound and node is not None:
                bound[one.arg] = self.evaluate(node)
        missing = [name for name in names if name not in bound]
        if missing:
            raise UnsupportedError(f"the argument '{missing[0]}' is missing")
        return bound

    # ---- names of constants ----

    def name(self, name: str) -> Value:
        """What a name means; numbers and tables of a module keep theirs."""
        found = super().name(name)
        outside = isinstance(found, Known) and found.value is self.frame.globals.get(name, found)
        return _named(found, name) if outside else found

    def attribute(self, value: Value, name: str) -> Value:
        """value.name; numbers and tables of an object keep their names."""
        found = super().attribute(value, name)
        owner = type(value.value) if isinstance(value, Known) else object
        nameless = issubclass(owner, enum.Enum) or owner.__module__.startswith(("numpy", "gymnasium.spaces"))
        return found if nameless else _named(found, name)

    def unary(self, node: ast.unaryop, value: Value) -> Value:
        """<op> value; the negative of a constant with a name is written with it."""
        found = super().unary(node, value)
        if isinstance(value, Known) and isinstance(found, Known) and isinstance(node, ast.USub):
            return Known(found.value, f"-{value.name}") if value.name.isidentifier() else found
        return found

    # ---- statements ----

    def run(self, statements: list[ast.stmt]) -> None:
        """Run statements, the later ones only where none before has left."""
        for at, statement in enumerate(statements):
            self._statement(statement)
            if self._ragged is not None:
                name, self._ragged = self._ragged, None
                self._split(name, statements[at + 1 :])
                return
            left = self._leaving()
            if isinstance(left, Const):
                if left.value:
                    return
                continue
            rest = statements[at + 1 :]
            if rest:
                self.branch(left, lambda: None, functools.partial(self.run, rest))
            return

    def _split(self, name: str, rest: list[ast.stmt]) -> None:
        """A local that is one of several lists of different lengths: the rest is run once for each length."""
        value = self.locals[name]
        assert isinstance(value, Pick)
        lengths = sorted({len(one) for one in value.options})

        def choose(left: list[int]) -> None:
            mine = [len(one) == left[0] for one in value.options]
            stand_in = value.options[mine.index(True)]
            options = tuple(one if here else stand_in for one, here in zip(value.options, mine, strict=True))

            def run() -> None:
                self.locals[name] = self.from_options(value.index, options)
                self.run(rest)

            if len(left) == 1:
                run()
            else:
                self.branch(self.flags(mine, value.index), run, lambda: choose(left[1:]), f"len({name}) == {left[0]}")

        choose(lengths)

    def _statement(self, node: ast.stmt) -> None:
        method: Callable[[Any], None] | None = getattr(self, f"visit_{type(node).__name__}", None)
        self.store.journal.enter(self.frame.source.place(node))
        try:
            if method is None:
                raise UnsupportedError(f"the statement {type(node).__name__} is not supported")
            method(node)
        except AlwaysRaisesError as error:
            self.locate(error, node)
            if self._trying:
                raise UnsupportedError(
                    f"an exception decides what happens next: {error.reason}", error.place
                ) from error
            self.visit_Raise(node)
        except UnsupportedError as error:
            self.locate(error, node)
            raise
        except (StartAnewError, RecursionError):
            raise
        except Exception as error:
            raise self.locate(UnsupportedError(f"{type(error).__name__}: {error}"), node) from error

    def flag(self, name: str) -> Operand:
        value = self.locals.get(name, Known(False))
        return self.truth(value) if not isinstance(value, Gone) else Const(False)

    def _leaving(self) -> Operand:
        left = self.flag(RETURNED)
        depth = self.frame.depth
        if depth:
            left = self.logical("or", left, self.flag(f"$broken{depth}"))
            left = self.logical("or", left, self.flag(f"$continued{depth}"))
        return left

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.evaluate(node.value)

    def visit_Pass(self, node: ast.Pass) -> None:
        pass

    def visit_Return(self, node: ast.Return) -> None:
        self.locals[VALUE] = Known(None) if node.value is None else self.evaluate(node.value)
        self.locals[RETURNED] = Known(True)

    def visit_Break(self, node: ast.Break) -> None:
        self.locals[f"$broken{self.frame.depth}"] = Known(True)

    def visit_Continue(self, node: ast.Continue) -> None:
        self.locals[f"$continued{self.frame.depth}"] = Known(True)

    def visit_Raise(self, node: ast.stmt) -> None:
        # A step that raises is no step: what comes behind is not reached, whatever the values are.
        self.assumptions.append(f"{self.frame.source.place(node)}: never raised")
        self.locals[RETURNED] = Known(True)

    def visit_Assert(self, node: ast.Assert) -> None:
        self.assumptions.append(f"{self.frame.source.place(node)}: holds")

    def visit_If(self, node: ast.If) -> None:
        condition = self.tested(node)
        if isinstance(condition, Var):
            self.name_operand(condition, "")
        note = self.frame.source.text(node.test)
        self.branch(condition, lambda: self.run(node.body), lambda: self.run(node.orelse), note)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            text = self.frame.source.text(item.context_expr)
            if not text.startswith(("np.errstate", "numpy.errstate", "warnings.")):
                raise UnsupportedError(_why_not_with(item.context_expr, text))
        self.run(node.body)

    def visit_Try(self, node: ast.Try) -> None:
        if node.handlers:
            for part in ast.walk(ast.Module(node.body, [])):
                if not self._safe(part):
                    raise UnsupportedError("an exception may decide what happens next")
        self._trying += bool(node.handlers)
        try:
            self.run([*node.body, *node.orelse, *node.finalbody])
        finally:
            self._trying -= bool(node.handlers)

    def _safe(self, part: ast.AST) -> bool:
        """Whether nothing can be raised here: what could is known while translating, and does not."""
        match part:
            case ast.Raise() | ast.Assert():
                return False
            case ast.Subscript(slice=index):
                return self._is_known(index)
            case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod() | ast.Pow(), right=divisor):
                return self._is_known(divisor)
            case ast.AugAssign(op=ast.Div() | ast.FloorDiv() | ast.Mod() | ast.Pow(), value=divisor):
                return self._is_known(divisor)
            case ast.Call(func=ast.Name(id="int" | "float" | "bool" | "abs" | "min" | "max")):
                return True
            case ast.Call(func=ast.Name(id="len" | "isinstance" | "range")):
                return self._is_known(part)
            case ast.Call():
                return False
        return True

    def _is_known(self, node: ast.expr) -> bool:
        try:
            return isinstance(self.tried(lambda: self.evaluate(node))[0], Known)
        except UnsupportedError:
            return False

    def visit_Import(self, node: ast.Import) -> None:
        import importlib

        for one in node.names:
            module = importlib.import_module(one.name)
            name = one.asname or one.name.partition(".")[0]
            self.locals[name] = Known(module if one.asname else importlib.import_module(name))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        import importlib

        name = "." * node.level + (node.module or "")
        module = importlib.import_module(name, self.frame.globals.get("__package__"))
        for one in node.names:
            self.locals[one.asname or one.name] = Known(getattr(module, one.name))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        defaults = tuple(self.evaluate(one) for one in node.args.defaults)
        self.locals[node.name] = Closure(node, len(self.frames) - 1, self.frame.globals, defaults, self.frame)

    def visit_Global(self, node: ast.Global) -> None:
        raise UnsupportedError("a global variable is changed")

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.frame.nonlocals.update(node.names)

    def visit_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.locals.pop(target.id, None)
            elif isinstance(target, ast.Subscript):
                self._delete_item(self.evaluate(target.value), self.evaluate(target.slice))
            else:
                raise UnsupportedError("del of an attribute")

    def _delete_item(self, value: Value, index: Value) -> None:
        ref = self.mutable(value)
        cell = self.store[ref]
        if isinstance(cell, DictCell | ListCell) and isinstance(index, Known):
            del cell.items[index.value]
        elif isinstance(cell, ListCell | ManyCell):
            if isinstance(cell, ListCell):
                self.arrayify(ref)
            self.remove_at(ref, self.place(self.many(ref), index))
        else:
            raise UnsupportedError("del of an item of this")

    # ---- assignment ----

    def visit_Assign(self, node: ast.Assign) -> None:
        value = self.evaluate(node.value)
        held = self._temporary_name()
        self.locals[held] = value  # items of lists stay what they are while targets are assigned one by one
        self._permuted = any(_permutes(target, node.value) for target in node.targets)
        for target in node.targets:
            self.assign(target, value)
        self._permuted = False
        self.locals.pop(held)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        target = node.target
        if isinstance(target, ast.Name):
            self._augment(self.name(target.id), node, lambda value: self.assign(target, value))
        elif isinstance(target, ast.Attribute):
            owner = self.present(self.evaluate(target.value))
            current = self.attribute(owner, target.attr)
            self._augment(current, node, lambda value: self.set_attribute(owner, target.attr, value))
        elif isinstance(target, ast.Subscript):
            owner = self.present(self.evaluate(target.value))
            index = self._index(target.slice)
            if isinstance(target.slice, ast.Slice) and not self.is_number(owner):
                raise UnsupportedError("a slice of a list is changed in place")
            current = self._masked_read(owner, index) or self.item(owner, index)
            self._augment(current, node, lambda value: self.set_item(owner, index, value))

    def _masked_read(self, owner: Value, index: Value) -> Value | None:
        """array[mask] on the way to array[mask] += value: everything, of which only the masked part is written."""
        if self.is_number(owner) and self.open_slices(index):
            owner, index = self.narrowed(owner, index)
            return self.fresh(self.operand(owner)) if all(map(is_slice, index_parts(index))) else None
        if self.is_number(owner) and not isinstance(index, Pack) and self._is_mask(index):
            return self.fresh(self.operand(owner))
        return None

    def _is_mask(self, index: Value) -> bool:
        if not self.is_number(index):
            return False
        kind = self.operand(index).type
        return kind.kind == "b" and bool(kind.shape)

    def _augment(self, current: Value, node: ast.AugAssign, store: Callable[[Value], None]) -> None:
        value = self.evaluate(node.value)
        shown = self.present(current)
        if (
            isinstance(shown, Ref)
            and isinstance(self.store[shown], ListCell | ManyCell)
            and not self.is_flexible(shown)
            and isinstance(node.op, ast.Add)
        ):
            self.extend(self.mutable(shown), value)
            return
        if isinstance(shown, Window | Rows):
            raise UnsupportedError("a part of an array whose shape is not known is changed in place")
        result = self.binary(node.op, current, value)
        if self.is_flexible(shown) and not isinstance(node.target, ast.Subscript):
            cell, new = self.many(self.mutable(shown)), self.many(result)
            cell.leaves = [self.builder.cast(new.leaves[0], cell.leaves[0].type.dtype)]
            return
        if isinstance(shown, Ref | View) and self.is_number(shown) and self.operand(shown).type.shape:
            # In place: the array keeps its dtype, and whoever else has it sees the change.
            target, steps = (shown, ()) if isinstance(shown, Ref) else (shown.base, shown.steps)
            if not (isinstance(node.target, ast.Subscript) and self._temporary_copy(shown, node)):
                self.arrays.assign(self.mutable(target), steps, self.operand(result), self.store)
                return
        if isinstance(shown, Elem) and self.is_number(shown):
            self.arrays.write(shown, result, self.store)
            return
        store(result)

    def _temporary_copy(self, shown: Value, node: ast.AugAssign) -> bool:
        """array[integers] and array[mask] are copies: the result is written back by the index."""
        return isinstance(shown, Ref)

    def assign(self, target: ast.expr, value: Value) -> None:
        """target = value."""
        match target:
            case ast.Name(id=name):
                if isinstance(value, Num):
                    self.name_operand(value.operand, name)
                self._label(value, name)
                at = len(self.frames) - 1
                if name in self.frame.nonlocals:
                    at = self.frame.outer
                    while at is not None and name not in self.store.frames[at]:
                        at = self.frames[at].outer
                    assert at is not None
                self.store.frames[at][name] = value
                if isinstance(value, Pick) and 1 < len(_lengths(value.options)) <= MOST_LENGTHS:
                    self._ragged = name
            case ast.Attribute(value=owner, attr=name):
                self.set_attribute(self.present(self.evaluate(owner)), name, value)
            case ast.Subscript(value=owner, slice=index):
                self.set_item(self.present(self.evaluate(owner)), self._index(index), value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self._unpack(parts, value)
            case ast.Starred():
                raise UnsupportedError("a starred target")

    def _unpack(self, parts: list[ast.expr], value: Value) -> None:
        starred = [at for at, part in enumerate(parts) if isinstance(part, ast.Starred)]
        shown = self.present(value)
        if not starred and isinstance(shown, Ref) and isinstance(self.store[shown], ManyCell):
            # Another number of items would be an error, and a step that raises is no step.
            items = [self.item(shown, Known(at)) for at in range(len(parts))]
        else:
            items = self.iterate(value)
        if starred:
            at = starred[0]
            behind = len(parts) - at - 1
            middle = items[at : len(items) - behind]
            items = [*items[:at], self.store.new(ListCell(middle)), *items[len(items) - behind :]]
            parts = [part.value if isinstance(part, ast.Starred) else part for part in parts]
        if len(items) != len(parts):
            raise UnsupportedError(f"{len(items)} values for {len(parts)} names")
        for part, item in zip(parts, items, strict=True):
            self.assign(part, item)

    def name_operand(self, operand: Operand, name: str) -> None:
        """Printed programs use the names of the source."""
        if isinstance(operand, Var) and not operand.hint:
            operand.hint = name

    def _label(self, value: Value, name: str) -> None:
        """The same for an array and for a list that is kept as arrays."""
        cell = self.store[value] if isinstance(value, Ref) else None
        leaves = [cell.operand] if isinstance(cell, ArrayCell) else cell.leaves if isinstance(cell, ManyCell) else []
        for leaf in leaves:
            if isinstance(leaf, Var):
                leaf.label = leaf.label or name

    def mutable(self, value: Value) -> Ref:
        """A reference that may be changed; a constant of the instance that is changed is no constant."""
        value = self.present(value)
        if isinstance(value, Known):
            if id(value.value) in self.paths:
                raise NeedsStateError(self.paths[id(value.value)])
            if isinstance(value.value, set | frozenset):
                raise UnsupportedError("a set is changed: which items a set has, and in which order, is not followed")
            raise UnsupportedError("something that does not belong to the environment is changed")
        if not isinstance(value, Ref):
            raise UnsupportedError("this cannot be changed in place")
        self.store.change(value)
        return value

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        """owner.name = value."""
        if isinstance(value, Num):
            self.name_operand(value.operand, name)
        self._label(value, name)
        if isinstance(value, Known) and isinstance(value.value, GENERATORS):
            cell = self.store[owner] if isinstance(owner, Ref) else None
            if isinstance(cell, ObjectCell):
                cell.fields[name] = value
            return  # who draws is no state: draws are told apart by their places
        if isinstance(owner, Known):
            if id(owner.value) in self.paths:
                raise NeedsStateError((*self.paths[id(owner.value)], name))
            raise UnsupportedError(f"'{name}' of something that does not belong to the environment is changed")
        if isinstance(owner, Elem):
            self.arrays.write_part(owner, name, value, self.store)
            return
        cell = self.store[self.mutable(owner)]
        if not isinstance(cell, ObjectCell):
            raise UnsupportedError(f"the attribute '{name}' of this is changed")
        static = next((vars(base)[name] for base in cell.cls.__mro__ if name in vars(base)), None)
        if isinstance(static, property):
            if static.fset is None:
                raise UnsupportedError(f"the property '{name}' cannot be set")
            self.call_function(static.fset, [owner, value], {})
            return
        if name not in cell.fields and cell.like is not None and id(cell.like) in self.paths:
            raise NeedsStateError((*self.paths[id(cell.like)], name))
        cell.fields[name] = self.settled(value)

    def set_item(self, owner: Value, index: Value, value: Value) -> None:
        """owner[index] = value."""
        if isinstance(owner, Elem):
            self._set_elem_item(owner, index, value)
            return
        if isinstance(owner, View) and self.open_slices(index):
            self.mutable(owner.base)
            self.write_between(owner, index, value)
            return
        if isinstance(owner, View):
            steps = (*owner.steps, *self._write_steps(owner, index))
            self._write_array(owner.base, steps, owner, index, value)
            return
        ref = self.mutable(owner)
        cell = self.store[ref]
        match cell:
            case ArrayCell() if self.open_slices(index):
                self.write_between(ref, index, value)
            case ArrayCell() if self.is_numbers(index):
                self.arrays.assign(ref, (), self.scatter(self.operand(ref), index, value), self.store)
            case ArrayCell():
                self._write_array(ref, self._write_steps(ref, index), ref, index, value)
            case ListCell(items) if isinstance(index, Known):
                items[index.value] = self.settled(value)
            case ListCell(items) if isinstance(index, Pack) and index.cls is slice:
                bounds = [part.value for part in index.items if isinstance(part, Known)]
                if len(bounds) != 3:
                    raise UnsupportedError("a slice with bounds that are not known is assigned")
                items[slice(*bounds)] = self.iterate(value)
            case ListCell():
                self.arrayify(ref)
                self.set_item(ref, index, value)
            case ManyCell() if cell.kind == FLEXIBLE:
                self._set_flexible(cell, index, value)
            case ManyCell() if isinstance(index, Pack) and index.cls is slice:
                raise UnsupportedError("a slice of a list of changing length is assigned")
            case ManyCell():
                self.ensure_shape(ref, self.layout.shape(value, self.store))
                cell = self.many(ref)
                place = self.place(cell, index)
                self.arrays.follow_replacement(ref, place, self.store)
                self.arrays.put(ref, place, value, self.store)
                if not self._permuted:
                    self.store.held(ref, value)
            case DictCell(items):
                self._set_key(items, index, value)
            case ObjectCell(cls):
                self.call_function(cls.__setitem__, [ref, index, value], {})  # pyright: ignore[reportAttributeAccessIssue]

    def _set_flexible(self, cell: ManyCell, index: Value, value: Value) -> None:
        if not self.is_number(index) or self.operand(index).type.shape:
            raise UnsupportedError("several places of an array whose length is not known are changed")
        cell.leaves[0] = self.arrays.setitem(cell.leaves[0], (self.place(cell, index),), self.operand(value))

    def _set_key(self, items: dict[Any, Value], index: Value, value: Value) -> None:
        if isinstance(index, Known):
            items[index.value] = self.settled(value)
            return
        keys = list(items)
        at, _ = self.position(keys, index)
        for place, key in enumerate(keys):
            here = self.builder.joined("eq", operator.eq, at, Const(place))
            self.branch(here, lambda key=key: items.__setitem__(key, value), lambda: None)
            raise UnsupportedError("a dict is changed under a key that is computed at run time")

    def _set_elem_item(self, owner: Elem, index: Value, value: Value) -> None:
        if isinstance(owner.shape, Fixed) and isinstance(index, Pack) and index.cls is slice:
            bounds = [part.value for part in index.items if isinstance(part, Known)]
            keys = list(range(len(owner.shape.items))[slice(*bounds)]) if len(bounds) == 3 else []
            items = self.iterate(value)
            if len(items) != len(keys):
                raise UnsupportedError("a slice is replaced by another number of items")
            for key, item in zip(keys, items, strict=True):
                self.arrays.write_part(owner, key, item, self.store)
            return
        if isinstance(owner.shape, Fixed) and isinstance(index, Known):
            key = range(len(owner.shape.items))[index.value]
        elif isinstance(owner.shape, Record) and isinstance(index, Known):
            key = index.value
        else:
            raise UnsupportedError("an item of an item of a list is changed at a place that is not known")
        self.arrays.write_part(owner, key, value, self.store)

    def _write_steps(self, owner: Value, index: Value) -> tuple[Any, ...]:
        if not isinstance(index, Pack) and self._is_mask(index):
            return ()
        return (self.array_index(owner, index),)

    def _write_array(self, ref: Ref, steps: tuple[Any, ...], owner: Value, index: Value, value: Value) -> None:
        operand = self.operand(value)
        if not isinstance(index, Pack) and self._is_mask(index):
            base, mask = self.operand(owner), self.operand(index)
            mask = self.spread_mask(mask, base)
            if operand.type.shape and operand.type.shape != base.type.shape:
                raise UnsupportedError("an array of another shape is written where a mask holds")
            operand = self.where(mask, self.arrays.full_like(base, operand), base)
            steps = owner.steps if isinstance(owner, View) else ()
        self.arrays.assign(self.mutable(ref), steps, operand, self.store)

    def spread_mask(self, mask: Operand, base: Operand) -> Operand:
        """A mask over the first axes of an array."""
        extra = len(base.type.shape) - len(mask.type.shape)
        return self.arrays.getitem(mask, (("rest",), *([("new",)] * extra))) if extra else mask


def _named(value: Value, name: str) -> Value:
    """A constant number or table, under the name it was read by."""
    if isinstance(value, Known) and isinstance(value.value, int | float | np.number | np.ndarray | list | tuple):
        return value if isinstance(value.value, bool) else Known(value.value, name)
    return value


def _lengths(options: tuple[Any, ...]) -> set[int]:
    if not all(isinstance(one, list | tuple) for one in options):
        return set()
    return {len(one) for one in options}


def _why_not_with(node: ast.expr, text: str) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    if "open" in (getattr(function, "id", ""), getattr(function, "attr", "")):
        return "a file is opened: what is in it is not decided by the program alone"
    return f"what {text} does when a `with` begins and ends is not followed"


def _permutes(target: ast.expr, value: ast.expr) -> bool:
    """a[i], a[j] = a[j], a[i]."""
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return False
    return sorted(map(ast.unparse, target.elts)) == sorted(map(ast.unparse, value.elts))


__all__ = ["Bound", "Interpreter", "Note", "Pick", "Type"]
