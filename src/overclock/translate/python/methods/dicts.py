"""Methods of dicts: `dict.get` is `dict_get`."""

from collections.abc import Callable
from typing import Any

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.ir.store import DictCell
from overclock.translate.ir.values import Known, Lazy, Pack, Ref, Value
from overclock.translate.python.machine import Machine
from overclock.translate.python.operators.comparison import position_among
from overclock.translate.python.operators.options import choose_value
from overclock.translate.python.operators.sequences import entries_of, select


def dict_method(machine: Machine, name: str, owner: Ref, args: list[Value]) -> Value:
    """The value of owner.name(*args) where owner is a dict."""
    # A rule gives None where it does not know these arguments.
    found = RULES[name](machine, owner, args) if name in RULES else None
    if found is None:
        raise UnsupportedError(f"the method '{name}' of a dict")
    return found


def get_or_default(machine: Machine, keys: list[Any], choose: Callable[[Operand], Value], args: list[Value]) -> Value:
    """What `get` gives: `choose` takes the entry at a position among the keys."""
    default = args[1] if len(args) > 1 else Known(None)
    at, inside = position_among(machine, keys, args[0])
    if isinstance(inside, Const):
        return choose(at) if inside.value else default
    return choose_value(machine, inside, choose(at), default)


def _entries(machine: Machine, owner: Ref) -> dict[Any, Value]:
    cell = machine.store[owner]
    assert isinstance(cell, DictCell)
    return cell.items


def dict_get(machine: Machine, owner: Ref, args: list[Value]) -> Value:
    entries = _entries(machine, owner)
    found = list(entries.values())
    choose = lambda at: select(machine, found, at) if isinstance(at, Var) else found[int(at.value)]  # noqa: E731
    return get_or_default(machine, list(entries), choose, args)


def dict_keys(machine: Machine, owner: Ref, args: list[Value]) -> Value:
    return Pack(tuple(Known(key) for key in _entries(machine, owner)))


def dict_values(machine: Machine, owner: Ref, args: list[Value]) -> Value:
    return Lazy("values", (owner,))


def dict_items(machine: Machine, owner: Ref, args: list[Value]) -> Value:
    return Lazy("items", (owner,))


def dict_copy(machine: Machine, owner: Ref, args: list[Value]) -> Value:
    cell = machine.store[owner]
    assert isinstance(cell, DictCell)
    return machine.store.new(DictCell(dict(cell.items), cell.default))


def dict_update(machine: Machine, owner: Ref, args: list[Value]) -> Value:
    entries = _entries(machine, machine.mutable(owner))
    entries |= {key: machine.settled(value) for key, value in entries_of(machine, args[0]).items()}
    return Known(None)


def dict_clear(machine: Machine, owner: Ref, args: list[Value]) -> Value:
    _entries(machine, machine.mutable(owner)).clear()
    return Known(None)


def dict_pop(machine: Machine, owner: Ref, args: list[Value]) -> Value | None:
    entries, key = _entries(machine, machine.mutable(owner)), args[0]
    if not isinstance(key, Known) or (key.value not in entries and len(args) == 1):
        return None
    return entries.pop(key.value, args[-1])


def dict_setdefault(machine: Machine, owner: Ref, args: list[Value]) -> Value | None:
    entries, key = _entries(machine, machine.mutable(owner)), args[0]
    if not isinstance(key, Known):
        return None
    return entries.setdefault(key.value, machine.settled(args[1]) if len(args) > 1 else Known(None))


RULES: dict[str, Callable[[Machine, Ref, list[Value]], Value | None]] = {
    "get": dict_get, "keys": dict_keys, "values": dict_values, "items": dict_items, "copy": dict_copy,
    "update": dict_update, "clear": dict_clear, "pop": dict_pop, "setdefault": dict_setdefault,
}  # fmt: skip
