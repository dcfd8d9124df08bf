"""Expressions of a traced program, each stored once, so that a known formula can be recognised among them.

The generator's formula (docs/rng.md) and the one that makes a number below n of a word are traced once, as patterns.
Shapes are left out: one word and an array of words are the same expression.
"""

import dataclasses
import functools
import itertools
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env.rng import SITE_WEYL, SITES_PER_SECTION, mix, multiply_high

Expression = tuple[Any, ...]
COMMUTATIVE = frozenset({"add", "mul", "and", "or", "xor"})
KEYS = ("k0", "k1", "counter")
INDEX, WORD, BOUND = "index", "word", "bound"  # holes: a constant; any value, the same wherever it stands
HALVES = ("low half", "high half")  # of a bound
WORD_BITS = 32
FIRST_FACTOR = pow(int(SITE_WEYL), -1, 1 << WORD_BITS)  # of a product with SITE_WEYL, the other factor


class Expressions:
    """All expressions met so far, by number; two numbers are equal exactly if the expressions are."""

    def __init__(self) -> None:
        self._known: list[Expression] = []
        self._numbers: dict[Expression, int] = {}
        self._fresh = itertools.count()

    def of(self, *parts: Any) -> int:
        """The number of an operation with its parameters and operands, or of a named input."""
        if (number := self._numbers.get(parts)) is None:
            number = self._numbers[parts] = len(self._known)
            self._known.append(parts)
        return number

    def opaque(self) -> int:
        """A value that nothing is known of."""
        return self.of("opaque", next(self._fresh))

    def constant(self, value: Any) -> int:
        """A number or an array that stands in the program."""
        array = np.asarray(value)
        return self.of("constant", str(array.dtype), array.shape, array.tobytes())

    def known(self, number: int) -> Expression:
        return self._known[number]

    def value(self, number: int) -> np.ndarray | None:
        """A constant's value, or that of a product of two."""
        match self.known(number):
            case ("constant", dtype, shape, content):
                return np.frombuffer(content, np.dtype(dtype)).reshape(shape)
            case ("mul", _, first, second):
                factors = self.value(first), self.value(second)
                with np.errstate(over="ignore"):
                    return None if factors[0] is None or factors[1] is None else factors[0] * factors[1]
            case _:
                return None


@dataclasses.dataclass(frozen=True, eq=False)
class Pattern:
    """An expression with holes, in a table of its own."""

    table: Expressions
    root: int

    @property
    def operation(self) -> str:
        """The last operation, by which what cannot match is left out."""
        return self.table.known(self.root)[0]

    def match(self, table: Expressions, number: int) -> Mapping[str, int] | None:
        """What stands in the holes of an expression with this form; None where it has another one."""
        return next(iter(_matches(self, self.root, table, number, {})), None)


def _matches(pattern: Pattern, wanted: int, table: Expressions, number: int, bound: dict[str, int]) -> Any:
    """Every way to read an expression as a part of a pattern, given what is in some holes already."""
    form, found = pattern.table.known(wanted), table.known(number)
    if form[0] == "hole":
        if bound.get(form[1], number) == number:
            yield {**bound, form[1]: number}
        return
    if form[0] in ("constant", "input"):
        same = form == found or (
            form[0] == found[0] == "constant" and _one_number(pattern.table, wanted, table, number)
        )
        if same:
            yield bound
        return
    if form[:2] != found[:2] or len(form) != len(found):
        return
    operands = [found[2:], found[:1:-1]] if form[0] in COMMUTATIVE else [found[2:]]
    for order in operands:
        yield from _all_match(pattern, form[2:], table, order, bound)


def _all_match(pattern: Pattern, wanted: Any, table: Expressions, numbers: Any, bound: dict[str, int]) -> Any:
    if not wanted:
        yield bound
        return
    for more in _matches(pattern, wanted[0], table, numbers[0], bound):
        yield from _all_match(pattern, wanted[1:], table, numbers[1:], more)


def _one_number(first_table: Expressions, first: int, second_table: Expressions, second: int) -> bool:
    """Whether two constants are the same number, in whatever shape."""
    a, b = first_table.value(first), second_table.value(second)
    return a is not None and b is not None and a.dtype == b.dtype and a.size > 0 and bool((b == a.reshape(-1)[0]).all())


def sections_of(table: Expressions, number: int) -> set[int] | None:
    """The sections of the sites in an `INDEX` hole; None where it is no constant."""
    value = table.value(number)
    if value is None or value.dtype != np.uint32:
        return None
    return {int(one) * FIRST_FACTOR % (1 << WORD_BITS) // SITES_PER_SECTION for one in np.unique(value)}


@functools.cache
def word_pattern() -> Pattern:
    """One word of the generator: of its key and counter as they are, at a constant index."""
    # `mix` multiplies the index by SITE_WEYL first; that product is the hole.
    return _traced(lambda k0, k1, counter, index: mix(k0, k1, counter, index), (*KEYS, INDEX), {INDEX})


@functools.cache
def scaled_pattern() -> Pattern:
    """floor(word * bound / 2**32) in 32-bit arithmetic."""
    return _traced(multiply_high, (WORD, BOUND), {WORD, BOUND})


@functools.cache
def scaled_by_constant_pattern() -> Pattern:
    """The same of a bound that is known: the program has only its two halves, as constants."""
    return _traced(lambda word, low, high: multiply_high(word, _Halves(low, high)), (WORD, *HALVES), {WORD, *HALVES})


@dataclasses.dataclass(frozen=True)
class _Halves:
    """A number that is only asked for its two halves."""

    low: Any
    high: Any

    def __and__(self, _: Any) -> Any:
        return self.low

    def __rshift__(self, _: Any) -> Any:
        return self.high


def _traced(formula: Any, names: tuple[str, ...], holes: set[str]) -> Pattern:
    table = Expressions()
    program = jax.make_jaxpr(formula)(*[jnp.uint32(1)] * len(names)).jaxpr
    read: dict[Any, int] = {
        variable: table.of("hole" if name in holes else "input", name)
        for variable, name in zip(program.invars, names, strict=True)
    }
    for equation in program.eqns:
        given = [table.constant(one.val) if hasattr(one, "val") else read[one] for one in equation.invars]
        operation = equation.primitive.name
        product = operation == "mul" and INDEX in holes and table.of("hole", INDEX) in given
        made = table.of("hole", INDEX) if product else table.of(operation, "uint32", *given)
        read[equation.outvars[0]] = made
    return Pattern(table, read[program.outvars[0]])
