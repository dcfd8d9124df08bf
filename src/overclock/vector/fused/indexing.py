"""Places that are only known while the kernel runs, and may differ between lanes: gather, scatter, dynamic slices.

A window is a part of an array that starts at such a place. Among few numbers the right one is found by comparing the
place with every possible one, which needs no memory; in an array it is a load or a store.
"""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
from jax import lax

from overclock.vector.fused.shaping import cut
from overclock.vector.fused.values import (
    MOST_FEW,
    Few,
    Many,
    Value,
    compact,
    constant,
    indices,
    known_integer,
    size_of,
    type_name,
)
from overclock.vector.fused.writer import Index, Writer

if TYPE_CHECKING:
    from overclock.vector.fused.emitter import Emitter

MOST_COMPARED = 128  # comparisons by which numbers are written among few others


@dataclasses.dataclass(frozen=True)
class Window:
    """Where a window lies: a known index of its first number, plus int32 steps along some axes, one per lane."""

    first: tuple[Any, ...]
    steps: tuple[tuple[int, str, int], ...]  # (axis, expression, the largest it can be)
    inside: str | None  # whether it lies inside as it was asked for; None: always

    def place(self, writer: Writer, strides: tuple[int, ...]) -> str:
        """How many numbers the steps are worth, as an int32 variable."""
        terms = [
            step if strides[axis] == 1 else f"{step} * K_i32({strides[axis]})"
            for axis, step, _ in self.steps
            if strides[axis]
        ]
        return writer.define("int32", " + ".join(terms) or "K_i32(0)")

    def places(self, strides: tuple[int, ...]) -> list[int]:
        """Every value that `place` can have."""
        most = tuple(most + 1 for _, _, most in self.steps)
        return sorted({sum(i * strides[s[0]] for i, s in zip(at, self.steps, strict=True)) for at in indices(most)})


def window_at(
    writer: Writer, starts: dict[int, tuple[str, Any]], most: dict[int, int], first: list[Any], drops: bool
) -> Window:
    """The window that starts at (number, dtype) along each axis, where `most` lets it lie inside.

    One that does not is moved there; with `drops` it is also marked as not inside.
    """
    steps, tests = [], []
    for axis, (number, dtype) in starts.items():
        known = known_integer(number)
        if known is not None:
            first[axis] = min(max(known, 0), most[axis])
            tests += ["K_FALSE"] if first[axis] != known else []
            continue
        number, kind = _at_least_32_bits(writer, number, dtype)
        limit, zero = constant(most[axis], _dtype(kind)), f"K_{kind}(0)"
        tests.append(f"LE_{kind}({number}, {limit})")
        clipped = f"MIN_{kind}({number}, {limit})"
        if kind[0] == "i":
            tests.append(f"GE_{kind}({number}, {zero})")
            clipped = f"MAX_{kind}({clipped}, {zero})"
        step = writer.define("int32", clipped if kind == "i32" else f"CVT_i32_{kind}({clipped})")
        steps.append((axis, step, most[axis]))
    inside = writer.define("bool", f"({' & '.join(tests)})") if drops and tests else None
    return Window(tuple(first), tuple(steps), inside)


def _at_least_32_bits(writer: Writer, number: str, dtype: Any) -> tuple[str, str]:
    """(variable, kind) of an index: a small type might not hold the extent that it is compared with."""
    kind = type_name(dtype)
    if int(kind[1:]) < 32:
        return writer.define("int32", f"CVT_i32_{kind}({number})"), "i32"
    return writer.define(dtype, number), kind


def _dtype(kind: str) -> np.dtype:
    return np.dtype(f"{kind[0]}{int(kind[1:]) // 8}")


def _take(writer: Writer, value: Value, window: Window, offset: Index) -> str:
    """The number of a window at an offset from its first."""
    index = tuple(_plus(a, b) for a, b in zip(window.first, offset, strict=True))
    if not window.steps:
        return value.at(index)
    place = window.place(writer, value.strides)
    if isinstance(value, Many):
        word = "TAKE" if value.table is None else "LOOKUP"
        return f"{word}_{type_name(value.dtype)}({value.name}, {place} + K_i32({value.flat(index)}))"
    base = sum(i * s for i, s in zip(index, value.strides, strict=True))
    first, *others = window.places(value.strides)
    chosen = value.elements[base + first]
    for other in others:
        chosen = writer.define(
            value.dtype,
            writer.select(f"EQ_i32({place}, K_i32({other}))", value.elements[base + other], chosen, value.dtype),
        )
    return chosen


