"""One source file of a reference: what it defines, line by line, and what its imports bind. Nothing of it is run."""

import ast
import dataclasses
from pathlib import Path
from typing import Literal, NamedTuple

from overclock.errors import UsageError
from overclock.recipe.syntax import read_tree

Function = ast.FunctionDef | ast.AsyncFunctionDef
MAIN = "__main__"


class Bound(NamedTuple):
    """What an import binds a name to: a module, or something inside one."""

    module: str
    attribute: str | None


@dataclasses.dataclass(frozen=True, eq=False)
class Definition:
    """A function, a method, the body of a class without its methods, or a statement at the top of a file."""

    name: str  # 'package.module:Class.method'
    file: "File"
    node: ast.stmt
    kind: Literal["function", "class", "value", "statement", "main"]
    lines: tuple[int, ...]  # its own lines, counted from 1
    owner: str | None = None  # the class of a method

    @property
    def qualified(self) -> str:
        return self.name.partition(":")[2]

    @property
    def short(self) -> str:
        return self.qualified.rpartition(".")[2]


class File:
    """One parsed source file: its definitions, its imports, and the lines that every part of it needs."""

    def __init__(self, path: Path, module: str) -> None:
        self.path, self.module = path, module
        self.is_package = path.name == "__init__.py"
        try:
            text = path.read_text(encoding="utf-8")
            self.tree = read_tree(text)
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"'{path}' cannot be read: {error}.") from error
        except SyntaxError as error:
            raise UsageError(f"'{path}' is not Python: {error.msg} in line {error.lineno}.") from error
        self.lines = text.splitlines()
        self.imports: dict[str, Bound] = {}
        self.stars: list[str] = []
        self.definitions: dict[str, Definition] = {}  # by qualified name, in the order of the file
        self.names: dict[str, str] = {}  # a name bound by a statement at the top -> its definition's qualified name
        self.header: tuple[int, ...] = ()  # docstring and imports, which every part of the file needs
        self._note_imports()
        self._note_definitions()

    def _note_imports(self) -> None:
        """Note all imports: one inside a function nearly always means the same name."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    self.imports[bound] = Bound(alias.name if alias.asname else bound, None)
            elif isinstance(node, ast.ImportFrom):
                source = self._absolute(node)
                for alias in node.names:
                    if alias.name == "*":
                        self.stars.append(source)
                    else:
                        self.imports[alias.asname or alias.name] = Bound(source, alias.name)

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.module.split(".")
        base = parts[: len(parts) - node.level + (1 if self.is_package else 0)]
        return ".".join([*base, *([node.module] if node.module else [])])

    def _note_definitions(self) -> None:
        header: list[int] = []
        for position, node in enumerate(self.tree.body):
            lines = self._span(node)
            if (position == 0 and _is_text(node)) or _only_imports(node):
                header += lines
            elif isinstance(node, ast.ClassDef):
                self._note_class(node, lines)
            elif isinstance(node, Function):
                self._add(node.name, node, "function", lines)
            else:
                bound = sorted(_bound_names(node))
                kind = "main" if _is_main(node) else "value" if bound else "statement"
                name = MAIN if kind == "main" else bound[0] if bound else f"line {node.lineno}"
                while name in self.definitions:  # a name that is bound again is another statement
                    name += "'"
                self._add(name, node, kind, lines)
                if kind == "value":  # what a main block binds is no part of the module for those who import it
                    self.names.update(dict.fromkeys(bound, name))
        self.header = tuple(header)

    def _note_class(self, node: ast.ClassDef, lines: list[int]) -> None:
        methods = [(inner, self._span(inner)) for inner in node.body if isinstance(inner, Function)]
        of_methods = {line for _, span in methods for line in span}
        of_others = {line for inner in node.body if not isinstance(inner, Function) for line in self._span(inner)}
        own = [
            line
            for line in lines
            if line not in of_methods and (line in of_others or self.lines[line - 1].strip())  # no gaps between methods
        ]
        self._add(node.name, node, "class", own)
        for inner, span in methods:
            name = f"{node.name}.{inner.name}"
            if name in self.definitions:  # a property and its setter
                span = [*self.definitions[name].lines, *span]
            self._add(name, inner, "function", span, node.name)

    def _add(self, name: str, node: ast.stmt, kind: object, lines: list[int], owner: str | None = None) -> None:
        assert kind in ("function", "class", "value", "statement", "main")
        self.definitions[name] = Definition(f"{self.module}:{name}", self, node, kind, tuple(lines), owner)
        if owner is None and kind != "main":
            self.names[name] = name

    def _span(self, node: ast.stmt) -> list[int]:
        """The lines of a statement with its decorators and the comment directly above it."""
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        while first > 1 and self.lines[first - 2].lstrip().startswith("#"):
            first -= 1
        return list(range(first, (node.end_lineno or node.lineno) + 1))


def dotted(file: File, node: ast.expr) -> str | None:
    """The full name of what an expression reads from a module that was imported: 'numpy.random.rand'."""
    if isinstance(node, ast.Name) and node.id in file.imports:
        module, attribute = file.imports[node.id]
        return module if attribute is None else f"{module}.{attribute}"
    if isinstance(node, ast.Attribute) and (inner := dotted(file, node.value)):
        return f"{inner}.{node.attr}"
    return None


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _only_imports(node: ast.stmt) -> bool:
    if isinstance(node, ast.If | ast.Try):
        return bool(node.body) and all(isinstance(inner, ast.Import | ast.ImportFrom) for inner in node.body)
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_main(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and MAIN in {n.value for n in ast.walk(node.test) if isinstance(n, ast.Constant)}


def _bound_names(node: ast.stmt) -> set[str]:
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
