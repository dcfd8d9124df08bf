"""Operators in expressions, conditions, and what is evaluated only at times: `and`, `or`, `a if b else c`."""

import ast
from collections.abc import Callable
from typing import Any

from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Loop, Operand
from overclock.translate.ir.values import UNSET, Value
from overclock.translate.python.flow.branches import branch
from overclock.translate.python.flow.slots import has_effects
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import is_flag
from overclock.translate.python.operators.arithmetic import binary, unary
from overclock.translate.python.operators.comparison import compare
from overclock.translate.python.operators.truth import truth


def evaluate_binary(machine: Machine, node: ast.BinOp) -> Value:
    left = machine.evaluate(node.left)
    return binary(machine, node.op, left, machine.evaluate(node.right))


def evaluate_unary(machine: Machine, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        return number(evaluate_condition(machine, node))
    return unary(machine, node.op, machine.evaluate(node.operand))


def evaluate_comparison(machine: Machine, node: ast.Compare) -> Value:
    return _compared(machine, machine.evaluate(node.left), node.ops, node.comparators)


def _compared(machine: Machine, left: Value, ops: list[ast.cmpop], nodes: list[ast.expr]) -> Value:
    """a < b < c: what comes behind a comparison that fails is not evaluated."""
    right = machine.evaluate(nodes[0])
    first = compare(machine, ops[0], left, right)
    if len(ops) == 1:
        return first
    return short_circuit(machine, "and", first, lambda: _compared(machine, right, ops[1:], nodes[1:]))


def evaluate_and_or(machine: Machine, node: ast.BoolOp) -> Value:
    return _bool(machine, node, node.values, machine.evaluate)


def evaluate_condition(machine: Machine, node: ast.expr) -> Operand:
    """bool(node): here `and` and `or` need not give one of their operands."""
    if isinstance(node, ast.BoolOp):
        return truth(machine, _bool(machine, node, node.values, lambda one: number(evaluate_condition(machine, one))))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return machine.builder.negated(evaluate_condition(machine, node.operand))
    return truth(machine, machine.evaluate(node))


def _bool(machine: Machine, node: ast.BoolOp, nodes: list[ast.expr], evaluate: Callable[[ast.expr], Value]) -> Value:
    op = "and" if isinstance(node.op, ast.And) else "or"
    first = evaluate(nodes[0])
    if len(nodes) == 1:
        return first
    return short_circuit(machine, op, first, lambda: _bool(machine, node, nodes[1:], evaluate))


def short_circuit(machine: Machine, op: str, first: Value, further: Callable[[], Value]) -> Value:
    """first <op> further(), which is evaluated only where it counts."""
    test = truth(machine, first)
    if isinstance(test, Const):
        return further() if bool(test.value) == (op == "and") else first
    plain = _without_effects(machine, further)
    if plain is not None:
        rest, block = plain
        if is_flag(first) and is_flag(rest):
            machine.builder.block.extend(block)
            return number(machine.builder.logical(op, test, truth(machine, rest)))
    name = machine.temporary_name()
    machine.locals[name] = first
    again = lambda: machine.set_local(name, further())  # noqa: E731
    branch(machine, test, again if op == "and" else _nothing, _nothing if op == "and" else again)
    return machine.locals.pop(name)


def _without_effects(machine: Machine, run: Callable[[], Value]) -> tuple[Value, list[Any]] | None:
    """What an expression gives, and the statements for it, where it changes nothing and has no loop."""
    value, block, changes = dry_run(machine, run)
    if changes or any(isinstance(one, Loop) for one in block):
        return None
    return value, block


def dry_run(machine: Machine, run: Callable[[], Value]) -> tuple[Value, list[Any], bool]:
    """What an expression would give, the statements for it, and whether it would change something."""
    before = machine.store
    machine.store = before.copy()
    try:
        with machine.builder.inside() as block:
            value = run()
        return value, block, has_effects(before, machine.store)
    finally:
        machine.store = before


def evaluate_test(machine: Machine, node: ast.If | ast.IfExp) -> Operand:
    """The condition of an `if`; whether it is known is noted."""
    condition = evaluate_condition(machine, node.test)
    known = bool(condition.value) if isinstance(condition, Const) else None
    machine.store.journal.test(machine.frame.source.place(node), known)
    return condition


def evaluate_if_else(machine: Machine, node: ast.IfExp) -> Value:
    name = machine.temporary_name()
    machine.locals[name] = UNSET
    branch(
        machine,
        evaluate_test(machine, node),
        lambda: machine.set_local(name, machine.evaluate(node.body)),
        lambda: machine.set_local(name, machine.evaluate(node.orelse)),
    )
    return machine.locals.pop(name)


def _nothing() -> None:
    pass


RULES = {
    ast.BinOp: evaluate_binary, ast.UnaryOp: evaluate_unary, ast.Compare: evaluate_comparison,
    ast.BoolOp: evaluate_and_or, ast.IfExp: evaluate_if_else,
}  # fmt: skip
