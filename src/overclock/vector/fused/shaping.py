"""Other shapes of the same numbers: for few numbers another order of names, for many another view of the array."""

from typing import TYPE_CHECKING, Any

import numpy as np

from overclock.vector.fused.elementwise import bits_as
from overclock.vector.fused.values import (
    MOST_FEW,
    Few,
    UnsupportedError,
    Value,
    compact,
    constant,
    indices,
    size_of,
    strides_of,
    type_name,
)
from overclock.vector.fused.writer import Index

if TYPE_CHECKING:
    from overclock.vector.fused.emitter import Emitter


def seen(emitter: "Emitter", value: Value, shape: tuple[int, ...], strides: Any, offset: int = 0) -> Value:
    """The value through other strides, given in steps of its own elements row by row (`Few`) or of its array."""
    if isinstance(value, Few) and size_of(shape) <= MOST_FEW:
        places = [offset + sum(i * s for i, s in zip(index, strides, strict=True)) for index in indices(shape)]
        return Few(tuple(value.elements[place] for place in places), tuple(shape), value.dtype)
    return compact(emitter.writer.as_view(value).seen(shape, strides, offset))


def broadcast_in_dim(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.broadcast_in_dim`: the same elements, read with other strides."""
    value, shape = operands[0], equation.params["shape"]
    strides = [0] * len(shape)
    for axis, (to, extent) in enumerate(zip(equation.params["broadcast_dimensions"], value.shape, strict=True)):
        strides[to] = 0 if extent == 1 else value.strides[axis]
    return [seen(emitter, value, shape, strides)]


def reshape(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.reshape`, `squeeze` and `expand_dims`: the same elements in row-major order."""
    value, shape = operands[0], equation.outvars[0].aval.shape
    if isinstance(value, Few):
        return [value.reshaped(shape)]
    kept = [(extent, stride) for extent, stride in zip(value.shape, value.strides, strict=True) if extent != 1]
    if [extent for extent, _ in kept] == [extent for extent in shape if extent != 1]:
        left = iter(kept)
        return [value.seen(shape, tuple(0 if extent == 1 else next(left)[1] for extent in shape))]
    if value.strides != strides_of(value.shape):
        value = emitter.writer.as_array(value)
    return [value.seen(shape, strides_of(shape))]


def transpose(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.transpose`: the same elements with their axes in another order."""
    value, order = operands[0], equation.params["permutation"]
    return [seen(emitter, value, tuple(value.shape[i] for i in order), tuple(value.strides[i] for i in order))]


def cut(emitter: "Emitter", value: Value, starts: Any, shape: tuple[int, ...], steps: Any = None) -> Value:
    """A part of a value at a known place."""
    steps = steps or (1,) * len(shape)
    strides = tuple(step * stride for step, stride in zip(steps, value.strides, strict=True))
    return seen(emitter, value, shape, strides, sum(a * s for a, s in zip(starts, value.strides, strict=True)))


def slice_(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.slice` with static bounds and strides."""
    params = equation.params
    return [cut(emitter, operands[0], params["start_indices"], equation.outvars[0].aval.shape, params["strides"])]


def split(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.split`: one slice of the axis after the other."""
    axis, parts, start = equation.params["axis"], [], 0
    for extent, var in zip(equation.params["sizes"], equation.outvars, strict=True):
        starts = [0] * len(var.aval.shape)
        starts[axis] = start
        parts.append(cut(emitter, operands[0], starts, var.aval.shape))
        start += extent
    return parts


def rev(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.rev`: the named axes read backwards."""
    value, axes = operands[0], equation.params["dimensions"]
    strides = tuple(-s if axis in axes else s for axis, s in enumerate(value.strides))
    offset = sum((value.shape[axis] - 1) * value.strides[axis] for axis in axes)
    return [seen(emitter, value, value.shape, strides, offset)]


def row(value: Value, i: int) -> Value:
    """One entry along the first axis, at a known place."""
    rest = value.shape[1:]
    if isinstance(value, Few):
        count = size_of(rest)
        return Few(value.elements[i * count : (i + 1) * count], rest, value.dtype)
    return compact(value.seen(rest, value.strides[1:], i * value.strides[0]))


def stacked(emitter: "Emitter", rows: list[Value], axis: int, aval: Any) -> Value:
    """Values side by side along a new axis."""
    return join(emitter, [_with_axis(value, axis) for value in rows], axis, aval.shape, aval.dtype)


def join(emitter: "Emitter", values: list[Value], axis: int, shape: tuple[int, ...], dtype: Any) -> Value:
    """Values side by side along an axis."""
    starts = [sum(value.shape[axis] for value in values[:i]) for i in range(len(values))]
    if size_of(shape) <= MOST_FEW:
        elements = {
            (*index[:axis], index[axis] + start, *index[axis + 1 :]): value.at(index)
            for start, value in zip(starts, values, strict=True)
            for index in indices(value.shape)
        }
        return Few(tuple(elements[index] for index in indices(shape)), tuple(shape), dtype)
    made = emitter.writer.array(shape, dtype)
    for start, value in zip(starts, values, strict=True):
        emitter.writer.copy(value, made.seen(value.shape, made.strides, start * made.strides[axis]))
    return made


def _with_axis(value: Value, axis: int) -> Value:
    """A new axis of extent one."""
    shape = (*value.shape[:axis], 1, *value.shape[axis:])
    if isinstance(value, Few):
        return value.reshaped(shape)
    return value.seen(shape, (*value.strides[:axis], 0, *value.strides[axis:]))


def concatenate(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.concatenate` along one axis."""
    aval = equation.outvars[0].aval
    return [join(emitter, operands, equation.params["dimension"], aval.shape, aval.dtype)]


def stack(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.stack` along a new axis."""
    return [stacked(emitter, operands, equation.params["axis"], equation.outvars[0].aval)]


def tile(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """`lax.tile`: copies side by side, along one axis after the other."""
    value, shape = operands[0], list(operands[0].shape)
    for axis, times in enumerate(equation.params["reps"]):
        shape[axis] *= times
        value = join(emitter, [value] * times, axis, tuple(shape), value.dtype)
    return [value]


def unstack(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """`lax.unstack`: the entries along an axis, without it."""
    (value,), axis, parts = operands, equation.params["axis"], []
    for i, var in enumerate(equation.outvars):
        strides = (*value.strides[:axis], *value.strides[axis + 1 :])
        parts.append(seen(emitter, value, var.aval.shape, strides, i * value.strides[axis]))
    return parts


def pad(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """`lax.pad`: numbers around and between; a negative width cuts."""
    value, filling = operands
    aval, config = equation.outvars[0].aval, equation.params["padding_config"]
    sources = {
        tuple(low + i * (inner + 1) for i, (low, _, inner) in zip(index, config, strict=True)): index
        for index in indices(value.shape)
    }
    if size_of(aval.shape) <= MOST_FEW:
        texts = [value.at(sources[to]) if to in sources else filling.at(()) for to in indices(aval.shape)]
        return [Few(tuple(texts), aval.shape, aval.dtype)]
    made = emitter.writer.each(aval.shape, aval.dtype, lambda _: filling.at(()))
    for to, index in sources.items():
        if all(0 <= i < extent for i, extent in zip(to, aval.shape, strict=True)):
            emitter.writer.line(f"{made.at(to)} = {value.at(index)};")
    return [made]


def iota(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.iota`: numbers that count along one axis."""
    aval, axis = equation.outvars[0].aval, equation.params["dimension"]
    along = [-1 if i == axis else 1 for i in range(len(aval.shape))]
    numbers = np.arange(aval.shape[axis]).astype(aval.dtype).reshape(along)
    return [emitter.writer.literal(np.broadcast_to(numbers, aval.shape))]


def empty(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """`lax.empty`: zeros, so that nothing depends on what was in memory."""
    aval = equation.outvars[0].aval
    return [emitter.writer.each(aval.shape, aval.dtype, lambda _: constant(0, aval.dtype))]


def bitcast(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.bitcast_convert_type`: several narrow numbers are one wide one, whose lowest bits come first."""
    value, aval, writer = operands[0], equation.outvars[0].aval, emitter.writer
    kind, to = type_name(value.dtype), type_name(aval.dtype)
    if "b32" in (kind, to):
        raise UnsupportedError(f"A fused kernel cannot read the bits of {kind} as {to}")
    width, new_width = int(kind[1:]), int(to[1:])
    (value,) = writer.indexable([value], aval.shape)

    def same(index: Index) -> str:
        return bits_as(to, kind, value.at(index))

    def joined(index: Index) -> str:
        parts = []
        for place in range(new_width // width):
            low = f"CVT_u{new_width}_u{width}({bits_as(f'u{width}', kind, value.at((*index, place)))})"
            parts.append(f"SHL_u{new_width}({low}, K_u{new_width}({place * width}))")
        return bits_as(to, f"u{new_width}", f"({' | '.join(parts)})")

    def taken_apart(index: Index) -> str:
        *where, place = index
        distance = f"K_u{width}({place} * {new_width})"
        shifted = f"SHR_u{width}({bits_as(f'u{width}', kind, value.at(tuple(where)))}, {distance})"
        return bits_as(to, f"u{new_width}", f"CVT_u{new_width}_u{width}({shifted})")

    element = same if width == new_width else joined if width < new_width else taken_apart
    return [writer.each(aval.shape, aval.dtype, element)]


RULES = {
    "bitcast_convert_type": bitcast,
    "broadcast_in_dim": broadcast_in_dim, "reshape": reshape, "squeeze": reshape, "expand_dims": reshape,
    "transpose": transpose, "slice": slice_, "split": split, "rev": rev, "concatenate": concatenate, "stack": stack,
    "unstack": unstack, "tile": tile, "pad": pad, "iota": iota, "empty": empty,
}  # fmt: skip
