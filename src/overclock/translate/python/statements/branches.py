"""`if`, `match`, `with` and `try`.

Of `match`, constants, `|`, `_`, a name for everything and guards are followed; patterns that take a value apart are
refused.
"""

import ast

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.ir.values import Known, Value
from overclock.translate.python.expressions.logic import dry_run, evaluate_condition, evaluate_test, short_circuit
from overclock.translate.python.flow.branches import branch
from overclock.translate.python.machine import Machine
from overclock.translate.python.operators.comparison import compare
from overclock.translate.python.operators.truth import truth
from overclock.translate.python.statements.writing import name_operand


def run_if(machine: Machine, node: ast.If) -> None:
    condition = evaluate_test(machine, node)
    if isinstance(condition, Var):
        name_operand(condition, "")
    note = machine.frame.source.text(node.test)
    branch(machine, condition, lambda: machine.run(node.body), lambda: machine.run(node.orelse), note)


def run_with(machine: Machine, node: ast.With) -> None:
    for item in node.items:
        text = machine.frame.source.text(item.context_expr)
        if not text.startswith(("np.errstate", "numpy.errstate", "warnings.")):
            raise UnsupportedError(_why_not_with(item.context_expr, text))
    machine.run(node.body)


def run_try(machine: Machine, node: ast.Try) -> None:
    if node.handlers:
        for part in ast.walk(ast.Module(node.body, [])):
            if not _safe(machine, part):
                raise UnsupportedError("an exception may decide what happens next")
    machine.trying += bool(node.handlers)
    try:
        machine.run([*node.body, *node.orelse, *node.finalbody])
    finally:
        machine.trying -= bool(node.handlers)


def _safe(machine: Machine, part: ast.AST) -> bool:
    """Whether nothing can be raised here: what could is known while translating, and does not."""
    match part:
        case ast.Raise() | ast.Assert():
            return False
        case ast.Subscript(slice=index):
            return _is_known(machine, index)
        case ast.BinOp(op=ast.Div() | ast.FloorDiv() | ast.Mod() | ast.Pow(), right=divisor):
            return _is_known(machine, divisor)
        case ast.AugAssign(op=ast.Div() | ast.FloorDiv() | ast.Mod() | ast.Pow(), value=divisor):
            return _is_known(machine, divisor)
        case ast.Call(func=ast.Name(id="int" | "float" | "bool" | "abs" | "min" | "max")):
            return True
        case ast.Call(func=ast.Name(id="len" | "isinstance" | "range")):
            return _is_known(machine, part)
        case ast.Call():
            return False
    return True


def _is_known(machine: Machine, node: ast.expr) -> bool:
    try:
        return isinstance(dry_run(machine, lambda: machine.evaluate(node))[0], Known)
    except UnsupportedError:
        return False


def _why_not_with(node: ast.expr, text: str) -> str:
    function = node.func if isinstance(node, ast.Call) else node
    if "open" in (getattr(function, "id", ""), getattr(function, "attr", "")):
        return "a file is opened: what is in it is not decided by the program alone"
    return f"what {text} does when a `with` begins and ends is not followed"


def run_match(machine: Machine, node: ast.Match) -> None:
    held = machine.temporary_name()
    subject = machine.locals[held] = machine.evaluate(node.subject)
    _cases(machine, subject, node.cases, machine.frame.source.text(node.subject))
    machine.locals.pop(held)


def _cases(machine: Machine, subject: Value, cases: list[ast.match_case], text: str) -> None:
    if not cases:
        return
    case, *further = cases
    matched = number(_matches(machine, subject, case.pattern))
    if case.guard is not None:
        guard = case.guard
        matched = short_circuit(machine, "and", matched, lambda: number(evaluate_condition(machine, guard)))
    branch(
        machine,
        truth(machine, matched),
        lambda: machine.run(case.body),
        lambda: _cases(machine, subject, further, text),
        f"case {machine.frame.source.text(case.pattern)} of {text}",
    )


def _matches(machine: Machine, subject: Value, pattern: ast.pattern) -> Operand:
    match pattern:
        case ast.MatchValue(value=value):
            return truth(machine, compare(machine, ast.Eq(), subject, machine.evaluate(value)))
        case ast.MatchSingleton(value=value):
            return truth(machine, compare(machine, ast.Is(), subject, Known(value)))
        case ast.MatchOr(patterns=patterns):
            found: Operand = Const(False)
            for one in patterns:
                found = machine.builder.logical("or", found, _matches(machine, subject, one))
            return found
        case ast.MatchAs(pattern=None, name=None):
            return Const(True)
        case ast.MatchAs(pattern=None, name=str(name)):
            machine.assign(ast.Name(name, ast.Store()), subject)
            return Const(True)
    kind = type(pattern).__name__.removeprefix("Match").lower()
    raise UnsupportedError(f"a pattern of a `match` that is no constant (a {kind} pattern)")


RULES = {ast.If: run_if, ast.Match: run_match, ast.With: run_with, ast.Try: run_try}
