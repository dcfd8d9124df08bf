"""NumPy's reductions: np.sum, np.argmax, np.cumsum and their like, and comparisons of whole arrays."""

from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.recording.shapes import Number
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import sample, type_of
from overclock.translate.ir.store import ManyCell
from overclock.translate.ir.values import Known, Pack, Ref, Value, Window
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.flexible import filled
from overclock.translate.python.memory.kinds import static_value
from overclock.translate.python.memory.padded import many_cell
from overclock.translate.python.memory.searching import extreme, masked_items
from overclock.translate.python.numpy.plain import plain_call

REDUCTIONS = ("sum", "prod", "mean", "std", "var", "min", "max", "amin", "amax", "any", "all", "argmin", "argmax",
              "cumsum", "cumprod", "count_nonzero", "median", "ptp")  # fmt: skip
REDUCTION_NAMES = {"amin": "min", "amax": "max"}


def reduction(machine: Machine, function: Any, args: list[Value], keywords: dict[str, Value]) -> Value:
    """A function that makes one number of several, of a whole array or along an axis."""
    name: str = function.__name__
    name = REDUCTION_NAMES.get(name, name)
    value = machine.present(args[0])
    if isinstance(value, Pack) and len(value.items) == 1 and not isinstance(value.cls, str):
        value = value.items[0]  # what np.where gives for one axis
    if isinstance(value, Window | Ref) and (isinstance(value, Window) or isinstance(machine.store[value], ManyCell)):
        if len(args) > 1 or keywords:
            raise UnsupportedError(f"np.{name} of something whose length is not known, with more arguments")
        return _reduce_window(machine, name, value) if isinstance(value, Window) else _reduce_many(machine, name, value)
    operand = machine.operand(value)
    static = {key: static_value(machine, one) for key, one in keywords.items()}
    if len(args) > 1:
        static["axis"] = static_value(machine, args[1])
    static = {key: one for key, one in static.items() if one is not None}
    function = getattr(np, name)
    compute = lambda array: np.asarray(function(array, **static))[()]  # noqa: E731
    if name in ("sum", "prod", "cumsum", "cumprod", "mean", "std", "var"):
        result = type_of(compute(sample(operand)))
        operand = machine.builder.cast(operand, result.dtype)
    if name in ("any", "all"):
        operand = machine.builder.truths(operand)
    return machine.fresh(machine.builder.as_numpy(machine.builder.let(name, compute, operand, **static)))


def _reduce_many(machine: Machine, name: str, ref: Ref) -> Value:
    cell = many_cell(machine, ref)
    if name in ("sum", "any", "all"):
        filled = masked_items(machine, cell, name == "all")
        if name == "sum" and filled.type.kind == "b":
            filled = machine.builder.cast(filled, "int64")
        if name in ("any", "all"):
            filled = machine.builder.truths(filled)
        return machine.fresh(machine.builder.as_numpy(machine.builder.let(name, getattr(np, name), filled)))
    if name == "mean":
        total = machine.builder.cast(machine.builder.let("sum", np.sum, masked_items(machine, cell, 0)), "float64")
        return machine.fresh(machine.builder.apply("truediv", total, cell.length))
    if name in ("min", "max") and isinstance(cell.of, Number) and np.dtype(cell.of.dtype).kind in "iuf":
        filled = masked_items(machine, cell, extreme(np.dtype(cell.of.dtype), name))
        return machine.fresh(machine.builder.as_numpy(machine.builder.let(name, getattr(np, name), filled)))
    raise UnsupportedError(f"np.{name} over a list of changing length")


def _reduce_window(machine: Machine, name: str, window: Window) -> Value:
    if name not in ("sum", "any", "all", "min", "max"):
        raise UnsupportedError(f"np.{name} over a part of an array between bounds that are not known")
    kind = np.dtype(machine.operand(window.base).type.dtype)
    padding = extreme(kind, name) if name in ("min", "max") else name == "all"
    return reduction(machine, getattr(np, name), [machine.fresh(filled(machine, window, padding))], {})


def numpy_allclose(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    close = plain_call(machine, np.isclose, args, keywords)
    return number(machine.builder.flag(machine.builder.let("all", np.all, machine.operand(close))))


def numpy_array_equal(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    a, b = (machine.array(one) for one in args[:2])
    if a.type.shape != b.type.shape:
        return Known(False)
    equal = machine.builder.apply("eq", a, b)
    return number(machine.builder.flag(machine.builder.let("all", np.all, equal)))


def numpy_norm(machine: Machine, args: list[Value], keywords: dict[str, Value]) -> Value:
    if len(args) > 1 or keywords:
        raise UnsupportedError("np.linalg.norm with an order or an axis")
    operand = machine.array(args[0])
    floats = machine.builder.cast(operand, operand.type.dtype if operand.type.kind == "f" else "float64")
    squares = machine.builder.let("square", np.square, floats)
    return machine.fresh(machine.builder.let("sqrt", np.sqrt, machine.builder.let("sum", np.sum, squares)))


RULES = {"allclose": numpy_allclose, "array_equal": numpy_array_equal, "norm": numpy_norm}
