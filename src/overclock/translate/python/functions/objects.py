"""New objects of classes and containers of the standard library, and copies of objects."""

import collections
import copy
import dataclasses
from types import FunctionType
from typing import Any

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import DEQUE
from overclock.translate.ir.store import ArrayCell, DictCell, ListCell, ManyCell, ObjectCell
from overclock.translate.ir.values import Elem, Known, May, Pack, Ref, Value, View
from overclock.translate.python.machine import Machine
from overclock.translate.python.operators.comparison import position_among
from overclock.translate.python.operators.options import from_options
from overclock.translate.python.operators.sequences import copy_list, iterate


def construct(machine: Machine, cls: type, args: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of cls(*args, **keywords)."""
    plain = cls.__module__ in ("builtins", "enum", "fractions", "decimal") or hasattr(cls, "__members__")
    if plain and (known := machine.computed(cls, args, keywords)) is not None:
        return known
    if hasattr(cls, "__members__") and len(args) == 1:
        members = list(cls)  # pyright: ignore[reportArgumentType]
        at, _ = position_among(machine, [one.value for one in members], args[0])
        return from_options(machine, at, members)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        fields: tuple[str, ...] = cls._fields  # pyright: ignore[reportAttributeAccessIssue]
        defaults: dict[str, Any] = getattr(cls, "_field_defaults", {})
        items = dict(zip(fields, args, strict=False)) | keywords
        return Pack(tuple(items.get(name, Known(defaults.get(name))) for name in fields), cls)
    if issubclass(cls, BaseException):
        return Known(None)
    if cls.__module__ == "builtins":
        raise UnsupportedError(f"a call of {cls.__name__}")
    owner = machine.store.new(ObjectCell(cls, {}))
    if dataclasses.is_dataclass(cls) and "__init__" in vars(cls):
        _construct_dataclass(machine, owner, cls, args, keywords)
    elif isinstance(cls.__init__, FunctionType):
        machine.call_function(cls.__init__, [owner, *args], keywords)
    return owner


def _construct_dataclass(
    machine: Machine, owner: Ref, cls: type, args: list[Value], keywords: dict[str, Value]
) -> None:
    cell = machine.store[owner]
    assert isinstance(cell, ObjectCell)
    fields = [field for field in dataclasses.fields(cls) if field.init]  # pyright: ignore[reportArgumentType]
    given = dict(zip([field.name for field in fields], args, strict=False)) | keywords
    for field in fields:
        if field.name in given:
            cell.fields[field.name] = given[field.name]
        elif field.default is not dataclasses.MISSING:
            cell.fields[field.name] = Known(field.default)
        elif field.default_factory is not dataclasses.MISSING:
            cell.fields[field.name] = machine.call(Known(field.default_factory), [], {})
    if hasattr(cls, "__post_init__"):
        machine.call_function(cls.__post_init__, [owner])  # pyright: ignore[reportAttributeAccessIssue]


def _copied(machine: Machine, value: Value, deep: bool) -> Value:
    if isinstance(value, Elem):
        return machine.arrays.detached(value, machine.store)
    if isinstance(value, Known):
        return machine.constant(copy.deepcopy(value.value))
    if isinstance(value, Pack):
        return Pack(tuple(_copied(machine, item, deep) if deep else item for item in value.items), value.cls)
    if isinstance(value, May):
        return May(value.present, _copied(machine, value.value, deep))
    if isinstance(value, View):
        return machine.fresh(machine.operand(value))
    if not isinstance(value, Ref):
        return value
    cell = machine.store[value]
    inner = (lambda one: _copied(machine, one, True)) if deep else (lambda one: one)
    match cell:
        case ArrayCell(operand):
            return machine.store.new(ArrayCell(operand))
        case ListCell(items, kind):
            return machine.store.new(ListCell([inner(item) for item in items], kind))
        case DictCell(items, default):
            return machine.store.new(DictCell({key: inner(item) for key, item in items.items()}, default))
        case ObjectCell(cls, fields, like):
            return machine.store.new(ObjectCell(cls, {key: inner(item) for key, item in fields.items()}, like))
        case ManyCell():
            return copy_list(machine, value)
    raise AssertionError(cell)


def new_deque(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    if "maxlen" in keywords or len(args) > 1:
        raise UnsupportedError("a deque with a greatest length")
    items = iterate(machine, args[0]) if args else []
    return machine.store.new(ListCell(items, DEQUE))


def new_defaultdict(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return machine.store.new(DictCell({}, args[0].value if args and isinstance(args[0], Known) else None))


def copy_copy(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _copied(machine, args[0], deep=False)


def copy_deepcopy(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _copied(machine, args[0], deep=True)


RULES = {
    copy.copy: copy_copy,
    copy.deepcopy: copy_deepcopy,
    collections.deque: new_deque,
    collections.defaultdict: new_defaultdict,
}
