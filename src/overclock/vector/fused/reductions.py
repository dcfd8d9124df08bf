"""Many numbers become fewer: sums, extremes, running sums, products of matrices, sorting. Always in order of index."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from overclock.vector.fused.elementwise import extreme
from overclock.vector.fused.values import MOST_FEW, Few, Value, compact, constant, indices, size_of, type_name
from overclock.vector.fused.writer import Index

if TYPE_CHECKING:
    from overclock.vector.fused.emitter import Emitter

Rule = Callable[["Emitter", Any, list[Value]], list[Value]]

MOST_WRITTEN_OUT = 64  # numbers that are combined without a loop
MOST_SORTED_IN_VARIABLES = 8  # numbers whose 28 exchanges are written one after the other
SYMBOLS = {"AND": "&", "OR": "|", "XOR": "^"}
OF_BOOLS = {"MAX": "|", "ADD": "|", "MIN": "&", "MUL": "&"}


def _combined(word: str, kind: str, a: str, b: str) -> str:
    symbol = SYMBOLS.get(word) or (OF_BOOLS[word] if kind == "b32" else None)
    if symbol:
        return f"({a} {symbol} {b})"
    return extreme(word, kind, a, b) if word in ("MAX", "MIN") else f"{word}_{kind}({a}, {b})"


def _neutral(word: str, dtype: Any) -> str:
    """What changes nothing: -0 for a sum of floats, since 0 would change -0."""
    dtype = np.dtype(dtype)
    bools = dtype.kind == "b"
    low, high = (False, True) if bools else (-np.inf, np.inf) if dtype.kind == "f" else _ends(dtype)
    numbers = {"ADD": -0.0 if dtype.kind == "f" else 0, "MUL": 1, "MAX": low, "MIN": high, "OR": 0, "XOR": 0}
    return constant(numbers.get(word, -1 if dtype.kind == "i" else high), dtype)


def _ends(dtype: np.dtype) -> tuple[int, int]:
    return int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)


def _reduce(word: str) -> Rule:
    def rule(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
        (value,), aval, writer = operands, equation.outvars[0].aval, emitter.writer
        axes, kind = equation.params["axes"], type_name(aval.dtype)
        inner = tuple(value.shape[axis] for axis in axes)

        def number(outer: Index, inside: Index) -> str:
            left, right = iter(outer), iter(inside)
            return value.at(tuple(next(right) if axis in axes else next(left) for axis in range(len(value.shape))))

        def one(outer: Index) -> str:
            first = _neutral(word, aval.dtype)
            if size_of(inner) == 0:
                return constant(0, aval.dtype) if word == "ADD" else first
            if size_of(inner) <= MOST_WRITTEN_OUT:
                total, *others = [number(outer, inside) for inside in indices(inner)]
                for other in others:
                    total = writer.define(aval.dtype, _combined(word, kind, total, other))
                return total
            total = writer.variable(aval.dtype, first)
            with writer.loops(inner) as counters:
                writer.line(f"{total} = {_combined(word, kind, total, number(outer, counters))};")
            return total

        return [writer.each(aval.shape, aval.dtype, one)]

    return rule


def _arg(largest: bool) -> Rule:
    def rule(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
        """The first place of the largest (smallest) number; the first NaN comes before everything."""
        (value,), aval, writer = operands, equation.outvars[0].aval, emitter.writer
        (axis,), kind, out = equation.params["axes"], type_name(value.dtype), type_name(aval.dtype)

        def better(number: str, best: str) -> str:
            test = f"{'GT' if largest else 'LT'}_{kind}({number}, {best})"
            if kind[0] == "f":
                test = f"(({test} | NE_{kind}({number}, {number})) & EQ_{kind}({best}, {best}))"
            return writer.define("bool", test)

        def one(outer: Index) -> str:
            best = writer.variable(value.dtype, value.at((*outer[:axis], 0, *outer[axis:])))
            where = writer.variable(aval.dtype, constant(0, aval.dtype))

            def look(place: Index) -> None:
                (i,) = place
                i = i + 1 if isinstance(i, int) else f"({i} + 1)"
                number = writer.define(value.dtype, value.at((*outer[:axis], i, *outer[axis:])))
                test = better(number, best)
                writer.line(f"{best} = {writer.select(test, number, best, value.dtype)};")
                writer.line(f"{where} = {writer.select(test, f'K_{out}({i})', where, aval.dtype)};")

            writer.over((value.shape[axis] - 1,), look, isinstance(value, Few))
            return where

        return [writer.each(aval.shape, aval.dtype, one)]

    return rule


def _running(word: str) -> Rule:
    def rule(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
        (value,), aval, writer = operands, equation.outvars[0].aval, emitter.writer
        axis, reverse, kind = equation.params["axis"], equation.params["reverse"], type_name(aval.dtype)
        outer, length = (*aval.shape[:axis], *aval.shape[axis + 1 :]), aval.shape[axis]
        made = writer.blank(aval.shape, aval.dtype)

        def along(outside: Index) -> None:
            total = writer.variable(aval.dtype, _neutral(word, aval.dtype))

            def step(place: Index) -> None:
                (i,) = place
                if reverse:
                    i = length - 1 - i if isinstance(i, int) else f"({length - 1} - {i})"
                index = (*outside[:axis], i, *outside[axis:])
                writer.line(f"{total} = {_combined(word, kind, total, value.at(index))};")
                writer.line(f"{made.at(index)} = {total};")

            writer.over((length,), step, isinstance(made, Few))

        writer.over(outer, along, isinstance(made, Few))
        return [made]

    return rule


def dot_general(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Products of small matrices, summed in order of index."""
    left, right = operands
    aval, writer = equation.outvars[0].aval, emitter.writer
    summed, batched = equation.params["dimension_numbers"]
    kind, extents = type_name(aval.dtype), tuple(left.shape[axis] for axis in summed[0])
    free = [
        [axis for axis in range(len(value.shape)) if axis not in (*summed[side], *batched[side])]
        for side, value in enumerate(operands)
    ]
    if size_of(extents) > MOST_WRITTEN_OUT or size_of(aval.shape) > MOST_FEW:
        left, right = writer.as_view(left), writer.as_view(right)

    def number(value: Value, side: int, batch: Index, inside: Index, outside: Index) -> str:
        axes = [*batched[side], *summed[side], *free[side]]
        index = dict(zip(axes, [*batch, *inside, *outside], strict=True))
        text, own = value.at(tuple(index[axis] for axis in range(len(value.shape)))), type_name(value.dtype)
        return text if own == kind else f"CVT_{kind}_{own}({text})"

    def one(outer: Index) -> str:
        count = len(batched[0])
        batch, rows, columns = outer[:count], outer[count : count + len(free[0])], outer[count + len(free[0]) :]

        def product(inside: Index) -> str:
            return _combined(
                "MUL", kind, number(left, 0, batch, inside, rows), number(right, 1, batch, inside, columns)
            )

        if size_of(extents) == 0:
            return constant(0, aval.dtype)
        if size_of(extents) <= MOST_WRITTEN_OUT:
            total, *others = [product(inside) for inside in indices(extents)]
            for other in others:
                total = writer.define(aval.dtype, _combined("ADD", kind, total, other))
            return total
        total = writer.variable(aval.dtype, _neutral("ADD", aval.dtype))
        with writer.loops(extents) as counters:
            writer.line(f"{total} = {_combined('ADD', kind, total, product(counters))};")
        return total

    return [writer.each(aval.shape, aval.dtype, one)]


