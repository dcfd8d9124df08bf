"""Static options of an environment, held against the types that its fields are declared with."""

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


def checked_options(
    whose: str, maker: Callable[..., Any], known: Iterable[str], given: dict[str, Any]
) -> dict[str, Any]:
    """The options as Python's own numbers; one that `maker` does not take, or not of that type, is refused.

    Types other than bool, int, float, str and None are left to the environment itself.
    """
    names = list(known)
    for name in given:
        if name not in names:
            close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            hint = f"did you mean '{close[0]}'" if close else f"it has {', '.join(names) or 'none'}"
            raise UsageError(f"{whose} has no option '{name}' ({hint}).")
    declared = _declared(maker) if given else {}
    return {name: _checked(whose, name, declared.get(name, Any), value) for name, value in given.items()}


def _declared(maker: Callable[..., Any]) -> dict[str, Any]:
    """The types of a constructor's arguments, where its author wrote them so that they can be read."""
    try:
        return typing.get_type_hints(maker.__init__)
    except (NameError, AttributeError, TypeError):
        return {}


def _checked(whose: str, name: str, declared: Any, value: Any) -> Any:
    union = typing.get_origin(declared) in (typing.Union, types.UnionType)
    kinds = [KINDS.get(kind) for kind in (typing.get_args(declared) if union else (declared,))]
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()  # a number of NumPy or JAX
    fitting = [kind for kind in kinds if kind is None or _is(value, kind[0])]
    if fitting:
        return value
    wanted = " or ".join(kind[1] for kind in kinds if kind is not None)
    raise UsageError(f"{whose} takes {wanted} as its option {name}, got {value!r}.")


def _is(value: Any, kinds: tuple[type, ...]) -> bool:
    """Whether a value is of one of these types; to Python, True is a number."""
    return isinstance(value, kinds) and (not isinstance(value, bool) or bool in kinds)
