"""Rules about names: imports, which names of a module are used, and access to the interpreter's internals."""

import ast
import re
from collections.abc import Mapping

from overclock.recipe.judging.hygiene.finding import Finding
from overclock.recipe.judging.hygiene.source import Source, docstrings, functions_of
from overclock.recipe.judging.hygiene.vocabulary import CALLBACKS, TOPS, importable, inner_part, is_module, refusal

BUILTINS = {
    **dict.fromkeys(["eval", "exec", "compile"], "runs text as code; write the code itself"),
    **dict.fromkeys(["open", "input", "breakpoint"], "reaches outside the program; rules read no files"),
    **dict.fromkeys(["globals", "locals", "vars", "dir"], "reads names by their text; write the name itself"),
    **dict.fromkeys(["getattr", "setattr", "delattr"], "reaches attributes by their text; write `value.name`"),
    **dict.fromkeys(["exit", "quit"], "ends the process; rules only return values"),
    "__import__": "imports by text; write an import statement",
}
DUNDER = re.compile(r"__\w+__")
DUNDER_NAMES = frozenset({"__all__"})
DUNDER_METHODS = frozenset({"__post_init__", "__call__"})
# Of frames, generators, tracebacks and classes: each leads to the interpreter's own data.
INNER = frozenset(
    {
        "f_globals", "f_locals", "f_builtins", "f_back", "f_code", "gi_frame", "gi_code", "cr_frame", "ag_frame",
        "tb_frame", "tb_next", "mro", "func_globals", "co_consts",
    }
)  # fmt: skip
FORMATTERS = frozenset({"format", "format_map"})  # a text may name any attribute of what it formats
NAMED_TUPLE = frozenset({"_replace", "_asdict", "_fields", "_make"})  # public in spite of their underscore
FILE_METHODS = frozenset({"tofile", "dump", "ctypes"})  # of an array: writes it to a file, or opens its memory


def check_names(source: Source, sources: Mapping[str, Source], further: tuple[str, ...]) -> list[Finding]:
    """Every breach in a file; `sources` are all files by module name, `further` modules are allowed by the project."""
    visitor = _Names(source, sources, further)
    visitor.check_ambiguous()
    visitor.visit(source.tree)
    return visitor.found


