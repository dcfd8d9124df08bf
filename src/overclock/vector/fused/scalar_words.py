"""The words of a kernel for one number, in C and in CUDA; arithmetic as XLA defines it.

Whole numbers wrap, a shift by the width or more gives 0 (or the sign), x / 0 is -1 (all bits), x % 0 is x, and floats
become whole numbers by cutting, numbers beyond the range its end, and NaN 0.
"""

from typing import Literal

from overclock.vector.fused.sine import scalar_sine

Dialect = Literal["c", "cuda"]

ELEMENTS = {
    "f32": "float", "f64": "double", "b32": "int", "i8": "signed char", "i16": "short", "i32": "int",
    "i64": "long long", "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned int",
    "u64": "unsigned long long",
}  # fmt: skip
WIDTHS = {name: int(name[1:]) for name in ELEMENTS}
INTEGERS = [name for name in ELEMENTS if name[0] in "iu"]
FLOATS = ["f32", "f64"]
COMPARISONS = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
# Functions of the C library, which CUDA has under the same names; float32's end in f.
LIBRARY = {
    "FLOOR": "floor", "CEIL": "ceil", "CBRT": "cbrt", "EXP": "exp", "EXP2": "exp2", "EXPM1": "expm1", "LOG": "log",
    "LOG1P": "log1p", "TAN": "tan", "ASIN": "asin", "ACOS": "acos", "ATAN": "atan", "SINH": "sinh", "COSH": "cosh",
    "TANH": "tanh", "ASINH": "asinh", "ACOSH": "acosh", "ATANH": "atanh", "ERF": "erf", "ERFC": "erfc",
    "SQRT": "sqrt", "ROUND_EVEN": "rint", "ROUND_AWAY": "round",
}  # fmt: skip
LIBRARY_OF_TWO = {"REM": "fmod", "POW": "pow", "ATAN2": "atan2", "NEXTAFTER": "nextafter"}
# How CUDA reads the bits of a float as a whole number and back.
CUDA_BITS = {
    "i32f32": "__float_as_int(x)", "u32f32": "__float_as_uint(x)", "f32i32": "__int_as_float(x)",
    "f32u32": "__uint_as_float(x)", "i64f64": "__double_as_longlong(x)",
    "u64f64": "(unsigned long long)__double_as_longlong(x)", "f64i64": "__longlong_as_double(x)",
    "f64u64": "__longlong_as_double((long long)x)",
}  # fmt: skip

# Set bits and leading zeros of 32 and of 64 bits, each one instruction; C leaves the leading zeros of 0 open.
BIT_COUNTS: dict[Dialect, tuple[tuple[str, str], tuple[str, str]]] = {
    "c": (("__builtin_popcount", "__builtin_clz"), ("__builtin_popcountll", "__builtin_clzll")),
    "cuda": (("__popc", "__clz"), ("__popcll", "__clzll")),
}

# Dividing by a constant whose reciprocal is known: the quotient, corrected by its remainder, is rounded as division
# rounds. That is how the GPU's own division ends; its general beginning is left out. Numbers whose remainder would not
# be exact, and -0, take the general way.
DIVIDED_BY_CONSTANT = (
    "const float q = a * reciprocal, e = __fmaf_rn(-q, b, a), exact = __fmaf_rn(e, reciprocal, q); "
    f"const bool usual = fabsf(a) > {(2.0**-90).hex()}f && fabsf(a) < {(2.0**90).hex()}f; "
    "return usual || __float_as_uint(a) == 0 ? exact : a / b;"
)


def function(name: str, result: str, parameters: str, body: str) -> str:
    """A C function on one line."""
    return f"INLINE {result} {name}({parameters}) {{ {body} }}"


def scalar_words(p: str, dialect: Dialect) -> list[str]:
    """Functions on one number; `p` is put in front of their names, and then their types are the elements' (e_)."""
    e = "e_" if p else ""
    lines = [line for t in INTEGERS for line in _of_integers(p, e, t, dialect)]
    lines += [line for t in FLOATS for line in _of_floats(p, e, t, dialect)]
    lines += [
        function(f"{p}{name}_{t}", f"{e}b32", f"{e}{t} a, {e}{t} b", f"return a {symbol} b;")
        for t in (*INTEGERS, *FLOATS)
        for name, symbol in COMPARISONS.items()
    ]
    lines += [_conversion(p, e, to, t) for to in ELEMENTS for t in ELEMENTS if t != to]
    return lines + [_bits(p, e, to, t, dialect) for to, t in bit_pairs()]


