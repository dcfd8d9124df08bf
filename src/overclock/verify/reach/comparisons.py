"""The comparisons in a reference's source: where they stand, what they compare, and with which constants.

    for one in comparisons([CartPoleEnv], instance=env):
        print(one.file, one.line, one.text, one.constants)

A value on, and one beside, every such constant is where two programs differ that have `<` and `<=` exchanged.
"""

import ast
import dataclasses
import inspect
import linecache
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from overclock.verify.reach.constants import (
    Functions,
    Scope,
    constant_names,
    local_names,
    module_constants,
    written_attributes,
)

OPERATORS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.Is: "is", ast.IsNot: "is not", ast.In: "in", ast.NotIn: "not in",
}  # fmt: skip
SELECTS = ("min", "max", "clip", "minimum", "maximum", "mod", "fmod")  # functions that compare their arguments
Source = Callable[..., Any] | type | ModuleType | Path | str


@dataclasses.dataclass(frozen=True)
class Operand:
    """One side of a comparison: its text, and its value if that is a constant (None where it is not)."""

    text: str
    value: Any = None

    @property
    def constant(self) -> bool:
        """Whether the value is known before anything is played."""
        return self.value is not None


@dataclasses.dataclass(frozen=True)
class Comparison:
    """A comparison of two values, or a select (`min`, `max`, `clip`, `%`) between the first and further operands."""

    file: str
    line: int
    column: int
    function: str  # its qualified name; empty at the top level of a module
    operator: str  # "<", ..., "not in", or "min", "max", "clip", "%"
    text: str
    operands: tuple[Operand, ...]

    @property
    def constants(self) -> tuple[Any, ...]:
        """The values of the operands that are constants."""
        return tuple(operand.value for operand in self.operands if operand.constant)


def comparisons(sources: Iterable[Source], instance: Any = None) -> list[Comparison]:
    """Every comparison in functions, classes (with their bases), modules, files (paths) or source texts.

    Constants are literals, names of the module, `math`, attributes that only a constructor assigns, and names that a
    function gives one of these and nothing else. Attributes need an `instance`, from which `self.x` is read. What has
    no Python source contributes nothing.
    """
    parts = list(_distinct(part for source in sources for part in _parts(source)))
    whole = [_tree_of_file(part.file) or part.tree for part in parts]
    written = written_attributes(whole)
    found = {
        (one.file, one.line, one.column, one.operator, one.text): one
        for part in parts
        for one in _found(part, Scope(part.names, instance, written))
    }
    return sorted(found.values(), key=lambda one: (one.file, one.line, one.column))


def constants_of(found: Iterable[Comparison]) -> tuple[float, ...]:
    """Every number that something is compared with, each once, in ascending order."""
    values: set[float] = set()
    waiting = [value for one in found for value in one.constants]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            continue
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(value, tuple | list | set | frozenset):
            waiting += value
        elif value == value:  # no NaN
            values.add(float(value))
    return tuple(sorted(values))


@dataclasses.dataclass(frozen=True)
class _Part:
    """A piece of source: its tree with the line numbers of its file, the names it may use, what it is called."""

    file: str
    tree: ast.AST
    names: Mapping[str, Any]
    prefix: str = ""


def _parts(source: Source) -> Iterator[_Part]:
    if isinstance(source, Path):
        tree = _tree_of_file(str(source))
        if tree is not None:
            yield _Part(str(source), tree, module_constants(tree))
    elif isinstance(source, str):
        tree = ast.parse(textwrap.dedent(source))
        yield _Part("<text>", tree, module_constants(tree))
    elif isinstance(source, ModuleType):
        tree = _tree_of_file(getattr(source, "__file__", None) or "")
        if tree is not None:
            yield _Part(str(source.__file__), tree, vars(source))
    elif isinstance(source, type):
        for cls in source.__mro__:
            for value in vars(cls).values():
                function = _function_of(value)
                if function is not None and function.__qualname__.startswith(f"{cls.__qualname__}."):
                    yield from _parts(function)
    elif (function := _function_of(source)) is not None:
        yield from _of_function(function)


