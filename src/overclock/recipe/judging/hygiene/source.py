"""One parsed file of a candidate: its syntax tree, and which of its names stand for modules."""

import ast
import dataclasses
from collections.abc import Iterable, Iterator
from pathlib import Path

from overclock.recipe.judging.hygiene.finding import Finding
from overclock.recipe.judging.hygiene.vocabulary import is_module
from overclock.recipe.syntax import read_tree

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclasses.dataclass(frozen=True)
class Source:
    """A parsed file. `modules` maps a name to the dotted module it stands for; siblings begin with a dot."""

    file: str
    tree: ast.Module
    modules: dict[str, str]
    folder_modules: frozenset[str]  # the dotted names of all modules in the candidate's folder
    ambiguous: dict[str, ast.AST]  # names of modules that stand for something else as well, and where

    def finding(self, node: ast.AST, rule: str, sentence: str) -> Finding:
        """A finding at the line of a node of this file."""
        return Finding(self.file, getattr(node, "lineno", 0), rule, sentence)

    def dotted(self, node: ast.AST) -> str | None:
        """`jnp.linalg.norm` as "jax.numpy.linalg.norm"; None for what is no name of a module's contents."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.modules:
            return None
        return ".".join([self.modules[node.id], *reversed(parts)])

    def sibling(self, node: ast.ImportFrom) -> str | None:
        """Of `from .x import y` or `from x import y`: "x" where that is the candidate's own module ("" the folder)."""
        name = node.module or ""
        if node.level:
            home = Path(self.file).parent.parts
            if node.level - 1 > len(home):
                return None
            base = home[: len(home) - (node.level - 1)]
            return ".".join([*base, *filter(None, [name])])
        return name if name in self.folder_modules else None


def parse(file: str, text: str, folder_modules: frozenset[str]) -> Source:
    """Raises SyntaxError, ValueError, RecursionError or MemoryError for text that is no program."""
    tree = read_tree(text, file)
    source = Source(file, tree, {}, folder_modules, {})
    bound: list[tuple[str, str | None, ast.AST]] = []  # a name, the module it then stands for, and where
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                own = "." if alias.name in folder_modules else ""
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                bound.append((alias.asname or name, own + name, node))
        elif isinstance(node, ast.ImportFrom):
            bound += [(alias.asname or alias.name, _imported(source, node, alias.name), node) for alias in node.names]
        else:
            bound += [(name, None, node) for name in _bound(node)]
    for name, module, node in bound:
        if module is not None and source.modules.setdefault(name, module) != module:
            source.ambiguous[name] = node
    source.ambiguous.update((name, node) for name, module, node in bound if module is None and name in source.modules)
    return source


def _imported(source: Source, node: ast.ImportFrom, name: str) -> str | None:
    """The module that `from a import b` binds; None where b is no module."""
    sibling = source.sibling(node)
    if sibling is not None:
        inner = f"{sibling}.{name}".lstrip(".")
        return f".{inner}" if inner in source.folder_modules else None
    dotted = f"{node.module}.{name}"
    return dotted if node.module and is_module(dotted) else None


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a node binds, however it does, but for imports."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.MatchMapping):
        yield from filter(None, [node.rest])
    elif not isinstance(node, ast.alias) and isinstance(name := getattr(node, "name", None), str):
        yield name  # of functions, classes, handlers, patterns, type parameters


def functions_of(sources: Iterable[Source]) -> frozenset[str]:
    """The names of all functions and methods that a candidate defines."""
    nodes = (node for source in sources for node in ast.walk(source.tree))
    return frozenset(node.name for node in nodes if isinstance(node, ast.FunctionDef))


def docstrings(tree: ast.AST) -> set[ast.AST]:
    """The texts at the beginning of modules, classes and functions."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                found.add(first.value)
    return found