def bit_pairs() -> list[tuple[str, str]]:
    """Types of the same width."""
    return [
        (to, t) for to in ELEMENTS for t in ELEMENTS if to != t and WIDTHS[to] == WIDTHS[t] and "b32" not in (to, t)
    ]


def _of_integers(p: str, e: str, t: str, dialect: Dialect) -> list[str]:
    bits, c, u = WIDTHS[t], f"{e}{t}", f"{e}u{WIDTHS[t]}"
    wide = f"{e}u64" if bits == 64 else f"{e}u32"  # small numbers would be promoted to int, which must not overflow
    one, two = f"{c} a", f"{c} a, {c} b"
    lines = [
        function(f"{p}{name}_{t}", c, two, f"return ({c})(({wide})a {symbol} ({wide})b);")
        for name, symbol in (("ADD", "+"), ("SUB", "-"), ("MUL", "*"))
    ]
    count, zeros = BIT_COUNTS[dialect][bits == 64]
    narrow = max(bits, 32)  # compilers count in words of 32 and 64 bits
    lines += [
        function(f"{p}NEG_{t}", c, one, f"return ({c})(0 - ({wide})a);"),
        function(f"{p}SHL_{t}", c, two, f"return ({u})b >= {bits} ? 0 : ({c})(({wide})a << ({u})b);"),
        function(f"{p}SHR_{t}", c, two, f"return ({u})b >= {bits} ? 0 : ({c})(({u})a >> ({u})b);"),
        function(f"{p}SAR_{t}", c, two, f"return ({c})(({e}i{bits})a >> (({u})b >= {bits} ? {bits - 1} : b));"),
        *(_integer_extreme(p, e, t, *way, dialect) for way in (("MAX", ">"), ("MIN", "<"))),
        function(f"{p}BELOW_{t}", f"{e}b32", two, "return a < b;"),
        function(f"{p}POPCOUNT_{t}", c, one, f"return {count}(({u})a);"),
        function(f"{p}CLZ_{t}", c, one, f"return a ? {zeros}(({u})a) - {narrow - bits} : {bits};"),
    ]
    if t[0] == "u":
        return [
            *lines,
            function(f"{p}DIV_{t}", c, two, f"return b == 0 ? ({c})~({c})0 : a / b;"),
            function(f"{p}REM_{t}", c, two, "return b == 0 ? a : a % b;"),
            function(f"{p}SIGN_{t}", c, one, "return a > 0;"),
        ]
    return [
        *lines,
        function(f"{p}DIV_{t}", c, two, f"return b == 0 ? -1 : b == -1 ? {p}NEG_{t}(a) : a / b;"),
        function(f"{p}REM_{t}", c, two, "return b == 0 ? a : b == -1 ? 0 : a % b;"),
        function(f"{p}ABS_{t}", c, one, f"return a < 0 ? {p}NEG_{t}(a) : a;"),
        function(f"{p}SIGN_{t}", c, one, "return (a > 0) - (a < 0);"),
    ]


def _integer_extreme(p: str, e: str, t: str, name: str, symbol: str, dialect: Dialect) -> str:
    """The larger or smaller of two whole numbers.

    In CUDA the larger of two signed numbers is what is left of the smaller of their complements: `clamp_fold.py`.
    """
    c = f"{e}{t}"
    body = f"return a {symbol} b ? a : b;"
    if dialect == "cuda" and name == "MAX" and t[0] == "i" and WIDTHS[t] <= 32:
        body = (
            f'int r, x = ~(int)a, y = ~(int)b; asm("min.s32 %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); return ({c})~r;'
        )
    return function(f"{p}{name}_{t}", c, f"{c} a, {c} b", body)


