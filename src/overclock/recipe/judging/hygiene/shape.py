"""Rules about what an environment's class defines, and how much of a candidate is data."""

import ast
from collections.abc import Mapping

from overclock.recipe.judging.hygiene.finding import DERIVED, Finding, Limits
from overclock.recipe.judging.hygiene.reading import too_many_literals
from overclock.recipe.judging.hygiene.source import Source, docstrings

BASE = "Environment"
NUMBER_BYTES = 8


def check_classes(sources: Mapping[str, Source]) -> list[Finding]:
    """No environment replaces what the base class derives."""
    nodes = [(source, node) for source in sources.values() for node in ast.walk(source.tree)]
    environments, known = {BASE}, 0
    while known < len(environments):  # until nobody inherits from a newly found one
        known = len(environments)
        for _, node in nodes:
            environments |= _further_names(node, environments)
    findings = []
    for source, node in nodes:
        if not isinstance(node, ast.ClassDef) or node.name not in environments:
            continue
        for statement in node.body:
            for name in sorted(DERIVED & _defined(statement)):
                sentence = f"`{name}` is derived by the base class and must not be replaced; put the rule elsewhere."
                findings.append(source.finding(statement, "derived", sentence))
    return findings


def check_make(sources: Mapping[str, Source]) -> list[Finding]:
    """A finding if there is no env.py or it defines no `make`."""
    if "env" not in sources:
        return [Finding("", 0, "make", "There is no env.py; it must define make() -> (env, params).")]
    if any("make" in _defined(statement) for statement in sources["env"].tree.body):
        return []
    return [Finding("env.py", 0, "make", "env.py must define make() -> (env, params).")]


def check_literals(sources: Mapping[str, Source], limits: Limits) -> list[Finding]:
    """A finding if the literals of all files are larger than the project allows."""
    return too_many_literals({source.file: literal_bytes(source.tree) for source in sources.values()}, limits)


def literal_bytes(tree: ast.AST) -> int:
    """The size of all literals: texts by their bytes, numbers by 8 or what they need, docstrings not at all."""
    ignored = docstrings(tree)
    return sum(_size(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant) and node not in ignored)


def _size(value: object) -> int:
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return max(NUMBER_BYTES, (value.bit_length() + 7) // 8)
    return NUMBER_BYTES if isinstance(value, float | complex) else 0


def _further_names(node: ast.AST, known: set[str]) -> set[str]:
    """Names that a node gives to classes among `known`, or to those that inherit from them."""
    if isinstance(node, ast.ClassDef) and not known.isdisjoint(map(_last_name, node.bases)):
        return {node.name}
    if isinstance(node, ast.ImportFrom):
        return {alias.asname for alias in node.names if alias.asname and alias.name in known}
    if isinstance(node, ast.Assign) and _last_name(node.value) in known:
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    return set()


def _last_name(node: ast.AST) -> str:
    """The last name of a base class: `Environment` of `overclock.env.Environment[State, Params]`."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _defined(statement: ast.AST) -> set[str]:
    """The names that a statement of a class or a module binds."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    if isinstance(statement, ast.ImportFrom | ast.Import):
        return {alias.asname or alias.name for alias in statement.names}
    stored = (node for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return {node.id for node in stored}
