"""Lines of C: variables, arrays and loops, written one after the other into nested blocks."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from overclock.vector.fused.values import (
    MOST_FEW,
    Few,
    Many,
    Value,
    constant,
    indices,
    size_of,
    strides_of,
    type_name,
)

INDENT = "  "
Index = tuple[Any, ...]
"""Whole numbers, and names of loop variables."""


class Writer:
    """Collects the statements of one kernel and the tables beside it; `vector` says whether a value is many lanes."""

    def __init__(self, vector: bool) -> None:
        self.vector = vector
        self.lines: list[str] = []
        self.tables: list[str] = []
        self.array_bytes = self._living_bytes = 0  # of one lane: the most at a time, and now
        self.active = "K_TRUE"  # which lanes the present block is meant for; the others compute without meaning
        self._depth, self._names = 1, 0
        self.known: dict[str, Any] = {}  # the numbers behind the texts of constants
        self._tables: dict[tuple[str, bytes], str] = {}

    def line(self, text: str) -> None:
        """Append one statement, indented as its block."""
        self.lines.append(INDENT * self._depth + text)

    def name(self, stem: str = "v") -> str:
        """A new name. No stem is a letter of a type: the 32nd `i` would be `i32`."""
        assert stem not in ("b", "f", "i", "u")
        self._names += 1
        return f"{stem}{self._names}"

    @contextlib.contextmanager
    def block(self, opening: str) -> Iterator[None]:
        """`opening { ... }`; an empty opening is a scope."""
        self.line(f"{opening} {{".lstrip())
        self._depth, before = self._depth + 1, self._living_bytes
        yield
        self._depth, self._living_bytes = self._depth - 1, before
        self.line("}")

    @contextlib.contextmanager
    def counted(self, length: int, first: int = 0) -> Iterator[str]:
        """A loop; gives its variable."""
        counter = self.name("at")
        with self.block(f"for (int {counter} = {first}; {counter} < {length}; {counter}++)"):
            yield counter

    @contextlib.contextmanager
    def loops(self, shape: tuple[int, ...]) -> Iterator[tuple[str, ...]]:
        """A loop per axis; gives the loops' variables."""
        with contextlib.ExitStack() as stack:
            yield tuple([stack.enter_context(self.counted(extent)) for extent in shape])

    @contextlib.contextmanager
    def meant_for(self, mask: str) -> Iterator[None]:
        """What is written meanwhile is meant for some lanes only."""
        before, self.active = self.active, mask
        yield
        self.active = before

    def define(self, dtype: Any, expression: str) -> str:
        """Append a new constant variable and return its name."""
        name = self.name()
        self.line(f"const {type_name(dtype)} {name} = {expression};")
        return name

    def variable(self, dtype: Any, first: str) -> str:
        """A new variable that may change."""
        name = self.name("m")
        self.line(f"{type_name(dtype)} {name} = {first};")
        return name

    def array(self, shape: tuple[int, ...], dtype: Any) -> Many:
        """A new array, not yet filled."""
        name = self.name("a")
        kind, count = type_name(dtype), max(1, size_of(shape))
        self._living_bytes += count * int(kind[1:]) // 8
        self.array_bytes = max(self.array_bytes, self._living_bytes)
        self.line(f"{kind} {name}[{count}];")
        return Many(name, tuple(shape), dtype, strides_of(shape))

    def table(self, numbers: np.ndarray) -> Many:
        """Add an array of constants before the function, or find the same one there."""
        flat = np.ascontiguousarray(numbers).reshape(-1)
        key = (str(flat.dtype), flat.tobytes())
        if key not in self._tables:
            self._tables[key] = name = self.name("t")
            entries = ", ".join(_entry(number, flat.dtype) for number in flat) or "0"
            self.tables.append(f"TABLE e_{type_name(flat.dtype)} {name}[{max(1, flat.size)}] = {{{entries}}};")
        return Many(self._tables[key], numbers.shape, numbers.dtype, strides_of(numbers.shape), table=flat)

    def literal(self, numbers: Any) -> Value:
        """A constant of any size."""
        numbers = np.asarray(numbers)
        if numbers.size > MOST_FEW:
            return self.table(numbers)
        flat = list(numbers.reshape(-1))
        texts = tuple(constant(number, numbers.dtype) for number in flat)
        self.known.update(zip(texts, flat, strict=True))
        return Few(texts, numbers.shape, numbers.dtype)

    def over(self, shape: tuple[int, ...], statement: Callable[[Index], None], written_out: bool) -> None:
        """A statement for every index, written out or in loops."""
        if written_out:
            for index in indices(shape):
                statement(index)
            return
        with self.loops(shape) as counters:
            statement(counters)

    def each(self, shape: tuple[int, ...], dtype: Any, element: Callable[[Index], str]) -> Value:
        """A new value from an expression per index: variables for few numbers, a filled array for many.

        The expression may need statements of its own, which `element` writes before it returns.
        """
        if size_of(shape) <= MOST_FEW:
            return Few(tuple(self.define(dtype, element(index)) for index in indices(shape)), tuple(shape), dtype)
        made = self.array(shape, dtype)
        with self.loops(shape) as counters:
            number = element(counters)
            self.line(f"{made.at(counters)} = {number};")
        return made

    def as_array(self, value: Value) -> Many:
        """The value as a C array that is laid out row by row, copied where it is none."""
        if isinstance(value, Many) and value.whole and value.table is None:
            return value
        made = self.array(value.shape, value.dtype)
        self.copy(value, made)
        return made

    def as_view(self, value: Value) -> Many:
        """The value as a C array under any view."""
        return value if isinstance(value, Many) else self.as_array(value)

    def indexable(self, operands: list[Value], shape: tuple[int, ...]) -> list[Value]:
        """Operands of a result of this shape: where it is computed in loops, few numbers become an array."""
        if size_of(shape) <= MOST_FEW:
            return operands
        return [value if size_of(value.shape) == 1 else self.as_view(value) for value in operands]

    def copy(self, value: Value, into: Value, mask: str | None = None) -> None:
        """Write a value over variables or into an array; with a mask, only for its lanes."""

        def one(index: Index) -> None:
            new, old = value.at(index), into.at(index)
            self.line(f"{old} = {new if mask is None else self.select(mask, new, old, into.dtype)};")

        self.over(into.shape, one, isinstance(value, Few) or isinstance(into, Few))

    def changing(self, value: Value) -> Value:
        """A copy of a value that may change."""
        if isinstance(value, Few):
            return Few(tuple(self.variable(value.dtype, e) for e in value.elements), value.shape, value.dtype)
        made = self.array(value.shape, value.dtype)
        self.copy(value, made)
        return made

    def blank(self, shape: tuple[int, ...], dtype: Any) -> Value:
        """Variables or an array to be written before they are read."""
        if size_of(shape) > MOST_FEW:
            return self.array(shape, dtype)
        zero = constant(0, dtype)
        return Few(tuple(self.variable(dtype, zero) for _ in range(size_of(shape))), tuple(shape), dtype)

    def select(self, mask: str, yes: str, no: str, dtype: Any) -> str:
        """One of two numbers per lane."""
        return f"SEL_{type_name(dtype)}({mask}, {yes}, {no})"


def _entry(number: Any, dtype: Any) -> str:
    """A table's entry: a plain number, not one per lane."""
    text = constant(number, dtype)
    return {"K_TRUE": "1", "K_FALSE": "0"}.get(text) or text[text.index("(") + 1 : -1]
