"""Paths to the state inside an environment: 'state', 'state[0]', 'player.pos', 'hands["dealer"]'; read and written.

    read(env, "player.pos")              write(env, {"player.pos": values, "score": 3})

A path is parsed, never evaluated. It starts at the innermost instance (`env.unwrapped`). What is written takes the
kind of what was there: a tuple stays a tuple, an int an int, a NumPy array keeps its dtype.
"""

import collections
import enum
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from overclock.errors import UsageError

STEP = re.compile(r"""\.?([A-Za-z_]\w*)|\[(-?\d+)\]|\["([^"\\]*)"\]""")
Key = str | int


class Item(NamedTuple):
    """A step of a path into a list, an array or a dict; a step to an attribute is just its name."""

    key: Key


def parse(path: str) -> list[str | Item]:
    """The steps of a path; the first is always an attribute."""
    steps: list[str | Item] = []
    position = 0
    while position < len(path):
        matched = STEP.match(path, position)
        dot = path.startswith(".", position)
        if matched is None or (matched[1] and dot == (not steps)) or (not matched[1] and not steps):
            raise UsageError(f"'{path}' is no path; write attributes and items like 'player.pos' or 'state[0]'.")
        if matched[1]:
            steps.append(matched[1])
        else:
            steps.append(Item(matched[3] if matched[2] is None else int(matched[2])))
        position = matched.end()
    if not steps:
        raise UsageError("A path names at least one attribute.")
    return steps


def attribute(path: str, name: str) -> str:
    """The path of an attribute of what a path leads to ('' is the instance itself)."""
    return f"{path}.{name}" if path else name


def item(path: str, key: Key) -> str:
    """The path of an item of what a path leads to."""
    return f'{path}["{key}"]' if isinstance(key, str) else f"{path}[{key}]"


def read(env: Any, path: str) -> Any:
    """The value at a path of an environment."""
    value = innermost(env)
    for step in parse(path):
        value = _get(value, step, path)
    return value


def read_captured(attributes: Mapping[str, Any], path: str) -> Any:
    """The value at a path of a captured instance: its attributes by name, objects and dicts as dicts."""
    value: Any = attributes
    for step in parse(path):
        key = step.key if isinstance(step, Item) else step
        value = _get(value, Item(str(key) if isinstance(value, Mapping) else key), path)
    return value


def write(env: Any, values: Mapping[str, Any]) -> None:
    """Put each value where its path leads; containers that cannot be changed are replaced."""
    instance = innermost(env)
    for path, value in values.items():
        _updated(instance, parse(path), value, path)


def innermost(env: Any) -> Any:
    """The environment itself, without wrappers."""
    return getattr(env, "unwrapped", env)


def alike(value: Any, example: Any) -> Any:
    """A number or array in the type, dtype and container of the example."""
    if isinstance(example, enum.Enum):
        return type(example)(_plain(value))
    if isinstance(example, np.ndarray):
        return np.array(value, dtype=example.dtype)
    if isinstance(example, tuple) and hasattr(example, "_fields"):
        return type(example)(*(alike(inner, one) for inner, one in zip(value, example, strict=True)))
    if isinstance(example, list | tuple | collections.deque):
        rows = list(value)
        examples = list(example) if len(example) == len(rows) else [None] * len(rows)
        made = [alike(inner, one) for inner, one in zip(rows, examples, strict=True)]
        return (
            collections.deque(made, example.maxlen) if isinstance(example, collections.deque) else type(example)(made)
        )
    if isinstance(example, bool | int | float | np.generic):
        return type(example)(_plain(value))
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.item() if value.ndim == 0 else np.array(value)
    return value


def _get(value: Any, step: str | Item, path: str) -> Any:
    try:
        return value[step.key] if isinstance(step, Item) else getattr(value, step)
    except (AttributeError, KeyError, IndexError, TypeError) as error:
        name = step.key if isinstance(step, Item) else step
        raise UsageError(f"There is nothing at '{path}': {type(value).__name__} has no {name!r}.") from error


def _updated(before: Any, steps: list[str | Item], value: Any, path: str) -> Any:
    """What takes the place of `before` once a value is written at the end of some steps: itself, if it can change."""
    if not steps:
        return alike(value, before)
    step, rest = steps[0], steps[1:]
    fields: tuple[str, ...] = getattr(before, "_fields", ())
    if isinstance(before, tuple) and step in fields:
        step = Item(fields.index(step))
    inner = _get(before, step, path)
    new = _updated(inner, rest, value, path)
    if isinstance(before, tuple):
        assert isinstance(step, Item)
        items = list(before)
        items[int(step.key)] = new
        return type(before)(*items) if fields else type(before)(items)
    if isinstance(before, np.ndarray):
        before = before.copy()  # somebody may hold the old one, as an observation say
    if new is not inner or not rest:
        _put(before, step, new, path)
    return before


def _put(holder: Any, step: str | Item, value: Any, path: str) -> None:
    try:
        if isinstance(step, Item):
            holder[step.key] = value
        elif getattr(type(holder), "__dataclass_params__", None) and type(holder).__dataclass_params__.frozen:
            object.__setattr__(holder, step, value)
        else:
            setattr(holder, step, value)
    except (AttributeError, TypeError, KeyError, IndexError, ValueError) as error:
        raise UsageError(f"'{path}' cannot be written: {error}.") from error
