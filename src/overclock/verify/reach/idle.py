"""Functions of the rules that never ran although code that ran names them: dispatch by class, by table, by callback.

What is named only behind an outcome that nobody took is left out: that outcome is listed itself, or set aside.
"""

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from overclock.verify.reach.bytecode import Met, only_raises
from overclock.verify.reach.ledger import Aside
from overclock.verify.reach.rule_files import held
from overclock.verify.reach.syntax import Syntax
from overclock.verify.rollout.branches import TracedCode

CONTAINERS = frozenset(name for kind in (list, dict, set, str, tuple) for name in dir(kind))
OPTIMIZED = 0x1  # a flag of functions' code, which class bodies do not have


def idle_functions(
    root: Any, modules: Sequence[ModuleType], syntax: Mapping[str, Syntax], entered: Sequence[TracedCode]
) -> Iterator[tuple[CodeType, Aside | None]]:
    """Each such function once, and why it is not asked for, if it is not."""
    if root is None:
        return
    names = {str(module.__file__): vars(module) for module in modules}
    ran = {one.code for one in entered}
    known: set[CodeType] = set()
    for code in _named(root, names, syntax, entered):
        if code not in ran and code not in known and code.co_filename in names:
            known.add(code)
            yield code, "raises" if only_raises(code) else None


def _named(
    root: Any, names: Mapping[str, Mapping[str, Any]], syntax: Mapping[str, Syntax], entered: Sequence[TracedCode]
) -> Iterator[CodeType]:
    env = getattr(root, "unwrapped", root)
    objects = list(held(root))
    live = {type(one) for one in objects}
    methods: list[tuple[str, str | None]] = []  # the name, and the class of `self` if that is the receiver
    for traced in entered:
        code = traced.code
        met = traced.met()
        for node in syntax[code.co_filename].named(code):
            if not traced.ran(node.lineno) or not met.reads(node):
                continue
            for value in _values(node, names[code.co_filename]):
                if isinstance(value, type):
                    live.add(value)
                elif (function := _code(value)) is not None:
                    yield function
            if isinstance(node, ast.Attribute):
                on_self = isinstance(node.value, ast.Name) and node.value.id == "self"
                methods.append((node.attr, code.co_qualname.split(".")[0] if on_self else None))
        yield from _nested(traced, met)
    for name, receiver in dict.fromkeys(methods):
        for cls in live:
            if receiver is None and name in CONTAINERS and cls is type(env):
                continue
            if receiver is not None and receiver not in {base.__qualname__ for base in cls.__mro__}:
                continue
            if (function := _code(inspect.getattr_static(cls, name, None))) is not None:
                yield function
        for one in objects:
            yield from filter(None, map(_code, _contents(getattr(one, "__dict__", {}).get(name))))


def _values(node: ast.Name | ast.Attribute, names: Mapping[str, Any]) -> Iterable[Any]:
    """What a name of the module, or of a module that it imported, holds."""
    if isinstance(node, ast.Name):
        return _contents(names.get(node.id))
    owner = names.get(node.value.id) if isinstance(node.value, ast.Name) else None
    return _contents(getattr(owner, node.attr, None)) if isinstance(owner, ModuleType) else ()


def _contents(value: Any) -> Iterator[Any]:
    """A value, or what a table has in it."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _contents(one)
    else:
        yield value


def _code(value: Any) -> CodeType | None:
    """The code of a function, a method or a property, without the wrappers around it."""
    if isinstance(value, property):
        value = value.fget
    if isinstance(value, staticmethod | classmethod | MethodType):
        value = value.__func__
    if isinstance(value, FunctionType):
        value = inspect.unwrap(value)
    return value.__code__ if isinstance(value, FunctionType) else None


def _nested(traced: TracedCode, met: Met) -> Iterator[CodeType]:
    for constant in traced.code.co_consts:
        function = isinstance(constant, CodeType) and constant.co_flags & OPTIMIZED
        if function and traced.ran(constant.co_firstlineno) and met.makes(constant):
            yield constant
