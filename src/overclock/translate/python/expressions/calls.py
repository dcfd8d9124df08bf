"""Calls as they are written: their arguments, `super()`, and lambdas."""

import ast

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.values import DRAWN, Bound, Closure, Known, Super, Value
from overclock.translate.python.expressions.comprehensions import comprehension, until
from overclock.translate.python.functions.calling import is_ignored
from overclock.translate.python.machine import Machine
from overclock.translate.python.operators.sequences import entries_of, iterate

STOPPING = (any, all)  # these look at a generator's items only as far as needed
CONSUMING = (sum, min, max, list, tuple, sorted, set, frozenset, dict)


def evaluate_lambda(machine: Machine, node: ast.Lambda) -> Value:
    defaults = tuple(machine.evaluate(one) for one in node.args.defaults)
    return Closure(node, len(machine.frames) - 1, machine.frame.globals, defaults, machine.frame)


def evaluate_call(machine: Machine, node: ast.Call) -> Value:
    if isinstance(node.func, ast.Name) and node.func.id == "super" and "super" not in machine.locals:
        return _super(machine, node)
    function = machine.evaluate(node.func)
    if is_ignored(function):
        return DRAWN
    args: list[Value] = []
    for one in node.args:
        if isinstance(one, ast.Starred):
            args += iterate(machine, machine.evaluate(one.value))
        else:
            args.append(_given(machine, function, one))
    keywords: dict[str, Value] = {}
    for one in node.keywords:
        if one.arg is None:
            keywords |= entries_of(machine, machine.evaluate(one.value))
        else:
            keywords[one.arg] = machine.evaluate(one.value)
    return machine.call(function, args, keywords, node)


def _super(machine: Machine, node: ast.Call) -> Value:
    if node.args:
        cls, owner = (machine.evaluate(one) for one in node.args)
        assert isinstance(cls, Known)
        return Super(cls.value, owner)
    source, cls = machine.frame.source.node, machine.frame.cls
    if cls is None:
        raise UnsupportedError("super() outside a method")
    return Super(cls, machine.locals[source.args.args[0].arg])


def _given(machine: Machine, function: Value, node: ast.expr) -> Value:
    """An argument; a generator's items are computed here, where that is what the function does first of all."""
    if not isinstance(node, ast.GeneratorExp):
        return machine.evaluate(node)
    inner = function.value if isinstance(function, Known) else None
    if inner in STOPPING:
        return machine.new_list([until(machine, node, inner is any)])
    if inner not in CONSUMING and not (isinstance(function, Bound) and function.function in ("join", "extend")):
        raise UnsupportedError("a generator that is not used up at once")
    return comprehension(machine, node.generators, node.elt)


RULES = {ast.Call: evaluate_call, ast.Lambda: evaluate_lambda}
