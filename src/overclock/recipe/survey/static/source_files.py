"""The text of a reference: its own files, and what a name means in one of them. Nothing of it is run."""

import ast
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from overclock.recipe.survey.static.definitions import Definition, File

# Their packages hold many environments beside each other; an environment's own code is its family, not the library.
LIBRARIES = {"gymnasium": 3}  # leading parts of a module's name that make up one family: gymnasium.envs.toy_text


class SourceFiles:
    """All own files of a reference, read when somebody asks for them."""

    def __init__(self, module: str, folder: Path | None = None) -> None:
        """`folder` is where the module's top-level package lies; without it Python's own search path says."""
        self.own = ".".join(module.split(".")[: LIBRARIES.get(module.partition(".")[0], 1)])
        self._folder = folder
        # A lone file may use its neighbours; beside a package lies everything else that is installed.
        self._beside = folder is not None and "." not in module
        self._files: dict[str, File | None] = {}
        self._made: dict[str, dict[str, Definition]] = {}

    def file(self, module: str) -> File | None:
        """The file of a module, None where it is not part of the reference or not written in Python."""
        if module not in self._files:
            path = self._find(module)
            self._files[module] = None if path is None else File(path, module)
        return self._files[module]

    def _find(self, module: str) -> Path | None:
        inside = module == self.own or module.startswith(f"{self.own}.")
        if not module or not (inside or self._beside):
            return None
        top, *rest = module.split(".")
        for folder in [self._folder] if self._folder is not None else locations(top):
            place = folder.joinpath(top, *rest)
            for path in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
                if path.is_file():
                    return path
        return None

    def define(self, module: str, name: str, seen: tuple[str, ...] = ()) -> Definition | str | None:
        """What a name in a module stands for: a definition, the name of another own module, or nothing of ours."""
        file = self.file(module)
        if file is None or f"{module}:{name}" in seen:
            return None
        seen = (*seen, f"{module}:{name}")
        if name in file.names:
            return file.definitions[file.names[name]]
        if name in file.imports:
            source, attribute = file.imports[name]
            if attribute is None:
                return source if self.file(source) is not None else None
            found = self.define(source, attribute, seen)
            return found or (f"{source}.{attribute}" if self.file(f"{source}.{attribute}") is not None else None)
        for source in file.stars:
            if found := self.define(source, name, seen):
                return found
        return None

    def bases(self, definition: Definition) -> Iterator[Definition]:
        """A class and its own base classes, nearest first."""
        waiting, seen = [definition], set()
        while waiting:
            one = waiting.pop(0)
            if one.name in seen:
                continue
            seen.add(one.name)
            yield one
            assert isinstance(one.node, ast.ClassDef)
            for base in one.node.bases:
                found = self.expression(one.file.module, base)
                if isinstance(found, Definition) and found.kind == "class":
                    waiting.append(found)

    def expression(self, module: str, node: ast.expr) -> Definition | str | None:
        """What `name` or `module.name` stands for."""
        if isinstance(node, ast.Subscript):  # a generic base
            return self.expression(module, node.value)
        if isinstance(node, ast.Name):
            return self.define(module, node.id)
        if isinstance(node, ast.Attribute):
            inner = self.expression(module, node.value)
            if isinstance(inner, str):
                return self.define(inner, node.attr) or (
                    f"{inner}.{node.attr}" if self.file(f"{inner}.{node.attr}") is not None else None
                )
        return None

    def made(self, cls: Definition) -> dict[str, Definition]:
        """The attributes of a class that are made by calling another class, and which."""
        if cls.name not in self._made:
            self._made[cls.name] = found = {}
            for one in self.bases(cls):
                for node in ast.walk(one.node):
                    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)):
                        continue
                    maker = self.expression(one.file.module, node.value.func)
                    if not isinstance(maker, Definition) or maker.kind != "class":
                        continue
                    for target in node.targets:
                        if isinstance(target, ast.Attribute):
                            found.setdefault(target.attr, maker)
        return self._made[cls.name]

    def method(self, cls: Definition, name: str) -> Definition | None:
        """A method by the rules of inheritance."""
        for one in self.bases(cls):
            if found := one.file.definitions.get(f"{one.qualified}.{name}"):
                return found
        return None


def locations(top: str) -> list[Path]:
    """The folders in which a top-level package or module lies."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return []
    if spec is None or top in sys.builtin_module_names:
        return []
    if spec.submodule_search_locations:
        return [Path(place).parent for place in spec.submodule_search_locations]
    return [Path(spec.origin).parent] if spec.origin and spec.origin.endswith(".py") else []
