"""Which parts of a reference are its rules, and which are not: drawing, logging, a command line, code nobody calls."""

import ast
import dataclasses
from collections.abc import Callable, Iterable, Iterator

from overclock.recipe.survey.static.definitions import Definition, File, Function, dotted
from overclock.recipe.survey.static.source_files import SourceFiles
from overclock.recipe.survey.static.uses import Use, called_by_others, methods, uses

RENDERING = {
    "pygame", "matplotlib", "cv2", "PIL", "tkinter", "pyglet", "OpenGL", "glfw", "imageio", "moviepy", "plotly",
    "seaborn", "curses", "rich", "PyQt5", "PyQt6", "PySide6", "vtk", "pyrender",
}  # fmt: skip
COMMAND_LINE = {"argparse", "click", "tyro", "fire", "absl", "typer"}
LOGGING = ("logging", "warnings", "gymnasium.logger", "loguru")
LOGGERS = {"logger", "log", "logging", "_logger", "LOGGER"}


@dataclasses.dataclass(frozen=True)
class Dropped:
    """A part that a translation leaves out, and why."""

    function: str
    file: str
    line: int
    lines: int
    reason: str


@dataclasses.dataclass(frozen=True, eq=False)
class RuleSet:
    """The rules of a reference: their definitions in the order of files and lines, and which uses which."""

    program: SourceFiles
    definitions: tuple[Definition, ...]
    edges: dict[str, tuple[str, ...]]  # by name, to those used
    dropped: tuple[Dropped, ...]

    @property
    def files(self) -> list[File]:
        return list({one.file.module: one.file for one in self.definitions}.values())

    @property
    def playing(self) -> list[Definition]:
        """The definitions that run during episodes, not only when an environment is made."""
        return self.reached_from("reset", "step")

    def reached_from(self, *methods: str) -> list[Definition]:
        """The definitions that run when one of these methods is called."""
        waiting = [one.name for one in self.definitions if one.short in methods]
        seen = set[str]()
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                waiting += self.edges[name]
        return [one for one in self.definitions if one.name in seen]


def select_rules(program: SourceFiles, module: str, class_name: str) -> RuleSet:
    """Select the definitions that a class needs to be made, reset and stepped."""
    cls = program.define(module, class_name)
    assert isinstance(cls, Definition)
    assert cls.kind == "class"
    inherited = [one for base in program.bases(cls) for one in methods(base)]
    frame = [one for one in inherited if _draws(one) or one.short == "close"]
    rules, edges = _reach(program, _entrances(program, cls), _part_of_the_rules)
    seen, _ = _reach(program, [*rules.values(), *frame], lambda use: True)
    files = sorted({one.file.module: one.file for one in rules.values()}.values(), key=lambda file: file.module)
    order = {one.name: position for position, one in enumerate(d for f in files for d in f.definitions.values())}
    names = sorted(rules, key=lambda name: order[name])
    dropped = [
        _dropped(one, one.name in seen) for file in files for one in file.definitions.values() if one.name not in rules
    ]
    kept_edges = {name: tuple(sorted(edges[name] & rules.keys(), key=lambda one: order[one])) for name in names}
    return RuleSet(program, tuple(rules[name] for name in names), kept_edges, tuple(dropped))


def uses_any(definition: Definition, packages: Iterable[str]) -> bool:
    """Whether a definition itself reads something from one of these packages."""
    wanted = set(packages)
    nodes = (node for node in own_nodes(definition) if isinstance(node, ast.Name | ast.Attribute))
    found = (dotted(definition.file, node) for node in nodes)
    return any(name.partition(".")[0] in wanted for name in found if name)


def own_nodes(definition: Definition) -> Iterator[ast.AST]:
    """The syntax nodes of a definition, those of a class without its methods."""
    parts: list[ast.AST] = [definition.node]
    if isinstance(definition.node, ast.ClassDef):
        parts = [inner for inner in ast.iter_child_nodes(definition.node) if not isinstance(inner, Function)]
    for part in parts:
        yield from ast.walk(part)


