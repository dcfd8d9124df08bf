"""Attributes of objects, classes, modules, arrays and `super()`."""

import ast
import enum
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any

import numpy as np

from overclock.env.registry import load
from overclock.recording.errors import UnsupportedError
from overclock.recording.generators import GENERATORS
from overclock.recording.reference_cycles import CYCLE, reference_cycle
from overclock.recording.shapes import Record, is_plain_object
from overclock.translate.ir.store import ObjectCell
from overclock.translate.ir.values import Bound, Elem, Known, Pack, Pick, Ref, Super, Value
from overclock.translate.python.expressions.atoms import with_name
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.arrays import Remake
from overclock.translate.python.memory.kinds import class_of, is_flexible, is_number
from overclock.translate.python.memory.padded import many_cell
from overclock.translate.python.memory.views import viewed
from overclock.translate.python.operators.options import from_options
from overclock.translate.python.operators.sequences import length_of, select

PLAIN = (str, bytes, bool, int, float, tuple, enum.Enum, np.generic, np.ndarray)  # nothing changes by a call
ARRAY_FACTS = ("shape", "size", "ndim", "T", "dtype", "flat")


def evaluate_attribute(machine: Machine, node: ast.Attribute) -> Value:
    return get_attribute(machine, machine.evaluate(node.value), node.attr)


def get_attribute(machine: Machine, value: Value, name: str) -> Value:
    """The value of `value.name`; numbers and tables of an object keep the name that they were read by."""
    found = _look_up(machine, value, name)
    owner = type(value.value) if isinstance(value, Known) else object
    nameless = issubclass(owner, enum.Enum) or owner.__module__.startswith(("numpy", "gymnasium.spaces"))
    return found if nameless else with_name(found, name)


def _look_up(machine: Machine, value: Value, name: str) -> Value:
    value = machine.present(value)
    match value:
        case Known(inner):
            return _constant_attribute(machine, value, inner, name)
        case Super(after, owner):
            return _super_attribute(machine, after, owner, name)
        case Pick():
            return _attribute_of_options(machine, value, name)
        case Elem(_, _, Record() as shape) if shape.get(name) is not None:
            return machine.arrays.part(value, name, machine.store)
        case Elem(_, _, Record(cls)) if cls != "dict":
            return _class_attribute(machine, load(cls), value, name)
        case Ref() if isinstance(cell := machine.store[value], ObjectCell):
            if name in cell.fields:
                return cell.fields[name]
            return _class_attribute(machine, cell.cls, value, name, cell.like)
        case Pack(items, cls) if cls is not None and name in cls._fields:
            return items[cls._fields.index(name)]
    if is_number(machine, value) and name in ARRAY_FACTS:
        return _array_fact(machine, value, name)
    if is_flexible(machine, value) and name in ARRAY_FACTS:
        return _flexible_fact(machine, value, name)
    return Bound(name, value)


def _attribute_of_options(machine: Machine, value: Pick, name: str) -> Value:
    """What every option has under a name; methods of objects are run like any function, each on its object."""
    if all(isinstance(one, PLAIN) for one in value.options):
        found = [getattr(one, name) for one in value.options]
        return Bound(name, value) if all(map(callable, found)) else from_options(machine, value.index, found)
    parts = [get_attribute(machine, Known(one), name) for one in value.options]
    if all(isinstance(one, Known) for one in parts):
        return from_options(machine, value.index, [one.value for one in parts])  # pyright: ignore[reportAttributeAccessIssue]
    if all(isinstance(one, Bound) for one in parts):
        return Pick(value.index, tuple(parts))
    return select(machine, parts, value.index)


def _array_fact(machine: Machine, value: Value, name: str) -> Value:
    operand = machine.operand(value)
    size = operand.type.shape
    match name:
        case "shape":
            return Known(size)
        case "size":
            return Known(int(np.prod(size)))
        case "ndim":
            return Known(len(size))
        case "dtype":
            return Known(np.dtype(operand.type.dtype))
        case "T":
            return viewed(machine, value, Remake("transpose", tuple(reversed(range(len(size))))))
    raise UnsupportedError(f"the attribute '{name}' of an array")


