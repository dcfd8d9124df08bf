"""Compares every value of a candidate that outlives a call, before and after its rules ran.

The source shows most places where something is kept (state.py); a list that is handed from helper to helper, or kept in
a method that is bound to it, shows itself here. Used in the candidate's worker.
"""

import dataclasses
import enum
import functools
import gc
import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from types import BuiltinMethodType, FunctionType, MethodType, ModuleType
from typing import Any

import jax
import numpy as np

ATOMS = (bool, int, float, complex, str, bytes, type(None), range, slice, np.generic, np.dtype, type(Ellipsis))
USED_UP = "an iterator, which is used up as it is read"
MOST = 100_000  # values that are looked at; tables are one each
DEEPEST = 40


def lasting(package: str, *made: Any) -> dict[str, str]:
    """{place: content} of all that can be reached from a package's modules and from what its `make` returned."""
    walk = _Walk(package)
    for name, module in sorted(sys.modules.items()):
        if name.startswith(f"{package}."):
            walk.members(name.removeprefix(f"{package}."), vars(module), 0)
    for value in made:
        walk.visit(f"make().{type(value).__name__}", value, 0)
    return walk.shown


def remembered(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """The places whose content changed, appeared or is gone, and those of iterators."""
    places = {place for place in before.keys() | after.keys() if before.get(place) != after.get(place)}
    return sorted(places | {place for place, content in after.items() if content == USED_UP})


class _Walk:
    """Every object is visited once, under the first place where it was found."""

    def __init__(self, package: str) -> None:
        self.package, self.shown = package, dict[str, str]()
        self._seen: dict[int, Any] = {}  # keeps what is visited alive, so that no number is given twice

    def visit(self, place: str, value: Any, depth: int) -> None:
        if isinstance(value, ATOMS):
            self.shown[place] = repr(value)
        elif id(value) not in self._seen and len(self._seen) < MOST and depth < DEEPEST:
            self._seen[id(value)] = value
            self._look(place, value, depth + 1)

    def members(self, place: str, values: Mapping[str, Any], depth: int) -> None:
        """Attributes by name, without what Python itself puts there."""
        for name, value in sorted(values.items()):
            if not (name.startswith("__") and name.endswith("__")):
                self.visit(f"{place}.{name}", value, depth)

    def _look(self, place: str, value: Any, depth: int) -> None:
        self.shown[place] = type(value).__name__
        if isinstance(value, Iterator):
            self.shown[place] = USED_UP
        elif isinstance(value, np.ndarray) and value.dtype != object:
            self.shown[place] = f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
        elif isinstance(value, ModuleType | jax.Array):
            pass  # a foreign module, or what cannot be changed
        elif isinstance(value, type):
            self._class(place, value, depth)
        elif isinstance(value, Mapping):
            self.shown[place] = repr(sorted(map(repr, value)))
            self._all(place, value.values(), depth)
        elif isinstance(value, Set):
            self.shown[place] = repr(sorted(map(repr, value)))
        elif isinstance(value, Sequence | np.ndarray):
            self.shown[place] = f"{len(value)} values"
            self._all(place, value, depth)
        elif isinstance(value, FunctionType):
            self._function(place, value, depth)
        else:
            self._object(place, value, depth)

    def _class(self, place: str, value: type, depth: int) -> None:
        if issubclass(value, enum.Enum):  # a Flag adds to its own table when members are combined
            self._all(place, [member.value for member in value], depth)
        elif self._is_own(value):
            self.members(place, vars(value), depth)

    def _function(self, place: str, value: FunctionType, depth: int) -> None:
        if self._is_own(value):  # or its decorator's, which has its name
            cells = [cell.cell_contents for cell in value.__closure__ or () if _filled(cell)]
            self._all(place, (value.__defaults__, value.__kwdefaults__, cells), depth)
            self.members(place, vars(value), depth)

    def _object(self, place: str, value: Any, depth: int) -> None:
        if isinstance(value, MethodType | BuiltinMethodType):  # `add = rows.append` keeps the rows
            inner = [value.__self__]
        elif isinstance(value, functools.partial):
            inner = [value.func, value.args, value.keywords]
        elif isinstance(value, property):
            inner = [value.fget, value.fset, value.fdel]
        elif isinstance(value, memoryview):
            inner = [value.obj]
        else:
            inner = [value.__wrapped__] if hasattr(value, "__wrapped__") else []  # a compiled function, say
            if isinstance(value, functools._lru_cache_wrapper) and self._is_own(value):
                inner += [one for one in gc.get_referents(value) if isinstance(one, dict)]  # what it remembers
            fields = dataclasses.fields(value) if dataclasses.is_dataclass(value) else ()
            named = (*(field.name for field in fields), *_slots(type(value)))
            slots = {name: getattr(value, name) for name in named if hasattr(value, name)}
            self.members(place, {**slots, **getattr(value, "__dict__", {})}, depth)
        self._all(place, inner, depth)

    def _is_own(self, value: Any) -> bool:
        return str(value.__module__).startswith(f"{self.package}.")

    def _all(self, place: str, values: Iterable[Any], depth: int) -> None:
        for number, value in enumerate(values):
            self.visit(f"{place}[{number}]", value, depth)


def _slots(kind: type) -> Iterator[str]:
    """The attributes that instances have instead of a dictionary."""
    for owner in kind.__mro__:
        declared = vars(owner).get("__slots__", ())
        yield from (declared,) if isinstance(declared, str) else declared


def _filled(cell: Any) -> bool:
    """Whether a variable of an outer function has a value yet."""
    try:
        cell.cell_contents  # noqa: B018 (reading it raises)
    except ValueError:
        return False
    return True
