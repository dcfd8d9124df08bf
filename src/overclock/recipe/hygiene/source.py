"""One file of a candidate, read and not run: its tree, and which of its names stand for modules."""

import ast
import dataclasses
from pathlib import Path

from overclock.recipe.hygiene.finding import Finding
from overclock.recipe.hygiene.vocabulary import is_module

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclasses.dataclass(frozen=True)
class Source:
    """A parsed file. `modules` maps a name to the dotted module it stands for; siblings begin with a dot."""

    file: str
    tree: ast.Module
    modules: dict[str, str]
    folder_modules: frozenset[str]  # the dotted names of all modules in the candidate's folder

    def finding(self, node: ast.AST, rule: str, sentence: str) -> Finding:
        """At a node's line."""
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
    tree = ast.parse(text, file)
    source = Source(file, tree, {}, folder_modules)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                own = "." if alias.name in folder_modules else ""
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                source.modules[alias.asname or name] = own + name
        elif isinstance(node, ast.ImportFrom):
            _bind_from(source, node)
    return source


def _bind_from(source: Source, node: ast.ImportFrom) -> None:
    sibling = source.sibling(node)
    for alias in node.names:
        name = alias.asname or alias.name
        if sibling is not None:
            inner = f"{sibling}.{alias.name}".lstrip(".")
            if inner in source.folder_modules:
                source.modules[name] = f".{inner}"
        elif node.module and is_module(f"{node.module}.{alias.name}"):
            source.modules[name] = f"{node.module}.{alias.name}"


def docstrings(tree: ast.AST) -> set[ast.AST]:
    """The texts at the beginning of modules, classes and functions."""
    found: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and node.body:
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                found.add(first.value)
    return found
