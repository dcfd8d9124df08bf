"""Results are dataclasses inside and JSON at the border: what turns one into the other, and back.

A field made by `absent()` is left out of the JSON where it is None. JSON has no infinity and no NaN: `overclock.files`
writes them as null, and a null that is read where a number belongs is not-a-number.
"""

import dataclasses
import functools
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from overclock.errors import UsageError

T = TypeVar("T")
Values = Mapping[str, Any]
"""JSON values by names that an environment chooses: its state fields, its draws, the inputs of a function."""

_ABSENT = "left out of the JSON where it is None"


def absent() -> Any:
    """A field that is None where a result has no such fact; its key is then left out of the JSON."""
    return dataclasses.field(default=None, metadata={_ABSENT: True})


def key_of(name: str) -> str:
    """The JSON key of a field: its name, without the underscore after a word that Python keeps for itself."""
    return name.removesuffix("_")


def is_absent(field: "dataclasses.Field[Any]") -> bool:
    """Whether a field was made by `absent()`."""
    return _ABSENT in field.metadata


def encode(value: Any) -> Any:
    """A value as JSON types: dataclasses become objects, tuples arrays, keys strings; all else stays as it is."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((field, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {
            key_of(field.name): encode(inner) for field, inner in pairs if inner is not None or not is_absent(field)
        }
    if isinstance(value, Mapping):
        return {str(key): encode(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [encode(inner) for inner in value]
    return value


def decode(kind: Any, data: Any) -> Any:
    """JSON types as a value of `kind`: a dataclass, a union of dataclasses, or what their fields are made of.

    Keys that the dataclass does not have are ignored; keys that are missing get the field's default. Of a union the
    first dataclass is taken whose fields the data has, and whose literals it agrees with. Raises UsageError where
    nothing fits.
    """
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _one_of(arguments, data)
    if kind is float:
        return math.nan if data is None else data
    if origin is tuple:
        inner = arguments[:1] * len(data) if arguments[1:] == (...,) else arguments
        return tuple(decode(one, value) for one, value in zip(inner, data, strict=True))
    if origin is list:
        return [decode(arguments[0], value) for value in data]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key = int if arguments[0] is int else str
        return {key(name): decode(arguments[1], value) for name, value in data.items()}
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        return data
    if not isinstance(data, Mapping):
        raise UsageError(f"A result of an unknown form: {kind.__name__} is an object, got {type(data).__name__}.")
    if missing := [name for name in required(kind) if name not in data]:
        raise UsageError(f"A result of an unknown form: {kind.__name__} has no '{missing[0]}'.")
    found = {name: (hint, data[key_of(name)]) for name, hint in hints_of(kind).items() if key_of(name) in data}
    return kind(**{name: decode(hint, value) for name, (hint, value) in found.items()})


def extended(kind: type[T], found: Any, **more: Any) -> T:
    """A dataclass with the fields of another one and more."""
    return kind(**{field.name: getattr(found, field.name) for field in dataclasses.fields(found)}, **more)


@functools.cache
def hints_of(kind: type) -> dict[str, Any]:
    """The fields of a dataclass and their types, in order."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


@functools.cache
def required(kind: type) -> tuple[str, ...]:
    """The keys of the fields of a dataclass that have no default: older results have them too."""
    nothing = dataclasses.MISSING
    fields = dataclasses.fields(kind)
    return tuple(key_of(one.name) for one in fields if one.default is nothing and one.default_factory is nothing)


def _one_of(kinds: tuple[Any, ...], data: Any) -> Any:
    if data is None and type(None) in kinds:
        return None
    others = [kind for kind in kinds if kind is not type(None)]
    for kind in others if len(others) > 1 else ():
        if dataclasses.is_dataclass(kind) and isinstance(data, Mapping) and _fits(kind, data):  # pyright: ignore[reportArgumentType]
            return decode(kind, data)
    if len(others) > 1 and any(map(dataclasses.is_dataclass, others)):
        raise UsageError("A result of an unknown form: it fits none of its kinds.")
    return decode(others[0], data) if len(others) == 1 else data


def _fits(kind: type, data: Mapping[str, Any]) -> bool:
    hints = hints_of(kind)
    literals = {key_of(name): get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}
    agrees = all(data[name] in values for name, values in literals.items() if name in data)
    return agrees and all(name in data for name in required(kind))
