"""Choices: one of several constants, by a position that is computed at run time."""

from collections.abc import Callable
from typing import Any

import numpy as np

from overclock.recording.shapes import same
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.ir.values import Known, May, Pick, Ref, Value
from overclock.translate.python.flow.branches import branch
from overclock.translate.python.machine import Machine
from overclock.translate.python.operators.truth import chosen_flag


def map_options(machine: Machine, function: Callable[..., Any], *values: Value) -> Value | None:
    """A pure function of constants, one of which is chosen at run time; None where that is not the case."""
    picks = [value for value in values if isinstance(value, Pick)]
    if not picks:
        return None
    if len(picks) == 2 and len(values) == 2:
        return _map_two(machine, function, picks[0], picks[1])
    if len(picks) != 1 or any(not isinstance(value, Known | Pick) for value in values):
        return None
    pick = picks[0]
    results = []
    for option in pick.options:
        arguments = [option if value is pick else value.value for value in values]  # pyright: ignore[reportAttributeAccessIssue]
        results.append(function(*arguments))
    return from_options(machine, pick.index, results)


def _map_two(machine: Machine, function: Callable[..., Any], a: Pick, b: Pick) -> Value:
    results = [function(one, other) for one in a.options for other in b.options]
    return from_options(machine, combined_index(machine, a.index, len(b.options), b.index), results)


def combined_index(machine: Machine, outer: Operand, size: int, inner: Operand) -> Operand:
    """The position outer * size + inner."""
    outer, inner = machine.builder.cast(outer, "int64", True), machine.builder.cast(inner, "int64", True)
    scaled = machine.builder.apply("mul", outer, Const(size))
    return machine.builder.apply("add", scaled, inner)


def from_options(machine: Machine, index: Operand, options: Any) -> Value:
    """One of several constants: numbers become a table, other things stay a choice."""
    options = list(options)
    if isinstance(index, Const):
        return machine.constant(options[int(index.value)])
    if all(one is options[0] for one in options) or _all_same(options):
        return Known(options[0])
    if all(isinstance(one, bool | int | float) or _is_numpy_number(one) for one in options):
        python = all(isinstance(one, bool | int | float) and not isinstance(one, np.generic) for one in options)
        kinds = {type(one) for one in options}
        if len(kinds) == 1 or bool not in kinds:
            found = machine.arrays.lookup(np.array(options), index)
            return number(machine.builder.cast(found, str(np.array(options).dtype), python))
    arrays = [one for one in options if isinstance(one, np.ndarray) and one.dtype.kind in "biuf"]
    if len(arrays) == len(options) and len({one.shape for one in arrays}) == 1:
        made = machine.fresh(machine.arrays.lookup(np.stack(options), index))
        if isinstance(made, Ref):
            machine.store.echoes.constant |= {made.cell}
        return made
    if all(one is None or isinstance(one, bool | int | float) for one in options):
        present = chosen_flag(machine, [one is not None for one in options], index)
        filled = from_options(machine, index, [0 if one is None else one for one in options])
        return May(present, filled) if isinstance(present, Var) else filled  # pyright: ignore[reportArgumentType]
    if any(one is None for one in options):
        present = chosen_flag(machine, [one is not None for one in options], index)
        stand_in = next(one for one in options if one is not None)
        value = from_options(machine, index, [stand_in if one is None else one for one in options])
        return May(present, value) if isinstance(present, Var) else value
    return Pick(index, tuple(options))


def choose_value(machine: Machine, condition: Operand, yes: Value, no: Value) -> Value:
    """One of two values, by a condition."""
    name = f"$choice{len(machine.frames)}"
    branch(machine, condition, lambda: machine.set_local(name, yes), lambda: machine.set_local(name, no))
    return machine.locals.pop(name)


def _is_numpy_number(value: Any) -> bool:
    return isinstance(value, np.generic) and value.dtype.kind in "biuf"


def _all_same(options: list[Any]) -> bool:
    return all(same(one, options[0]) for one in options[1:])
