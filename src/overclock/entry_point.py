"""`EntryPoint`: an object that another process can load, with the arguments to call it with.

Twins, subjects and launchers cross process borders by name. This is the only place that reads or writes such names:
as text for people ('package.module:name'), and as JSON on command lines and in messages.
"""

import dataclasses
import importlib
import operator
from collections.abc import Callable, Mapping
from typing import Any


@dataclasses.dataclass(frozen=True)
class EntryPoint:
    """A module, a name in it, and arguments by name; nothing is imported before `load` or `call`."""

    module: str
    name: str
    arguments: tuple[tuple[str, Any], ...] = ()
    positional: tuple[Any, ...] = ()  # from a text 'package.module:name|argument'

    @classmethod
    def of(cls, target: "EntryPoint | str | Callable[..., Any]", /, **arguments: Any) -> "EntryPoint":
        """The entry point of a class or a function, of a text 'package.module:name', or of another with more arguments.

        A text is used where importing the object would be slow or impossible. One argument may follow it after a bar.
        """
        if isinstance(target, EntryPoint):
            return dataclasses.replace(target, arguments=(*target.arguments, *arguments.items()))
        if isinstance(target, str):
            place, bar, argument = target.partition("|")
            module, _, name = place.partition(":")
            return cls(module, name, tuple(arguments.items()), (argument,) if bar else ())
        if "<" in target.__qualname__:
            raise ValueError(f"{target.__qualname__} cannot be loaded by its name, because it is not at the top level")
        return cls(target.__module__, target.__qualname__, tuple(arguments.items()))

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "EntryPoint":
        """The entry point whose `as_json` gave these values."""
        arguments = tuple(values["arguments"].items())
        return cls(values["module"], values["name"], arguments, tuple(values["positional"]))

    def as_json(self) -> dict[str, Any]:
        """As plain values; arguments must be plain values, too."""
        return {**vars(self), "arguments": dict(self.arguments)}

    def __str__(self) -> str:
        return f"{self.module}:{self.name}" + "".join(f"|{argument}" for argument in self.positional)

    def load(self) -> Any:
        """The object; what it returns for the arguments where there are some."""
        return self.call() if self.arguments or self.positional else self._found()

    def call(self, *given: Any) -> Any:
        """What the object returns for what is given here and the arguments."""
        return self._found()(*given, *self.positional, **dict(self.arguments))

    def _found(self) -> Any:
        return operator.attrgetter(self.name)(importlib.import_module(self.module))
