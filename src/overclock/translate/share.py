"""How far the translator came before it stopped: statements it went through, of all in the functions it was in."""

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from overclock.translate.python.frames import Source

Line = tuple[str, int]


def share(went: Iterable[Line], first: Source, stopped: Line | None) -> tuple[int, int]:
    """How many statements were translated, and how many there are; `first` is the function that it began with."""
    lines = set(went)
    every: set[Line] = set()
    for file in {file for file, _ in lines}:
        for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and any((file, line) in lines for line in _statements(node)):
                every |= {(file, line) for line in _statements(node)}
    every |= {(first.file, line) for line in _statements(first.node)}
    return len((lines & every) - {stopped}), len(every)


def _statements(function: Any) -> set[int]:
    """The lines of a function's own statements, without its docstring and what is defined inside it."""
    found: set[int] = set()
    body = function.body if isinstance(function, ast.FunctionDef) else []
    waiting: list[ast.AST] = [one for one in body if not _docstring(one)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.stmt):
            found.add(node.lineno)
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.expr):
            waiting += ast.iter_child_nodes(node)
    return found


def _docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
