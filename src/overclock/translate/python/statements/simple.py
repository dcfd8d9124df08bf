"""Simple statements: `return`, `break`, `raise`, `import`, `def` and their like."""

import ast
import importlib

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.values import Closure, Known
from overclock.translate.python.frames import RETURNED, VALUE
from overclock.translate.python.machine import Machine


def run_expression(machine: Machine, node: ast.Expr) -> None:
    if not isinstance(node.value, ast.Constant):
        machine.evaluate(node.value)


def run_pass(machine: Machine, node: ast.Pass) -> None:
    pass


def run_return(machine: Machine, node: ast.Return) -> None:
    machine.locals[VALUE] = Known(None) if node.value is None else machine.evaluate(node.value)
    machine.locals[RETURNED] = Known(True)


def run_break(machine: Machine, node: ast.Break) -> None:
    machine.locals[f"$broken{machine.frame.depth}"] = Known(True)


def run_continue(machine: Machine, node: ast.Continue) -> None:
    machine.locals[f"$continued{machine.frame.depth}"] = Known(True)


def run_raise(machine: Machine, node: ast.stmt) -> None:
    # A step that raises is no step: what comes behind is not reached, whatever the values are.
    machine.assumptions.append(f"{machine.frame.source.place(node)}: never raised")
    machine.locals[RETURNED] = Known(True)


def run_assert(machine: Machine, node: ast.Assert) -> None:
    machine.assumptions.append(f"{machine.frame.source.place(node)}: holds")


def run_import(machine: Machine, node: ast.Import) -> None:
    for one in node.names:
        module = importlib.import_module(one.name)
        name = one.asname or one.name.partition(".")[0]
        machine.locals[name] = Known(module if one.asname else importlib.import_module(name))


def run_import_from(machine: Machine, node: ast.ImportFrom) -> None:
    name = "." * node.level + (node.module or "")
    module = importlib.import_module(name, machine.frame.globals.get("__package__"))
    for one in node.names:
        machine.locals[one.asname or one.name] = Known(getattr(module, one.name))


def run_function_definition(machine: Machine, node: ast.FunctionDef) -> None:
    defaults = tuple(machine.evaluate(one) for one in node.args.defaults)
    machine.locals[node.name] = Closure(node, len(machine.frames) - 1, machine.frame.globals, defaults, machine.frame)


def run_global(machine: Machine, node: ast.Global) -> None:
    raise UnsupportedError("a global variable is changed")


def run_nonlocal(machine: Machine, node: ast.Nonlocal) -> None:
    machine.frame.nonlocals.update(node.names)


RULES = {
    ast.Expr: run_expression, ast.Pass: run_pass, ast.Return: run_return, ast.Break: run_break,
    ast.Continue: run_continue, ast.Raise: run_raise, ast.Assert: run_assert, ast.Import: run_import,
    ast.ImportFrom: run_import_from, ast.FunctionDef: run_function_definition, ast.Global: run_global,
    ast.Nonlocal: run_nonlocal,
}  # fmt: skip
