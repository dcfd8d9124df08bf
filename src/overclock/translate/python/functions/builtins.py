"""Python's built-in functions: `len` is `builtin_len`. Reductions (`sum`, `min`, ...) are in reducing.py."""

import ast
from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir import values
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const
from overclock.translate.ir.store import ArrayCell, DictCell, ListCell, ManyCell, ObjectCell
from overclock.translate.ir.values import TEXT, Bound, Closure, Known, Lazy, Pack, Ref, Span, Value, constants
from overclock.translate.python.expressions.attributes import get_attribute
from overclock.translate.python.functions.reducing import sort_list
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import class_of, is_flexible
from overclock.translate.python.memory.padded import reversed_list
from overclock.translate.python.operators.arithmetic import binary
from overclock.translate.python.operators.options import map_options
from overclock.translate.python.operators.sequences import copy_list, entries_of, iterate, length_of
from overclock.translate.python.operators.truth import chosen_flag, truth


def builtin_len(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return length_of(machine, args[0])


def builtin_abs(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    value = machine.present(args[0])
    if isinstance(value, Known):
        return machine.constant(abs(value.value))
    return machine.fresh(machine.builder.let("abs", abs, machine.operand(value)))


def builtin_int(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _to(machine, args, "int64", int)


def builtin_float(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _to(machine, args, "float64", float)


def _to(machine: Machine, args: list[Value], dtype: str, python: type) -> Value:
    if not args:
        return Known(python())
    value = machine.present(args[0])
    if isinstance(value, Known):
        return Known(python(*(one.value for one in args)))  # pyright: ignore[reportAttributeAccessIssue]
    mapped = map_options(machine, python, value)
    if mapped is not None:
        return mapped
    operand = machine.operand(value)
    if operand.type.shape not in ((), (1,)):
        raise UnsupportedError(f"{python.__name__}() of an array")
    if operand.type.shape:
        operand = machine.arrays.getitem(operand, (0,))
    return number(machine.builder.cast(operand, dtype, True))


def builtin_bool(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return number(truth(machine, args[0])) if args else Known(False)


def builtin_str(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    value = args[0] if args else Known("")
    if isinstance(value, Known):
        return Known(str(value.value))
    mapped = map_options(machine, str, value)
    return TEXT if mapped is None else mapped


def builtin_round(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    value = machine.present(args[0])
    if all(isinstance(one, Known) for one in args):
        return Known(round(*constants(args)))
    operand = machine.operand(value)
    if len(args) > 1:
        raise UnsupportedError("round() to a number of digits: Python rounds the decimal text")
    if operand.type.kind in "iu":
        return number(operand)
    return number(machine.builder.cast(machine.builder.let("round", np.round, operand), "int64", True))


def builtin_divmod(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return Pack((binary(machine, ast.FloorDiv(), *args), binary(machine, ast.Mod(), *args)))


def builtin_pow(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return binary(machine, ast.Pow(), *args)


def builtin_range(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    args = [machine.present(one) for one in args]
    if all(isinstance(one, Known) for one in args):
        return Known(range(*map(int, constants(args))))
    operands = [machine.builder.cast(machine.operand(one), "int64", True) for one in args]
    step = operands[2] if len(operands) > 2 else Const(1)
    if not isinstance(step, Const):
        raise UnsupportedError("a range with a step that is not known")
    start, stop = (Const(0), operands[0]) if len(operands) == 1 else (operands[0], operands[1])
    return Span(start, stop, int(step.value))


def builtin_enumerate(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    start = args[1] if len(args) > 1 else keywords.get("start", Known(0))
    return Lazy("enumerate", (args[0], start))


def builtin_zip(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    if isinstance(strict := keywords.get("strict", Known(False)), Known):
        return Lazy("zip", tuple(args))
    raise UnsupportedError(f"zip with {strict}")


def builtin_reversed(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    box = machine.present(args[0])
    if isinstance(box, Known) and isinstance(box.value, range):
        return Known(box.value[::-1])
    return Lazy("reversed", (box,))


def builtin_map(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    columns = [iterate(machine, one) for one in args[1:]]
    return machine.new_list([machine.call(args[0], list(row), {}) for row in zip(*columns, strict=False)])


def builtin_list(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    if not args:
        return machine.store.new(ListCell([]))
    box = machine.present(args[0])
    if isinstance(box, Lazy) and box.kind == "reversed":
        inner = machine.present(box.items[0])
        if isinstance(inner, Ref) and isinstance(machine.store[inner], ManyCell):
            return reversed_list(machine, inner)
    return copy_list(machine, box)


def builtin_tuple(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    items = iterate(machine, args[0]) if args else []
    if all(isinstance(one, Known) for one in items):
        return Known(tuple(one.value for one in items))  # pyright: ignore[reportAttributeAccessIssue]
    return Pack(tuple(items))


def builtin_dict(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return machine.store.new(DictCell({**(entries_of(machine, args[0]) if args else {}), **keywords}))


def builtin_set(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    items = iterate(machine, args[0]) if args else []
    if items and all(isinstance(one, Known) for one in items):
        return Known(frozenset(one.value for one in items))  # pyright: ignore[reportAttributeAccessIssue]
    raise UnsupportedError("a set of values of the run time")


def builtin_sorted(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    copied = copy_list(machine, args[0])
    sort_list(machine, copied, keywords)
    return copied


def builtin_isinstance(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    value, wanted = args
    if not isinstance(wanted, Known):
        raise UnsupportedError("isinstance with classes that are not known")
    match value:
        case Known(inner):
            return Known(isinstance(inner, wanted.value))
        case values.May(present, inner):
            inside = builtin_isinstance(machine, [inner, wanted], {})
            outside = isinstance(None, wanted.value)
            assert isinstance(inside, Known)
            if inside.value == outside:
                return inside
            return number(present if inside.value else machine.builder.negated(present))
        case values.Pick(index, options):
            return number(chosen_flag(machine, [isinstance(one, wanted.value) for one in options], index))
        case values.Num(operand):
            example: Any = np.zeros((), operand.type.dtype)[()]
            return Known(isinstance(example.item() if operand.type.python else example, wanted.value))
        case Pack(_, cls):
            return Known(issubclass(cls if isinstance(cls, type) else tuple, wanted.value))
        case values.View():
            return Known(isinstance(np.zeros(1), wanted.value))
        case Ref():
            cell = machine.store[value]
            kinds: dict[type, type] = {ArrayCell: np.ndarray, ListCell: list, ManyCell: list, DictCell: dict}
            cls = cell.cls if isinstance(cell, ObjectCell) else kinds[type(cell)]
            cls = np.ndarray if is_flexible(machine, value) else cls
            return Known(issubclass(cls, wanted.value))
    raise UnsupportedError("isinstance of this")


def builtin_hasattr(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    value, name = args
    assert isinstance(name, Known)
    if isinstance(value, Known):
        return Known(hasattr(value.value, name.value))
    if isinstance(cell := machine.cell(value), ObjectCell):
        if name.value in cell.fields and cell.like is not None and not hasattr(cell.like, name.value):
            raise UnsupportedError(f"the attribute '{name.value}' exists only at times")
        return Known(name.value in cell.fields or hasattr(cell.like if cell.like is not None else cell.cls, name.value))
    return Known(False)


def builtin_getattr(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    name = args[1]
    if not isinstance(name, Known):
        raise UnsupportedError("getattr with a name that is not known")
    if len(args) > 2 and not builtin_hasattr(machine, args[:2], {}).value:  # pyright: ignore[reportAttributeAccessIssue]
        return args[2]
    return get_attribute(machine, args[0], name.value)


def builtin_callable(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return Known(isinstance(args[0], Bound | Closure) or (isinstance(args[0], Known) and callable(args[0].value)))


def builtin_type(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    return Known(class_of(machine, args[0])[0])


RULES: dict[Any, Callable[[Machine, list[Value], dict[str, Value]], Value]] = {
    len: builtin_len, abs: builtin_abs, int: builtin_int, float: builtin_float, bool: builtin_bool, str: builtin_str,
    round: builtin_round, divmod: builtin_divmod, pow: builtin_pow, range: builtin_range,
    enumerate: builtin_enumerate, zip: builtin_zip, reversed: builtin_reversed, map: builtin_map, list: builtin_list,
    tuple: builtin_tuple, dict: builtin_dict, set: builtin_set, sorted: builtin_sorted,
    isinstance: builtin_isinstance, hasattr: builtin_hasattr, getattr: builtin_getattr, callable: builtin_callable,
    type: builtin_type,
}  # fmt: skip