class _Names(ast.NodeVisitor):
    def __init__(self, source: Source, sources: Mapping[str, Source], further: tuple[str, ...]) -> None:
        self.source, self.sources, self.further = source, sources, further
        self.found: list[Finding] = []
        self.docstrings = docstrings(source.tree)
        self.methods = functions_of(sources.values())

    def add(self, node: ast.AST, rule: str, sentence: str) -> None:
        self.found.append(self.source.finding(node, rule, sentence))

    # ---- imports ----

    def check_ambiguous(self) -> None:
        """A name that stands for a module stands for nothing else, so that what is reached through it is known."""
        for name, node in self.source.ambiguous.items():
            self.add(node, "module-value", f"`{name}` is the name of a module; use another one for anything else.")

    def at_the_top(self, node: ast.Import | ast.ImportFrom) -> None:
        """Elsewhere an import makes a module an attribute of a class, or a name that is seen in one place only."""
        if node not in self.source.tree.body:
            self.add(node, "import", "Imports stand at the top of a file, in no function, class or condition.")

    def visit_Import(self, node: ast.Import) -> None:
        self.at_the_top(node)
        for alias in node.names:
            if alias.name not in self.source.folder_modules:
                self.check_module(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.at_the_top(node)
        if any(alias.name == "*" for alias in node.names):
            self.add(node, "import", "`import *` hides what is used; import the names one by one.")
            return
        sibling = self.source.sibling(node)
        if sibling is not None:
            for alias in node.names:
                self.check_attribute(node, alias.name)
                self.check_sibling(node, sibling, alias.name)
        elif node.level:
            self.add(node, "import", f"`{ast.unparse(node)}` leads out of the candidate's folder.")
        elif self.check_module(node, node.module or ""):
            for alias in node.names:
                self.check_dotted(node, f"{node.module}.{alias.name}")

    def check_module(self, node: ast.AST, name: str) -> bool:
        """Whether a module that is not the candidate's own may be imported."""
        if importable(name, self.further) or is_module(name):
            return True
        known = "jax, jax.numpy, jax.lax, numpy, math, dataclasses, typing, functools, enum, jaxtyping, overclock.env"
        self.add(node, "import", f"`{name}` must not be imported; a candidate uses {known} and its own files.")
        return False

    def check_sibling(self, node: ast.AST, sibling: str, name: str) -> None:
        owner = self.sources.get(sibling)
        if owner is not None and name in owner.modules and f"{sibling}.{name}" not in self.source.folder_modules:
            module = owner.modules[name].lstrip(".")
            self.add(node, "module-value", f"Import `{module}` itself, not through `{sibling}`.")

    # ---- uses ----

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.check_attribute(node, node.attr)
        dotted = self.source.dotted(node)
        if dotted is None:
            if node.attr in CALLBACKS:
                self.add(node, "callback", f"`.{node.attr}` leaves the compiled program; rules call nothing outside.")
            if node.attr.startswith("_") and not DUNDER.fullmatch(node.attr) and not self.is_own(node):
                self.add(node, "dunder", f"`.{node.attr}` is inner to somebody else; use what is public.")
            self.visit(node.value)
            return
        inner = node.value
        while isinstance(inner, ast.Attribute):  # a dotted name is not visited part by part
            self.check_attribute(inner, inner.attr)
            inner = inner.value
        if dotted.startswith("."):
            self.check_through_sibling(node, dotted[1:])
        else:
            self.check_dotted(node, dotted, value=True)

    def check_attribute(self, node: ast.AST, name: str) -> None:
        """A name that is read of whatever it may be."""
        if DUNDER.fullmatch(name) or name in INNER:
            self.add(node, "dunder", f"`.{name}` reaches into the interpreter; rules have no use for it.")
        if name in FILE_METHODS:
            self.add(node, "file", f"`.{name}` reaches outside the program; rules touch no files or memory.")
        if name in FORMATTERS:
            self.add(node, "builtin", f"`.{name}` reaches attributes by their text; write an f-string.")

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        """`case A(name=x)` reads an attribute."""
        for name in node.kwd_attrs:
            self.check_attribute(node, name)
            if name.startswith("_"):
                self.add(node, "dunder", f"A pattern reads `.{name}`; use what is public.")
        self.generic_visit(node)

    def is_own(self, node: ast.Attribute) -> bool:
        """Whether a name with an underscore is a method of the candidate itself, or public in spite of it."""
        on_itself = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        return node.attr in NAMED_TUPLE or (on_itself and node.attr in self.methods)

    def check_through_sibling(self, node: ast.Attribute, dotted: str) -> None:
        homes = [name for name in self.source.folder_modules if f"{dotted}.".startswith(f"{name}.")]
        home = max(homes, key=len, default="")
        name = dotted.removeprefix(home).lstrip(".").partition(".")[0]
        if name:
            self.check_sibling(node, home, name)
        else:
            self.module_as_value(node, home)

    def check_dotted(self, node: ast.AST, dotted: str, value: bool = False) -> None:
        """`value`: the name stands in an expression, where a whole module must not."""
        if any(f"{dotted}.".startswith(f"{name}.") for name in self.further):
            refused = inner_part(dotted, dotted.split("."))  # otherwise the project allows all of it
        elif dotted.partition(".")[0] not in TOPS:
            return  # the import has been refused
        else:
            refused = refusal(dotted)
        if refused is not None:
            self.add(node, *refused)
        elif value and is_module(dotted):
            self.module_as_value(node, dotted)

    def module_as_value(self, node: ast.AST, name: str) -> None:
        self.add(node, "module-value", f"The module `{name}` is used as a value; write `{name}.function` where needed.")

    def visit_Name(self, node: ast.Name) -> None:
        if node.id in BUILTINS:
            self.add(node, "builtin", f"`{node.id}` {BUILTINS[node.id]}.")
        elif DUNDER.fullmatch(node.id) and node.id not in DUNDER_NAMES:
            self.add(node, "dunder", f"`{node.id}` reaches into the interpreter; rules have no use for it.")
        elif node.id in CALLBACKS:
            self.add(node, "callback", f"`{node.id}` leaves the compiled program; rules call nothing outside.")
        elif node.id in self.source.modules and isinstance(node.ctx, ast.Load):
            self.module_as_value(node, self.source.modules[node.id].lstrip("."))

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and DUNDER.search(node.value) and node not in self.docstrings:
            self.add(node, "dunder", "A text names an inner attribute of Python; rules have no use for it.")

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        if DUNDER.fullmatch(node.name) and node.name not in DUNDER_METHODS:
            self.add(node, "dunder", f"`{node.name}` changes how Python treats an object; write a plain method.")
        self.generic_visit(node)
