"""Statements and calls of Python: the abstract interpreter itself.

Functions are run in place. `return`, `break` and `continue` are flags of the active call; statements behind one that
may have left run under the condition that it has not.
"""

import ast
import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.translate.calls import Calls
from overclock.translate.errors import NeedsStateError, UnsupportedError
from overclock.translate.frames import Frame, names_read, source_of
from overclock.translate.ir import Const, Note, Operand, Type, Var
from overclock.translate.layout import number
from overclock.translate.shapes import Fixed, Record
from overclock.translate.values import (
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
    Span,
    Value,
    View,
)  # fmt: skip

UNROLLED = 4  # a loop of at most so many turns is written out
MOST_UNROLLED = 400
MOST_LENGTHS = 4  # of lists that one name stands for, each followed on its own
RETURNED, VALUE = "$returned", "$value"


class Interpreter(Calls):
    """Runs functions of the reference on values that are not known yet."""

    def __init__(self) -> None:
        super().__init__()
        self.assumptions: list[str] = []
        self._permuted = False  # whether items of lists change their places now, and none gets a second one
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
        if len(self.frames) > 60:
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
            self.run(source.node.body)
            left = self._flag(RETURNED)
            self.branch(left, lambda: None, lambda: self.set_local(VALUE, Known(None)))
            return self.locals[VALUE]
        finally:
            self.frames.pop()
            self.store.frames.pop()

    def _closure_source(self, closure: Closure) -> Any:
        import dataclasses

        return dataclasses.replace(self.frames[closure.frame].source, node=closure.node)

    def _defining_class(self, function: Any, args: list[Value]) -> type | None:
        if not args or "." not in function.__qualname__:
            return None
        try:
            cls, _ = self.class_of(args[0])
        except UnsupportedError:
            return None
        return next((base for base in cls.__mro__ if vars(base).get(function.__name__) is function), None) or next(
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
        self.store.journal.place = self.frame.source.place(node)
        try:
            if method is None:
                raise UnsupportedError(f"the statement {type(node).__name__} is not supported")
            method(node)
        except UnsupportedError as error:
            error.locate(self.frame.source.place(node))
            raise
        except (NeedsStateError, RecursionError):
            raise
        except Exception as error:
            raise UnsupportedError(f"{type(error).__name__}: {error}", self.frame.source.place(node)) from error

    def _flag(self, name: str) -> Operand:
        value = self.locals.get(name, Known(False))
        return self.truth(value) if not isinstance(value, Gone) else Const(False)

    def _leaving(self) -> Operand:
        left = self._flag(RETURNED)
        depth = self.frame.depth
        if depth:
            left = self.logical("or", left, self._flag(f"$broken{depth}"))
            left = self.logical("or", left, self._flag(f"$continued{depth}"))
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

    def visit_Raise(self, node: ast.Raise) -> None:
        # A step that raises is no step: what comes behind is not reached, whatever the values are.
        self.assumptions.append(f"{self.frame.source.place(node)}: never raised")
        self.locals[RETURNED] = Known(True)

    def visit_Assert(self, node: ast.Assert) -> None:
        self.assumptions.append(f"{self.frame.source.place(node)}: holds")

    def visit_If(self, node: ast.If) -> None:
        condition = self.truth(self.evaluate(node.test))
        if isinstance(condition, Var):
            self.name_operand(condition, "")
        note = self.frame.source.text(node.test)
        self.branch(condition, lambda: self.run(node.body), lambda: self.run(node.orelse), note)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            text = self.frame.source.text(item.context_expr)
            if not text.startswith(("np.errstate", "numpy.errstate", "warnings.")):
                raise UnsupportedError(f"with {text}")
        self.run(node.body)

    def visit_Try(self, node: ast.Try) -> None:
        for part in ast.walk(ast.Module(node.body, [])):
            if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load):
                try:
                    index = self._without_effects(lambda part=part: self.evaluate(part.slice))
                except UnsupportedError:
                    index = None
                if index is None or not isinstance(index[0], Known):
                    raise UnsupportedError("an exception may decide what happens next (try around a lookup)")
        self.run([*node.body, *node.orelse, *node.finalbody])

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
        self.locals[node.name] = Closure(node, len(self.frames) - 1, self.frame.globals, defaults)

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
            and isinstance(node.op, ast.Add)
        ):
            self.extend(self.mutable(shown), value)
            return
        result = self.binary(node.op, current, value)
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
        items = self.iterate(value)
        starred = [at for at, part in enumerate(parts) if isinstance(part, ast.Starred)]
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

    def mutable(self, value: Value) -> Ref:
        """A reference that may be changed; a constant of the instance that is changed is no constant."""
        value = self.present(value)
        if isinstance(value, Known):
            if id(value.value) in self.paths:
                raise NeedsStateError(self.paths[id(value.value)])
            raise UnsupportedError("something that does not belong to the environment is changed")
        if not isinstance(value, Ref):
            raise UnsupportedError("this cannot be changed in place")
        self.store.change(value)
        return value

    def set_attribute(self, owner: Value, name: str, value: Value) -> None:
        """owner.name = value."""
        if isinstance(value, Num):
            self.name_operand(value.operand, name)
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
        if isinstance(owner, View):
            steps = (*owner.steps, *self._write_steps(owner, index))
            self._write_array(owner.base, steps, owner, index, value)
            return
        ref = self.mutable(owner)
        cell = self.store[ref]
        match cell:
            case ArrayCell() if self._open_slice(index) is not None:
                self._write_between(ref, index, value)
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

    def _open_slice(self, index: Value) -> int | None:
        """Which part of an index is a slice whose bounds are not known."""
        parts = index.items if isinstance(index, Pack) and index.cls is not slice else (index,)
        for at, part in enumerate(parts):
            if isinstance(part, Pack) and part.cls is slice and not all(isinstance(one, Known) for one in part.items):
                return at
        return None

    def _write_between(self, ref: Ref, index: Value, value: Value) -> None:
        """array[..., start:stop, ...] = number, with bounds of the run time: a mask along that axis."""
        parts = list(index.items) if isinstance(index, Pack) and index.cls is not slice else [index]
        at = self._open_slice(index)
        operand = self.operand(value)
        if at is None or operand.type.shape or any(self._open_slice(part) is not None for part in parts[at + 1 :]):
            raise UnsupportedError("a slice with bounds that are not known is assigned an array")
        cut = parts[at]
        assert isinstance(cut, Pack)
        start, stop, step = cut.items
        if not (isinstance(step, Known) and step.value is None):
            raise UnsupportedError("a slice with bounds that are not known and a step")
        whole = Pack((Known(None), Known(None), Known(None)), slice)
        full = self.array_index(ref, Pack(tuple(whole if k == at else part for k, part in enumerate(parts))))
        base = self.operand(ref)
        size = base.type.shape[at]
        places: Operand = Const(np.arange(size))
        mask: Operand = Const(np.ones(size, bool))
        for bound, op, function in ((start, "ge", operator.ge), (stop, "lt", operator.lt)):
            if isinstance(bound, Known) and bound.value is None:
                continue
            limit = self.operand(bound)
            negative = self.builder.joined("lt", operator.lt, limit, Const(0))
            wrapped = self.builder.joined("add", operator.add, limit, Const(size))
            limit = self.where(negative, self.builder.cast(wrapped, "int64"), self.builder.cast(limit, "int64"))
            mask = self.builder.let("and", np.logical_and, mask, self.builder.joined(op, function, places, limit))
        now = self.arrays.getitem(base, full)
        axis = sum(isinstance(part, tuple) for part in full[:at])
        extra = len(now.type.shape) - axis - 1
        mask = self.arrays.getitem(mask, (("rest",), *([("new",)] * extra))) if extra else mask
        new = self.where(mask, self.arrays.full_like(now, operand), now)
        self.arrays.assign(self.mutable(ref), (full,), new, self.store)

    def spread_mask(self, mask: Operand, base: Operand) -> Operand:
        """A mask over the first axes of an array."""
        extra = len(base.type.shape) - len(mask.type.shape)
        return self.arrays.getitem(mask, (("rest",), *([("new",)] * extra))) if extra else mask

    # ---- loops ----

    def visit_While(self, node: ast.While) -> None:
        note = f"while {self.frame.source.text(node.test)}"
        self._looping(node, lambda: self.truth(self.evaluate(node.test)), lambda: self.run(node.body), note, None)

    def visit_For(self, node: ast.For) -> None:
        iterable = self.present(self.evaluate(node.iter))
        self.for_each(iterable, node, lambda item: self._turn(node, item), self.frame.source.text(node.iter))

    def _turn(self, node: ast.For, item: Value) -> None:
        self.assign(node.target, item)
        self.run(node.body)

    def for_each(self, iterable: Value, node: Any, turn: Callable[[Value], None], text: str) -> None:
        """`turn` for every item; written out where there are few, else a loop."""
        if isinstance(iterable, Pack) and iterable.cls == "chain":
            if not isinstance(node, ast.comprehension):
                raise UnsupportedError("a loop over two lists of different things, one behind the other")
            for part in iterable.items:
                self.for_each(self.present(part), node, turn, text)
            return
        count, get = self._indexable(iterable)
        if isinstance(count, Const) and int(count.value) <= UNROLLED:
            self._unrolled([get(Const(at)) if get else None for at in range(int(count.value))], node, turn, iterable)
            return
        note = f"for {self.frame.source.text(node.target)} in {text}"
        before, statements = self.store.copy(), len(self.builder.block)
        try:
            self._rolled(count, get, node, turn, note, iterable)
        except UnsupportedError:
            if not isinstance(count, Const) or int(count.value) > MOST_UNROLLED:
                raise
            self.store = before
            del self.builder.block[statements:]
            self._unrolled([get(Const(at)) for at in range(int(count.value))], node, turn, iterable)

    def _indexable(self, value: Value) -> tuple[Operand, Any]:
        """(how many items, a function that gives the one at a position)."""
        match value:
            case Known(inner) if isinstance(inner, range):
                return Const(len(inner)), lambda at: self._range_item(inner.start, inner.step, at)
            case Known(inner) if isinstance(inner, dict | set | frozenset):
                return self._indexable(Known(list(inner)))
            case Known(inner) if isinstance(inner, list | tuple | str):
                return Const(len(inner)), lambda at: self.from_options(at, inner)
            case Known(inner) if isinstance(inner, np.ndarray):
                return Const(len(inner)), lambda at: self.array_item(value, (at,))
            case Span(start, _, step):
                return self.span_length(value), lambda at: number(
                    self.builder.joined(
                        "add", operator.add, start, self.builder.joined("mul", operator.mul, at, Const(step))
                    )
                )
            case Pack(items, cls) if cls == "zip":
                inner = [self._indexable(self.present(item)) for item in items]
                count = inner[0][0]
                for other, _ in inner[1:]:
                    count = self.builder.joined("minimum", min, count, other)
                return count, lambda at: Pack(tuple(get(at) for _, get in inner))
            case Pack(items, cls) if cls == "enumerate":
                count, get = self._indexable(self.present(items[0]))
                start = self.operand(items[1])
                return count, lambda at: Pack((number(self.builder.joined("add", operator.add, at, start)), get(at)))
            case Pack(items, cls) if cls == "reversed":
                return self._indexable(items[0])
            case Ref() if isinstance(self.store[value], ManyCell):
                return self.store[value].length, lambda at: self.arrays.item(value, at, self.store)  # pyright: ignore[reportAttributeAccessIssue]
            case Ref() if isinstance(cell := self.store[value], ListCell):
                return Const(len(cell.items)), lambda at: self.item(value, number(at))
        if self.is_number(value):
            size = self.operand(value).type.shape
            return Const(size[0]), lambda at: self.array_item(value, (at if isinstance(at, Var) else int(at.value),))
        items = self.iterate(value)
        return Const(len(items)), lambda at: items[int(at.value)] if isinstance(at, Const) else self.select(items, at)

    def _range_item(self, start: int, step: int, at: Operand) -> Value:
        scaled = at if step == 1 else self.builder.joined("mul", operator.mul, at, Const(step))
        return number(scaled if start == 0 else self.builder.joined("add", operator.add, scaled, Const(start)))

    def _unrolled(self, items: list[Any], node: Any, turn: Callable[[Value], None], iterable: Value) -> None:
        depth = self.frame.depth + 1
        broken, continued = f"$broken{depth}", f"$continued{depth}"
        self.locals[broken] = Known(False)
        backwards = isinstance(iterable, Pack) and iterable.cls == "reversed"
        self._turns(list(reversed(items)) if backwards else items, turn, depth, iterable)
        self._loop_else(node, broken)
        self.locals.pop(continued, None)
        self.locals.pop(broken, None)

    def _turns(self, items: list[Any], turn: Callable[[Value], None], depth: int, iterable: Value) -> None:
        for at, item in enumerate(items):
            self.locals[f"$continued{depth}"] = Known(False)
            self.frame.depth = depth
            try:
                turn(item)
            finally:
                self.frame.depth = depth - 1
            left = self.logical("or", self._flag(RETURNED), self._flag(f"$broken{depth}"))
            if isinstance(left, Const):
                if left.value:
                    return
                continue
            rest = items[at + 1 :]
            if rest:
                self.branch(left, lambda: None, functools.partial(self._turns, rest, turn, depth, iterable))
            return

    def _loop_else(self, node: Any, broken: str) -> None:
        if getattr(node, "orelse", None):
            self.branch(self._flag(broken), lambda: None, lambda: self.run(node.orelse))

    def _rolled(
        self, count: Operand, get: Any, node: Any, turn: Callable[[Value], None], note: str, iterable: Value
    ) -> None:
        name = self._temporary_name()
        backwards = isinstance(iterable, Pack) and iterable.cls == "reversed"
        listed = iterable.items[0] if backwards and isinstance(iterable, Pack) else iterable
        changing = isinstance(listed, Ref) and isinstance(self.store[listed], ManyCell)
        most = int(count.value) if isinstance(count, Const) else None
        if changing:
            assert isinstance(listed, Ref)
            most = self.many(listed).capacity
        first = self.builder.joined("sub", operator.sub, count, Const(1)) if backwards else Const(0)
        self.locals[name] = number(self.builder.cast(first, "int64", True))

        def header() -> Operand:
            at = self._counter(name, most)
            if changing:
                # Python looks at the list as it is now: an item removed meanwhile shortens the loop.
                assert isinstance(listed, Ref)
                length = self.many(listed).length
                inside = self.builder.joined("lt", operator.lt, at, length)
                if backwards:
                    inside = self.logical("and", inside, self.builder.joined("ge", operator.ge, at, Const(0)))
                return self.builder.cast(inside, "bool", True)
            if backwards:
                return self.builder.cast(self.builder.joined("ge", operator.ge, at, Const(0)), "bool", True)
            return self.builder.cast(self.builder.joined("lt", operator.lt, at, count), "bool", True)

        def body() -> None:
            at = self._counter(name, most)
            turn(get(at))
            following = self.builder.joined(
                "sub" if backwards else "add", operator.sub if backwards else operator.add, at, Const(1)
            )
            self.locals[name] = number(self.builder.cast(following, "int64", True))

        self._looping(node, header, body, note, most, name)
        self.locals.pop(name, None)

    def _counter(self, name: str, most: int | None) -> Operand:
        at = self.operand(self.locals[name])
        if isinstance(at, Var):
            at.hint = at.hint if at.hint and not at.hint.startswith("$") else "i"
            at.low, at.high = 0, None if most is None else max(0, most - 1)
        return at

    def _looping(
        self, node: Any, header: Callable[[], Operand], body: Callable[[], None], note: str, most: int | None,
        counter: str = "",
    ) -> None:  # fmt: skip
        depth = self.frame.depth + 1
        broken, continued = f"$broken{depth}", f"$continued{depth}"
        self.locals[broken] = Known(False)
        self.locals[continued] = Known(False)

        def test() -> Operand:
            stopped = self.logical("or", self._flag(RETURNED), self._flag(broken))
            if isinstance(stopped, Const) and stopped.value:
                return Const(False)
            holds = header()
            return self.logical("and", self.negated(stopped), holds)

        def turn() -> None:
            self.locals[continued] = Known(False)
            self.frame.depth = depth
            try:
                body()
            finally:
                self.frame.depth = depth - 1
            self.locals[continued] = Known(False)

        outside = names_read(self._outside(node))
        inner = (
            frozenset(one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store))
            - outside
            if isinstance(node, ast.For | ast.While)
            else frozenset()
        )
        self.loop(test, turn, note, most, inner)
        self._loop_else(node, broken)
        self.locals.pop(continued, None)
        self.locals.pop(broken, None)

    def _outside(self, node: Any) -> list[ast.AST]:
        """Everything of the active function that does not belong to a loop."""
        inside = {id(one) for one in ast.walk(node)}
        return [one for one in ast.walk(self.frame.source.node) if isinstance(one, ast.Name) and id(one) not in inside]

    # ---- comprehensions ----

    def comprehension(self, generators: list[ast.comprehension], element: ast.expr) -> Value:
        """A list, built by the loops it stands for; its names are its own."""
        result = self.store.new(ListCell([]))
        hidden = {name: self.locals[name] for one in generators for name in _targets(one.target) if name in self.locals}
        self._generate(generators, element, result)
        for name in (name for one in generators for name in _targets(one.target)):
            self.locals.pop(name, None)
        self.locals.update(hidden)
        return result

    def _generate(self, generators: list[ast.comprehension], element: ast.expr, result: Ref) -> None:
        if not generators:
            self.append(result, self.evaluate(element))
            return
        one = generators[0]

        def turn(item: Value) -> None:
            self.assign(one.target, item)
            self._when(one.ifs, lambda: self._generate(generators[1:], element, result))

        iterable = self.present(self.evaluate(one.iter))
        self.for_each(iterable, one, turn, self.frame.source.text(one.iter))

    def _when(self, tests: list[ast.expr], then: Callable[[], None]) -> None:
        if not tests:
            then()
            return
        condition = self.truth(self.evaluate(tests[0]))
        self.branch(condition, lambda: self._when(tests[1:], then), lambda: None, self.frame.source.text(tests[0]))


def _lengths(options: tuple[Any, ...]) -> set[int]:
    if not all(isinstance(one, list | tuple) for one in options):
        return set()
    return {len(one) for one in options}


def _permutes(target: ast.expr, value: ast.expr) -> bool:
    """a[i], a[j] = a[j], a[i]."""
    if not isinstance(target, ast.Tuple) or not isinstance(value, ast.Tuple):
        return False
    return sorted(map(ast.unparse, target.elts)) == sorted(map(ast.unparse, value.elts))


def _targets(node: ast.expr) -> list[str]:
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]


__all__ = ["Bound", "Interpreter", "Note", "Pick", "Type"]
