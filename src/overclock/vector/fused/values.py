"""What a kernel computes with: numbers of one lane, as C expressions.

A small array is a list of expressions (`Few`), one C variable per number, so that the compiler keeps it in registers
and reshaping it costs nothing. A larger one is a C array (`Many`) seen through an offset and strides, so that slices,
transposes and broadcasts are other views of it. Tables are arrays of constants that all lanes share.
"""

import dataclasses
import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from overclock.errors import UsageError

MOST_FEW = 32  # numbers that become variables of their own

# The C names of what JAX computes with. A bool is a mask of 32 bits: 0 or 1 for a scalar, 0 or -1 in a vector.
NAMES = {
    "float32": "f32", "float64": "f64", "bool": "b32", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
}  # fmt: skip
SUFFIXES = {"u32": "u", "u64": "ull", "i64": "ll"}
INTEGER = re.compile(r"K_[iu]\d+\((-?\d+)(?:u|ull|ll)?\)")


class UnsupportedError(UsageError):
    """A program that has no kernel; the sentence names what is in the way and where it is written."""

    def __init__(self, reason: str, primitive: str = "", source: str = "") -> None:
        self.reason, self.primitive, self.source = reason, primitive, source
        place = " at ".join(filter(None, [f"'{primitive}'" if primitive else "", source]))
        super().__init__(f"{reason}{f' ({place})' if place else ''}; use backend='xla'.")


def type_name(dtype: Any) -> str:
    """The C name of a dtype."""
    name = dtype.name if hasattr(dtype, "name") else np.dtype(dtype).name
    if name not in NAMES:
        raise UnsupportedError(f"A fused kernel does not compute with {name}")
    return NAMES[name]


def constant(number: Any, dtype: Any) -> str:
    """A number as a C expression of its type."""
    kind = type_name(dtype)
    if kind in ("f32", "f64"):
        return f"K_{kind}({_float(number, kind)})"
    if kind == "b32":
        return "K_TRUE" if number else "K_FALSE"
    whole = int(number)
    if whole in (-(2**31), -(2**63)):  # in C the minus is an operator on a number that does not fit
        return f"K_{kind}(({whole + 1}{SUFFIXES.get(kind, '')} - 1))"
    return f"K_{kind}({whole}{SUFFIXES.get(kind, '')})"


def _float(number: Any, kind: str) -> str:
    value = float(number)
    if math.isnan(value):
        return f"NAN_{kind}"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}INF_{kind}"
    return value.hex() + ("f" if kind == "f32" else "")


def known_integer(expression: str) -> int | None:
    """The whole number behind a constant's expression, or None."""
    found = INTEGER.fullmatch(expression)
    return int(found[1]) if found else None


def strides_of(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of an array in row-major order."""
    strides, step = [], 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def size_of(shape: tuple[int, ...]) -> int:
    """How many numbers an array of this shape has."""
    return math.prod(shape)


def indices(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Every index of a shape, row by row."""
    return itertools.product(*(range(extent) for extent in shape))


@dataclasses.dataclass(frozen=True)
class Few:
    """An array of few numbers, each an expression of its own; row by row."""

    elements: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: Any

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps between neighbours, in numbers."""
        return strides_of(self.shape)

    def at(self, index: tuple[Any, ...]) -> str:
        """One number; the index is known."""
        return self.elements[sum(i * step for i, step in zip(index, self.strides, strict=True))]

    def reshaped(self, shape: tuple[int, ...]) -> "Few":
        """The same numbers under another shape."""
        return Few(self.elements, tuple(shape), self.dtype)


@dataclasses.dataclass(frozen=True)
class Many:
    """A view of a C array. `table` holds the numbers of a constant one, whose elements are the same for all lanes."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    strides: tuple[int, ...]
    offset: int = 0
    table: Any = dataclasses.field(default=None, compare=False)

    def flat(self, index: tuple[Any, ...]) -> str:
        """The place of an element, whose index may hold loop variables."""
        known = self.offset + sum(i * s for i, s in zip(index, self.strides, strict=True) if isinstance(i, int))
        terms = [
            str(i) if s == 1 else f"{i} * {s}"
            for i, s in zip(index, self.strides, strict=True)
            if not isinstance(i, int) and s != 0
        ]
        return " + ".join([*terms, *([str(known)] if known or not terms else [])])

    def at(self, index: tuple[Any, ...]) -> str:
        """One number; the index holds whole numbers and loop variables."""
        place = self.flat(index)
        if self.table is None:
            return f"{self.name}[{place}]"
        if place.isdigit():
            return constant(self.table[int(place)], self.dtype)
        return f"SPLAT_{type_name(self.dtype)}({self.name}[{place}])"

    def seen(self, shape: tuple[int, ...], strides: tuple[int, ...], offset: int = 0) -> "Many":
        """The same array through other strides, from `offset` numbers further on."""
        return dataclasses.replace(self, shape=tuple(shape), strides=tuple(strides), offset=self.offset + offset)

    @property
    def whole(self) -> bool:
        """Whether the view is the C array itself, row by row."""
        return self.offset == 0 and self.strides == strides_of(self.shape)


Value = Few | Many


def spread(value: Value, index: tuple[Any, ...]) -> str:
    """A number of an operand at an index of the result: scalars and axes of extent one stand for every place."""
    places = zip(index, value.shape, strict=True) if value.shape else ()
    return value.at(tuple(0 if extent == 1 else i for i, extent in places))


def compact(view: Many) -> Value:
    """A view of few numbers as their expressions; of an array that does not change while they are in use."""
    if size_of(view.shape) > MOST_FEW:
        return view
    return Few(tuple(view.at(index) for index in indices(view.shape)), view.shape, view.dtype)
