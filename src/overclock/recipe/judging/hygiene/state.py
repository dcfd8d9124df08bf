"""Rules against hidden state: a function of a candidate must not keep anything from one call to the next."""

import ast
from collections.abc import Iterator, Mapping

from overclock.recipe.judging.hygiene.finding import Finding
from overclock.recipe.judging.hygiene.source import Function, Source, functions_of

FORGETFUL = "rules remember nothing between calls: what lasts belongs in the State"
MUTATORS = frozenset(
    {
        "append", "extend", "insert", "remove", "pop", "popitem", "clear", "update", "setdefault", "add", "discard",
        "sort", "reverse", "fill", "put", "itemset", "resize", "partition", "setflags", "send",
    }
)  # fmt: skip
RETURNED = frozenset({"sort", "partition"})  # of a JAX array these return another one
CONTAINERS = frozenset({"list", "dict", "set", "bytearray", "deque", "defaultdict", "Counter", "OrderedDict"})
ITERATORS = frozenset({"iter", "map", "filter", "zip", "enumerate", "reversed"})
DISPLAYS = (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp)


def check_state(source: Source, sources: Mapping[str, Source]) -> list[Finding]:
    """Every place in a file where a call could leave something behind; `sources` are all files by module name."""
    visitor = _State(source, functions_of(sources.values()))
    visitor.visit(source.tree)
    return visitor.found


class _State(ast.NodeVisitor):
    def __init__(self, source: Source, methods: frozenset[str]) -> None:
        self.source, self.methods, self.found = source, methods, list[Finding]()
        self.scopes: list[set[str]] = []  # names that belong to each enclosing function; empty: module or class
        self.given: list[set[str]] = []  # of these, the parameters that still stand for what a caller has

    def add(self, node: ast.AST, rule: str, sentence: str) -> None:
        self.found.append(self.source.finding(node, rule, sentence))

    # ---- scopes ----

    def visit_Module(self, node: ast.Module) -> None:
        for statement in node.body:
            value = getattr(statement, "value", None)
            if isinstance(statement, ast.Assign | ast.AnnAssign) and _is_iterator(value):
                self.add(statement, "hidden-state", f"An iterator of a module is used up as it is read; {FORGETFUL}.")
        self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            value = getattr(statement, "value", None)
            if isinstance(statement, ast.Assign | ast.AnnAssign) and self.is_mutable(value):
                self.add(statement, "class-state", f"All instances share this container; use a tuple ({FORGETFUL}).")
        if node.keywords:
            self.add(node, "class-state", "A class with a metaclass or arguments is no plain record; leave them out.")
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.function(node)

    def function(self, node: Function) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            if self.is_mutable(default) or _is_iterator(default):
                self.add(default, "hidden-state", f"A default value is shared by all calls; use None ({FORGETFUL}).")
        own, given = _own_names(node)
        self.scopes.append(own)
        self.given.append(given)
        self.generic_visit(node)
        self.scopes.pop()
        self.given.pop()

    # ---- what is written ----

    def visit_Global(self, node: ast.Global) -> None:
        self.add(node, "hidden-state", f"`global` changes the module; {FORGETFUL}.")

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.add(node, "hidden-state", f"`nonlocal` changes an outer function's variable; {FORGETFUL}.")

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            what = ast.unparse(node)
            self.add(node, "attribute-write", f"`{what}` is changed in place; use `value.replace(...)` instead.")
        self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load) and (self.lasting(node.value) or self.borrowed(node.value)):
            self.add(node, "hidden-state", f"`{ast.unparse(node.value)}` outlives the call; {FORGETFUL}.")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr in MUTATORS:
            may_return = called.attr in RETURNED or called.attr in self.methods
            if self.lasting(called.value) or (not may_return and self.borrowed(called.value)):
                self.add(node, "hidden-state", f"`{ast.unparse(called.value)}` outlives the call; {FORGETFUL}.")
        if isinstance(called, ast.Name) and called.id == "next" and node.args and self.lasting(node.args[0]):
            self.add(node, "hidden-state", f"`next` uses up an iterator that outlives the call; {FORGETFUL}.")
        self.generic_visit(node)

    def visit_Try(self, node: ast.Try) -> None:
        self.no_try(node)

    def visit_TryStar(self, node: ast.TryStar) -> None:
        self.no_try(node)

    def no_try(self, node: ast.AST) -> None:
        self.add(node, "try", "Compiled rules cannot raise, so there is nothing to catch; leave `try` out.")
        self.generic_visit(node)

    def lasting(self, node: ast.AST) -> bool:
        """Whether a value was there before the call: not a name of the function itself, or a field of `self`."""
        if not self.scopes:
            return False  # the module is still being made
        name, path = _reached(node, through_calls=True)
        if not name or name in self.source.modules or "at" in path:
            return False  # `array.at[i].add(1)` returns a new array
        return name not in self.scopes[-1] or (name == "self" and bool(path))

    def borrowed(self, node: ast.AST) -> bool:
        """Whether a value belongs to a caller: a helper that changes its parameter can be given what lasts."""
        name, path = _reached(node, through_calls=False)
        return bool(self.given) and name in self.given[-1] and "at" not in path

    def is_mutable(self, node: ast.AST | None) -> bool:
        if isinstance(node, DISPLAYS):
            return True
        if not isinstance(node, ast.Call):
            return False
        if (self.source.dotted(node.func) or "").startswith("numpy."):
            return True
        factory = [keyword.value for keyword in node.keywords if keyword.arg == "default_factory"]
        return any(isinstance(part, ast.Name) and part.id in CONTAINERS for part in (node.func, *factory))


def _reached(node: ast.AST, through_calls: bool) -> tuple[str, list[str]]:
    """The name that a value is reached from ("" where it is none), and the attributes on the way."""
    path: list[str] = []
    while isinstance(node, ast.Attribute | ast.Subscript) or (through_calls and isinstance(node, ast.Call)):
        if isinstance(node, ast.Attribute):
            path.append(node.attr)
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else "", path


def _is_iterator(node: ast.AST | None) -> bool:
    if isinstance(node, ast.GeneratorExp):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ITERATORS


def _own_names(function: Function) -> tuple[set[str], set[str]]:
    """Parameters and what is assigned in a function, without other names for what comes from outside it.

    And of these the parameters that are never assigned to, with other names for them.
    """
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    parameters = {argument.arg for argument in every if argument is not None}
    assigned: set[str] = set()
    borrowed: list[tuple[str, str]] = []
    for node in _inside(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assigned.add(node.id)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            borrowed += [(target.id, node.value.id) for target in node.targets if isinstance(target, ast.Name)]
    own, given = parameters | assigned, parameters - assigned
    for name, origin in borrowed:
        if origin not in own:
            own.discard(name)
        elif origin in given:
            given.add(name)
    return own, given


def _inside(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function's body, without those of functions and classes defined in it."""
    body = function.body if isinstance(function.body, list) else [function.body]
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))
