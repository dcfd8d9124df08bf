"""What an expression of a reference's source is worth before anything is played: literals, constants, configuration.

An attribute counts as configuration if no function other than a constructor assigns an attribute of that name.
"""

import ast
import builtins
import math
import operator
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import numpy as np

MOST_ELEMENTS = 64  # of an array or a tuple that counts as a constant
CONSTRUCTORS = ("__init__", "__new__", "__post_init__", "__init_subclass__")
PLAIN = (bool, int, float, str, np.number, np.bool_)

BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = types.MappingProxyType({
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod,
})  # fmt: skip
UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = types.MappingProxyType(
    {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_}
)
CALLS = types.MappingProxyType(
    {"len": len, "abs": abs, "int": int, "float": float, "bool": bool, "min": min, "max": max}
)

Functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class Scope:
    """The names that an expression may use: globals, an instance as `self`, and which attributes are never written."""

    def __init__(self, names: Mapping[str, Any], instance: Any = None, written: Collection[str] = frozenset()) -> None:
        self._names, self._instance, self._written = names, instance, written

    def knowing(self, names: Mapping[str, Any]) -> "Scope":
        """The same scope with further names."""
        return Scope({**self._names, **names}, self._instance, self._written) if names else self

    def value(self, node: ast.expr, local: Collection[str] = frozenset()) -> Any:
        """What an expression is worth, None if that is not known; `local` names are variables of the function."""
        try:
            found = self._value(node, local)
        except Exception:  # an expression of the user's source may raise whatever it likes
            return None
        return found if is_constant(found) else None

    def decided(self, node: ast.expr, local: Collection[str] = frozenset()) -> bool:
        """Whether an expression is worth the same whenever it is asked: made of plain values that nothing writes."""
        match node:
            case ast.Compare(left, _, others):
                return all(self.decided(one, local) for one in (left, *others))
            case ast.UnaryOp(_, operand):
                return self.decided(operand, local)
            case ast.BinOp(left, _, right):
                return self.decided(left, local) and self.decided(right, local)
            case ast.Constant():
                return True
            case ast.Name(name) if name in self._written:
                return False
            case ast.Name() | ast.Attribute():
                try:
                    found = self._value(node, local)
                except Exception:  # as above
                    return False
                return found is None or isinstance(found, PLAIN)
        return False

    def _value(self, node: ast.expr, local: Collection[str]) -> Any:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                if name in local:
                    raise KeyError(name)
                return self._names[name]
            case ast.Attribute(ast.Name("self"), name) if self._instance is not None:
                return self._attribute(self._instance, name)
            case ast.Attribute(owner, name):
                return self._attribute(self._value(owner, local), name)
            case ast.UnaryOp(op, operand):
                return UNARY[type(op)](self._value(operand, local))
            case ast.BinOp(left, op, right):
                return BINARY[type(op)](self._value(left, local), self._value(right, local))
            case ast.Tuple(elements) | ast.List(elements) | ast.Set(elements):
                return tuple(self._value(element, local) for element in elements)
            case ast.Subscript(owner, index):
                return self._value(owner, local)[self._value(index, local)]
            case ast.Call(ast.Name(name), arguments, []) if name in CALLS and self._is_builtin(name):
                return CALLS[name](*(self._value(argument, local) for argument in arguments))
            case ast.Call(function, arguments, []):
                return self._called(function, [self._value(argument, local) for argument in arguments], local)
        raise KeyError(ast.dump(node))

    def _attribute(self, owner: Any, name: str) -> Any:
        if isinstance(owner, types.ModuleType):
            return getattr(owner, name)
        if name in self._written:
            raise KeyError(name)
        for place in (getattr(owner, "__dict__", {}), *(vars(cls) for cls in _classes(owner))):
            if name in place:
                found = place[name]
                if hasattr(type(found), "__get__") and not isinstance(found, type):  # a property runs code
                    raise KeyError(name)
                return found
        raise KeyError(name)

    def _called(self, function: ast.expr, arguments: list[Any], local: Collection[str]) -> Any:
        """A function of `math`, or a NumPy number from a number: they depend on nothing else."""
        found = self._value_of_function(function, local)
        if getattr(found, "__module__", None) == "math" or (isinstance(found, type) and issubclass(found, np.number)):
            return found(*arguments)
        raise KeyError(ast.dump(function))

    def _value_of_function(self, node: ast.expr, local: Collection[str]) -> Any:
        match node:
            case ast.Name(name) if name not in local:
                return self._names[name]
            case ast.Attribute(ast.Name(owner), name) if owner not in local:
                module = self._names[owner]
                if module is math or module is np:
                    return getattr(module, name)
        raise KeyError(ast.dump(node))

    def _is_builtin(self, name: str) -> bool:
        return self._names.get(name, getattr(builtins, name)) is getattr(builtins, name)


