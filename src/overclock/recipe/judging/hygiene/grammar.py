"""What a candidate is written in: an allow-list of Python's syntax, of its built-in names, and of attributes of values.

What is not listed is refused, so that a new way to evaluate a text, to look at a traced value or to leave something
behind is refused before anybody has thought of it. The lists are in `allowed_names`.
"""

import ast
import builtins
import re
import symtable
from collections.abc import Iterator, Mapping

from overclock.recipe.judging.hygiene.allowed_names import BUILTINS, KNOWN, TRACERS, name_set
from overclock.recipe.judging.hygiene.finding import Finding
from overclock.recipe.judging.hygiene.names import BUILTINS as REFUSED
from overclock.recipe.judging.hygiene.source import Source, docstrings

SYNTAX = name_set(
    """
    FunctionDef ClassDef Return Assign AugAssign AnnAssign TypeAlias For While If With Match Raise Assert Import
    ImportFrom Expr Pass Break Continue BoolOp NamedExpr BinOp UnaryOp Lambda IfExp Dict Set ListComp SetComp DictComp
    GeneratorExp Compare Call JoinedStr FormattedValue Constant Attribute Subscript Starred Name List Tuple Slice
    MatchValue MatchSingleton MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr
    """
)
# These have rules and sentences of their own (state.py).
ELSEWHERE = frozenset({"Global", "Nonlocal", "Try", "TryStar", "ExceptHandler"})
ALL_BUILTINS = frozenset(dir(builtins))
NOT_CALLED = {"str": "shows a value as text", "object": "makes what is no value"}
# Called with the names of what they define, they make classes of texts.
CLASS_MAKERS = frozenset(
    {"typing.NamedTuple", "enum.Enum", "enum.IntEnum", "enum.Flag", "enum.IntFlag", "dataclasses.dataclass"}
)
DATACLASS = "dataclasses.dataclass"
BARE = frozenset({"Array", "ArrayLike", "Key", "PyTree", "Scalar", "ScalarLike"})  # of jaxtyping, without a shape
SHAPE = re.compile(r"[\w\s*#?.=+-]*")  # a shape of jaxtyping; between braces it would be evaluated
PLACES = frozenset({"backend", "device", "devices", "sharding", "out_sharding", "out"})


def check_grammar(source: Source, sources: Mapping[str, Source], further: tuple[str, ...]) -> list[Finding]:
    """Every breach in a file; `sources` are all files by module name, `further` modules are allowed by the project."""
    visitor = _Grammar(source, _own_names(sources), any_attribute=bool(further))
    visitor.visit(source.tree)
    return visitor.found


def _own_names(sources: Mapping[str, Source]) -> frozenset[str]:
    """The names of all functions, classes, fields and attributes that a candidate defines."""
    nodes = (node for source in sources.values() for node in ast.walk(source.tree))
    return frozenset(name for node in nodes for name in _defined(node))


def _defined(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.ClassDef):
        for statement in node.body:
            targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
            yield from (target.id for target in targets if isinstance(target, ast.Name))


