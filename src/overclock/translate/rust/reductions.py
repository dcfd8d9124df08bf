"""Many numbers as one: sums, smallest and largest values, products of arrays."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.nodes import Let, Operand
from overclock.translate.rust.elements import Elements
from overclock.translate.rust.index import Places
from overclock.translate.rust.plan import PRODUCTS, REDUCTIONS
from overclock.translate.rust.scalars import cast, computed
from overclock.translate.rust.syntax import Strength, Text, literal, rust_type

TOTAL = "total"  # what a fold carries


class Reductions(Elements):
    """Adds reductions along all axes or some, and products of arrays."""

    def computed(self, let: Let, places: Places) -> Text:
        """As `Elements.computed`; also a reduction or a product at a place of its result."""
        if let.op in PRODUCTS:
            return self._product(let, places)
        return self._reduced(let, places) if let.op in REDUCTIONS else super().computed(let, places)

    def _reduced(self, let: Let, places: Places) -> Text:
        operand = let.args[0]
        if unknown := set(let.keywords) - {"axis", "keepdims"}:
            raise UnsupportedError(f"the Rust printer has no '{let.op}' with '{min(unknown)}'")
        shape = operand.type.shape
        axes = _axes(let.keywords.get("axis"), len(shape))
        kept = [at for at in range(len(shape)) if at not in axes]
        if let.keywords.get("keepdims"):
            places = [places[at] for at in kept]
        dtype = let.out.type.dtype if let.op in ("sum", "prod", "mean") else operand.type.dtype
        by_helper = let.op in ("argmin", "argmax") or (let.op in ("sum", "mean") and np.dtype(dtype).kind == "f")
        if by_helper and (not kept or axes == [len(shape) - 1] or let.op[:3] == "arg"):
            return self._by_helper(let.op, operand, dtype, axes, places)
        lengths = [shape[at] for at in axes]

        def inner(turning: Places) -> Text:
            outer, turns = iter(places), iter(turning)
            inside = [next(turns) if at in axes else next(outer) for at in range(len(shape))]
            return self.element(operand, inside, dtype)

        found = self._folded(let.op, dtype, lengths, inner)
        return _mean(found, dtype, lengths) if let.op == "mean" else found

    def _by_helper(self, op: str, operand: Operand, dtype: str, axes: list[int], places: Places) -> Text:
        shape = operand.type.shape
        if len(axes) == len(shape):
            values = f"&{self.held(operand, dtype)}"
            if len(shape) > 1:
                values = values[1:] + ".as_flattened()" * (len(shape) - 1)
        elif len(axes) == 1:
            length = shape[axes[0]]
            with self.over([length]) as (letters, turning):
                inner = [*places[: axes[0]], *turning, *places[axes[0] :]]
                text = self.element(operand, inner, dtype).text
            values = f"&from_fn::<{rust_type(dtype)}, {length}, _>(|{letters[0] or '_'}| {text})"
        else:
            raise UnsupportedError(f"the Rust printer has no '{op}' along several axes")
        name = self.helpers.name("sum" if op == "mean" else op)
        found = Text(f"{name}({values})")
        return _mean(found, dtype, [shape[at] for at in axes]) if op == "mean" else found

    def _folded(self, op: str, dtype: str, lengths: Sequence[int], element: Callable[[Places], Text]) -> Text:
        """Element by element, in order."""
        with self.over(lengths) as (letters, places):
            value = element(places)
            if op in ("any", "all"):
                text = value.text
                for letter, length in zip(reversed(letters), reversed(lengths), strict=True):
                    text = f"(0..{length}).{op}(|{letter or '_'}| {text})"
                return Text(text)
            first, body = self._step(op, dtype, value)
            for letter, length in zip(reversed(letters[1:]), reversed(lengths[1:]), strict=True):
                body = f"(0..{length}).fold({TOTAL}, |{TOTAL}, {letter or '_'}| {body})"
            return Text(f"(0..{lengths[0]}).fold({first}, |{TOTAL}, {letters[0] or '_'}| {body})")

    def _step(self, op: str, dtype: str, value: Text) -> tuple[str, str]:
        """What a fold starts from, and how it goes on."""
        total = Text(TOTAL)
        if op == "count_nonzero":
            return "0_i64", f"{TOTAL} + {cast(cast(value, dtype, 'bool'), 'bool', 'int64').within(Strength.ADD)}"
        if op in ("sum", "mean", "prod"):
            step = computed("mul" if op == "prod" else "add", dtype, [total, value], self.helpers)
            return literal(int(op == "prod"), dtype).owner, step.text
        kind = np.dtype(dtype)
        if kind.kind == "b":
            first, symbol = ("false", "||") if op == "max" else ("true", "&&")
            return first, f"{TOTAL} {symbol} {value.within(Strength.ADD)}"
        if kind.kind == "f":
            first = np.inf if op == "min" else -np.inf
        else:
            first = np.iinfo(kind).max if op == "min" else np.iinfo(kind).min
        step = computed("minimum" if op == "min" else "maximum", dtype, [total, value], self.helpers)
        return literal(first, dtype).owner, step.text

    def _product(self, let: Let, places: Places) -> Text:
        """`a @ b` of vectors and matrices, summed in order."""
        a, b = let.args
        ranks = len(a.type.shape), len(b.type.shape)
        dtype = let.out.type.dtype
        if ranks == (0, 0) or max(ranks) > 2 or min(ranks) == 0:
            raise UnsupportedError(f"the Rust printer has no '{let.op}' of arrays with {ranks[0]} and {ranks[1]} axes")
        row, column = places[: ranks[0] - 1], places[ranks[0] - 1 :]

        def inner(turning: Places) -> Text:
            factors = [self.element(a, [*row, *turning], dtype), self.element(b, [*turning, *column], dtype)]
            return computed("mul", dtype, factors, self.helpers)

        return self._folded("sum", dtype, [a.type.shape[-1]], inner)


def _axes(given: Any, rank: int) -> list[int]:
    if given is None:
        return list(range(rank))
    several = given if isinstance(given, tuple | list) else (given,)
    return sorted(int(one) % rank for one in several)


def _mean(total: Text, dtype: str, lengths: Sequence[int]) -> Text:
    count = literal(int(np.prod(lengths)), dtype)
    return Text(f"{total.within(Strength.MUL)} / {count.text}", Strength.MUL)