def sort(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """`lax.sort` along an axis, by exchanging neighbours: stable, and the same steps for every lane."""
    writer, params = emitter.writer, equation.params
    axis, keys, shape = params["dimension"], params["num_keys"], operands[0].shape
    outer, length = (*shape[:axis], *shape[axis + 1 :]), shape[axis]
    few = all(isinstance(value, Few) for value in operands) and length <= MOST_SORTED_IN_VARIABLES
    made = [writer.changing(value) for value in operands]
    if not few:
        made = [writer.as_array(value) for value in made]

    def exchange(outside: Index, i: Any, after: Any) -> None:
        """Two neighbours into their order."""
        here, there = ([a.at((*outside[:axis], j, *outside[axis:])) for a in made] for j in (i, after))
        test = "K_FALSE"
        for value, low, high in reversed(list(zip(made, here, there, strict=True))[:keys]):
            kind = type_name(value.dtype)
            test = f"(BELOW_{kind}({high}, {low}) | (NOT_b32(BELOW_{kind}({low}, {high})) & {test}))"
        swap = writer.define("bool", test)
        for value, low, high in zip(made, here, there, strict=True):
            first, second = writer.define(value.dtype, low), writer.define(value.dtype, high)
            writer.line(f"{low} = {writer.select(swap, second, first, value.dtype)};")
            writer.line(f"{high} = {writer.select(swap, first, second, value.dtype)};")

    def along(outside: Index) -> None:
        if few:
            for end in range(length - 1, 0, -1):
                for i in range(end):
                    exchange(outside, i, i + 1)
            return
        end, i = writer.name("at"), writer.name("at")
        with (
            writer.block(f"for (int {end} = {length - 1}; {end} > 0; {end}--)"),
            writer.block(f"for (int {i} = 0; {i} < {end}; {i}++)"),
        ):
            exchange(outside, i, f"({i} + 1)")

    writer.over(outer, along, few)
    return [value if isinstance(value, Few) else compact(value) for value in made]


RULES = {
    **{f"reduce_{name}": _reduce(word) for name, word in (
        ("sum", "ADD"), ("prod", "MUL"), ("max", "MAX"), ("min", "MIN"), ("and", "AND"), ("or", "OR"), ("xor", "XOR"),
    )},
    "argmax": _arg(True), "argmin": _arg(False),
    "cumsum": _running("ADD"), "cumprod": _running("MUL"), "cummax": _running("MAX"), "cummin": _running("MIN"),
    "dot_general": dot_general, "sort": sort,
}  # fmt: skip
