"""Methods of lists, deques and tuples: `list.pop` is `list_pop`."""

import ast
from collections.abc import Callable

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Var, ranged
from overclock.translate.ir.store import ListCell, ManyCell
from overclock.translate.ir.values import Elem, Known, Ref, Value
from overclock.translate.python.functions.reducing import sort_list
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory import padded
from overclock.translate.python.memory.searching import first_equal, matching_flags, valid_flags
from overclock.translate.python.operators.arithmetic import binary
from overclock.translate.python.operators.comparison import contains, equal
from overclock.translate.python.operators.options import choose_value
from overclock.translate.python.operators.sequences import copy_list, extend, iterate


def list_method(machine: Machine, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    """The value of owner.name(*args, **keywords) where owner is a list or a tuple."""
    if name in ASKING:
        return ASKING[name](machine, owner, args)
    ref = machine.mutable(owner)
    if name not in CHANGING:
        raise UnsupportedError(f"the method '{name}' of a list")
    return CHANGING[name](machine, ref, args, keywords) or Known(None)


# ---- that change a list ----


def list_append(machine: Machine, ref: Ref, args: list[Value], keywords: dict[str, Value]) -> None:
    padded.append(machine, ref, args[0])


def list_appendleft(machine: Machine, ref: Ref, args: list[Value], keywords: dict[str, Value]) -> None:
    padded.insert_at(machine, ref, Const(0), args[0])


def list_extend(machine: Machine, ref: Ref, args: list[Value], keywords: dict[str, Value]) -> None:
    extend(machine, ref, args[0])


def list_insert(machine: Machine, ref: Ref, args: list[Value], keywords: dict[str, Value]) -> None:
    cell = machine.store[ref]
    at = padded.place_in(machine, cell, args[0]) if isinstance(cell, ManyCell) else machine.operand(args[0])
    padded.insert_at(machine, ref, at, args[1])


def list_pop(machine: Machine, ref: Ref, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _pop(machine, ref, args[0] if args else Known(-1))


def list_popleft(machine: Machine, ref: Ref, args: list[Value], keywords: dict[str, Value]) -> Value:
    return _pop(machine, ref, Known(0))


def _pop(machine: Machine, ref: Ref, index: Value) -> Value:
    cell = machine.store[ref]
    if isinstance(cell, ListCell):
        if isinstance(index, Known):
            return cell.items.pop(index.value)
        padded.arrayify(machine, ref)
    cell = padded.many_cell(machine, ref)
    at = padded.place_in(machine, cell, index)
    value = machine.arrays.item(ref, at, machine.store)
    if isinstance(value, Elem):
        value = machine.arrays.detached(value, machine.store)
    if isinstance(index, Known) and index.value == -1:
        machine.arrays.follow_removal(ref, at, machine.store)
        cell.length = ranged(machine.builder.apply("maximum", at, Const(0)), 0, cell.capacity)
    else:
        padded.remove_at(machine, ref, at)
    return value


def list_remove(machine: Machine, ref: Ref, args: list[Value], keywords: dict[str, Value]) -> None:
    """The first equal item goes. Where none is, Python raises: that does not happen in a step."""
    cell = machine.store[ref]
    if isinstance(cell, ListCell):
        flags = [equal(machine, one, args[0]) for one in cell.items]
        if all(isinstance(flag, Const) for flag in flags):
            del cell.items[[bool(flag.value) for flag in flags].index(True)]  # pyright: ignore[reportAttributeAccessIssue]
            return
        padded.arrayify(machine, ref)
    padded.remove_at(machine, ref, first_equal(machine, padded.many_cell(machine, ref), args[0]))


def list_clear(machine: Machine, ref: Ref, args: list[Value], keywords: dict[str, Value]) -> None:
    cell = machine.store[ref]
    if isinstance(cell, ListCell):
        cell.items.clear()
    else:
        padded.many_cell(machine, ref).length = Const(np.int64(0))
        machine.arrays.forget_items(ref, machine.store)


def list_sort(machine: Machine, ref: Ref, args: list[Value], keywords: dict[str, Value]) -> None:
    sort_list(machine, ref, keywords)


def list_reverse(machine: Machine, ref: Ref, args: list[Value], keywords: dict[str, Value]) -> None:
    cell = machine.store[ref]
    if isinstance(cell, ListCell):
        cell.items.reverse()
    else:
        padded.many_cell(machine, ref).leaves = padded.many_cell(machine, padded.reversed_list(machine, ref)).leaves
        machine.arrays.forget_items(ref, machine.store)


# ---- that ask or copy ----


def list_copy(machine: Machine, owner: Value, args: list[Value]) -> Value:
    return copy_list(machine, owner)


def list_contains(machine: Machine, owner: Value, args: list[Value]) -> Value:
    return number(contains(machine, owner, args[0]))


def list_index(machine: Machine, owner: Value, args: list[Value]) -> Value:
    if isinstance(cell := machine.cell(owner), ManyCell):
        return number(machine.builder.cast(first_equal(machine, cell, args[0]), "int64", True))
    flags = [equal(machine, one, args[0]) for one in iterate(machine, owner)]
    found: Value = Known(len(flags) - 1)
    for at in reversed(range(len(flags) - 1)):
        flag = flags[at]
        if isinstance(flag, Var):
            found = choose_value(machine, flag, Known(at), found)
        elif flag.value:
            found = Known(at)
    return found


def list_count(machine: Machine, owner: Value, args: list[Value]) -> Value:
    if isinstance(cell := machine.cell(owner), ManyCell):
        flags = matching_flags(machine, cell, args[0])
        both = machine.builder.let("and", np.logical_and, flags, valid_flags(machine, cell))
        return number(machine.builder.cast(machine.builder.let("sum", np.sum, both), "int64", True))
    total: Value = Known(0)
    for flag in [equal(machine, one, args[0]) for one in iterate(machine, owner)]:
        total = binary(machine, ast.Add(), total, number(machine.builder.cast(flag, "int64", True)))
    return total


CHANGING: dict[str, Callable[[Machine, Ref, list[Value], dict[str, Value]], Value | None]] = {
    "append": list_append, "appendleft": list_appendleft, "extend": list_extend, "insert": list_insert, "pop": list_pop,
    "popleft": list_popleft, "remove": list_remove, "clear": list_clear, "sort": list_sort, "reverse": list_reverse,
}  # fmt: skip
ASKING: dict[str, Callable[[Machine, Value, list[Value]], Value]] = {
    "copy": list_copy, "__contains__": list_contains, "index": list_index, "count": list_count,
}  # fmt: skip