def _flexible_fact(machine: Machine, value: Value, name: str) -> Value:
    operand = many_cell(machine, value).leaves[0]
    inner = operand.type.shape[1:]
    match name:
        case "shape":
            return Pack((length_of(machine, value), *map(Known, inner)))
        case "size" if not inner:
            return length_of(machine, value)
        case "ndim":
            return Known(1 + len(inner))
        case "dtype":
            return Known(np.dtype(operand.type.dtype))
    raise UnsupportedError(f"the attribute '{name}' of an array whose length is not known")


def _constant_attribute(machine: Machine, value: Known, inner: Any, name: str) -> Value:
    if isinstance(inner, bool | int | float | np.generic | np.ndarray | list | tuple | dict | set | str):
        attribute = getattr(inner, name)
        return Bound(name, value) if callable(attribute) else Known(attribute)
    if isinstance(inner, (ModuleType, type, *GENERATORS)):
        return Known(getattr(inner, name))
    static = _static(type(inner), name)
    if isinstance(static, FunctionType):
        return Bound(static, value)
    if isinstance(static, property) and name != "np_random":
        assert static.fget is not None
        return machine.call_function(static.fget, [value])
    return _live_attribute(machine, type(inner), inner, name)


def _class_attribute(machine: Machine, cls: type, owner: Value, name: str, like: Any = None) -> Value:
    static = _static(cls, name)
    if isinstance(static, property):
        if name == "np_random" and like is not None:
            return Known(getattr(like, name))
        assert static.fget is not None
        return machine.call_function(static.fget, [owner])
    if isinstance(static, staticmethod):
        return Known(static.__func__)
    if isinstance(static, classmethod):
        return Bound(static.__func__, Known(cls))
    if isinstance(static, FunctionType) and not (like is not None and name in vars(like)):
        return Bound(static, owner)
    if hasattr(static, "__get__") and not callable(static) and not isinstance(static, MemberDescriptorType):
        raise UnsupportedError(f"'{name}' is computed by a {type(static).__name__}: once, or whenever it is asked for?")
    if static is None and hasattr(cls, "__getattr__") and name not in getattr(like, "__dict__", {}):
        raise UnsupportedError(f"'{name}' is found by __getattr__")
    if like is not None and hasattr(like, name):
        return _live_attribute(machine, cls, like, name)
    if static is not None:
        return Known(static)
    raise UnsupportedError(f"{cls.__name__} has no attribute '{name}' that is known here")


def _live_attribute(machine: Machine, cls: type, owner: Any, name: str) -> Value:
    """What a live object has under a name: a constant, or what stands in for it in this run."""
    found = getattr(owner, name)
    if id(found) in machine.stand_ins:
        return machine.stand_ins[id(found)]
    _refuse_state(machine, found, cls, name)
    if id(owner) in machine.paths and (isinstance(found, list | dict | np.ndarray | set) or is_plain_object(found)):
        machine.paths.setdefault(id(found), (*machine.paths[id(owner)], name))
    return Known(found)


def _refuse_state(machine: Machine, found: Any, cls: type, name: str) -> None:
    """A live object that is part of the state is no constant, whoever else refers to it."""
    if not is_plain_object(found):
        return
    if any(isinstance(cell, ObjectCell) and cell.like is found for cell in machine.store.cells.values()):
        reason = CYCLE if reference_cycle(found) else "one object that is reached in two ways"
        raise UnsupportedError(f"{reason}: '{name}' of a {cls.__name__} is a {type(found).__name__} that changes")


def _super_attribute(machine: Machine, after: type, owner: Value, name: str) -> Value:
    cls, _ = class_of(machine, owner)
    order = cls.__mro__[cls.__mro__.index(after) + 1 :]
    for base in order:
        if name in vars(base):
            static = vars(base)[name]
            if isinstance(static, FunctionType):
                return Bound(static, owner)
            if isinstance(static, property):
                assert static.fget is not None
                return machine.call_function(static.fget, [owner])
            if isinstance(static, classmethod | staticmethod):
                return Known(static.__func__)
            return Bound(name, Known(None)) if callable(static) else Known(static)
    raise UnsupportedError(f"super() has no '{name}'")


def _static(cls: type, name: str) -> Any:
    for base in cls.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return None


RULES = {ast.Attribute: evaluate_attribute}
