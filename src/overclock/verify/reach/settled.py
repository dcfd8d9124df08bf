"""Conditions that the constructor's arguments decide: no play of that instance can turn them the other way."""

import ast
import linecache
from collections.abc import Sequence
from types import CodeType, ModuleType
from typing import Any

from overclock.verify.reach.constants import Scope, written_attributes


class Settled:
    """Whether a condition in a method of an environment is made of constants and of what only a constructor assigns.

    It speaks of the environment's own attributes alone: objects of other classes may be made anew with others.
    `modules` are those whose functions ran.
    """

    def __init__(self, root: Any, modules: Sequence[ModuleType]) -> None:
        env = getattr(root, "unwrapped", root)
        self._names = {str(module.__file__): vars(module) for module in modules}
        self._classes = {cls.__qualname__ for cls in type(env).__mro__}
        trees = [_tree(file) for file in self._names]
        nodes = [node for tree in trees for node in ast.walk(tree)]
        rebound = {name for node in nodes if isinstance(node, ast.Global) for name in node.names}
        self._written = written_attributes(trees) | rebound
        self._known = not any(map(_writes_anything, nodes))
        self._env = env

    def __call__(self, code: CodeType, test: ast.expr) -> bool:
        """Whether a condition of this function is decided before anything is played."""
        if not self._known:
            return False
        owner = code.co_qualname.rpartition(".")[0]
        instance = self._env if owner in self._classes and code.co_varnames[:1] == ("self",) else None
        local = frozenset({*code.co_varnames, *code.co_cellvars, *code.co_freevars} - {"self"})
        scope = Scope(self._names.get(code.co_filename, {}), instance, self._written)
        return scope.decided(test, local if instance is not None else local | {"self"})


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
