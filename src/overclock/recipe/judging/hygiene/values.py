"""What a candidate's modules hold that is not theirs: modules, functions and classes from where none may come.

The source shows what it imports (vocabulary.py); this is what is there once it has been imported. Used in its worker.
"""

import builtins
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

from overclock.recipe.judging.hygiene.allowed_names import BUILTINS
from overclock.recipe.judging.hygiene.vocabulary import TOPS, is_module

# Where NumPy's, JAX's and typing's own values say that they come from.
HOMES = TOPS | {"jaxlib", "ml_dtypes", "types", "abc", "collections"}
UNSEEN = frozenset({"__spec__", "__loader__", "__builtins__"})  # of every module


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