class _Grammar(ast.NodeVisitor):
    def __init__(self, source: Source, own: frozenset[str], any_attribute: bool) -> None:
        self.source, self.own, self.any_attribute = source, own, any_attribute
        self.found: list[Finding] = []
        self.imported = _imported_names(source.tree)
        self.python = _builtins_read(source.tree)
        self.placed: set[ast.AST] = set()  # where `dataclass` and `type` may stand, and nowhere else
        self.shaped: set[ast.AST] = set()  # names of jaxtyping that are given a shape
        self.docstrings = docstrings(source.tree)
        self.functions = 0  # how many functions are around the node
        self.raising = 0  # whether the node only tells why the program ends

    def add(self, node: ast.AST, rule: str, sentence: str) -> None:
        self.found.append(self.source.finding(node, rule, sentence))

    def visit(self, node: ast.AST) -> None:
        kind = type(node).__name__
        if isinstance(node, ast.stmt | ast.expr | ast.pattern) and kind not in SYNTAX | ELSEWHERE:
            self.add(node, "syntax", f"Rules are written without `{kind}` of Python's syntax; use what is plain.")
        super().visit(node)

    # ---- what is defined ----

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.inside(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.inside(node)

    def inside(self, node: ast.AST) -> None:
        self.functions += 1
        self.generic_visit(node)
        self.functions -= 1

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for decorator in node.decorator_list:
            self.placed |= {decorator, *([decorator.func] if isinstance(decorator, ast.Call) else [])}
        self.placed |= {part for base in node.bases for part in ast.walk(base)}
        self.generic_visit(node)

    # ---- names ----

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and node.id in self.python:
            if node.id == "type" and node not in self.placed:
                self.add(node, "class-creation", "`type` makes a class or shows one; write the class by its name.")
            elif node.id not in BUILTINS | REFUSED.keys():
                self.add(node, "builtin", f"`{node.id}` is not among Python's own names that rules may use.")
        self.check_origin(node, self.imported.get(node.id, ""))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        dotted = self.source.dotted(node)
        if dotted is not None:
            self.check_origin(node, dotted)
            return
        if isinstance(node.ctx, ast.Load):
            self.check_attribute(node, node.attr, isinstance(node.value, ast.Name))
        self.generic_visit(node)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        for name in node.kwd_attrs:
            self.check_attribute(node, name, direct=False)
        self.generic_visit(node)

    def check_attribute(self, node: ast.AST, name: str, direct: bool) -> None:
        """`direct`: it is read of a name, as fields of the state are."""
        if name in TRACERS:
            if not (name in self.own and direct):
                sentence = f"`.{name}` may tell how a value is traced or where it lies; rules see values alone."
                self.add(node, "attribute", sentence)
        elif name not in KNOWN | self.own and not self.any_attribute and not name.startswith("_"):
            self.add(node, "attribute", f"`.{name}` is no attribute of arrays, of records or of what is defined here.")

    def check_origin(self, node: ast.AST, dotted: str) -> None:
        """Names of modules with rules of their own: makers of classes, and types with shapes."""
        if dotted == DATACLASS and node not in self.placed:
            self.add(node, "class-creation", "`dataclass` stands above a class and nowhere else.")
        module, _, name = dotted.rpartition(".")
        if module == "jaxtyping" and name not in BARE and node not in self.shaped:
            self.add(node, "class-creation", f'`{name}` is written with its shape: `{name}[Array, "3"]`.')

    # ---- expressions ----

    def visit_Subscript(self, node: ast.Subscript) -> None:
        self.placed.add(node.value)  # `type[Card]` is an annotation
        if self.origin(node.value).startswith("jaxtyping."):
            self.shaped.add(node.value)
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            shape = parts[-1] if len(parts) > 1 else None
            if shape is not None and not (
                isinstance(shape, ast.Constant) and isinstance(shape.value, str) and SHAPE.fullmatch(shape.value)
            ):
                self.add(node, "class-creation", 'A shape is a plain text of names and numbers: Float[Array, "3 n"].')
        self.generic_visit(node)

    def origin(self, node: ast.AST) -> str:
        return self.imported.get(node.id, "") if isinstance(node, ast.Name) else self.source.dotted(node) or ""

    def visit_Call(self, node: ast.Call) -> None:
        called, origin = node.func, self.origin(node.func)
        if origin in CLASS_MAKERS and node not in self.placed:
            self.add(node, "class-creation", f"`{origin}` is called; write the class with `class`.")
        if isinstance(called, ast.Name) and called.id in NOT_CALLED.keys() & self.python:
            self.add(node, "builtin", f"`{called.id}(...)` {NOT_CALLED[called.id]}; rules compute with numbers.")
        if isinstance(called, ast.Attribute) and called.attr == "at" and "at" not in self.own:
            self.add(node, "hidden-state", "`.at(...)` writes into what it is given; write `array.at[...].set(...)`.")
        for keyword in node.keywords:
            if keyword.arg in PLACES and (origin or isinstance(called, ast.Attribute)):
                sentence = f"`{keyword.arg}=` says where something is computed or written; rules only return values."
                self.add(node, "attribute", sentence)
        if isinstance(called, ast.Call) and len(called.args) == 1 and not called.keywords:
            self.placed.add(called.func)  # `type(state)(x=1)` is another record of that kind
        self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        self.ending(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        self.visit(node.test)
        if node.msg is not None:
            self.ending(node.msg)

    def ending(self, node: ast.AST) -> None:
        self.raising += 1
        self.generic_visit(node) if isinstance(node, ast.Raise) else self.visit(node)
        self.raising -= 1

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        if not self.raising:
            self.add(node, "text", "A text is made of a value; rules compute with numbers and show nothing.")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        sides = [side for side in (node.left, node.right) if isinstance(side, ast.JoinedStr) or _is_text(side)]
        formats = isinstance(node.op, ast.Mod) and _is_text(node.left)
        if not self.raising and (formats or (self.functions and sides)):
            self.add(node, "text", "A text is put together; rules compute with numbers, and texts stand as they are.")
        self.generic_visit(node)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)


def _builtins_read(tree: ast.Module) -> set[str]:
    """Names of Python that a file reads; a variable of such a name is another thing, where it surely has a value."""
    read: set[str] = set()
    tables = [symtable.symtable(ast.unparse(tree), "<candidate>", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        local = table.get_type() == "function"
        read |= {
            one.get_name() for one in table.get_symbols() if one.is_referenced() and (one.is_global() or not local)
        }
    return (read & ALL_BUILTINS) - {name for statement in tree.body for name in _made(statement)}


def _made(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement of a module gives to something, whatever happens."""
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        yield statement.name
    elif isinstance(statement, ast.Import | ast.ImportFrom):
        yield from (alias.asname or alias.name for alias in statement.names)
    elif isinstance(statement, ast.Assign):
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name))


def _imported_names(tree: ast.AST) -> dict[str, str]:
    """Where names come from that a file imports from other modules."""
    froms = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module and not node.level)
    return {alias.asname or alias.name: f"{node.module}.{alias.name}" for node in froms for alias in node.names}
