"""The public functions of source files, found by reading them: the verifier's own count of what level 1 has to run.

Names are those of `targets.exported`, which finds the same functions in running modules. A performance side lists its
own functions as well; it may know of more (one that is made by an assignment), but cannot leave any of these out. Nor
can a candidate leave out a file: all of a folder that the verifier handed to its worker are read.
"""

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

# These do not end as functions that could be noticed when they run, at run time either.
NO_FUNCTIONS = {"overload", "cached_property", "setter", "deleter"}


def functions_to_run(said: Sequence[str], sources: Mapping[str, Any], handed: Iterable[str] = ()) -> list[str]:
    """What a performance side says it exports, and whatever else its sources show.

    `sources` is its answer to the call of that name (property/runner.py), `handed` are the `files` of its spec.
    """
    read = exported_in(_completed(sources["files"], handed))
    return [name for name in dict.fromkeys([*said, *read]) if name not in sources["entered"]]


def exported_in(files: Mapping[str, str]) -> list[str]:
    """Public functions, and public methods of public classes, by module; a file that cannot be read has none."""
    found: list[str] = []
    for module, file in files.items():
        if not Path(file).is_file():  # a bug was planted in memory, or it is a pipe at which we would wait
            continue
        try:
            tree = ast.parse(Path(file).read_text(encoding="utf-8"))
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        for statement in _statements(tree.body):
            if isinstance(statement, ast.ClassDef):
                methods = [inner.name for inner in _statements(statement.body) if _counts(inner)]
                found += [f"{module}:{statement.name}.{name}" for name in methods] if _public(statement) else []
            elif _counts(statement):
                found.append(f"{module}:{statement.name}")
    return list(dict.fromkeys(found))


def _completed(files: Mapping[str, str], handed: Iterable[str]) -> dict[str, str]:
    """With every Python file of those folders that some of them are in, named as its neighbours are."""
    found = dict(files)
    for folder in map(Path, handed):
        inside = [(module.split("."), Path(file)) for module, file in files.items()]
        inside = [(module, file) for module, file in inside if file.is_relative_to(folder)]
        packages = {tuple(module[: max(0, len(module) - len(_parts(file, folder)))]) for module, file in inside}
        beside = list(folder.rglob("*.py")) if packages else []
        found |= {".".join((*package, *_parts(file, folder))): str(file) for package in packages for file in beside}
    return found


def _parts(file: Path, folder: Path) -> tuple[str, ...]:
    """How a file of a package's folder is called there: `a/b.py` is a, b and `a/__init__.py` is a."""
    path = file.relative_to(folder).with_suffix("")
    return path.parent.parts if path.name == "__init__" else path.parts


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
