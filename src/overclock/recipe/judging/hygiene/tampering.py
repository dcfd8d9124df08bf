"""Whether code that was imported changed modules that are not its own: a clock, JAX, or the worker it runs in."""

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import overclock.verify.rollout.lockstep  # noqa: F401 (the comparison is not used here, but whoever patches it is seen)

WATCHED = ("builtins", "time", "os", "sys", "json", "struct", "math", "numpy", "jax", "jaxlib", "overclock")
CLASSES_OF = "overclock"  # patched methods are looked for here; NumPy's and JAX's classes are mostly written in C


def snapshot() -> dict[str, dict[str, Any]]:
    """Every function and class of the watched modules, and every attribute of Overclock's classes, by name."""
    shown: dict[str, dict[str, Any]] = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in WATCHED and isinstance(module, ModuleType):
            shown[name] = {key: value for key, value in vars(module).items() if callable(value)}
            for owner in _classes(name, shown[name]):
                shown[f"{name}.{owner.__name__}"] = dict(vars(owner))
    return shown


def tampered(before: dict[str, dict[str, Any]]) -> list[str]:
    """The names that stand for something else than at the time of the snapshot, or for nothing any more."""
    now = snapshot()
    return sorted(
        f"{place}.{name}"
        for place, values in before.items()
        for name, value in values.items()
        if now.get(place, {}).get(name) is not value
    )


def _classes(module: str, values: dict[str, Any]) -> Iterator[type]:
    if module.partition(".")[0] == CLASSES_OF:
        for value in values.values():
            if isinstance(value, type) and value.__module__ == module:
                yield value
