"""Places in arrays: which element of an array is meant, where an operation only moves elements around.

A place is one `Place` per axis: a number, or a sum of loop variables with factors. Transposing, slicing or reshaping
then costs nothing: whoever wants an element of the result reads an element of the original.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.rust.names import Tables

# Operations whose result has the operand's elements at other places, whatever they are.
MOVES = frozenset(
    {
        "ravel", "reshape", "transpose", "swapaxes", "moveaxis", "squeeze", "expand_dims", "broadcast_to", "flip",
        "fliplr", "flipud", "rot90", "roll", "repeat", "tile", "diagonal", "atleast_1d", "atleast_2d",
    }
)  # fmt: skip


@dataclasses.dataclass(frozen=True)
class Place:
    """A position along one axis: a constant and multiples of variables or other expressions."""

    constant: int = 0
    terms: tuple[tuple[str, int], ...] = ()

    def plus(self, other: "Place", factor: int = 1) -> "Place":
        terms = dict(self.terms)
        for name, times in other.terms:
            terms[name] = terms.get(name, 0) + factor * times
        kept = tuple((name, times) for name, times in terms.items() if times)
        return Place(self.constant + factor * other.constant, kept)

    @property
    def text(self) -> str:
        gains = [name if times == 1 else f"{times} * {name}" for name, times in self.terms if times > 0]
        losses = [name if times == -1 else f"{-times} * {name}" for name, times in self.terms if times < 0]
        # Constants that are added to losses come first: the numbers are unsigned.
        if self.constant > 0 and losses:
            gains.insert(0, str(self.constant))
        elif self.constant > 0 or not (gains or losses):
            gains.append(str(self.constant))
        shown = " + ".join(gains) + "".join(f" - {loss}" for loss in losses)
        return f"{shown} - {-self.constant}" if self.constant < 0 else shown


Places = list[Place]
Guard = Callable[[Operand, Places, int], Place]  # the place that an operand names at some place of its own


def variable(name: str) -> Place:
    """The place that a loop variable, or any other expression, stands for."""
    return Place(0, ((name, 1),))


def spread(places: Places, shape: Sequence[int]) -> Places:
    """Where an array of `shape` has what broadcasting puts at `places`."""
    last = places[len(places) - len(shape) :]
    return [Place() if length == 1 else place for place, length in zip(last, shape, strict=True)]


def moved(op: str, shape: tuple[int, ...], keywords: dict[str, Any], places: Places, tables: Tables) -> Places:
    """Where the operand has what the result of one of `MOVES` has at `places`."""
    if not shape:
        return []
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    table = np.asarray(getattr(np, op)(numbers, **keywords))
    if all(not place.terms for place in places):
        at = table[tuple(place.constant for place in places)]
        return [Place(int(one)) for one in np.unravel_index(int(at), shape)]
    found = [_linear(axis, places) for axis in np.unravel_index(table, shape)]
    if all(one is not None for one in found):
        return [one for one in found if one is not None]
    flat = _linear(table, places)
    if flat is None:
        order = _linear(np.arange(table.size).reshape(table.shape), places)
        assert order is not None
        flat = variable(f"{tables.name(table.ravel(), 'usize')}[{order.text}]")
    return _unravelled(flat, shape)


def _linear(values: np.ndarray, places: Places) -> Place | None:
    first = int(values.flat[0])
    result, check = Place(first), np.full(values.shape, first)
    for axis, place in enumerate(places):
        if values.shape[axis] == 1:
            continue
        factor = int(np.take(values, 1, axis).flat[0]) - first
        check += factor * np.arange(values.shape[axis]).reshape([-1 if at == axis else 1 for at in range(values.ndim)])
        result = result.plus(place, factor)
    return result if np.array_equal(check, values) else None


def _unravelled(flat: Place, shape: Sequence[int]) -> Places:
    text = flat.text if len(flat.terms) == 1 and not flat.constant and flat.terms[0][1] == 1 else f"({flat.text})"
    found: Places = []
    for axis, length in enumerate(shape):
        behind = int(np.prod(shape[axis + 1 :]))
        part = text if behind == 1 else f"{text} / {behind}"
        found.append(
            variable(f"({part}) % {length}" if axis and behind > 1 else f"{part} % {length}" if axis else part)
        )
    return found


def indexed(
    shape: tuple[int, ...], index: Sequence[Any], dynamic: Sequence[Operand], places: Places, guard: Guard
) -> Places:
    """Where an array of `shape` has what array[index] has at `places`; `dynamic` are the operands of the index."""
    parts = _complete(shape, index, list(dynamic))
    arrays = [part for part in parts if isinstance(part, Var | Const) and part.type.shape]
    chosen = [at for at, part in enumerate(parts) if isinstance(part, int | Var | Const)]
    common = np.broadcast_shapes(*(part.type.shape for part in arrays))
    # NumPy puts the axes of index arrays where these stand, or first where something stands between them.
    together = bool(chosen) and chosen == list(range(chosen[0], chosen[-1] + 1))
    front = (chosen[0] if together else -1) if arrays else None
    left = list(places)
    picked: Places = left[: len(common)] if front == -1 else []
    left = left[len(picked) :]
    found: Places = []
    for at, part in enumerate(parts):
        if at == front:
            picked, left = left[: len(common)], left[len(common) :]
        if part is None:
            left.pop(0)
            continue
        length = shape[len(found)]
        match part:
            case Var() | Const():
                found.append(guard(part, spread(picked, part.type.shape), length))
            case slice():
                start, _, step = part.indices(length)
                found.append(Place(start).plus(left.pop(0), step))
            case _:
                found.append(Place(range(length)[part]))
    assert not left
    return found


def _complete(shape: tuple[int, ...], index: Sequence[Any], dynamic: list[Operand]) -> list[Any]:
    """An index with a part for every axis: an int, an operand, a slice; None for a new axis."""
    consumed = sum(not (isinstance(part, tuple) and part[0] in ("new", "rest")) for part in index)
    parts: list[Any] = []
    for part in index:
        if isinstance(part, Var | Const):
            operand = dynamic.pop(0)
            if operand.type.kind == "b":
                raise UnsupportedError("the Rust printer has no 'getitem' or 'setitem' by an array of flags")
            parts.append(operand)
        elif not isinstance(part, tuple):
            parts.append(int(part))
        elif part[0] == "slice":
            parts.append(slice(*part[1:]))
        elif part[0] == "new":
            parts.append(None)
        else:
            parts += [slice(None)] * (len(shape) - consumed)
            consumed = len(shape)
    return parts + [slice(None)] * (len(shape) - consumed)


def region(shape: tuple[int, ...], index: Sequence[Any], dynamic: Sequence[Operand]) -> tuple[int, ...]:
    """The shape of array[index]; `dynamic` are the operands of the index."""
    parts = _complete(shape, index, list(dynamic))
    real = tuple(
        np.zeros(part.type.shape, int) if isinstance(part, Var | Const) else np.newaxis if part is None else part
        for part in parts
    )
    return np.zeros(shape, bool)[real].shape