def _plus(a: Any, b: Any) -> Any:
    """The sum of two whole numbers or loop variables."""
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return b if a == 0 else a if b == 0 else f"({a} + {b})"


def _put(writer: Writer, into: Value, window: Window, offset: Index, number: str) -> Value:
    """The value with a number of a window set; an array is changed in place."""
    index = tuple(_plus(a, b) for a, b in zip(window.first, offset, strict=True))
    inside = window.inside or "K_TRUE"
    if isinstance(into, Many):
        place = window.place(writer, into.strides)
        kind = type_name(into.dtype)
        writer.line(f"PUT_{kind}({into.name}, {place} + K_i32({into.flat(index)}), {number}, {inside});")
        return into
    base, elements = sum(i * s for i, s in zip(index, into.strides, strict=True)), list(into.elements)
    place = window.place(writer, into.strides) if window.steps else ""
    for p in window.places(into.strides):
        here = f"(EQ_i32({place}, K_i32({p})) & {inside})" if place else inside
        chosen = number if here == "K_TRUE" else writer.select(here, number, elements[base + p], into.dtype)
        elements[base + p] = writer.define(into.dtype, chosen)
    return Few(tuple(elements), into.shape, into.dtype)


def _slice_window(writer: Writer, starts: list[Value], shape: Any, part: Any) -> Window:
    most = {axis: extent - width for axis, (extent, width) in enumerate(zip(shape, part, strict=True))}
    numbers = {axis: (start.at(()), start.dtype) for axis, start in enumerate(starts)}
    return window_at(writer, numbers, most, [0] * len(shape), drops=False)


