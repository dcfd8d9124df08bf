"""What the rules write: attributes that a step may change, whether play has come to that place or not.

Watching shows what changed; reading shows what could. Names count, not objects: a name that is written anywhere in the
rules is taken to be written everywhere, which at worst calls a constant a part of the state.
"""

import ast
import dataclasses
from collections.abc import Iterator

from overclock.recipe.survey.static.rule_selection import RuleSet, own_nodes

# Methods that make a list, a dict or a set longer or shorter, and give nothing back that anybody could use.
GROWING = frozenset(("append", "appendleft", "extend", "insert", "add", "update", "clear", "remove", "discard"))
RESIZING = GROWING | {"pop", "popleft", "popitem", "setdefault"}


@dataclasses.dataclass(frozen=True)
class Writes:
    """Names of attributes that a step may assign (or write into), and of those that it may make longer or shorter."""

    assigned: frozenset[str]
    resized: frozenset[str]


def writes(kept: RuleSet) -> Writes:
    """Of everything that a step can reach."""
    assigned, resized = set[str](), set[str]()
    for definition in kept.reached_from("step"):
        nodes = list(own_nodes(definition))
        behind = _aliases(nodes)
        for node in nodes:
            assigned.update(_assigned(node, behind))
            resized.update(_resized(node, behind))
    return Writes(frozenset(assigned), frozenset(resized))


def reads(nodes: Iterator[ast.AST]) -> set[str]:
    """Names of attributes that some code looks at; to append to a list that nobody looks at is not to look at it."""
    found, only_grown = set[str](), set[int]()
    for node in nodes:  # a statement comes before what is in it
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            function = node.value.func
            if isinstance(function, ast.Attribute) and function.attr in GROWING:
                only_grown.add(id(function.value))
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in only_grown:
            found.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):  # getattr(self, "name")
            found.add(node.value)
    return found


def _aliases(nodes: list[ast.AST]) -> dict[str, set[str]]:
    """Plain names that stand for an attribute, or for something in it."""
    found: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.For | ast.AnnAssign | ast.NamedExpr):
            targets, value = [node.target], node.iter if isinstance(node, ast.For) else node.value
        else:
            continue
        base = _base(value)
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(base, ast.Attribute):
                found.setdefault(target.id, set()).add(base.attr)
    return found


def _assigned(node: ast.AST, behind: dict[str, set[str]]) -> set[str]:
    if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return _named(_base(node), behind)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr":
        return {one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)}
    return set()


def _resized(node: ast.AST, behind: dict[str, set[str]]) -> set[str]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RESIZING:
        return _named(_base(node.func.value), behind)
    return set()


def _base(node: ast.AST | None) -> ast.AST | None:
    """What is indexed, of something indexed."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _named(node: ast.AST | None, behind: dict[str, set[str]]) -> set[str]:
    if isinstance(node, ast.Attribute):
        return {node.attr}
    return behind.get(node.id, set()) if isinstance(node, ast.Name) else set()
