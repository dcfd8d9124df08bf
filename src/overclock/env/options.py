"""Options and parameters of an environment, held against the types that its fields are declared with."""

import dataclasses
import difflib
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

from overclock.errors import UsageError

# What a value of a declared type must be, and in which words it is asked for; a whole number is a number, too.
KINDS: dict[type, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a word"),
    type(None): ((type(None),), "null"),
}
# The kinds of dtypes that an array has in the place of such a number; V are those that NumPy has not, as bfloat16.
ARRAYS: dict[type, str] = {bool: "b", int: "iu", float: "iufV"}


def checked_options(
    whose: str,
    maker: Callable[..., Any],
    known: Iterable[str],
    given: dict[str, Any],
    parameters: Callable[[], Iterable[str]] = tuple,
) -> dict[str, Any]:
    """The options as Python's own numbers; one that `maker` does not take, or not of that type, is refused.

    Types other than bool, int, float, str and None are left to the environment itself. `parameters` names those of the
    environment, which are no options but easily taken for some.
    """
    names = list(known)
    for name in given:
        if name not in names and name in parameters():
            raise UsageError(
                f"{whose} has '{name}' as a parameter, not as an option; use params.replace({name}={given[name]!r})."
            )
    _refuse_unknown(whose, "option", names, given)
    declared = _declared(maker) if given else {}
    return {name: _checked(whose, name, declared.get(name, Any), value) for name, value in given.items()}


def checked_parameters(params: Any, changes: dict[str, Any]) -> dict[str, Any]:
    """The changes of a set of parameters; refuses names that it has not, and values that cannot be one of that type.

    A number may be an array: parameters differ between the members of a batch.
    """
    whose = type(params).__name__
    _refuse_unknown(whose, "parameter", [field.name for field in dataclasses.fields(params)], changes)
    declared = _declared(type(params)) if changes else {}
    for name, value in changes.items():
        if not _can_be(value, declared.get(name, Any)):
            got = f"an array of {value.dtype}" if getattr(value, "shape", ()) else repr(value)
            raise UsageError(f"{whose} takes {_words(declared[name])} as its parameter {name}, got {got}.")
    return changes


def _refuse_unknown(whose: str, what: str, names: list[str], given: Iterable[str]) -> None:
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f"did you mean '{close[0]}'" if close else f"it has {', '.join(names) or 'none'}"
            raise UsageError(f"{whose} has no {what} '{name}' ({hint}).")


def _can_be(value: Any, declared: Any) -> bool:
    """Whether a value, or every element of an array, is of a declared type; those not known here always fit."""
    parts = _parts(declared)
    if parts is not None and isinstance(value, tuple | list):
        return len(value) == len(parts) and all(map(_can_be, value, parts))
    if hasattr(value, "dtype"):
        kind = getattr(value.dtype, "kind", "?")
        return any(each not in KINDS or kind in ARRAYS.get(each, "") for each in parts or _alternatives(declared))
    known = [KINDS.get(kind) for kind in _alternatives(declared)]
    return parts is None and any(kind is None or _is(value, kind[0]) for kind in known)


def _words(declared: Any) -> str:
    """What is asked for."""
    parts = _parts(declared)
    if parts is not None:
        return f"({', '.join(map(_words, parts))})"
    return " or ".join(KINDS[kind][1] for kind in _alternatives(declared) if kind in KINDS)


def _alternatives(declared: Any) -> tuple[Any, ...]:
    union = typing.get_origin(declared) in (typing.Union, types.UnionType)
    return typing.get_args(declared) if union else (declared,)


def _parts(declared: Any) -> tuple[Any, ...] | None:
    """The types in a tuple of a fixed length."""
    parts = typing.get_args(declared) if typing.get_origin(declared) is tuple else ()
    return parts if parts and Ellipsis not in parts else None


def _declared(maker: Callable[..., Any]) -> dict[str, Any]:
    """The types of a constructor's arguments, where its author wrote them so that they can be read."""
    try:
        return typing.get_type_hints(maker.__init__)
    except (NameError, AttributeError, TypeError):
        return {}


def _checked(whose: str, name: str, declared: Any, value: Any) -> Any:
    kinds = [KINDS.get(kind) for kind in _alternatives(declared)]
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # a number of NumPy or JAX
    if any(kind is None or _is(value, kind[0]) for kind in kinds):
        return value
    raise UsageError(f"{whose} takes {_words(declared)} as its option {name}, got {value!r}.")


def _is(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a value is of one of these types; to Python, True is a number."""
    return isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds)
