"""The public functions of source files, found by reading them: the verifier's own count of what level 1 has to run.

Names are those of `targets.exported`, which finds the same functions in running modules. A performance side lists its
own functions as well; it may know of more (one that is made by an assignment), but cannot leave any of these out.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

# These do not end as functions that could be noticed when they run, at run time either.
NO_FUNCTIONS = {"overload", "cached_property", "setter", "deleter"}


def exported_in(files: Mapping[str, str]) -> list[str]:
    """Public functions, and public methods of public classes, by module; a file that cannot be read has none."""
    found: list[str] = []
    for module, file in files.items():
        try:
            tree = ast.parse(Path(file).read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError):
            continue
        for statement in _statements(tree.body):
            if isinstance(statement, ast.ClassDef):
                methods = [inner.name for inner in _statements(statement.body) if _counts(inner)]
                found += [f"{module}:{statement.name}.{name}" for name in methods] if _public(statement) else []
            elif _counts(statement):
                found.append(f"{module}:{statement.name}")
    return list(dict.fromkeys(found))


def _statements(body: Iterable[ast.stmt]) -> Iterator[Any]:
    """Statements of a body, those inside conditions included: `if`, `try`, `with`."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.If | ast.Try | ast.With):
            for part in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(statement, part, ()))
            for handler in getattr(statement, "handlers", ()):
                yield from _statements(handler.body)


def _counts(statement: ast.stmt) -> bool:
    if not isinstance(statement, ast.FunctionDef) or not _public(statement):
        return False
    decorators = (node.func if isinstance(node, ast.Call) else node for node in statement.decorator_list)
    return not any(ast.unparse(node).rpartition(".")[2] in NO_FUNCTIONS for node in decorators)


def _public(statement: ast.FunctionDef | ast.ClassDef) -> bool:
    return not statement.name.startswith("_")
