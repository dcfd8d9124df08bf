"""The value of an expression in a frame that runs, computed without running anything that could change the program.

What is not known to be free of side effects raises `UnknownValueError`: properties, operators of the program's own
classes, and every call but those of a list of functions of Python and NumPy, and of functions that are one expression.
"""

import ast
import builtins
import inspect
import itertools
import operator
import textwrap
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

Names = Mapping[str, Any]
BUILTINS = dict(vars(builtins))
MOST_ITEMS = 4096  # of a comprehension
MOST_INLINED = 3  # functions of one expression, inside of each other
DEPTH = "<inlined>"  # among names: how deep they are

BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip
COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
}  # fmt: skip
PYTHON = (
    "abs", "all", "any", "bool", "divmod", "float", "int", "len", "list", "max", "min", "range", "round", "sorted",
    "sum", "tuple",
)  # fmt: skip
NUMPY = (
    "abs", "absolute", "all", "any", "argmax", "argmin", "array", "array_equal", "asarray", "clip", "count_nonzero",
    "cos", "floor", "hypot", "isclose", "isfinite", "isinf", "isnan", "linalg.norm", "max", "maximum", "mean", "min",
    "minimum", "mod", "nonzero", "sign", "sin", "sqrt", "square", "sum", "where",
)  # fmt: skip
METHODS = (
    "all", "any", "argmax", "argmin", "copy", "count", "get", "index", "item", "items", "keys", "max", "mean", "min",
    "nonzero", "sum", "tolist", "values",
)  # fmt: skip
PLAIN = ("builtins", "numpy", "collections")


class UnknownValueError(Exception):
    """The expression contains something that may do more than compute a value."""


def value(node: ast.expr, names: Names) -> Any:
    """What an expression is worth; UnknownValueError where that cannot be told without side effects."""
    match node:
        case ast.Constant(found):
            return found
        case ast.Name(name):
            return names[name]
        case ast.Attribute(owner, name):
            return _attribute(value(owner, names), name)
        case ast.Subscript(owner, index):
            return _plain(value(owner, names))[_index(index, names)]
        case ast.UnaryOp(op, operand):
            return UNARY[type(op)](_plain(value(operand, names)))
        case ast.BinOp(left, op, right) if type(op) in BINARY:
            return BINARY[type(op)](_plain(value(left, names)), _plain(value(right, names)))
        case ast.BoolOp(op, operands):
            return _chosen(isinstance(op, ast.And), operands, names)
        case ast.Compare(left, operators, right):
            sides = [value(one, names) for one in (left, *right)]
            return _in_order(zip(operators, sides[:-1], sides[1:], strict=True))
        case ast.IfExp(test, body, otherwise):
            return value(body if _plain(value(test, names)) else otherwise, names)
        case ast.Tuple(elements):
            return tuple(value(element, names) for element in elements)
        case ast.List(elements) | ast.Set(elements):
            return [value(element, names) for element in elements]
        case ast.GeneratorExp(element, generators) | ast.ListComp(element, generators):
            return [value(element, inner) for inner in iterated(generators, names)]
        case ast.Call():
            return _of_call(node, names)
    raise UnknownValueError(ast.dump(node))


def called(node: ast.Call, names: Names) -> tuple[str | None, list[ast.expr]]:
    """The name of a pure function of Python or NumPy, with the owner of a method as first argument; else None."""
    if node.keywords or any(isinstance(argument, ast.Starred) for argument in node.args):
        return None, []
    match node.func:
        case ast.Name(name) if name in PYTHON and names.get(name, _builtin(name)) is _builtin(name):
            return name, node.args
        case ast.Attribute(owner, name):
            if _names_module(owner, names):
                return (name, node.args) if name in NUMPY else (None, [])
            if name in METHODS:
                return name, [owner, *node.args]
    return None, []


def inlined(node: ast.Call, names: Names) -> tuple[ast.expr, Names] | None:
    """The one expression that a function of the program returns, and the names it has there; None for any other."""
    depth = names.get(DEPTH, 0)
    if node.keywords or depth >= MOST_INLINED:
        return None
    function = value(node.func, names)
    bound = [function.__self__] if isinstance(function, MethodType) else []
    plain = function.__func__ if isinstance(function, MethodType) else function
    if not isinstance(plain, FunctionType) or (body := _returned(plain)) is None:
        return None
    given = [*bound, *(value(argument, names) for argument in node.args)]
    arguments = inspect.signature(plain).bind(*given).arguments
    return body, names_of({**arguments, DEPTH: depth + 1}, plain.__globals__)


