"""Reference cycles: objects that lead back to themselves, whose layout as arrays would have no end."""

import collections
from collections.abc import Iterable
from typing import Any

from overclock.recording.generators import GENERATORS

CYCLE = "objects that refer to one another in a circle"


def reference_cycle(value: Any) -> str | None:
    """The attribute ('Ball.game') or kind of container through which a value leads back to itself; None: no cycle."""
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


def cycle_reason(value: Any) -> str | None:
    """Why a value with a reference cycle inside cannot be laid out; None where there is none."""
    where = reference_cycle(value)
    return None if where is None else f"{CYCLE}, through {where}"


def _inside(value: Any) -> Iterable[tuple[Any, Any]]:
    from overclock.recording.shapes import is_plain_object

    if isinstance(value, list | tuple | collections.deque):
        return enumerate(value)
    if isinstance(value, dict):
        return value.items()
    if is_plain_object(value) and not isinstance(value, GENERATORS):
        return vars(value).items()
    return ()
