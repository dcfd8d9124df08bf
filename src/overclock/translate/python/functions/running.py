"""Functions of the source are run in place: arguments are bound, and the body is run in a new frame."""

import ast
import dataclasses
from typing import Any

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Callee, Operand
from overclock.translate.ir.store import ArrayCell, DictCell, ManyCell
from overclock.translate.ir.values import UNSET, Closure, Known, Num, Pack, Value
from overclock.translate.python.flow.branches import branch
from overclock.translate.python.frames import RETURNED, VALUE, Frame, Source, is_library, source_of
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import class_of
from overclock.translate.python.operators.truth import read_flag
from overclock.translate.python.private import mangled

MOST_NESTED = 20  # calls of one function inside itself


def call_function(
    machine: Machine, function: Any, args: list[Value], keywords: dict[str, Value], closure: Closure | None
) -> Value:
    """The value of a call of a Python function, or of a closure instead."""
    if closure is not None:
        source = _closure_source(machine, closure)
        frame = Frame(source, closure.module, None, closure.frame)
        defaults: list[Value] = list(closure.defaults)
    else:
        source = source_of(function)
        frame = Frame(source, function.__globals__, _defining_class(machine, function, args))
        defaults = [Known(one) for one in function.__defaults__ or ()]
    if sum(one.source.node is source.node for one in machine.frames) > MOST_NESTED:
        raise UnsupportedError("functions that call themselves without an end that is known")
    bound = _bind(machine, source.node.args, args, keywords, defaults, function)
    if closure is None and function is not None and function.__closure__:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
            if name != "__class__":
                bound.setdefault(name, Known(cell.cell_contents))
    machine.frames.append(frame)
    machine.store.frames.append({**bound, RETURNED: Known(False), VALUE: UNSET})
    try:
        if isinstance(source.node, ast.Lambda):
            return machine.evaluate(source.node.body)
        with machine.builder.calling(Callee(source.node.name, _operands(machine, bound))):
            machine.run(source.node.body)
            left = read_flag(machine, RETURNED)
            branch(machine, left, lambda: None, lambda: machine.set_local(VALUE, Known(None)))
        return machine.locals[VALUE]
    except UnsupportedError as error:
        inside = [is_library(one.source.file) for one in machine.frames[-2:]]
        if error.place is None and inside[-1] and not all(inside) and function is not None:
            error.reason = f"inside {function.__module__}.{function.__qualname__}: {error.reason}"
        raise
    finally:
        machine.frames.pop()
        machine.store.frames.pop()


def _operands(machine: Machine, bound: dict[str, Value]) -> dict[str, list[Operand]]:
    """What arguments are made of, as far as it has names in a printed program."""
    found: dict[str, list[Operand]] = {}
    for name, value in bound.items():
        cell = machine.cell(value)
        if isinstance(value, Num):
            found[name] = [value.operand]
        elif isinstance(cell, ArrayCell):
            found[name] = [cell.operand]
        elif isinstance(cell, ManyCell):
            found[name], found[f"{name}_length"] = cell.leaves[:1], [cell.length]
    return found


def _closure_source(machine: Machine, closure: Closure) -> Source:
    if closure.frame >= len(machine.frames) or machine.frames[closure.frame] is not closure.home:
        raise UnsupportedError("a function that is used after the call that it was made in")
    return dataclasses.replace(machine.frames[closure.frame].source, node=closure.node)


def _defining_class(machine: Machine, function: Any, args: list[Value]) -> type | None:
    if not args or "." not in function.__qualname__:
        return None
    try:
        cls, _ = class_of(machine, args[0])
    except UnsupportedError:
        return None
    own = (base for base in cls.__mro__ if vars(base).get(mangled(function.__name__, base.__name__)) is function)
    return next(own, None) or next(
        (base for base in cls.__mro__ if base.__qualname__ == function.__qualname__.rpartition(".")[0]), None
    )


def _bind(
    machine: Machine,
    spec: ast.arguments,
    args: list[Value],
    keywords: dict[str, Value],
    defaults: list[Value],
    function: Any,
) -> dict[str, Value]:
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
        bound[spec.kwarg.arg] = machine.store.new(DictCell(extra))
    elif extra:
        raise UnsupportedError(f"an unknown argument '{next(iter(extra))}'")
    for name, default in zip(reversed(names), reversed(defaults), strict=False):
        bound.setdefault(name, default)
    inner = getattr(function, "__kwdefaults__", None) or {}
    for one, node in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
        if one.arg not in bound and one.arg in inner:
            bound[one.arg] = Known(inner[one.arg])
        elif one.arg not in bound and node is not None:
            bound[one.arg] = machine.evaluate(node)
    missing = [name for name in names if name not in bound]
    if missing:
        raise UnsupportedError(f"the argument '{missing[0]}' is missing")
    return bound
