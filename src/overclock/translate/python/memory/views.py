"""Views: which of NumPy's functions and indices share the memory of an array, and which copy it."""

from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.ir.store import ArrayCell
from overclock.translate.ir.values import Elem, Known, Ref, Value, View
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.arrays import Remake, real_index
from overclock.translate.python.memory.kinds import static_value

REMADE = ("ravel", "reshape", "transpose")


def remade(machine: Machine, name: str, owner: Value, args: list[Value], keywords: dict[str, Value]) -> Value:
    """owner.ravel(), owner.reshape(...) or owner.transpose(...)."""
    if keywords.keys() - {"shape", "axes"} or (name == "ravel" and args):
        raise UnsupportedError(f"np.{name} in another order")
    given = [static_value(machine, one) for one in (*args, *keywords.values())]
    to = tuple(given[0]) if len(given) == 1 and isinstance(given[0], tuple | list) else tuple(given)
    size = machine.operand(owner).type.shape
    if name == "transpose":
        axes = to if to and to != (None,) else tuple(reversed(range(len(size))))
        return viewed(machine, owner, Remake("transpose", tuple(axis % len(size) for axis in axes)))
    to = np.zeros(size).reshape(-1 if name == "ravel" else to).shape
    return viewed(machine, owner, Remake("reshape", to))


def viewed(machine: Machine, owner: Value, step: Remake) -> Value:
    """An array in another shape, or with other axes."""
    if step.op == "transpose" and len(step.to) > 1:
        machine.store.journal.turned = True
    shared = machine.arrays.stepped(machine.operand(owner), step)
    if not isinstance(owner, Ref | View) or not shared.type.shape:
        return sharing(machine, own_array(machine, shared), owner)
    view = owner if isinstance(owner, View) else View(owner, ())
    # Results of NumPy keep the order of axes of what they were computed from: then nobody knows what is a view.
    unsure = machine.store.journal.turned and step.op == "reshape" and len(machine.operand(view.base).type.shape) > 1
    if unsure:
        return sharing(machine, own_array(machine, shared), owner)
    if machine.arrays.is_view(view, step, machine.store):
        return View(view.base, (*view.steps, step))
    return own_array(machine, shared)


def sharing(machine: Machine, made: Value, owner: Value) -> Value:
    """A result that may share memory with an argument: changing one spoils the other."""
    if isinstance(made, Ref) and isinstance(owner, Ref | View | Elem | Known):
        machine.store.copied(made, owner)
    return made


def own_array(machine: Machine, operand: Operand) -> Value:
    """An array of its own, also where it has no dimensions."""
    return machine.store.new(ArrayCell(operand)) if operand.type.shape else machine.fresh(operand)


def part_of_array(machine: Machine, value: Value, index: tuple[Any, ...]) -> Value:
    """A part of an array: a view, or a number."""
    basic = all(not isinstance(part, Var | Const) or not part.type.shape for part in index)
    if isinstance(value, Known) and basic and not any(isinstance(part, Var | Const) for part in index):
        return machine.part_of(value, value.value[real_index(index, [])], index)
    found = machine.arrays.getitem(machine.operand(value), index)
    if not found.type.shape:
        return machine.fresh(found)
    if not basic:
        return machine.fresh(found)
    if isinstance(value, Known | Elem):
        made = machine.fresh(found)
        machine.store.copied(made, value)
        return made
    if isinstance(value, View):
        return View(value.base, (*value.steps, index))
    assert isinstance(value, Ref)
    return View(value, (index,))
