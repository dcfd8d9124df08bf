"""Packages whose names load on first use, so that listing environments or registering plugins does not import JAX."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` (PEP 562) for a package; `homes` maps each public name to the module that has it.

    Of an old name that is kept for those who use it, "module:name" says what it is called now.
    """

    def get(name: str) -> Any:
        if name in homes:
            module, _, new_name = homes[name].partition(":")
            return getattr(importlib.import_module(module), new_name or name)
        raise AttributeError(f"module '{package}' has no attribute '{name}'")

    return get, lambda: sorted({*homes, *vars(sys.modules[package])})
