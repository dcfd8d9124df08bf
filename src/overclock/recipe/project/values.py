"""The values of an overclock.toml, checked when they are read: a wrong type or number is found before any work.

By hand: msgspec accepts unknown keys of dataclasses and infinite numbers, cattrs turns "3" and true into numbers, and
the messages of both would have to be rewritten, which takes more lines than the checks.
"""

import dataclasses
import math
import re
import types
import typing
from collections.abc import Mapping
from typing import Any

from overclock.errors import UsageError

UNLIMITED = "unlimited"  # TOML has no word for None
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*")  # becomes the name of a folder
WORDS = {int: "a whole number", float: "a number", str: "a text", Mapping: "a table"}


def number(default: Any, least: float | None = None, most: float | None = None, above: float | None = None) -> Any:
    """A dataclass field that must lie in a range: at least `least`, at most `most`, more than `above`."""
    return dataclasses.field(default=default, metadata={"least": least, "most": most, "above": above})


def check_values(part: str, values: Any) -> None:
    """UsageError if a value of a part of the project has the wrong type or lies outside of its range."""
    hints = typing.get_type_hints(type(values))
    for field in dataclasses.fields(values):
        value, hint = getattr(values, field.name), hints[field.name]
        wanted = _form(hint)
        if not _is(value, hint):
            raise UsageError(f"{part}.{field.name} must be {wanted}; it is {_shown(value)}.")
        if isinstance(value, int | float) and (said := _outside(value, **field.metadata)):
            raise UsageError(f"{part}.{field.name} must be {said}; it is {_shown(value)}.")


def check_name(what: str, name: str) -> str:
    """The name, if it is safe as the name of a folder; else UsageError."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise UsageError(
            f"{what} cannot be called {_shown(name)}; use letters, digits, points, hyphens and underscores, and begin "
            "with a letter, a digit or an underscore."
        )
    return name


def safe_name(text: str) -> str:
    """The text with everything replaced that `check_name` does not accept."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", text).lstrip(".-") or "project"


def known_keys(cls: type, values: Any) -> dict[str, Any]:
    """The entries of a TOML table as arguments of `cls`, lists as tuples; ValueError for an unknown key."""
    if not isinstance(values, Mapping):
        raise ValueError(f"where a table belongs it has {_shown(values)}")
    known = {field.name for field in dataclasses.fields(cls)}
    unknown = [name for name in values if name not in known]
    if unknown:
        raise ValueError(f"it has the unknown key '{unknown[0]}'")
    plain = {name: None if value == UNLIMITED else value for name, value in values.items()}
    return {name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()}


def _is(value: Any, hint: Any) -> bool:
    kind, inner = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind in (types.UnionType, typing.Union):
        return any(_is(value, one) for one in inner)
    if kind is tuple:
        return isinstance(value, tuple) and all(_is(one, inner[0]) for one in value)
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _form(hint: Any) -> str:
    """What a value of this type is called in a message."""
    kind, inner = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind in (types.UnionType, typing.Union):
        return " or ".join(_form(one) if one is not type(None) else f"'{UNLIMITED}'" for one in inner)
    if kind is tuple:
        return f"a list, each entry {_form(inner[0])}"
    return WORDS[kind]


def _outside(
    value: float, least: float | None = None, most: float | None = None, above: float | None = None
) -> str | None:
    """The range in which a number should lie and does not, in words; None if it does."""
    if above is not None and not value > above:
        return f"more than {above:g}"
    if (least is not None and value < least) or (most is not None and value > most):
        return f"at least {least:g}" if most is None else f"{least:g} to {most:g}"
    return None


def _shown(value: Any) -> str:
    return f"'{value}'" if isinstance(value, str) else f"{value!r}"
