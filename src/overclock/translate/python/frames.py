"""Functions of the reference: their syntax, where it stands in its file, and what an active call looks like."""

import ast
import contextlib
import dataclasses
import functools
import inspect
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from overclock.recording.errors import Place, UnsupportedError
from overclock.translate.python.private import as_written, with_private_names, written_name

DRAWING = ("pygame", "matplotlib", "cv2", "PIL", "tkinter", "pyglet", "OpenGL", "glfw", "imageio", "seaborn", "curses")
RETURNED, VALUE = "$returned", "$value"  # locals of an active call: whether it is over, and what it gives
LIBRARIES = ("numpy", "scipy")
LOGGING = ("logging", "warnings", "gymnasium.logger", "loguru", "rich", "tqdm")


@dataclasses.dataclass(frozen=True)
class Source:
    """A function's syntax tree, with the line numbers of its file."""

    node: ast.FunctionDef | ast.Lambda
    file: str
    lines: tuple[str, ...]

    def place(self, node: ast.AST) -> Place:
        """Where a part of it stands."""
        line = getattr(node, "lineno", 0)
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        return Place(self.file, line, text)

    def text(self, node: ast.AST) -> str:
        """The source of a part, on one line."""
        return as_written(" ".join(ast.unparse(node).split()), node)


@functools.cache
def source_of(function: FunctionType) -> Source:
    """The source of a Python function."""
    file = inspect.getsourcefile(function)
    try:
        tree, lines = _parsed(Path(file or "?").read_text(encoding="utf-8"))
    except (OSError, SyntaxError) as error:
        raise UnsupportedError(f"the source of {function.__qualname__} cannot be read") from error
    code = function.__code__
    if function.__name__ == "<lambda>":
        return Source(_find_lambda(function, tree), file or "?", lines)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and written_name(node) == code.co_name:
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            if first <= code.co_firstlineno <= node.lineno:
                return Source(node, file or "?", lines)
    raise UnsupportedError(f"{function.__qualname__} is no plain function with a source")


@functools.cache
def _parsed(text: str) -> tuple[ast.Module, tuple[str, ...]]:
    """A file's tree and lines; once for all functions of the file."""
    return with_private_names(ast.parse(text)), tuple(text.splitlines())


def _find_lambda(function: FunctionType, tree: ast.Module) -> ast.Lambda:
    line = function.__code__.co_firstlineno
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Lambda)
        and node.lineno == line
        and [one.arg for one in node.args.args] == list(function.__code__.co_varnames[: function.__code__.co_argcount])
    ]
    if len(found) != 1:
        raise UnsupportedError("several functions without a name on one line")
    return found[0]


@functools.cache
def is_library(file: str) -> bool:
    """Whether a file belongs to Python itself, NumPy or SciPy: a line of it says nothing about an environment."""
    path = Path(file)
    installed = [at + 1 for at, part in enumerate(path.parts) if part in ("site-packages", "dist-packages")]
    if installed or not path.is_absolute():  # compiled files have short names
        return path.parts[installed[-1] if installed else 0] in LIBRARIES
    return path.is_relative_to(sysconfig.get_path("stdlib"))


@dataclasses.dataclass
class Frame:
    """An active call: what its names mean besides its locals, and how deep it is inside loops."""

    source: Source
    globals: dict[str, Any]
    cls: type | None = None  # where a method was found, for `super()`
    outer: "int | None" = None  # the frame that a nested function was defined in
    depth: int = 0
    nonlocals: set[str] = dataclasses.field(default_factory=set)

    @contextlib.contextmanager
    def inside_loop(self) -> Iterator[None]:
        """What is run inside is one loop deeper."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1


def is_drawing(value: Any) -> bool:
    """Modules and functions that draw or log: a translation leaves them out."""
    name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None) or ""
    return name.split(".")[0] in DRAWING or name.startswith(LOGGING)


@functools.cache
def own_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Names that belong to a function because it assigns them somewhere."""
    found: set[str] = set()
    others: set[str] = set()
    left: list[ast.AST] = list(node.body) if isinstance(node, ast.FunctionDef) else []
    while left:
        part = left.pop()
        match part:
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                others.update(names)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found.update((one.asname or one.name).partition(".")[0] for one in names)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                left += [one.target for one in ast.walk(part) if isinstance(one, ast.NamedExpr)]
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                found.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                found.add(name)
        left += ast.iter_child_nodes(part)
    return frozenset(found - others)


def names_read(nodes: list[ast.AST]) -> set[str]:
    """Names that are read somewhere in these."""
    return {
        node.id
        for one in nodes
        for node in ast.walk(one)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
