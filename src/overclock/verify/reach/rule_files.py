"""Where a reference's rules are written: the files of its classes, of what it holds, of helpers."""

import inspect
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

MOST_ITEMS = 1_000  # of a container that is looked through
FAMILIAR = frozenset({"numpy", "gymnasium", "gym", "pygame", "overclock", "typing_extensions"})
INSTALLED = frozenset(str(Path(sysconfig.get_path(name)).resolve()) for name in ("stdlib", "purelib", "platlib"))


def rule_files(env: Any) -> list[str]:
    """The source files of an environment's rules: of its classes, of objects it holds, of modules they import.

    `env` may be wrapped. Rules are what belongs to the environment's package or lies in its folder, and the modules of
    its base classes. What Gymnasium, NumPy and Python bring along is not searched for branches.
    """
    return sorted({str(module.__file__) for module in rule_modules(env)})


def rule_modules(env: Any) -> list[ModuleType]:
    """The modules with these files."""
    home = _Home(env)
    found: dict[str, ModuleType] = {}
    waiting = [module for one in held(env) for module in _modules_of(type(one))]
    while waiting:
        module = waiting.pop()
        if module.__name__ in found or not home.owns(module):
            continue
        found[module.__name__] = module
        for value in list(vars(module).values()):
            if isinstance(value, ModuleType):
                waiting.append(value)
            elif inspect.isfunction(value) or isinstance(value, type):
                waiting += [sys.modules[value.__module__]] if value.__module__ in sys.modules else []
    return list(found.values())


def held(env: Any) -> Iterator[Any]:
    """The environment without its wrappers and every object of its rules that it holds, in containers too."""
    home = _Home(env)
    waiting: list[Any] = [getattr(env, "unwrapped", env)]
    known: set[int] = set()
    while waiting:
        one = waiting.pop()
        if id(one) in known:
            continue
        known.add(id(one))
        if isinstance(one, dict):
            waiting += list(one.values())[:MOST_ITEMS]
        elif isinstance(one, list | tuple | set | frozenset):
            waiting += list(one)[:MOST_ITEMS]
        elif any(home.owns(module) for module in _modules_of(type(one))):
            yield one
            slots = [name for cls in type(one).__mro__ for name in getattr(cls, "__slots__", ())]
            waiting += [getattr(one, name) for name in slots if isinstance(name, str) and hasattr(one, name)]
            waiting += list(getattr(one, "__dict__", {}).values())


class _Home:
    """What an environment's rules may be made of: its package, its folder, the modules of its base classes."""

    def __init__(self, env: Any) -> None:
        cls = type(getattr(env, "unwrapped", env))
        self._package = _package(cls.__module__)
        file = getattr(sys.modules.get(cls.__module__), "__file__", None)
        folder = None if file is None else Path(file).resolve().parent
        self._folder = None if folder is None or _installed(folder) else folder
        self._bases = {_package(one.__module__) for one in cls.__mro__} - {"gymnasium", "gym", "builtins"}
        self._bases = {name for name in self._bases if name.partition(".")[0] not in sys.stdlib_module_names}

    def owns(self, module: ModuleType) -> bool:
        """Whether a module is part of the rules."""
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not file.endswith(".py"):
            return False
        return _package(module.__name__) in self._bases or self._beside(Path(file))

    def _beside(self, file: Path) -> bool:
        return self._folder is not None and file.resolve().is_relative_to(self._folder)


def _package(module: str) -> str:
    """What belongs together: one package, one part of Gymnasium's, one folder of ours."""
    parts = module.split(".")
    if parts[0] in ("gymnasium", "gym"):
        return ".".join(parts[:3]) if parts[1:2] == ["envs"] and len(parts) > 3 else parts[0]
    return module.rpartition(".")[0] if parts[0] == "overclock" else parts[0]


def _installed(folder: Path) -> bool:
    """Whether a folder is one in which unrelated packages lie side by side."""
    return str(folder) in INSTALLED or folder.name in ("site-packages", "dist-packages")


def _modules_of(cls: type) -> list[ModuleType]:
    return [sys.modules[one.__module__] for one in cls.__mro__ if one.__module__ in sys.modules]


def outside_packages(modules: list[ModuleType]) -> list[str]:
    """The packages that the rules use and whose code is not searched: neither their own nor Python's, NumPy's, ours."""
    own = {module.__name__.partition(".")[0] for module in modules}
    used: set[str] = set()
    for module in modules:
        for value in list(vars(module).values()):
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            if isinstance(name, str):
                used.add(name.partition(".")[0])
    known = sys.stdlib_module_names | own | FAMILIAR
    return sorted(name for name in used if name not in known and name in sys.modules)
