"""Options and parameters of an environment, checked against the types that its fields are declared with.

By hand: msgspec and cattrs know no arrays in the place of numbers, and `env` imports only jax, numpy and jaxtyping.
"""

import dataclasses
import difflib
import functools
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

from overclock.errors import UsageError

# declared type -> (accepted types, its name in messages); a whole number is accepted where a number is.
KINDS: dict[type, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "a word"),
    type(None): ((type(None),), "null"),
}
# The kinds of dtypes that an array has in the place of such a number; V are those that NumPy has not, as bfloat16.
ARRAYS: dict[type, str] = {bool: "b", int: "iu", float: "iufV"}
LONGEST_SHOWN = 60  # characters of a value in a sentence


def checked_options(
    whose: str,
    maker: Callable[..., Any],
    known: Iterable[str],
    given: dict[str, Any],
    parameters: Callable[[], Iterable[str]] = tuple,
) -> dict[str, Any]:
    """The options as Python numbers; UsageError for one that `maker` does not take, or that has another type.

    Types other than bool, int, float, str and None are left to the environment itself. `parameters` names those of the
    environment, which are no options but easily taken for some.
    """
    names = list(known)
    for name in given:
        if name not in names and name in parameters():
            raise UsageError(
                f"{whose} has '{name}' as a parameter, not as an option; "
                f"use params.replace({name}={_in_a_line(given[name], '...')})."
            )
    _refuse_unknown(whose, "option", names, given)
    declared = _declared(maker) if given else {}
    return {name: _checked(whose, name, declared.get(name, Any), value) for name, value in given.items()}


def refuse_unknown_parameters(params: Any, changes: Iterable[str]) -> None:
    """UsageError if a name in `changes` is not the name of a parameter."""
    _refuse_unknown(type(params).__name__, "parameter", [field.name for field in dataclasses.fields(params)], changes)


def hold_values(params: Any) -> bool:
    """Whether these are values of parameters: a tree of axes, shardings or flags has other types."""
    declared, names = _declared(type(params)), [field.name for field in dataclasses.fields(params)]
    return all(_can_be(getattr(params, name), declared.get(name, Any)) for name in names)


def checked_parameters(params: Any, changes: dict[str, Any]) -> dict[str, Any]:
    """The changes to a set of parameters, lists as tuples; UsageError for a value of another type.

    A number may be an array: parameters differ between the members of a batch.
    """
    whose, declared = type(params).__name__, _declared(type(params))
    for name, value in changes.items():
        if not _can_be(value, declared.get(name, Any)):
            raise UsageError(f"{whose} takes {_words(declared[name])} as its parameter {name}, got {_shown(value)}.")
    return {name: _as_tuples(value, declared.get(name, Any)) for name, value in changes.items()}


def _refuse_unknown(whose: str, what: str, names: list[str], given: Iterable[str]) -> None:
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f"did you mean '{close[0]}'" if close else f"it has {', '.join(names) or 'none'}"
            raise UsageError(f"{whose} has no {what} '{name}' ({hint}).")


def _can_be(value: Any, declared: Any) -> bool:
    """Whether a value, or every element of an array, has the declared type; a type not in KINDS accepts everything."""
    return any(_is_one(value, each) for each in _alternatives(declared))


def _is_one(value: Any, declared: Any) -> bool:
    parts = _parts(declared)
    if parts is not None and isinstance(value, tuple | list):
        return len(value) == len(parts) and all(map(_can_be, value, parts))
    if parts is not None:  # which axis of an array are the parts is known only to those who take it apart
        return len(parts) in getattr(value, "shape", ()) and all(_can_be(value, part) for part in parts)
    kind = getattr(getattr(value, "dtype", None), "kind", "?")
    return declared not in KINDS or kind in ARRAYS.get(declared, "") or _is(value, KINDS[declared][0])


def _as_tuples(value: Any, declared: Any) -> Any:
    """A list as a tuple where a tuple is declared: with a list the parameters would be another tree to JAX."""
    kinds = [each for each in _alternatives(declared) if each is not type(None)]
    a_tuple = len(kinds) == 1 and tuple in (kinds[0], typing.get_origin(kinds[0]))
    if not a_tuple or not isinstance(value, tuple | list):
        return value
    return tuple(map(_as_tuples, value, _parts(kinds[0]) or [Any] * len(value)))


def _words(declared: Any) -> str:
    """A declared type as a message names it."""
    parts = _parts(declared)
    if parts is not None:
        return f"({', '.join(map(_words, parts))})"
    kinds = _alternatives(declared)
    if len(kinds) > 1:
        return " or ".join(map(_words, kinds))
    return KINDS[declared][1] if declared in KINDS else "anything"


def _shown(value: Any) -> str:
    """A refused value as a message shows it."""
    array = bool(getattr(value, "shape", ()))
    return f"an array of {value.dtype}" if array else _in_a_line(value, f"a {type(value).__name__}")


def _in_a_line(value: Any, otherwise: str) -> str:
    """A value as Python would write it, or other words where that is long."""
    written = repr(value)
    return written if len(written) <= LONGEST_SHOWN and "\n" not in written else otherwise


def _alternatives(declared: Any) -> tuple[Any, ...]:
    union = typing.get_origin(declared) in (typing.Union, types.UnionType)
    return typing.get_args(declared) if union else (declared,)


def _parts(declared: Any) -> tuple[Any, ...] | None:
    """The element types of a tuple of fixed length; None for any other type."""
    parts = typing.get_args(declared) if typing.get_origin(declared) is tuple else ()
    return parts if parts and Ellipsis not in parts else None


@functools.cache
def _declared(maker: Callable[..., Any]) -> dict[str, Any]:
    """The types of a constructor's arguments; empty where its annotations cannot be evaluated."""
    try:
        return typing.get_type_hints(maker.__init__)
    except Exception:  # whatever comes of an annotation that is no expression, or one of names that are not there
        return {}


def _checked(whose: str, name: str, declared: Any, value: Any) -> Any:
    kinds = [KINDS.get(kind) for kind in _alternatives(declared)]
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # a number of NumPy or JAX
    if any(kind is None or _is(value, kind[0]) for kind in kinds):
        return value
    raise UsageError(f"{whose} takes {_words(declared)} as its option {name}, got {_shown(value)}.")


def _is(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a value has one of these types; a bool is no number here."""
    return isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds)
