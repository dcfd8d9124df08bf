"""Calls: which kind of thing is called, and what is left out."""

import ast
import inspect
import math
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from overclock.recording.errors import UnsupportedError
from overclock.recording.generators import owner_of
from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.store import ObjectCell
from overclock.translate.ir.values import Bound, Closure, Known, Pick, Value
from overclock.translate.python.draws.dispatch import draw_from
from overclock.translate.python.flow.branches import branch
from overclock.translate.python.frames import is_drawing
from overclock.translate.python.functions import builtins, objects, reducing
from overclock.translate.python.functions.math import math_call
from overclock.translate.python.functions.objects import construct
from overclock.translate.python.machine import Machine
from overclock.translate.python.methods.receivers import call_method
from overclock.translate.python.numpy.calls import is_numpy, numpy_call
from overclock.translate.python.purity import only_computes

IGNORED = (print, input)
# Told apart by identity: not everything that can be called can be hashed.
RULES = {id(one): rule for one, rule in {**builtins.RULES, **reducing.RULES, **objects.RULES}.items()}


def _named(function: Any) -> str:
    return getattr(function, "__qualname__", str(function))


def is_ignored(function: Value) -> bool:
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


def call(machine: Machine, function: Value, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    """The value of function(*args, **keywords)."""
    function = machine.present(function)
    match function:
        case Closure():
            return machine.call_function(None, args, keywords, function)
        case Bound(method, owner) if isinstance(method, FunctionType):
            return machine.call_function(method, [owner, *args], keywords)
        case Bound(name, owner):
            return call_method(machine, str(name), owner, args, keywords)
        case Pick(index, options):
            return _call_one_of(machine, index, options, args, keywords, node)
        case Known(inner):
            return _call_known(machine, inner, args, keywords, node)
    if isinstance(cell := machine.cell(function), ObjectCell):
        return machine.call_function(cell.cls.__call__, [function, *args], keywords)
    raise UnsupportedError("a call of something that is no function")


def _call_one_of(
    machine: Machine,
    index: Operand,
    options: tuple[Any, ...],
    args: list[Value],
    keywords: dict[str, Value],
    node: ast.Call,
) -> Value:
    """A function chosen at run time: each under its own condition."""
    name = f"$call{id(node)}{len(machine.frames)}"

    def one(option: Any) -> None:
        function = option if isinstance(option, Bound | Closure) else Known(option)
        machine.locals[name] = machine.call(function, args, keywords, node)

    def choose(left: list[tuple[int, Any]]) -> None:
        at, option = left[0]
        if len(left) == 1:
            one(option)
            return
        here = machine.builder.flag(machine.builder.apply("eq", index, Const(at)))
        branch(machine, here, lambda: one(option), lambda: choose(left[1:]))

    choose(list(enumerate(options)))
    return machine.locals.pop(name)


def _call_known(machine: Machine, inner: Any, args: list[Value], keywords: dict[str, Value], node: ast.Call) -> Value:
    owner = owner_of(inner)
    if owner is not None:
        return draw_from(machine, inner, owner, args, keywords, node)
    if isinstance(inner, MethodType):
        receiver = Known(inner.__self__)
        return machine.call_function(inner.__func__, [receiver, *args], keywords)
    if id(inner) in RULES:
        return RULES[id(inner)](machine, args, keywords)
    if getattr(inner, "__module__", None) == "math" or inner in vars(math).values():
        return math_call(machine, inner, args, keywords)
    if is_numpy(inner):
        return numpy_call(machine, inner, args, keywords)
    if isinstance(inner, type):
        return construct(machine, inner, args, keywords)
    if isinstance(inner, FunctionType):
        if inner.__module__ == "gymnasium.utils.seeding":
            raise UnsupportedError("a generator is made inside the rules")
        return machine.call_function(inner, args, keywords)
    if isinstance(made := inspect.getattr_static(type(inner), "__call__", None), FunctionType):
        return machine.call_function(made, [Known(inner), *args], keywords)
    if not only_computes(inner):
        raise UnsupportedError(f"a call of {_named(inner)}, whose result is not decided by the program alone")
    found = machine.computed(inner, args, keywords)
    if found is None:
        raise UnsupportedError(f"a call of {_named(inner)}")
    return found
