"""Objects that refer to one another in a circle: found, so that they are refused as what they are.

A state is laid out as arrays from the outside in. What leads back to where it came from would have no end.
"""

import collections
from collections.abc import Iterable
from typing import Any

from overclock.recording.generators import GENERATORS

CIRCLE = "objects that refer to one another in a circle"


def circle(value: Any) -> str | None:
    """The attribute ('Ball.game') or the kind of container through which something in a value leads back to itself."""
    above, done = {id(value)}, set[int]()
    waiting = [(value, iter(_inside(value)))]
    while waiting:
        holder, parts = waiting[-1]
        for name, part in parts:
            if id(part) in above:
                kind = type(holder).__name__
                return f"{kind}.{name}" if hasattr(holder, "__dict__") else f"a {kind}"
            if id(part) not in done and (inner := list(_inside(part))):
                above.add(id(part))
                waiting.append((part, iter(inner)))
                break
        else:
            waiting.pop()
            above.discard(id(holder))
            done.add(id(holder))
    return None


def circle_in(value: Any) -> str | None:
    """The reason to refuse a value, where it has a circle inside."""
    where = circle(value)
    return None if where is None else f"{CIRCLE}, through {where}"


def _inside(value: Any) -> Iterable[tuple[Any, Any]]:
    from overclock.recording.shapes import is_plain_object

    if isinstance(value, list | tuple | collections.deque):
        return enumerate(value)
    if isinstance(value, dict):
        return value.items()
    if is_plain_object(value) and not isinstance(value, GENERATORS):
        return vars(value).items()
    return ()
