"""Number by number: the primitives of JAX that treat each number of an array alone, as C expressions.

What the words mean on each machine is defined by the preludes (prelude.py), as XLA defines it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from jax import lax

from overclock.vector.fused.values import UnsupportedError, constant, type_name

Formula = Callable[..., str]
"""(parameters of the equation, types of the operands, the operands' expressions) -> expression."""


def _infix(symbol: str) -> Formula:
    return lambda params, kinds, a, b: f"({a} {symbol} {b})"


def _call(word: str) -> Formula:
    return lambda params, kinds, *operands: f"{word}_{kinds[0]}({', '.join(operands)})"


def _same(params: Any, kinds: list[str], x: str) -> str:
    return x


def _arithmetic(word: str, symbol: str) -> Formula:
    """Signed sums and products go through functions that wrap; all others are the operator itself."""

    def formula(params: Any, kinds: list[str], a: str, b: str) -> str:
        return f"({a} {symbol} {b})" if kinds[0] in ("f32", "f64", "u32", "u64") else f"{word}_{kinds[0]}({a}, {b})"

    return formula


def extreme(word: str, kind: str, a: str, b: str) -> str:
    """The larger (MAX) or smaller (MIN) number; a shorter word where one is a constant other than NaN and zero."""
    if kind[0] != "f" or not (_ordinary(a) or _ordinary(b)):
        return f"{word}_{kind}({a}, {b})"
    return f"{word}K_{kind}({a}, {b})" if _ordinary(b) else f"{word}K_{kind}({b}, {a})"


def _ordinary(expression: str) -> bool:
    return expression.startswith("K_f") and "0x0.0p+0" not in expression and "NAN" not in expression


def _extreme(word: str) -> Formula:
    return lambda params, kinds, a, b: extreme(word, kinds[0], a, b)


def _clamp(params: Any, kinds: list[str], low: str, x: str, high: str) -> str:
    return extreme("MIN", kinds[0], extreme("MAX", kinds[0], x, low), high)


def _pow(params: Any, kinds: list[str], x: str, y: str) -> str:
    return f"POW_{kinds[0]}({x}, {y if kinds[1] == kinds[0] else f'CVT_{kinds[0]}_{kinds[1]}({y})'})"


def _convert(params: Any, kinds: list[str], x: str) -> str:
    to = type_name(params["new_dtype"])
    return x if to == kinds[0] else f"CVT_{to}_{kinds[0]}({x})"


def bits_as(to: str, kind: str, x: str) -> str:
    """The bits of a number as another type of the same width."""
    return x if to == kind else f"BITS_{to}_{kind}({x})"


def _round(params: Any, kinds: list[str], x: str) -> str:
    even = params["rounding_method"] == lax.RoundingMethod.TO_NEAREST_EVEN
    return f"{'ROUND_EVEN' if even else 'ROUND_AWAY'}_{kinds[0]}({x})"


def _in_total_order(word: str) -> Formula:
    """Comparisons that also order -0 before 0 and NaN at the ends: of the bits, as whole numbers of the same order."""

    def key(kind: str, x: str) -> str:
        bits, last = f"BITS_i{kind[1:]}_{kind}({x})", int(kind[1:]) - 1
        return f"({bits} ^ (({bits} >> {last}) & {2**last - 1}{'ll' if last == 63 else ''}))"

    def formula(params: Any, kinds: list[str], a: str, b: str) -> str:
        if kinds[0][0] != "f":
            return f"{word}_{kinds[0]}({a}, {b})"
        return f"{word}_i{kinds[0][1:]}({key(kinds[0], a)}, {key(kinds[0], b)})"

    return formula


def _not(params: Any, kinds: list[str], x: str) -> str:
    return f"NOT_b32({x})" if kinds[0] == "b32" else f"(~{x})"


def _reduce_precision(params: Any, kinds: list[str], x: str) -> str:
    """Nothing, where the precision asked for is the number's own."""
    own = {"f32": (8, 23), "f64": (11, 52)}.get(kinds[0])
    if own != (params["exponent_bits"], params["mantissa_bits"]):
        raise UnsupportedError("A fused kernel rounds to float32 and float64 alone")
    return x


FORMULAS: dict[str, Formula] = {
    "add": _arithmetic("ADD", "+"), "add_any": _arithmetic("ADD", "+"), "sub": _arithmetic("SUB", "-"),
    "mul": _arithmetic("MUL", "*"), "div": _call("DIV"), "rem": _call("REM"), "neg": _call("NEG"),
    "max": _extreme("MAX"), "min": _extreme("MIN"), "abs": _call("ABS"), "sign": _call("SIGN"), "clamp": _clamp,
    "square": lambda params, kinds, x: f"MUL_{kinds[0]}({x}, {x})", "pow": _pow,
    "and": _infix("&"), "or": _infix("|"), "xor": _infix("^"), "not": _not,
    "shift_left": _call("SHL"), "shift_right_logical": _call("SHR"), "shift_right_arithmetic": _call("SAR"),
    "population_count": _call("POPCOUNT"), "clz": _call("CLZ"),
    **{name: _call(name.upper()) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "eq_to": _in_total_order("EQ"), "lt_to": _in_total_order("LT"), "le_to": _in_total_order("LE"),
    "convert_element_type": _convert, "round": _round, "is_finite": _call("FINITE"),
    "reduce_precision": _reduce_precision,
    **{name: _call(name.upper()) for name in (
        "floor", "ceil", "sqrt", "rsqrt", "cbrt", "exp", "exp2", "expm1", "log", "log1p", "sin", "cos", "tan", "asin",
        "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "logistic", "erf", "erfc", "atan2",
        "nextafter",
    )},
    **dict.fromkeys(("copy", "copy_p", "stop_gradient", "name"), _same),
}  # fmt: skip

# What is computed while the kernel is written, where all operands are known; the same arithmetic as in the kernel.
FOLDED: dict[str, Callable[..., Any]] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "neg": np.negative, "square": np.square,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def fold(primitive: str, operands: list[Any], dtype: Any) -> Any:
    """The number that known operands (NumPy scalars) make, or None."""
    function, floats = FOLDED.get(primitive), np.dtype(dtype).kind == "f"
    if function is None and floats:
        function = {"div": np.divide, "convert_element_type": np.asarray}.get(primitive)
    if function is None or any(_denormal(number) for number in operands):
        return None
    with np.errstate(all="ignore"):
        result = np.asarray(function(*operands)).astype(dtype)
    return None if _denormal(result) else result


def _denormal(number: Any) -> bool:
    """Whether a machine may take a number for zero, which it decides for itself."""
    number = np.asarray(number)
    return number.dtype.kind == "f" and bool((number != 0) & (np.abs(number) < np.finfo(number.dtype).tiny))


MODERATE = 2.0**20  # reciprocals of numbers up to it, and their products with ordinary numbers, are ordinary, too


def divided_by(divisor: Any, dtype: Any) -> Callable[[str], str] | None:
    """Division by a known number, rounded as division is, or None where there is nothing to gain."""
    if divisor is None or np.dtype(dtype).kind != "f" or not 1 / MODERATE <= abs(divisor) <= MODERATE:
        return None
    reciprocal = np.asarray(1, dtype) / divisor
    by, times, kind = constant(divisor, dtype), constant(reciprocal, dtype), type_name(dtype)
    if np.frexp(divisor)[0] in (0.5, -0.5):  # a power of two: the product is the quotient
        return lambda x: f"({x} * {times})"
    return lambda x: f"DIVBY_{kind}({x}, {by}, {times})"
