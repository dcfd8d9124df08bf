"""What code that was imported has to do with modules that are not its own: it neither changes nor keeps them.

Changed are a clock, JAX, or the worker it runs in. Kept are modules, functions and classes from where none may come:
the source shows what it imports (vocabulary.py), and this is what is there afterwards.
"""

import builtins
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import overclock.verify.rollout.lockstep  # noqa: F401 (the comparison is not used here, but whoever patches it is seen)
from overclock.recipe.judging.hygiene.allowed_names import BUILTINS
from overclock.recipe.judging.hygiene.vocabulary import TOPS, is_module

WATCHED = ("builtins", "time", "os", "sys", "json", "struct", "math", "numpy", "jax", "jaxlib", "overclock")
# Where NumPy's, JAX's and typing's own values say that they come from.
HOMES = TOPS | {"jaxlib", "ml_dtypes", "types", "abc", "collections"}
VALUES = ""  # no module's name
UNSEEN = frozenset({"__spec__", "__loader__", "__builtins__"})  # of every module
CLASSES_OF = "overclock"  # patched methods are looked for here; NumPy's and JAX's classes are mostly written in C


def snapshot() -> dict[str, dict[str, Any]]:
    """Every function and class of the watched modules, and every attribute of Overclock's classes, by name.

    Under VALUES, of every such module what is neither, nor a module: the names alone.
    """
    values: dict[str, Any] = {}
    shown: dict[str, dict[str, Any]] = {VALUES: values}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in WATCHED and isinstance(module, ModuleType):
            shown[name] = {key: value for key, value in vars(module).items() if callable(value)}
            others = (key for key, value in vars(module).items() if not (callable(value) or _is_module(value)))
            values[name] = frozenset(others)
            for owner in _classes(name, shown[name]):
                shown[f"{name}.{owner.__name__}"] = dict(vars(owner))
    return shown


def tampered(before: dict[str, dict[str, Any]]) -> list[str]:
    """The names that stand for something else than at the time of the snapshot, for nothing any more, or are new.

    New are values only: modules get further functions when they are used for the first time.
    """
    now = snapshot()
    changed = (
        f"{place}.{name}"
        for place, values in before.items()
        for name, value in values.items()
        if place != VALUES and now.get(place, {}).get(name) is not value
    )
    known, found = before.get(VALUES, {}), now[VALUES]
    new = (f"{place}.{name}" for place, names in known.items() for name in found.get(place, frozenset()) - names)
    return sorted({*changed, *new})


def _is_module(value: Any) -> bool:
    return isinstance(value, ModuleType)


def _classes(module: str, values: dict[str, Any]) -> Iterator[type]:
    if module.partition(".")[0] == CLASSES_OF:
        for value in values.values():
            if isinstance(value, type) and value.__module__ == module:
                yield value


def foreign(package: str) -> list[str]:
    """'place: module' of every value of a package's modules that comes from a module which may not be imported."""
    found = (
        f"{name.removeprefix(f'{package}.')}.{key}: {home}"
        for name, module in sorted(sys.modules.items())
        if name.startswith(f"{package}.") and isinstance(module, ModuleType)
        for key, value in sorted(vars(module).items())
        if key not in UNSEEN
        for home in _homes(value)
        if not home.startswith(f"{package}.") and home != package
    )
    return list(found)


def _homes(value: Any) -> Iterator[str]:
    """The module that a value leads to, if that is none of those that may be used."""
    if isinstance(value, ModuleType):
        if not is_module(value.__name__):
            yield value.__name__
    elif isinstance(value, BuiltinFunctionType | FunctionType | type):
        home = str(getattr(value, "__module__", None) or "builtins")
        if home == "builtins":
            if vars(builtins).get(value.__name__) is value and value.__name__ not in BUILTINS | {"type", "bytes"}:
                yield f"builtins.{value.__name__}"
        elif home.partition(".")[0] not in HOMES:
            yield home
