"""Methods of constants (texts, tables of the instance ...), and which kind of receiver a method belongs to."""

import collections

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.store import DictCell
from overclock.translate.ir.values import Known, Pick, Ref, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import is_number, is_partial, is_sequence
from overclock.translate.python.methods.arrays import array_method
from overclock.translate.python.methods.dicts import dict_method, get_or_default
from overclock.translate.python.methods.lists import list_count, list_method
from overclock.translate.python.operators.comparison import position_among
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
    known = machine.computed(lambda *given, **named: getattr(inner, name)(*given, **named), args, keywords)
    if known is not None:
        return known
    mapped = map_options(machine, lambda *given: getattr(inner, name)(*given), *args) if not keywords else None
    if mapped is not None:
        return mapped
    if name == "index" and isinstance(inner, list | tuple):
        return number(machine.builder.cast(position_among(machine, list(inner), args[0])[0], "int64", True))
    if name == "count" and isinstance(inner, list | tuple):
        return list_count(machine, owner, args)
    raise UnsupportedError(f"the method '{name}' of {inner!r:.40} with values of the run time")


def call_method(machine: Machine, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of owner.name(*args, **keywords) where owner is a container, an array or a constant."""
    owner = machine.present(owner)
    if isinstance(owner, Known) and not isinstance(owner.value, np.ndarray | np.generic):
        return constant_method(machine, name, owner, args, keywords)
    if isinstance(owner, Pick):
        every = [one.value for one in args if isinstance(one, Known)]
        if len(every) != len(args) or keywords:
            raise UnsupportedError(f"a method '{name}' of something chosen at run time")
        return from_options(machine, owner.index, [getattr(one, name)(*every) for one in owner.options])
    if is_number(machine, owner) or is_partial(machine, owner):
        return array_method(machine, name, owner, args, keywords)
    if isinstance(owner, Ref) and isinstance(machine.store[owner], DictCell):
        return dict_method(machine, name, owner, args)
    if is_sequence(machine, owner):
        return list_method(machine, name, owner, args, keywords)
    raise UnsupportedError(f"the method '{name}' of a {type(owner).__name__.lower()}")
