"""Conditions that the constructor's arguments decide: no play of that instance can turn them the other way."""

import ast
import functools
import gc
import linecache
import sys
from collections.abc import Collection, Iterator, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

from overclock.verify.reach.constants import Scope, written_attributes


class Settled:
    """Whether a condition in a method is made of constants and of what only a constructor assigns.

    It speaks of the environment's own attributes, and of those of other objects where play makes no new ones of their
    class and all that there are agree. `modules` are those of the rules, `ran` is the code that play ran.
    """

    def __init__(self, root: Any, modules: Sequence[ModuleType], ran: Collection[CodeType]) -> None:
        self._env = getattr(root, "unwrapped", root)
        self._modules = {str(module.__file__): module for module in modules}
        self._ran = frozenset(map(id, ran))
        trees = [_tree(file) for file in {one.co_filename for one in ran}]
        nodes = [node for tree in trees for node in ast.walk(tree)]
        rebound = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
        self._written = written_attributes(trees) | rebound
        self._known = not any(map(_writes_anything, nodes))
        self._made: dict[type, list[Any]] = {}

    def __call__(self, code: CodeType, test: ast.expr) -> bool:
        """Whether a condition of this function is decided before anything is played."""
        if not self._known:
            return False
        module = self._modules.get(code.co_filename)
        names = {} if module is None else vars(module)
        local = frozenset({*code.co_varnames, *code.co_cellvars, *code.co_freevars})
        scope = Scope(names, None, self._written)
        if code.co_varnames[:1] != ("self",) or scope.decided(test, local):
            return scope.decided(test, local)
        scopes = [Scope(names, one, self._written) for one in self._receivers(code)]
        local -= {"self"}
        return bool(scopes) and all(
            one.decided(test, local) and _values(one, test, local) == _values(scopes[0], test, local) for one in scopes
        )

    def _receivers(self, code: CodeType) -> list[Any]:
        """The objects that a method may be called on, none if others may come."""
        owner = code.co_qualname.rpartition(".")[0]
        if any(owner == cls.__qualname__ and _file(cls) == code.co_filename for cls in type(self._env).__mro__):
            return [self._env]
        try:
            cls = functools.reduce(getattr, owner.split("."), self._modules.get(code.co_filename))
        except AttributeError:  # of a class that a function made
            return []
        return self._instances(cls) if isinstance(cls, type) else []

    def _instances(self, cls: type) -> list[Any]:
        """Everything of this class, none if play made some of it, or if it cannot be told whether play did."""
        if cls not in self._made:
            constructors = [getattr(one, "__init__", None) for one in _with_subclasses(cls)]
            seen = all(
                isinstance(one, FunctionType)
                and one.__code__.co_filename in self._modules
                and id(one.__code__) not in self._ran
                for one in constructors
            )
            self._made[cls] = [one for one in gc.get_objects() if issubclass(type(one), cls)] if seen else []
        return self._made[cls]


def _with_subclasses(cls: type) -> Iterator[type]:
    yield cls
    for one in type.__subclasses__(cls):
        yield from _with_subclasses(one)


def _file(cls: type) -> str | None:
    return getattr(sys.modules.get(cls.__module__), "__file__", None)


def _values(scope: Scope, test: ast.expr, local: Collection[str]) -> list[str]:
    """What the parts of a condition are worth that are read from objects."""
    return [repr(scope.value(node, local)) for node in ast.walk(test) if isinstance(node, ast.Attribute)]


def _writes_anything(node: ast.AST) -> bool:
    """Whether a line may write an attribute whose name the source does not say."""
    match node:
        case ast.Call(ast.Name("setattr"), [_, ast.Constant(), *_]):
            return False
        case ast.Call(ast.Name("setattr" | "vars" | "exec")) | ast.Attribute(_, "__dict__" | "__setattr__"):
            return True
    return False


def _tree(file: str) -> ast.Module:
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ast.Module([], [])