def is_constant(value: Any) -> bool:
    """Whether a value is one that a number or a flag can be compared with: plain, or a few of these."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "bif" and value.size <= MOST_ELEMENTS
    if isinstance(value, tuple | list | frozenset | set):
        return len(value) <= MOST_ELEMENTS and all(is_constant(one) for one in value)
    return isinstance(value, PLAIN)


def module_constants(tree: ast.Module) -> dict[str, Any]:
    """Names that a module gives one constant value at its top level, from the source alone."""
    counts: dict[str, int] = {}
    found: dict[str, Any] = {"math": math, "np": np, "numpy": np}
    for statement in tree.body:
        match statement:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), value=ast.expr() as value):
                counts[name] = counts.get(name, 0) + 1
                constant = Scope(found).value(value)
                if constant is not None and counts[name] == 1:
                    found[name] = constant
                elif counts[name] > 1:
                    found.pop(name, None)
    return found


def written_attributes(trees: Iterable[ast.AST]) -> frozenset[str]:
    """The names of attributes that some function other than a constructor assigns, changes or deletes."""
    found: set[str] = set()
    waiting: list[tuple[ast.AST, bool]] = [(tree, False) for tree in trees]
    while waiting:
        node, running = waiting.pop()
        if isinstance(node, Functions):
            running = running or getattr(node, "name", "") not in CONSTRUCTORS
        if running and isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            found.add(node.attr)
        if running and isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store | ast.Del):
            found |= _attributes_below(node.value)  # self.limits[0] = 3
        if running and isinstance(node, ast.Call):
            found |= _written_by_call(node)
        waiting += [(child, running) for child in ast.iter_child_nodes(node)]
    return frozenset(found)


def local_names(function: ast.AST) -> frozenset[str]:
    """The parameters of a function and the names that it assigns."""
    found: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
    return frozenset(found)


def constant_names(function: ast.AST, scope: Scope, local: Collection[str]) -> dict[str, Any]:
    """The local names that a function gives one constant and nothing else: `low, high = self.limits`."""
    stored = [node.id for node in ast.walk(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    stored += [node.arg for node in ast.walk(function) if isinstance(node, ast.arg)]
    found: dict[str, Any] = {}
    for node in ast.walk(function):
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), value=ast.expr() as value):
                found[name] = scope.value(value, local)
            case ast.Assign([ast.Tuple(targets)], value):
                values = scope.value(value, local)
                if isinstance(values, tuple | list | np.ndarray) and len(values) == len(targets):
                    pairs = zip(targets, values, strict=True)
                    found |= {target.id: one for target, one in pairs if isinstance(target, ast.Name)}
    return {name: value for name, value in found.items() if value is not None and stored.count(name) == 1}


def _written_by_call(node: ast.Call) -> set[str]:
    """`setattr(x, "name", ...)` writes a name; a method of an attribute may change what that holds."""
    match node:
        case ast.Call(ast.Name("setattr"), [_, ast.Constant(str(name)), *_]):
            return {name}
        case ast.Call(ast.Attribute(owner, _)):
            return _attributes_below(owner)
    return set()


def _attributes_below(node: ast.expr) -> set[str]:
    return {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}


def _classes(owner: Any) -> tuple[type, ...]:
    return owner.__mro__ if isinstance(owner, type) else type(owner).__mro__