def _of_function(function: FunctionType) -> Iterator[_Part]:
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError):  # no source, or a lambda inside of something
        return
    _shift(tree, first - 1, len(lines[0]) - len(lines[0].lstrip()))
    closed = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
    prefix = function.__qualname__.rpartition(".")[0]
    yield _Part(function.__code__.co_filename, tree, {**function.__globals__, **closed}, prefix)


def _shift(tree: ast.AST, lines: int, columns: int) -> None:
    """Give a tree the places that it has in its file, from which it was cut out and dedented."""
    ast.increment_lineno(tree, lines)
    for node in ast.walk(tree):
        if hasattr(node, "col_offset"):
            node.col_offset += columns  # pyright: ignore[reportAttributeAccessIssue]


def _function_of(value: Any) -> FunctionType | None:
    for _ in range(8):  # decorators around decorators
        if isinstance(value, staticmethod | classmethod):
            value = value.__func__
        elif isinstance(value, property):
            value = value.fget
        elif inspect.ismethod(value):
            value = value.__func__
        elif callable(value) and hasattr(value, "__wrapped__"):
            value = inspect.unwrap(value)
        else:
            break
    return value if isinstance(value, FunctionType) else None


def _found(part: _Part, scope: Scope) -> Iterator[Comparison]:
    waiting: list[tuple[ast.AST, str, frozenset[str], Scope]] = [(part.tree, part.prefix, frozenset(), scope)]
    while waiting:
        node, inside, local, scope = waiting.pop()
        if isinstance(node, ast.ClassDef):
            inside = f"{inside}.{node.name}".strip(".")
        elif isinstance(node, Functions):
            inside = f"{inside}.{getattr(node, 'name', '<lambda>')}".strip(".")
            local = local | local_names(node)
            known = constant_names(node, scope, local)
            scope, local = scope.knowing(known), local - known.keys()
        for operator, operands in _operands(node):
            values = tuple(Operand(ast.unparse(one), scope.value(one, local)) for one in operands)
            column = getattr(node, "col_offset", 0)
            text = _shown(operator, [value.text for value in values])
            yield Comparison(part.file, getattr(node, "lineno", 0), column, inside, operator, text, values)
        waiting += [(child, inside, local, scope) for child in ast.iter_child_nodes(node)]


def _operands(node: ast.AST) -> Iterator[tuple[str, Collection[ast.expr]]]:
    """What a node compares: a chain such as `a < b < c` is two comparisons."""
    match node:
        case ast.Compare(left, operators, right):
            for operator, first, second in zip(operators, [left, *right], right, strict=False):
                yield OPERATORS[type(operator)], (first, second)
        case ast.Call(ast.Name(name) | ast.Attribute(_, name), [_, _, *_] as arguments) if name in SELECTS:
            yield {"minimum": "min", "maximum": "max", "mod": "%", "fmod": "%"}.get(name, name), arguments
        case ast.Call(ast.Attribute(owner, "clip"), [_, *_] as arguments):
            yield "clip", (owner, *arguments)
        case ast.BinOp(left, ast.Mod(), right) if not isinstance(left, ast.Constant):  # no text that is formatted
            yield "%", (left, right)


def _shown(operator: str, texts: list[str]) -> str:
    if operator in ("min", "max", "clip"):
        return f"{operator}({', '.join(texts)})"
    return f" {operator} ".join(texts)


def _tree_of_file(file: str) -> ast.Module | None:
    lines = linecache.getlines(file)
    if not lines:
        return None
    try:
        return ast.parse("".join(lines))
    except SyntaxError:
        return None


def _distinct(parts: Iterable[_Part]) -> Iterator[_Part]:
    seen: set[tuple[str, int, str]] = set()
    for part in parts:
        key = (part.file, getattr(getattr(part.tree, "body", [None])[0], "lineno", 0), ast.dump(part.tree))
        if key not in seen:
            seen.add(key)
            yield part
