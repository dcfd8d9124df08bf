"""Atoms: names, literals and displays like `[a, b]`."""

import ast
import builtins
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.store import DictCell
from overclock.translate.ir.values import TEXT, Gone, Known, Lazy, Pack, Value
from overclock.translate.python.frames import own_names
from overclock.translate.python.machine import Machine
from overclock.translate.python.operators.sequences import entries_of, iterate


def evaluate_name(machine: Machine, node: ast.Name) -> Value:
    return read_name(machine, node.id)


def read_name(machine: Machine, name: str) -> Value:
    """What a name means here; numbers and tables of a module keep the name that they were read by."""
    found = _look_up(machine, name)
    outside = isinstance(found, Known) and found.value is machine.frame.globals.get(name, found)
    return with_name(found, name) if outside else found


def _look_up(machine: Machine, name: str) -> Value:
    at: int | None = len(machine.frames) - 1
    while at is not None:
        if name in machine.store.frames[at]:
            found = machine.store.frames[at][name]
            if isinstance(found, Gone) and found is not TEXT:  # texts do no harm until they are used
                raise UnsupportedError(f"'{name}' cannot be read: {found.reason}")
            return found
        if name in own_names(machine.frames[at].source.node):
            raise UnsupportedError(f"'{name}' has no value here")
        at = machine.frames[at].outer
    if name in machine.frame.globals:
        return Known(machine.frame.globals[name])
    if hasattr(builtins, name):
        return Known(getattr(builtins, name))
    raise UnsupportedError(f"the name '{name}' has no value here")


def with_name(value: Value, name: str) -> Value:
    """A constant number or table, under the name it was read by."""
    if isinstance(value, Known) and isinstance(value.value, int | float | np.number | np.ndarray | list | tuple):
        return value if isinstance(value.value, bool) else Known(value.value, name)
    return value


def evaluate_constant(machine: Machine, node: ast.Constant) -> Value:
    return Known(node.value)


def evaluate_tuple(machine: Machine, node: ast.Tuple) -> Value:
    items = _items(machine, node.elts)
    if all(isinstance(item, Known) for item in items):
        return Known(tuple(item.value for item in items))  # pyright: ignore[reportAttributeAccessIssue]
    return Pack(tuple(items))


def evaluate_list(machine: Machine, node: ast.List) -> Value:
    return machine.new_list(_items(machine, node.elts))


def evaluate_set(machine: Machine, node: ast.Set) -> Value:
    items = _items(machine, node.elts)
    if all(isinstance(item, Known) for item in items):
        return Known(frozenset(item.value for item in items))  # pyright: ignore[reportAttributeAccessIssue]
    return Lazy("set", (Pack(tuple(items)),))


def _items(machine: Machine, nodes: list[ast.expr]) -> list[Value]:
    items: list[Value] = []
    for node in nodes:
        if isinstance(node, ast.Starred):
            items += iterate(machine, machine.evaluate(node.value))
        else:
            items.append(machine.evaluate(node))
    return items


def evaluate_dict(machine: Machine, node: ast.Dict) -> Value:
    found: dict[Any, Value] = {}
    for key, value in zip(node.keys, node.values, strict=True):
        if key is None:
            found |= entries_of(machine, machine.evaluate(value))
        else:
            name = machine.evaluate(key)
            if not isinstance(name, Known):
                raise UnsupportedError("a dict with a key that is computed at run time")
            found[name.value] = machine.settled(machine.evaluate(value))
    return machine.store.new(DictCell(found))


def evaluate_f_string(machine: Machine, node: ast.JoinedStr) -> Value:
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(str(part.value))
            continue
        assert isinstance(part, ast.FormattedValue)
        value = machine.evaluate(part.value)
        if not isinstance(value, Known) or part.format_spec is not None or part.conversion != -1:
            return TEXT
        parts.append(format(value.value))
    return Known("".join(parts))


def evaluate_walrus(machine: Machine, node: ast.NamedExpr) -> Value:
    value = machine.evaluate(node.value)
    assert isinstance(node.target, ast.Name)
    machine.locals[node.target.id] = value
    return value


RULES = {
    ast.Name: evaluate_name, ast.Constant: evaluate_constant, ast.Tuple: evaluate_tuple, ast.List: evaluate_list,
    ast.Set: evaluate_set, ast.Dict: evaluate_dict, ast.JoinedStr: evaluate_f_string, ast.NamedExpr: evaluate_walrus,
}  # fmt: skip
