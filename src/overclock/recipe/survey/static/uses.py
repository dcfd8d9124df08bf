"""Who uses whom: from every definition of a reference to the others that it names, calls or reads."""

import ast
import builtins
import dataclasses
from collections.abc import Iterator

from overclock.recipe.survey.static.definitions import Definition, Function, dotted
from overclock.recipe.survey.static.source_files import SourceFiles

# Extending something of these hands nobody a method to call back, besides those that an environment has anyway.
PASSIVE = ("abc.", "typing.", "enum.", "collections.", "gymnasium.utils.EzPickle", "gym.utils.EzPickle")


@dataclasses.dataclass(frozen=True)
class Use:
    """One use: of a definition that is known, or of a method whose object is not (`by_name`).

    `drawing`: it happens only where rendering is switched on (`if self.render_mode == "human": ...`).
    `implied`: the text does not say it; a method comes with the class it belongs to.
    """

    target: Definition | None
    by_name: str = ""
    drawing: bool = False
    implied: bool = False


def uses(program: SourceFiles, definition: Definition) -> list[Use]:
    """What a definition uses, in the order of its text."""
    return list(_Reader(program, definition).read())


class _Reader:
    def __init__(self, program: SourceFiles, definition: Definition) -> None:
        self.program, self.definition = program, definition
        self.module = definition.file.module
        self.cls = definition.file.definitions.get(definition.owner or "")
        self.me = _first_argument(definition.node) if self.cls is not None else None
        self.local = _local_names(definition.node) if isinstance(definition.node, Function) else set[str]()

    def read(self) -> Iterator[Use]:
        node = self.definition.node
        if self.definition.kind != "class":
            yield from self._walk(node, False)
            return
        assert isinstance(node, ast.ClassDef)
        for part in (*node.bases, *node.keywords, *node.decorator_list, *node.body):
            if not isinstance(part, Function):
                yield from self._walk(part, False)

    def _walk(self, node: ast.AST, drawing: bool) -> Iterator[Use]:
        if isinstance(node, ast.If | ast.IfExp) and _about_rendering(node.test):
            then = node.body if isinstance(node.body, list) else [node.body]
            otherwise = node.orelse if isinstance(node.orelse, list) else [node.orelse]
            yield from self._walk(node.test, drawing)
            for inner in then:
                yield from self._walk(inner, True)
            for inner in otherwise:
                yield from self._walk(inner, drawing)
            return
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in self.local:
            yield from self._known(self.program.define(self.module, node.id), drawing)
        elif isinstance(node, ast.Attribute):
            yield from self._attribute(node, drawing)
            return
        for inner in ast.iter_child_nodes(node):
            yield from self._walk(inner, drawing)

    def _attribute(self, node: ast.Attribute, drawing: bool) -> Iterator[Use]:
        local = _root(node) in self.local
        found = None if local else self.program.expression(self.module, node)
        if found is not None:
            yield from self._known(found, drawing)
            return
        if not local and dotted(self.definition.file, node) is not None:  # of a library
            return
        owner = self._class_of(node.value)
        if owner is None:
            yield Use(None, node.attr, drawing)
        else:
            method = self.program.method(owner, node.attr)
            if method is not None:
                yield Use(method, "", drawing)
            yield from (Use(one, "", drawing) for one in self.program.bases(owner) if _sets(one.node, node.attr))
            if not _is_super(node.value):
                yield Use(None, node.attr, drawing)  # a subclass may have its own
        yield from self._walk(node.value, drawing)

    def _class_of(self, node: ast.expr) -> Definition | None:
        """The class of `self`, of `super()` and of attributes that are made by calling a class."""
        if isinstance(node, ast.Name) and node.id == self.me:
            return self.cls
        if self.cls is not None and _is_super(node):
            return next((base for base in self.program.bases(self.cls) if base is not self.cls), None)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == self.me:
            return self.program.made(self.cls).get(node.attr) if self.cls is not None else None
        if isinstance(node, ast.Call):
            node = node.func
        found = None if _root(node) in self.local else self.program.expression(self.module, node)
        return found if isinstance(found, Definition) and found.kind == "class" else None

    def _known(self, found: Definition | str | None, drawing: bool) -> Iterator[Use]:
        if not isinstance(found, Definition):
            return
        yield Use(found, "", drawing)
        if found.kind == "class":  # making one runs these without naming them
            for base in self.program.bases(found):
                yield Use(base, "", drawing)
                yield from (Use(method, "", drawing, True) for method in called_by_others(self.program, base))


def called_by_others(program: SourceFiles, cls: Definition) -> list[Definition]:
    """The methods of a class that nobody here has to name: Python calls them, or the library whose class it extends."""
    foreign = any(
        not base.startswith(PASSIVE) and base.rpartition(".")[2] != "Env" for base in foreign_bases(program, cls)
    )
    return [one for one in methods(cls) if foreign or (one.short.startswith("__") and one.short.endswith("__"))]


def foreign_bases(program: SourceFiles, cls: Definition) -> list[str]:
    """The base classes that are part of neither the reference nor Python itself, by their full names."""
    assert isinstance(cls.node, ast.ClassDef)
    bases = (base.value if isinstance(base, ast.Subscript) else base for base in cls.node.bases)
    others = (base for base in bases if not isinstance(program.expression(cls.file.module, base), Definition))
    names = [dotted(cls.file, base) or ast.unparse(base) for base in others]
    return [name for name in names if not hasattr(builtins, name)]


def methods(cls: Definition) -> list[Definition]:
    """The methods written in a class."""
    return [one for one in cls.file.definitions.values() if one.owner == cls.qualified]


def _first_argument(node: ast.stmt) -> str | None:
    if not isinstance(node, Function) or not node.args.args:
        return None
    return node.args.args[0].arg


def _local_names(function: ast.AST) -> set[str]:
    """The names that a function binds itself, which hide those of its module."""
    found, outer = set[str](), set[str]()
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Global):
            outer.update(node.names)
    return found - outer


def _root(node: ast.expr) -> str | None:
    """The first name of `name.attribute.attribute`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _about_rendering(test: ast.expr) -> bool:
    names = (
        n.id if isinstance(n, ast.Name) else n.attr for n in ast.walk(test) if isinstance(n, ast.Name | ast.Attribute)
    )
    return any("render" in name.lower() for name in names)


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _sets(cls: ast.stmt, attribute: str) -> bool:
    """Whether a class body itself binds the attribute."""
    assert isinstance(cls, ast.ClassDef)
    statements = (inner for inner in cls.body if isinstance(inner, ast.Assign | ast.AnnAssign))
    return any(isinstance(n, ast.Name) and n.id == attribute for inner in statements for n in ast.walk(inner))