def _of_floats(p: str, e: str, t: str, dialect: Dialect) -> list[str]:
    c, f = f"{e}{t}", "f" if t == "f32" else ""
    one, two = f"{c} a", f"{c} a, {c} b"
    lines = [function(f"{p}{name}_{t}", c, one, f"return {called}{f}(a);") for name, called in LIBRARY.items()]
    lines += [function(f"{p}{n}_{t}", c, two, f"return {called}{f}(a, b);") for n, called in LIBRARY_OF_TWO.items()]
    lines += [
        function(f"{p}{name}_{t}", c, two, f"return a {symbol} b;")
        for name, symbol in (("ADD", "+"), ("SUB", "-"), ("MUL", "*"), ("DIV", "/"))
    ]
    lines += [
        function(f"{p}NEG_{t}", c, one, "return -a;"),
        function(f"{p}ABS_{t}", c, one, f"return fabs{f}(a);"),
        function(f"{p}SIGN_{t}", c, one, f"return a > 0 ? ({c})1 : a < 0 ? ({c})-1 : a;"),
        function(f"{p}FINITE_{t}", f"{e}b32", one, f"return fabs{f}(a) < INF_{t};"),
        function(f"{p}RSQRT_{t}", c, one, f"return ({c})1 / sqrt{f}(a);"),
        function(f"{p}LOGISTIC_{t}", c, one, f"return ({c})1 / (({c})1 + exp{f}(-a));"),
        # As jnp.sort orders them: NaN comes last, -0 and 0 are equal.
        function(f"{p}BELOW_{t}", f"{e}b32", two, "return a != a ? 0 : b != b ? 1 : a < b;"),
    ]
    if dialect == "cuda" and t == "f32":
        lines += [function(f"{p}DIVBY_f32", c, f"{two}, {c} reciprocal", DIVIDED_BY_CONSTANT)]
    else:
        lines += [f"#define {p}DIVBY_{t}(a, b, reciprocal) ((a) / (b))"]
    return [*lines, *_extremes(p, e, t, dialect), *scalar_sine(p, e, t, dialect == "cuda")]


def _extremes(p: str, e: str, t: str, dialect: Dialect) -> list[str]:
    """The larger and the smaller number. NaN on either side is the result, and -0 is less than 0.

    MAXK and MINK are the same for a second operand that is neither NaN nor a zero: a constant, usually.
    """
    c, two, lines = f"{e}{t}", f"{e}{t} a, {e}{t} b", []
    for name, symbol, of_equals in (("MAX", ">", "b : a"), ("MIN", "<", "a : b")):
        whole = f"return a {symbol} b || a != a ? a : a == b ? (signbit(a) ? {of_equals}) : b;"
        if dialect == "cuda" and t == "f32":  # one instruction where there is one
            quick = f'float r; asm("{name.lower()}.NaN.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return r;'
            lines += ["#if __CUDA_ARCH__ >= 800", function(f"{p}{name}_{t}", c, two, quick), "#else"]
            lines += [function(f"{p}{name}_{t}", c, two, whole), "#endif", f"#define {p}{name}K_{t} {p}{name}_{t}"]
            continue
        lines += [function(f"{p}{name}_{t}", c, two, whole)]
        lines += [function(f"{p}{name}K_{t}", c, two, f"return a {symbol} b || a != a ? a : b;")]
    return lines


def _conversion(p: str, e: str, to: str, t: str) -> str:
    c, kind, name = f"{e}{to}", f"{e}{t}", f"{p}CVT_{to}_{t}"
    if to == "b32":
        return function(name, c, f"{kind} x", "return x != 0;")
    if t[0] == "f" and to[0] in "iu":
        bits, signed = WIDTHS[to], to[0] == "i"
        high, unsigned = 2.0 ** (bits - 1 if signed else bits), f"({e}u{bits})"
        least = f"-{high.hex()}" if signed else "0.0"
        smallest = f"({c})({unsigned}1 << {bits - 1})" if signed else "0"
        largest = f"({c})({unsigned}~{unsigned}0 >> {1 if signed else 0})"
        body = f"x != x ? 0 : x >= ({kind}){high.hex()} ? {largest} : x <= ({kind}){least} ? {smallest} : ({c})x"
        return function(name, c, f"{kind} x", f"return {body};")
    return function(name, c, f"{kind} x", f"return ({c})x;")


def _bits(p: str, e: str, to: str, t: str, dialect: Dialect) -> str:
    body = f"{e}{to} r; memcpy(&r, &x, sizeof r); return r;"
    if dialect == "cuda" or (to[0] != "f" and t[0] != "f"):
        body = f"return {CUDA_BITS.get(to + t, f'({e}{to})x')};"
    return function(f"{p}BITS_{to}_{t}", f"{e}{to}", f"{e}{t} x", body)