def dynamic_slice(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """`lax.dynamic_slice`: starts are moved so that the slice lies inside."""
    value, *starts = operands
    aval, writer = equation.outvars[0].aval, emitter.writer
    window = _slice_window(writer, starts, value.shape, aval.shape)
    if not window.steps:
        return [cut(emitter, value, window.first, aval.shape)]
    return [writer.each(aval.shape, aval.dtype, lambda index: _take(writer, value, window, index))]


def dynamic_update_slice(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.dynamic_update_slice`: copy, then overwrite from the clamped start."""
    value, update, *starts = operands
    writer = emitter.writer
    window = _slice_window(writer, starts, value.shape, update.shape)
    made = _Made(writer, value, update)
    writer.over(update.shape, lambda index: made.put(window, index, update.at(index)), isinstance(update, Few))
    return [made.result()]


class _Made:
    """A value under construction: a copy whose numbers are overwritten one after the other."""

    def __init__(self, writer: Writer, value: Value, updates: Value) -> None:
        self._writer, self.value = writer, value
        few = isinstance(value, Few) and isinstance(updates, Few)
        if not few or size_of(value.shape) * size_of(updates.shape) > MOST_COMPARED:
            self.value = writer.array(value.shape, value.dtype)
            writer.copy(value, self.value)

    def put(self, window: Window, offset: Index, number: str) -> None:
        self.value = _put(self._writer, self.value, window, offset, number)

    def take(self, window: Window, offset: Index) -> str:
        return _take(self._writer, self.value, window, offset)

    def result(self) -> Value:
        return compact(self.value) if isinstance(self.value, Many) else self.value


def gather(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """`lax.gather`: one window of the operand per index vector."""
    value, starts = operands
    writer, params, aval = emitter.writer, equation.params, equation.outvars[0].aval
    numbers, sizes, drops = params["dimension_numbers"], params["slice_sizes"], _drops(params["mode"])
    most = {axis: extent - size for axis, (extent, size) in enumerate(zip(value.shape, sizes, strict=True))}
    batch_axes = [axis for axis in range(len(aval.shape)) if axis not in numbers.offset_dims]
    gone = (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)
    window_axes = [axis for axis in range(len(value.shape)) if axis not in gone]
    if size_of(aval.shape) == 0:
        return [Few((), aval.shape, aval.dtype)]
    if size_of(aval.shape) > MOST_FEW:  # loops need arrays
        value, starts = writer.as_view(value), writer.as_view(starts) if starts.shape[:-1] else starts

    def window(batch: Index) -> Window:
        first: list[Any] = [0] * len(value.shape)
        for axis, position in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims, strict=True):
            first[axis] = batch[position]
        at = {axis: (starts.at((*batch, i)), starts.dtype) for i, axis in enumerate(numbers.start_index_map)}
        return window_at(writer, at, most, first, drops)

    shared = window(()) if not starts.shape[:-1] else None

    def element(index: Index) -> str:
        here = shared or window(tuple(index[axis] for axis in batch_axes))
        offset: list[Any] = [0] * len(value.shape)
        for axis, to in zip(window_axes, numbers.offset_dims, strict=True):
            offset[axis] = index[to]
        number = _take(writer, value, here, tuple(offset))
        if here.inside is None:
            return number
        return writer.select(here.inside, number, _filling(params["fill_value"], aval.dtype), aval.dtype)

    return [writer.each(aval.shape, aval.dtype, element)]


def _drops(mode: Any) -> bool:
    return mode == lax.GatherScatterMode.FILL_OR_DROP


def _filling(filling: Any, dtype: Any) -> str:
    """What a place outside gives: NaN, True, the smallest of signed and the largest of unsigned numbers."""
    dtype = np.dtype(dtype)
    if filling is not None:
        return constant(filling, dtype)
    if dtype.kind in "fb":
        return constant(np.nan if dtype.kind == "f" else True, dtype)
    return constant(np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max, dtype)


def scatter(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """`lax.scatter` and its kin: windows written in order of index; a window that does not lie inside is dropped."""
    value, starts, updates = operands
    writer, params = emitter.writer, equation.params
    numbers, drops = params["dimension_numbers"], params["mode"] != lax.GatherScatterMode.CLIP
    gone = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    window_axes = [axis for axis in range(len(value.shape)) if axis not in gone]
    batch_axes = [axis for axis in range(len(updates.shape)) if axis not in numbers.update_window_dims]
    widths = dict(zip(window_axes, (updates.shape[axis] for axis in numbers.update_window_dims), strict=True))
    most = {axis: extent - widths.get(axis, 1) for axis, extent in enumerate(value.shape)}
    if size_of(updates.shape) == 0 or size_of(value.shape) == 0:
        return [value]
    written_out = isinstance(updates, Few) and isinstance(starts, Few)
    if not written_out:
        starts, updates = writer.as_view(starts), writer.as_view(updates)
    made = _Made(writer, value, updates)

    def write(index: Index) -> None:
        batch = tuple(index[axis] for axis in batch_axes)
        first, offset = [0] * len(value.shape), [0] * len(value.shape)
        for axis, position in zip(numbers.operand_batching_dims, numbers.scatter_indices_batching_dims, strict=True):
            first[axis] = batch[position]
        for axis, source in zip(window_axes, numbers.update_window_dims, strict=True):
            offset[axis] = index[source]
        axes = enumerate(numbers.scatter_dims_to_operand_dims)
        at = {axis: (starts.at((*batch, i)), starts.dtype) for i, axis in axes}
        window = window_at(writer, at, most, first, drops)
        new = updates.at(index)
        if params["update_jaxpr"] is not None:
            both = [Few((text,), (), value.dtype) for text in (made.take(window, tuple(offset)), new)]
            (changed,) = emitter.program(params["update_jaxpr"], [*map(writer.literal, params["update_consts"]), *both])
            new = changed.at(())
        made.put(window, tuple(offset), new)

    writer.over(updates.shape, write, written_out)
    return [made.result()]


RULES = {
    "dynamic_slice": dynamic_slice, "dynamic_update_slice": dynamic_update_slice, "gather": gather,
    **dict.fromkeys((f"scatter{sign}{kind}" for sign in "-_" for kind in ("add", "sub", "mul", "min", "max")), scatter),
    "scatter": scatter,
}  # fmt: skip
