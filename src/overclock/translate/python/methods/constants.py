"""Methods of constants: texts, tuples, tables of the instance. Where everything is known, Python itself is asked."""

import collections

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.values import Known, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.methods.dicts import get_or_default
from overclock.translate.python.methods.lists import list_count
from overclock.translate.python.operators.equality import position_among
from overclock.translate.python.operators.options import from_options, map_options

CHANGING = (
    "append", "pop", "remove", "insert", "extend", "clear", "sort", "add", "discard", "update", "popleft", "appendleft",
    "setdefault", "reverse",
)  # fmt: skip


def constant_method(machine: Machine, name: str, owner: Known, args: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of owner.name(*args, **keywords) where owner is a constant that is no array."""
    inner = owner.value
    if inner is None:
        return Known(None)
    if isinstance(inner, dict) and name in ("get", "items", "keys", "values"):
        if name != "get":
            return machine.constant([*getattr(inner, name)()])
        return get_or_default(machine, list(inner), lambda at: from_options(machine, at, list(inner.values())), args)
    if isinstance(inner, list | dict | set | collections.deque) and name in CHANGING:
        machine.mutable(owner)
    if name == "contains" and hasattr(inner, "sample"):
        return Known(True)  # an action outside the space is no step
    if all(isinstance(one, Known) for one in (*args, *keywords.values())):
        return machine.constant(
            getattr(inner, name)(*(one.value for one in args), **{k: v.value for k, v in keywords.items()})  # pyright: ignore[reportAttributeAccessIssue]
        )
    mapped = map_options(machine, lambda *a: getattr(inner, name)(*a), *args) if not keywords else None
    if mapped is not None:
        return mapped
    if name == "index" and isinstance(inner, list | tuple):
        return number(machine.builder.cast(position_among(machine, list(inner), args[0])[0], "int64", True))
    if name == "count" and isinstance(inner, list | tuple):
        return list_count(machine, owner, args, keywords)
    raise UnsupportedError(f"the method '{name}' of {inner!r:.40} with values of the run time")
