"""The statements `while` and `for`."""

import ast

from overclock.translate.ir.values import Known, Value
from overclock.translate.python.expressions.logic import evaluate_condition
from overclock.translate.python.flow.branches import branch
from overclock.translate.python.flow.loops import TestChangesError
from overclock.translate.python.flow.turns import for_each, looping
from overclock.translate.python.machine import Machine
from overclock.translate.python.operators.truth import read_flag


def run_while(machine: Machine, node: ast.While) -> None:
    note = f"while {machine.frame.source.text(node.test)}"
    before, statements = machine.store.copy(), len(machine.builder.block)
    try:
        looping(machine, node, lambda: evaluate_condition(machine, node.test), lambda: machine.run(node.body), note)
    except TestChangesError:
        machine.store = before
        del machine.builder.block[statements:]
        _looping_by_body(machine, node, note)


def _looping_by_body(machine: Machine, node: ast.While, note: str) -> None:
    """What a test does, it also does when it fails: it belongs to the turns."""
    ended = machine.temporary_name()
    machine.locals[ended] = Known(False)

    def turn() -> None:
        holds = evaluate_condition(machine, node.test)
        branch(machine, holds, lambda: machine.run(node.body), lambda: machine.set_local(ended, Known(True)))

    looping(machine, node, lambda: machine.builder.negated(read_flag(machine, ended)), turn, note)
    machine.locals.pop(ended, None)


def run_for(machine: Machine, node: ast.For) -> None:
    iterable = machine.present(machine.evaluate(node.iter))
    for_each(machine, iterable, node, lambda item: _turn(machine, node, item), machine.frame.source.text(node.iter))


def _turn(machine: Machine, node: ast.For, item: Value) -> None:
    machine.assign(node.target, item)
    machine.run(node.body)


RULES = {ast.While: run_while, ast.For: run_for}
