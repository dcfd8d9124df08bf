"""Private names: inside a class, Python reads and writes `__x` as `_Class__x`. Here a whole file's tree is told so.

Done once, when a file is parsed, so that nobody behind has to know: `self.__x` in a tree is what the instance has.
"""

import ast
import re
from typing import Any

# Where a node holds names that Python changes; names of arguments in calls are not among them.
FIELDS: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Name: ("id",),
    ast.Attribute: ("attr",),
    ast.arg: ("arg",),
    ast.alias: ("name", "asname"),
    ast.Global: ("names",),
    ast.Nonlocal: ("names",),
    ast.ExceptHandler: ("name",),
    ast.MatchAs: ("name",),
    ast.MatchStar: ("name",),
    ast.MatchMapping: ("rest",),
    ast.FunctionDef: ("name",),
    ast.AsyncFunctionDef: ("name",),
    ast.ClassDef: ("name",),
}


def mangled(name: str, cls: str) -> str:
    """What a name means inside a class of that name."""
    private = name.startswith("__") and not name.endswith("__") and "." not in name
    owner = cls.lstrip("_")
    return f"_{owner}{name}" if private and owner else name


def with_private_names(tree: ast.Module) -> ast.Module:
    """The tree, in which every private name is the one that Python uses; methods keep the names they are written with.

    A node that was changed knows in `written` what stands in the source.
    """
    _rename(tree, "")
    return tree


def written_name(node: ast.FunctionDef) -> str:
    """The name of a function as its source and its code have it."""
    return getattr(node, "written", {}).get(node.name, node.name)


def as_written(text: str, node: ast.AST) -> str:
    """The text of a node with the names of the source."""
    for one in ast.walk(node):
        for name, written in getattr(one, "written", {}).items():
            text = re.sub(rf"\b{name}\b", written, text)
    return text


def _rename(node: ast.AST, cls: str) -> None:
    inner = node.name if isinstance(node, ast.ClassDef) else cls
    if isinstance(node, ast.ClassDef):
        outside: list[ast.AST] = [*node.bases, *node.keywords, *node.decorator_list]
    else:
        outside = []
    for child in ast.iter_child_nodes(node):
        here = cls if child in outside else inner
        _rename(child, here)
        method = isinstance(node, ast.ClassDef) and isinstance(child, ast.FunctionDef)
        if here and not method:
            _rename_fields(child, here)


def _rename_fields(node: Any, cls: str) -> None:
    written: dict[str, str] = {}

    def new(name: str | None) -> str | None:
        found = name and mangled(name, cls)
        if name and found and found != name:
            written[found] = name
        return found

    for field in FIELDS.get(type(node), ()):
        held = getattr(node, field)
        setattr(node, field, [new(one) for one in held] if isinstance(held, list) else new(held))
    if written:
        node.written = written
