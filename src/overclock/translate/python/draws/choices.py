"""Draws among things: choices, shuffles, permutations and samples."""

from collections.abc import Callable

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand, ranged
from overclock.translate.ir.store import ListCell
from overclock.translate.ir.values import Known, Ref, Value
from overclock.translate.python.draws.numbers import position_of_unit, size_of
from overclock.translate.python.draws.sites import Draw, drawn, is_plain
from overclock.translate.python.expressions.subscripts import get_item
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import is_number, is_sequence, known_value
from overclock.translate.python.memory.padded import arrayify, many_cell
from overclock.translate.python.operators.sequences import length_of


def draw_choice(machine: Machine, draw: Draw) -> Value:
    box = draw.argument(0, "a", "seq")
    size = () if draw.by_python else size_of(machine, draw, 1)
    replace, chance = draw.argument(2, "replace", default=True), draw.argument(3, "p")
    if draw.method == "choices" or "axis" in draw.keywords:
        raise UnsupportedError(f"random draws by '{draw.method}' like this")
    if not isinstance(replace, Known):
        raise UnsupportedError("a choice with or without replacement, which is not known")
    count, get = _choices(machine, box)
    position = _choice_position if replace.value or not size else _different_positions
    at = position(machine, draw, count, size, chance)
    if get is None:
        return machine.fresh(machine.builder.cast(at, "int64"))
    if size:
        return machine.fresh(machine.arrays.getitem(_as_table(machine, box), (at,)))
    found = get(number(at))
    if draw.by_python:
        return found
    if is_number(machine, found):
        return machine.fresh(machine.builder.as_numpy(machine.operand(found)))  # NumPy gives its own scalars
    # NumPy turns a list of lists into an array first: what it gives is a row.
    return machine.fresh(machine.operand(found)) if is_sequence(machine, found) else found


def _choices(machine: Machine, box: Value) -> tuple[Operand, Callable[[Value], Value] | None]:
    """How many things there are, and what is at a position; None: the position itself."""
    if isinstance(box, Known) and isinstance(box.value, int | np.integer):
        return Const(int(box.value)), None
    if is_number(machine, box) and not machine.operand(box).type.shape:
        return machine.operand(box), None
    return machine.operand(length_of(machine, box)), lambda at: get_item(machine, box, at)


def _choice_position(machine: Machine, draw: Draw, count: Operand, size: tuple[int, ...], chance: Value) -> Operand:
    ok, weights = known_value(machine, chance)
    if isinstance(count, Const) and ok and not is_plain(machine, draw):
        arguments = {} if weights is None else {"p": [float(one) for one in np.asarray(weights)]}
        at = drawn(machine, draw, "index", size, "int64", n=int(count.value), **arguments)
        return ranged(at, 0, int(count.value) - 1)
    unit = drawn(machine, draw, "unit", size)
    if ok and weights is None:
        return position_of_unit(machine, unit, count)
    if not isinstance(count, Const):
        raise UnsupportedError("a weighted choice from a list of changing length")
    running = machine.builder.let("cumsum", np.cumsum, machine.builder.cast(machine.operand(chance), "float64"))
    running = machine.builder.apply("truediv", running, machine.arrays.getitem(running, (-1,)))
    passed = machine.builder.apply("le", running, unit)
    if size:
        raise UnsupportedError("several weighted choices with weights that are not known")
    at = machine.builder.cast(machine.builder.let("sum", np.sum, passed), "int64")
    return ranged(at, 0, int(count.value) - 1)


def _as_table(machine: Machine, box: Value) -> Operand:
    return machine.builder.as_numpy(machine.operand(box))


def _permutation(machine: Machine, draw: Draw, total: int, several: int) -> Operand:
    """Several different positions below a total."""
    return drawn(machine, draw, "permutation", (several,), "int64", n=total, k=several)


def _different_positions(machine: Machine, draw: Draw, count: Operand, size: tuple[int, ...], chance: Value) -> Operand:
    """Positions for a choice without replacement."""
    if not isinstance(count, Const) or not (isinstance(chance, Known) and chance.value is None):
        raise UnsupportedError("a choice without replacement from a number of things that is not known")
    several = int(np.prod(size))
    places = _permutation(machine, draw, int(count.value), several)
    if size == (several,):
        return places
    return machine.builder.let("reshape", lambda a: np.reshape(a, size), places, shape=size)


def draw_shuffle(machine: Machine, draw: Draw) -> Value:
    box = draw.args[0]
    known, total = known_value(machine, length_of(machine, box))
    if not known:
        raise UnsupportedError("a shuffle of a list of changing length")
    places = _permutation(machine, draw, int(total), int(total))
    if isinstance(box, Known):
        box = machine.mutable(box)  # a constant that is shuffled is none
    if is_number(machine, box):
        moved = machine.arrays.getitem(machine.operand(box), (places,))
        target, steps = (box, ()) if isinstance(box, Ref) else (box.base, box.steps)  # pyright: ignore[reportAttributeAccessIssue]
        machine.arrays.assign(machine.mutable(target), steps, moved, machine.store)
        return Known(None)
    ref = machine.mutable(box)
    if isinstance(machine.store[ref], ListCell):
        arrayify(machine, ref)
    cell = many_cell(machine, ref)
    cell.leaves = [machine.arrays.getitem(leaf, (places,)) for leaf in cell.leaves]
    machine.arrays.forget_items(ref, machine.store)
    return Known(None)


def draw_permutation(machine: Machine, draw: Draw) -> Value:
    count, get = _choices(machine, draw.args[0])
    if not isinstance(count, Const):
        raise UnsupportedError("a permutation of a number of things that is not known")
    places = _permutation(machine, draw, int(count.value), int(count.value))
    if get is None:
        return machine.fresh(places)
    return machine.fresh(machine.arrays.getitem(_as_table(machine, draw.args[0]), (places,)))


def draw_sample(machine: Machine, draw: Draw) -> Value:
    box = draw.args[0]
    several_known, several = known_value(machine, draw.args[1] if len(draw.args) > 1 else draw.keywords["k"])
    total_known, total = known_value(machine, length_of(machine, box))
    if not several_known or not total_known:
        raise UnsupportedError("random.sample of a number of things that is not known")
    places = _permutation(machine, draw, int(total), int(several))
    items = [get_item(machine, box, number(machine.arrays.getitem(places, (at,)))) for at in range(int(several))]
    return machine.store.new(ListCell(items))
