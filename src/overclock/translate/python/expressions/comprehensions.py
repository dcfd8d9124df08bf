"""Comprehensions: lists, sets and dicts that are built by loops, and what generators are used up by."""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const
from overclock.translate.ir.store import DictCell, ListCell, ManyCell
from overclock.translate.ir.values import Known, Lazy, Value
from overclock.translate.python.expressions.logic import evaluate_condition
from overclock.translate.python.flow.branches import branch
from overclock.translate.python.flow.sources import source_of_items
from overclock.translate.python.flow.turns import for_each
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.padded import append
from overclock.translate.python.operators.sequences import iterate
from overclock.translate.python.operators.truth import read_flag, truth


def evaluate_list_comprehension(machine: Machine, node: ast.ListComp) -> Value:
    return comprehension(machine, node.generators, node.elt)


def evaluate_generator(machine: Machine, node: ast.GeneratorExp) -> Value:
    raise UnsupportedError("a generator that is not used up at once")


def evaluate_set_comprehension(machine: Machine, node: ast.SetComp) -> Value:
    return Lazy("set", (comprehension(machine, node.generators, node.elt),))


def evaluate_dict_comprehension(machine: Machine, node: ast.DictComp) -> Value:
    pairs = comprehension(machine, node.generators, ast.Tuple([node.key, node.value], ast.Load()))
    found: dict[Any, Value] = {}
    for pair in iterate(machine, pairs):
        key, value = iterate(machine, pair)
        if not isinstance(key, Known):
            raise UnsupportedError("a dict with keys that are computed at run time")
        found[key.value] = value
    return machine.store.new(DictCell(found))


def comprehension(machine: Machine, generators: list[ast.comprehension], element: ast.expr) -> Value:
    """A list, built by the loops it stands for; its names are its own."""
    result = machine.store.new(ListCell([]))
    length = _alone(machine, generators, lambda: append(machine, result, machine.evaluate(element)))
    cell = machine.store[result]
    if length is not None and isinstance(cell, ManyCell):
        cell.length = Const(np.int64(length))
    return result


def until(machine: Machine, node: ast.GeneratorExp, wanted: bool) -> Value:
    """any() and all() of a generator: nothing is computed behind the first item that decides."""
    decided = machine.temporary_name()
    machine.locals[decided] = Known(False)

    def look() -> None:
        test = evaluate_condition(machine, node.elt)
        machine.set_local(decided, number(test if wanted else machine.builder.negated(test)))

    _alone(machine, node.generators, lambda: branch(machine, read_flag(machine, decided), lambda: None, look))
    found = truth(machine, machine.locals.pop(decided))
    return number(found if wanted else machine.builder.negated(found))


def _alone(machine: Machine, generators: list[ast.comprehension], then: Callable[[], None]) -> int | None:
    """Run loops whose names are their own; how many turns there are in all, where that is known."""
    own = [name for one in generators for name in _targets(one.target)]
    hidden = {name: machine.locals[name] for name in own if name in machine.locals}
    count = _generate(machine, generators, then)
    for name in own:
        machine.locals.pop(name, None)
    machine.locals.update(hidden)
    return count


def _generate(machine: Machine, generators: list[ast.comprehension], then: Callable[[], None]) -> int | None:
    if not generators:
        then()
        return 1
    one = generators[0]
    inner: list[int | None] = []  # how many turns of the loops inside there are in each turn

    def turn(item: Value) -> None:
        machine.assign(one.target, item)
        _when(machine, one.ifs, lambda: inner.append(_generate(machine, generators[1:], then)))

    iterable = machine.present(machine.evaluate(one.iter))
    count = _turns_of(machine, iterable)
    for_each(machine, iterable, one, turn, machine.frame.source.text(one.iter))
    if one.ifs or count is None or count != _turns_of(machine, iterable) or None in inner:
        return None
    known = [each for each in inner if each is not None]
    if len(set(known)) == 1:
        return count * known[0]
    return sum(known) if len(known) == count else None


def _turns_of(machine: Machine, iterable: Value) -> int | None:
    if isinstance(iterable, Lazy) and iterable.kind == "chain":
        return None
    box = iterable.items[0] if isinstance(iterable, Lazy) and iterable.kind == "reversed" else iterable
    count = source_of_items(machine, box).count()
    return int(count.value) if isinstance(count, Const) else None


def _when(machine: Machine, tests: list[ast.expr], then: Callable[[], None]) -> None:
    if not tests:
        then()
        return
    condition = evaluate_condition(machine, tests[0])
    note = machine.frame.source.text(tests[0])
    branch(machine, condition, lambda: _when(machine, tests[1:], then), lambda: None, note)


def _targets(node: ast.expr) -> list[str]:
    return [one.id for one in ast.walk(node) if isinstance(one, ast.Name)]


RULES = {
    ast.ListComp: evaluate_list_comprehension, ast.SetComp: evaluate_set_comprehension,
    ast.DictComp: evaluate_dict_comprehension, ast.GeneratorExp: evaluate_generator,
}  # fmt: skip
