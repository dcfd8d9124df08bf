"""Functions by name: where they hang, how to put another in their place, and which ones a module exports.

A target is a method or a function ('package.module:Class.method', 'package.module:function'), a class
('package.module:Class') or a module ('package.module'); the last two mean every public function defined there.
"""

import dataclasses
import importlib
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

from overclock.errors import UsageError


@dataclasses.dataclass(frozen=True)
class Place:
    """A function that hangs in a module or a class under a name."""

    owner: Any
    attribute: str
    name: str  # 'package.module:Class.method'

    @property
    def found(self) -> Any:
        """What hangs there, without binding it."""
        return inspect.getattr_static(self.owner, self.attribute)

    @property
    def plain(self) -> types.FunctionType:
        """The Python function inside it, without what decorators (a jit, a cache) put around it."""
        inner = _plain(self.found)
        if inner is None:
            raise UsageError(f"{self.name} is {type(self.found).__name__}, not a function written in Python.")
        return inner

    def checked(self) -> "Place":
        """Itself, if a Python function hangs there."""
        _ = self.plain
        return self

    @property
    def has_self(self) -> bool:
        """Whether the first argument is an instance whose attributes matter."""
        return isinstance(self.owner, type) and not isinstance(self.found, staticmethod | classmethod)

    def replace(self, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Callable[[], None]:
        """Put a wrapper in its place; returns what undoes it."""
        found = self.found
        wrapper = wrap(_unbound(found))
        if isinstance(found, property):
            new: Any = property(wrapper, found.fset, found.fdel, found.__doc__)
        else:
            new = type(found)(wrapper) if isinstance(found, staticmethod | classmethod) else wrapper
        if not isinstance(self.owner, type):
            _swap_everywhere(found, new)
            return lambda: _swap_everywhere(new, found)
        inherited = self.attribute not in vars(self.owner)
        setattr(self.owner, self.attribute, new)
        if inherited:
            return lambda: delattr(self.owner, self.attribute)
        return lambda: setattr(self.owner, self.attribute, found)


def find(target: str) -> list[Place]:
    """The functions a target means."""
    module_name, _, path = target.partition(":")
    try:
        owner: Any = importlib.import_module(module_name)
        *parents, last = path.split(".")
        for parent in parents:
            owner = getattr(owner, parent)
        named = inspect.getattr_static(owner, last) if last else owner
    except (ImportError, AttributeError) as error:
        raise UsageError(f"'{target}' names no function, class or module: {error}.") from error
    if isinstance(named, types.ModuleType):
        return exported(named)
    if isinstance(named, type):
        return _public_methods(named, f"{module_name}:{path}")
    return [Place(owner, last, target).checked()]


def exported(module: types.ModuleType) -> list[Place]:
    """The public functions written in a module, and the public methods of its public classes."""
    places = []
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, type):
            places += _public_methods(value, f"{module.__name__}:{name}")
        elif _written_in(module.__name__, value):
            places.append(Place(module, name, f"{module.__name__}:{name}"))
    return places


def _public_methods(cls: type, prefix: str) -> list[Place]:
    return [
        Place(cls, name, f"{prefix}.{name}")
        for name, value in vars(cls).items()
        if not name.startswith("_") and _written_in(cls.__module__, value)
    ]


def _written_in(module: str, value: Any) -> bool:
    """Whether it is a function of this module, not one borrowed from elsewhere."""
    inner = _plain(value)
    return inner is not None and inner.__module__ == module


def _plain(value: Any) -> types.FunctionType | None:
    """The Python function inside a method, a property or a decorated (jitted, cached) function."""
    inner = _unbound(value)
    if not isinstance(inner, types.FunctionType | type) and callable(inner):
        inner = inspect.unwrap(inner)
    return inner if isinstance(inner, types.FunctionType) else None


def _unbound(value: Any) -> Any:
    return value.fget if isinstance(value, property) else getattr(value, "__func__", value)


def _swap_everywhere(old: Any, new: Any) -> None:
    """In every loaded module: others may hold the function by `from module import function`."""
    for module in list(sys.modules.values()):
        if isinstance(module, types.ModuleType):
            for name in [name for name, value in vars(module).items() if value is old]:
                setattr(module, name, new)
