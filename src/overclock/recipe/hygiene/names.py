"""Rules about names: what is imported, which names of a module are used, what reaches around the language."""

import ast
import re
from collections.abc import Mapping

from overclock.recipe.hygiene.finding import Finding
from overclock.recipe.hygiene.source import Source, docstrings
from overclock.recipe.hygiene.vocabulary import CALLBACKS, TOPS, importable, is_module, refusal

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
        "f_globals", "f_locals", "f_builtins", "f_back", "f_code", "gi_frame", "gi_code", "cr_frame", "tb_frame",
        "tb_next", "mro", "func_globals", "co_consts",
    }
)  # fmt: skip
FILE_METHODS = frozenset({"tofile", "dump", "ctypes"})  # of an array: writes it to a file, or opens its memory


def check_names(source: Source, sources: Mapping[str, Source], further: tuple[str, ...]) -> list[Finding]:
    """Every breach in a file; `sources` are all files by module name, `further` modules are allowed by the project."""
    visitor = _Names(source, sources, further)
    visitor.visit(source.tree)
    return visitor.found


class _Names(ast.NodeVisitor):
    def __init__(self, source: Source, sources: Mapping[str, Source], further: tuple[str, ...]) -> None:
        self.source, self.sources, self.further = source, sources, further
        self.found: list[Finding] = []
        self.docstrings = docstrings(source.tree)

    def add(self, node: ast.AST, rule: str, sentence: str) -> None:
        self.found.append(self.source.finding(node, rule, sentence))

    # ---- imports ----

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.name not in self.source.folder_modules:
                self.check_module(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if any(alias.name == "*" for alias in node.names):
            self.add(node, "import", "`import *` hides what is used; import the names one by one.")
            return
        sibling = self.source.sibling(node)
        if sibling is not None:
            for alias in node.names:
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
        if owner is not None and name in owner.modules and not owner.modules[name].startswith("."):
            self.add(node, "module-value", f"Import `{owner.modules[name]}` itself, not through `{sibling}`.")

    # ---- uses ----

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if DUNDER.fullmatch(node.attr) or node.attr in INNER:
            self.add(node, "dunder", f"`.{node.attr}` reaches into the interpreter; rules have no use for it.")
        if node.attr in FILE_METHODS:
            self.add(node, "file", f"`.{node.attr}` reaches outside the program; rules touch no files or memory.")
        dotted = self.source.dotted(node)
        if dotted is None:
            if node.attr in CALLBACKS:
                self.add(node, "callback", f"`.{node.attr}` leaves the compiled program; rules call nothing outside.")
            self.visit(node.value)
        elif dotted.startswith("."):
            self.check_through_sibling(node, dotted[1:])
        else:
            self.check_dotted(node, dotted, value=True)

    def check_through_sibling(self, node: ast.Attribute, dotted: str) -> None:
        homes = [name for name in self.source.folder_modules if f"{dotted}.".startswith(f"{name}.")]
        home = max(homes, key=len, default="")
        name = dotted.removeprefix(home).lstrip(".").partition(".")[0]
        if name:
            self.check_sibling(node, home, name)

    def check_dotted(self, node: ast.AST, dotted: str, value: bool = False) -> None:
        """`value`: the name stands in an expression, where a whole module must not."""
        if dotted.partition(".")[0] not in TOPS or any(f"{dotted}.".startswith(f"{name}.") for name in self.further):
            return  # the import has been refused, or the project allows all of it
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
