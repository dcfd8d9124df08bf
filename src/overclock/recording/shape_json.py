"""Shapes as JSON, so that a contract can keep them beside it.

What a shape says of constants is written down as far as text can hold it: numbers, strings, None, flags and tuples of
them as they are; functions, classes and members of enumerations by their names. Names are looked up only when a value
is read or written, so a process that does not see the reference can still load its shapes.
"""

import dataclasses
import enum
import importlib
import json
import math
import operator
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from overclock.errors import UsageError
from overclock.recording.shapes import Array, Choice, Exactly, Fixed, Many, Maybe, Number, Record, Shape, describe, same

SCHEMA = "overclock.codec/1"
KEEP_KIND = "keep"


class _Keep:
    """The type of KEEP, which stands for a constant that JSON could not hold."""

    def __repr__(self) -> str:
        return "KEEP"


KEEP = _Keep()
"""The value of an `Exactly` that was not written down: what an instance holds there is never touched."""


@dataclasses.dataclass(frozen=True)
class Named:
    """A constant by its name, 'package.module:Class.member', and as `str` shows it: keys become parts of names."""

    name: str
    text: str = ""

    def __str__(self) -> str:
        return self.text

    def found(self) -> Any:
        """Import the constant; UsageError where it is not there."""
        try:
            return imported(self.name)
        except (ImportError, AttributeError) as error:
            raise UsageError(f"The codec names the constant '{self.name}', which is not there: {error}.") from error


def imported(name: str) -> Any:
    """What 'package.module:Class.member' names; ImportError or AttributeError where it is not there."""
    module, _, path = name.partition(":")
    return operator.attrgetter(path)(importlib.import_module(module))


def constant(value: Any) -> Any:
    """A constant of a shape, looked up where the shape only names it."""
    if isinstance(value, Named):
        return value.found()
    return tuple(map(constant, value)) if type(value) is tuple else value


def codec_to_json(attributes: Mapping[str, Shape]) -> str:
    """The text of a codec's file: the shape of every attribute, by its path."""
    rows = {path: shape_to_json(shape) for path, shape in attributes.items()}
    return json.dumps({"schema": SCHEMA, "attributes": rows}, indent=1) + "\n"


def codec_from_json(text: str) -> dict[str, Shape]:
    """The shape of every attribute, from the text of a codec's file; UsageError where it is none."""
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise ValueError(f"its schema is not {SCHEMA}")
        return {path: shape_from_json(row) for path, row in data["attributes"].items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"This is no codec ({type(error).__name__}: {error}); translate the reference anew."
        ) from error


def shape_to_json(shape: Shape) -> Any:
    """A shape as lists, dicts and plain values."""
    match shape:
        case Number(dtype, python):
            return {"kind": "number", "dtype": dtype, **({"python": True} if python else {})}
        case Array(dtype, size):
            return {"kind": "array", "dtype": dtype, "shape": list(size)}
        case Maybe(of):
            return {"kind": "maybe", "of": shape_to_json(of)}
        case Fixed(items, kind):
            return {"kind": "fixed", "as": kind, "items": [shape_to_json(item) for item in items]}
        case Many(of, capacity, kind):
            return {"kind": "many", "as": kind, "capacity": capacity, "of": shape_to_json(of)}
        case Record(cls, fields):
            rows = [[_key_to_json(key), shape_to_json(inner)] for key, inner in fields]
            return {"kind": "record", "class": cls, "fields": rows}
        case Choice(options):
            try:
                return {"kind": "choice", "options": [_constant_to_json(one) for one in options]}
            except TypeError as error:
                raise UsageError(f"A state that is {describe(shape)} cannot be written down: {error}.") from error
        case Exactly(value):
            try:
                return {"kind": "exactly", "value": _constant_to_json(value)}
            except TypeError:
                return {"kind": KEEP_KIND}


def shape_from_json(data: Any) -> Shape:
    """A shape from what `shape_to_json` made of it; ValueError or KeyError where it is none."""
    match data["kind"]:
        case "number":
            return Number(data["dtype"], data.get("python", False))
        case "array":
            return Array(data["dtype"], tuple(data["shape"]))
        case "maybe":
            return Maybe(shape_from_json(data["of"]))
        case "fixed":
            return Fixed(tuple(shape_from_json(item) for item in data["items"]), data["as"])
        case "many":
            return Many(shape_from_json(data["of"]), data["capacity"], data["as"])
        case "record":
            rows = ((_constant_from_json(key), shape_from_json(inner)) for key, inner in data["fields"])
            return Record(data["class"], tuple(rows))
        case "choice":
            return Choice(tuple(_constant_from_json(one) for one in data["options"]))
        case "exactly":
            return Exactly(_constant_from_json(data["value"]))
        case "keep":
            return Exactly(KEEP)
        case kind:
            raise ValueError(f"there is no shape of the kind '{kind}'")


def _key_to_json(key: Any) -> Any:
    """The key of a field; the names of leaves are made of keys, so it must look the same when it is read back."""
    try:
        data = _constant_to_json(key)
        if str(_constant_from_json(data)) == str(key):
            return data
        reason = "it would be called otherwise"
    except TypeError as error:
        reason = str(error)
    raise UsageError(f"The key {key!r} of a dict in the state cannot be written down: {reason}.")


def _constant_to_json(value: Any) -> Any:
    """A constant as JSON; TypeError where JSON cannot hold it."""
    if isinstance(value, Named):
        return {"named": value.name, "text": value.text}
    if isinstance(value, enum.Enum):
        return _name(f"{type(value).__module__}:{type(value).__qualname__}.{value.name}", value)
    if isinstance(value, type | types.FunctionType):
        return _name(f"{value.__module__}:{value.__qualname__}", value)
    if type(value) is np.str_:
        return {"str_": str(value)}
    if type(value) is float and not math.isfinite(value):
        return {"float": str(value)}
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is tuple:
        return {"tuple": [_constant_to_json(item) for item in value]}
    raise TypeError(f"{type(value).__name__} is neither plain data nor has it a name")


def _name(name: str, value: Any) -> dict[str, str]:
    try:
        found = Named(name).found()
    except UsageError as error:
        raise TypeError(str(error)) from error
    if not same(found, value):
        raise TypeError(f"{name} means something else")
    return {"named": name, "text": str(value)}


def _constant_from_json(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    match data:
        case {"named": name, "text": text}:
            return Named(name, text)
        case {"float": text}:
            return float(text)
        case {"str_": text}:
            return np.str_(text)
        case {"tuple": items}:
            return tuple(_constant_from_json(item) for item in items)
        case _:
            raise ValueError(f"{data} is no constant")
