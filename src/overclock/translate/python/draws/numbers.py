"""Draws of numbers: uniform, normal and whole ones."""

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Operand, Var, ranged
from overclock.translate.ir.values import Known, Pack, Value
from overclock.translate.python.draws.sites import Draw, drawn, is_plain
from overclock.translate.python.machine import Machine
from overclock.translate.python.memory.kinds import known_value

PYTHON_FLOATS = (  # methods whose scalars are Python's own floats
    "random", "uniform", "gauss", "normalvariate", "rand", "randn", "normal", "standard_normal", "random_sample",
)  # fmt: skip


def size_of(machine: Machine, draw: Draw, at: int) -> tuple[int, ...]:
    """The shape that a call asks for by an argument at a position, or by `size`."""
    return _shape(machine, draw.argument(at, "size"))


def _shape(machine: Machine, size: Value) -> tuple[int, ...]:
    ok, inner = known_value(machine, size)
    if not ok:
        raise UnsupportedError("random draws of a number that is not known")
    if inner is None:
        return ()
    return (int(inner),) if isinstance(inner, int | np.integer) else tuple(int(one) for one in inner)


def dtype_of(machine: Machine, keywords: dict[str, Value]) -> str:
    """The dtype that a call asks for."""
    given = keywords.get("dtype")
    return "int64" if given is None else np.dtype(known_value(machine, given)[1]).name


def position_of_unit(machine: Machine, unit: Operand, count: Operand) -> Operand:
    """A position below a count, from a number in [0, 1)."""
    scaled = machine.builder.apply("mul", unit, machine.builder.cast(count, "float64"))
    at = machine.builder.cast(machine.builder.let("floor", np.floor, scaled), "int64")
    if isinstance(at, Var) and not at.type.shape:
        at.low = 0
    return at


def _as_float(machine: Machine, operand: Operand, draw: Draw) -> Value:
    python = not operand.type.shape and draw.method in PYTHON_FLOATS
    return machine.fresh(machine.builder.cast(operand, operand.type.dtype, python))


def _size_by_arguments(machine: Machine, draw: Draw, method: str) -> tuple[int, ...]:
    """As `size_of`; the arguments of rand and randn are the axes themselves."""
    if draw.method == method and draw.args:
        return _shape(machine, Pack(tuple(draw.args)))
    return size_of(machine, draw, 0)


def draw_unit(machine: Machine, draw: Draw) -> Value:
    size = _size_by_arguments(machine, draw, "rand")
    return _as_float(machine, drawn(machine, draw, "unit", size), draw)


def draw_uniform(machine: Machine, draw: Draw) -> Value:
    low, high = draw.argument(0, "low", default=0.0), draw.argument(1, "high", default=1.0)
    (low_known, low_value), (high_known, high_value) = known_value(machine, low), known_value(machine, high)
    size = size_of(machine, draw, 2)
    if low_known and high_known and not is_plain(machine, draw):
        size = size or np.broadcast_shapes(np.shape(low_value), np.shape(high_value))
        return _as_float(machine, drawn(machine, draw, "value", size, low=low_value, high=high_value), draw)
    a, b = machine.operand(low), machine.operand(high)
    unit = drawn(machine, draw, "unit", size or np.broadcast_shapes(a.type.shape, b.type.shape))
    width = machine.builder.apply("sub", b, a)
    return _as_float(machine, machine.builder.apply("add", a, machine.builder.apply("mul", width, unit)), draw)


def draw_normal(machine: Machine, draw: Draw) -> Value:
    if draw.method in ("standard_normal", "randn"):
        size = _size_by_arguments(machine, draw, "randn")
        return _as_float(machine, drawn(machine, draw, "normal", size), draw)
    loc, scale = draw.argument(0, "loc", "mu", default=0.0), draw.argument(1, "scale", "sigma", default=1.0)
    size = size_of(machine, draw, 2)
    (loc_known, loc_value), (scale_known, scale_value) = known_value(machine, loc), known_value(machine, scale)
    if loc_known and scale_known and not is_plain(machine, draw):
        size = size or np.broadcast_shapes(np.shape(loc_value), np.shape(scale_value))
        return _as_float(machine, drawn(machine, draw, "value", size, loc=loc_value, scale=scale_value), draw)
    if draw.by_python:
        raise UnsupportedError(f"random.{draw.method} with arguments that are not known")
    a, b = machine.operand(loc), machine.operand(scale)
    normal = drawn(machine, draw, "normal", size or np.broadcast_shapes(a.type.shape, b.type.shape))
    return _as_float(machine, machine.builder.apply("add", a, machine.builder.apply("mul", b, normal)), draw)


def draw_integers(machine: Machine, draw: Draw) -> Value:
    low, high = draw.argument(0, "low", default=0), draw.argument(1, "high", "stop")
    if isinstance(high, Known) and high.value is None:
        low, high = Known(0), low
    endpoint = draw.keywords.get("endpoint", Known(False))
    inclusive = (draw.by_python and draw.method == "randint") or draw.method == "random_integers"
    inclusive = inclusive or (isinstance(endpoint, Known) and bool(endpoint.value))
    size = size_of(machine, draw, 2)
    python = draw.by_python or (draw.source != "Generator" and not size)
    dtype = dtype_of(machine, draw.keywords)
    (low_known, low_value), (high_known, high_value) = known_value(machine, low), known_value(machine, high)
    scalars = low_known and high_known and np.ndim(low_value) == 0 and np.ndim(high_value) == 0
    if scalars and not is_plain(machine, draw):
        count = int(high_value) - int(low_value) + inclusive
        found = ranged(drawn(machine, draw, "index", size, "int64", n=count), 0, count - 1)
        if low_value != 0:
            found = machine.builder.apply("add", found, Const(int(low_value)))
    else:
        a, b = (machine.builder.cast(machine.operand(one), "int64") for one in (low, high))
        several = machine.builder.apply("sub", b, a)
        if inclusive:
            several = machine.builder.apply("add", several, Const(1))
        size = size or np.broadcast_shapes(a.type.shape, b.type.shape)
        unit = drawn(machine, draw, "unit", size)
        found = machine.builder.apply("add", a, position_of_unit(machine, unit, several))
    return machine.fresh(machine.builder.cast(found, dtype, python and not size))