def _entrances(program: SourceFiles, cls: Definition) -> list[Definition]:
    """The class, what Python calls of it, and its public methods, which anybody may call."""
    found: dict[str, Definition] = {}
    for base in program.bases(cls):
        found.setdefault(f" {base.name}", base)
        for one in (*called_by_others(program, base), *methods(base)):
            public = not one.short.startswith("_") or one.short.startswith("__")
            if public and not _draws(one) and one.short != "close":
                found.setdefault(one.short, one)  # an overridden method counts only where `super()` asks for it
    return list(found.values())


def _part_of_the_rules(use: Use) -> bool:
    return not use.drawing and not (use.implied and use.target is not None and _draws(use.target))


def _draws(definition: Definition) -> bool:
    if definition.short.startswith("__") or definition.short in ("reset", "step"):
        return False
    return definition.short.lstrip("_").startswith("render") or uses_any(definition, RENDERING)


def _reach(
    program: SourceFiles, start: Iterable[Definition], follow: Callable[[Use], bool]
) -> tuple[dict[str, Definition], dict[str, set[str]]]:
    """Everything that is used from the start on, and the edges between.

    A method called on an object of unknown class is every method of that name in the classes found so far; a class
    that is found later may add some, so calls by name are looked at again until nothing is new.
    """
    found: dict[str, Definition] = {}
    waiting: list[Definition] = []
    edges: dict[str, set[str]] = {}
    by_name: dict[str, list[str]] = {}  # a method's name -> who calls it

    def add(target: Definition, user: str | None = None) -> None:
        if _only_logs(target):
            return
        if user is not None:
            edges[user].add(target.name)
        if target.name not in found:
            found[target.name], edges[target.name] = target, set()
            waiting.append(target)

    for one in start:
        add(one)
    while waiting:
        while waiting:
            one = waiting.pop(0)
            for use in uses(program, one):
                if not follow(use):
                    continue
                if use.target is not None:
                    add(use.target, one.name)
                else:
                    by_name.setdefault(use.by_name, []).append(one.name)
            for statement in one.file.definitions.values():
                if statement.kind == "statement":  # what a file does when it is imported
                    add(statement)
        for cls in [one for one in found.values() if one.kind == "class"]:
            for method in methods(cls):
                for user in by_name.get(method.short, []):
                    add(method, user)
    return found, edges


def _dropped(one: Definition, seen_by_rendering: bool) -> Dropped:
    if one.kind == "main" or one.short == "main" or uses_any(one, COMMAND_LINE):
        reason = "command line"
    elif _only_logs(one) or one.short in LOGGERS:
        reason = "logging"
    elif _draws(one) or (seen_by_rendering and one.short != "close"):
        reason = "rendering"
    elif one.short == "close":
        reason = "closes windows and files"
    elif one.short.startswith("test"):
        reason = "a test"
    else:
        reason = "nothing of the rules uses it"
    return Dropped(one.name, str(one.file.path), one.lines[0], len(one.lines), reason)


def _only_logs(one: Definition) -> bool:
    """Whether a function does nothing but write messages."""
    if not isinstance(one.node, Function) or one.short.startswith("__"):
        return False
    found = [_logs(one.file, node) for node in one.node.body]
    return any(found) and all(kind is not False for kind in found)


def _logs(file: File, node: ast.stmt) -> bool | None:
    """True for a message, None for what neither logs nor does anything else, False for the rest."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return None
    if isinstance(node, ast.Pass) or (isinstance(node, ast.Return) and node.value is None):
        return None
    if isinstance(node, ast.If | ast.For):
        inner = [_logs(file, one) for one in (*node.body, *node.orelse)]
        return False if False in inner else any(inner) or None
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        function = node.value.func
        if isinstance(function, ast.Name):
            return function.id == "print"
        full = dotted(file, function) or ""
        receiver = function.value if isinstance(function, ast.Attribute) else None
        name = receiver.id if isinstance(receiver, ast.Name) else getattr(receiver, "attr", "")
        return full.startswith(LOGGING) or name in LOGGERS
    return False