def iterated(generators: list[ast.comprehension], names: Names) -> Iterator[Names]:
    """The names inside a comprehension, for each of its items."""
    yield from itertools.islice(_iterated(generators, names), MOST_ITEMS)


def names_of(local: dict[str, Any], module: dict[str, Any]) -> Names:
    """The names that code may use: its own, those of its module, those of Python."""
    return ChainMap(local, module, BUILTINS)


def _iterated(generators: list[ast.comprehension], names: Names) -> Iterator[Names]:
    if not generators:
        yield names
        return
    first, *others = generators
    for item in _sized(value(first.iter, names)):
        inner = ChainMap(dict(_bound(first.target, item)), names)  # pyright: ignore[reportArgumentType]
        if all(_plain(value(test, inner)) for test in first.ifs):
            yield from _iterated(others, inner)


def _bound(target: ast.expr, item: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(target, ast.Name):
        yield target.id, item
    elif isinstance(target, ast.Tuple):
        for one, part in zip(target.elts, item, strict=True):
            yield from _bound(one, part)
    else:
        raise UnknownValueError(ast.dump(target))


def _of_call(node: ast.Call, names: Names) -> Any:
    name, arguments = called(node, names)
    if name is None:
        body = inlined(node, names)
        if body is not None:
            return value(*body)
        function = value(node.func, names)
        if getattr(function, "__module__", None) != "math" or node.keywords:
            raise UnknownValueError(ast.dump(node.func))
        return function(*(_plain(value(argument, names)) for argument in node.args))
    given = [_plain(value(argument, names)) for argument in arguments]
    match node.func:
        case ast.Name():
            return getattr(builtins, name)(*(_sized(one) if isinstance(one, list) else one for one in given))
        case ast.Attribute(owner, _) if not _names_module(owner, names):
            return getattr(given[0], name)(*given[1:])
    return getattr(np, name)(*given)


def _names_module(node: ast.expr, names: Names) -> bool:
    """Whether an expression is NumPy itself."""
    return isinstance(node, ast.Name) and names.get(node.id) is np


def _attribute(owner: Any, name: str) -> Any:
    if isinstance(owner, ModuleType) or type(owner).__module__ in PLAIN:
        return getattr(owner, name)
    found = inspect.getattr_static(owner, name)
    if isinstance(found, property | classmethod) or (hasattr(type(found), "__set__")):
        raise UnknownValueError(name)  # runs code
    return getattr(owner, name)


def _index(node: ast.expr, names: Names) -> Any:
    if isinstance(node, ast.Slice):
        parts = (node.lower, node.upper, node.step)
        return slice(*(None if part is None else value(part, names) for part in parts))
    if isinstance(node, ast.Tuple):
        return tuple(_index(element, names) for element in node.elts)
    return value(node, names)


def _in_order(parts: Iterable[tuple[ast.cmpop, Any, Any]]) -> Any:
    """The value of `a < b < c`."""
    found: Any = True
    for op, a, b in parts:
        identity = isinstance(op, ast.Is | ast.IsNot)
        found = COMPARED[type(op)](*((a, b) if identity else (_plain(a), _plain(b))))
        if not found if np.ndim(found) == 0 else False:
            break
    return found


def _chosen(conjunction: bool, operands: list[ast.expr], names: Names) -> Any:
    found: Any = conjunction
    for operand in operands:
        found = _plain(value(operand, names))
        if bool(found) != conjunction:
            break
    return found


def _plain(found: Any) -> Any:
    """The value, if its operators are those of Python or NumPy."""
    if type(found).__module__ not in PLAIN:
        raise UnknownValueError(str(type(found)))
    return found


def _sized(found: Any) -> Any:
    """What can be iterated over more than once: an iterator of the program would be used up."""
    if not hasattr(_plain(found), "__len__"):
        raise UnknownValueError(str(type(found)))
    return found


def _builtin(name: str) -> Any:
    return getattr(builtins, name)


@lru_cache(maxsize=256)
def _returned(function: FunctionType) -> ast.expr | None:
    """The expression of a function that does nothing but return it."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):
        return None
    match tree.body:
        case [ast.FunctionDef(body=[*before, ast.Return(ast.expr() as returned)])]:
            documented = all(isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) for one in before)
            return returned if documented else None
    return None
