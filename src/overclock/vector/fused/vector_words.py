"""The words of a kernel for a vector of lanes: operators of C where it has them, else one lane after the other."""

from overclock.vector.fused.scalar_words import (
    COMPARISONS,
    ELEMENTS,
    FLOATS,
    INTEGERS,
    LIBRARY,
    LIBRARY_OF_TWO,
    WIDTHS,
    bit_pairs,
    function,
)
from overclock.vector.fused.sine import vector_sine


def vector_types(lanes: int) -> list[str]:
    """A value is a number per lane: a bool is 0 or -1, so that it is a mask, too."""
    return [
        f"enum {{ LANES = {lanes} }};",
        *(
            f"typedef {c} {name} __attribute__((vector_size({lanes * WIDTHS[name] // 8})));"
            for name, c in ELEMENTS.items()
        ),
        *(f"#define K_{name}(x) ((e_{name})(x) - ({name}){{0}})" for name in ELEMENTS),
        *(f"#define SPLAT_{name}(x) K_{name}({'-' if name == 'b32' else ''}(x))" for name in ELEMENTS),
        "#define K_TRUE (-1 - (b32){0})", "#define K_FALSE ((b32){0})", "#define NOT_b32(m) (~(m))",
        "#define EACH for (int w = 0; w < LANES; w++)", "#define SOME for (int w = 0; w < count; w++)",
    ]  # fmt: skip


def vector_words() -> list[str]:
    """Functions on a vector of lanes."""
    lines = [function("ANY", "int", "b32 m", "int r = 0; EACH r |= m[w]; return r;")]
    lines += [line for t in ELEMENTS for line in (*_memory(t), *_comparisons(t))]
    lines += [line for t in INTEGERS for line in _of_integers(t)]
    lines += [line for t in FLOATS for line in _of_floats(t)]
    lines += vector_sine()
    lines += [_conversion(to, t) for to in ELEMENTS for t in ELEMENTS if t != to]
    return lines + [f"#define BITS_{to}_{t}(x) (({to})(x))" for to, t in bit_pairs()]


def _memory(t: str) -> list[str]:
    """Choosing by a mask, and arrays in which every lane has its own place."""
    mask = f"i{WIDTHS[t]}"
    wide = f"({mask})m" if WIDTHS[t] == 32 else f"__builtin_convertvector(m, {mask})"
    chosen = f"const {mask} k = {wide}; return ({t})((k & ({mask})a) | (~k & ({mask})b));"
    entry = "-a[i[w]]" if t == "b32" else "a[i[w]]"
    apart = "__attribute__((noinline)) "  # a vector's loads and stores one by one: many of them take long to compile
    return [
        function(f"SEL_{t}", t, f"b32 m, {t} a, {t} b", chosen),
        apart + function(f"TAKE_{t}", t, f"const {t}* a, i32 i", f"{t} r; EACH r[w] = a[i[w]][w]; return r;"),
        function(f"LOOKUP_{t}", t, f"const e_{t}* a, i32 i", f"{t} r; EACH r[w] = {entry}; return r;"),
        apart + function(f"PUT_{t}", "void", f"{t}* a, i32 i, {t} v, b32 m", "EACH if (m[w]) a[i[w]][w] = v[w];"),
    ]


def _comparisons(t: str) -> list[str]:
    compared = "(b32)({} {} {})" if WIDTHS[t] == 32 else "__builtin_convertvector({} {} {}, b32)"
    # A true bool is -1 here, so that less means more.
    left, right = ("b", "a") if t == "b32" else ("a", "b")
    lines = [
        function(f"{name}_{t}", "b32", f"{t} a, {t} b", f"return {compared.format(left, symbol, right)};")
        for name, symbol in COMPARISONS.items()
    ]
    if t == "b32":
        lines += ["#define BELOW_b32 LT_b32", "#define MAX_b32(a, b) ((a) | (b))", "#define MIN_b32(a, b) ((a) & (b))"]
    return lines


def _of_integers(t: str) -> list[str]:
    bits, two = WIDTHS[t], f"{t} a, {t} b"
    u, i = f"u{bits}", f"i{bits}"
    near = f"const {u} s = ({u})b & {bits - 1}; const b32 far = GE_{u}(({u})b, K_{u}({bits}));"
    lines = [
        function(f"{n}_{t}", t, two, f"return ({t})(({u})a {symbol} ({u})b);")
        for n, symbol in (("ADD", "+"), ("SUB", "-"), ("MUL", "*"))
    ]
    lines += [
        function(f"NEG_{t}", t, f"{t} a", f"return ({t})(0 - ({u})a);"),
        function(f"SHL_{t}", t, two, f"{near} return SEL_{t}(far, ({t}){{0}}, ({t})(({u})a << s));"),
        function(f"SHR_{t}", t, two, f"{near} return SEL_{t}(far, ({t}){{0}}, ({t})(({u})a >> s));"),
        function(f"SAR_{t}", t, two, f"{near} return ({t})(({i})a >> ({i})SEL_{u}(far, K_{u}({bits - 1}), s));"),
        function(f"MAX_{t}", t, two, f"return SEL_{t}(GT_{t}(a, b), a, b);"),
        function(f"MIN_{t}", t, two, f"return SEL_{t}(LT_{t}(a, b), a, b);"),
        f"#define BELOW_{t} LT_{t}",
    ]
    lines += [_lane_by_lane(n, t, 2) for n in ("DIV", "REM")]
    lines += [_lane_by_lane(n, t, 1) for n in ("ABS", "SIGN") if n != "ABS" or t[0] == "i"]
    return lines + _bit_counts(t)


def _bit_counts(t: str) -> list[str]:
    """Set bits by sums of pairs, of fours and of eights; leading zeros as what remains below the highest one."""
    bits = WIDTHS[t]
    u, ones = f"u{bits}", (1 << bits) - 1
    pairs, fours, eights, bytes_ = (
        f"K_{u}({ones // divisor}u{'ll' if bits == 64 else ''})" for divisor in (3, 5, 17, 255)
    )
    total = f"({u})(x * {bytes_}) >> {bits - 8}" if bits > 8 else "x"
    count = (
        f"{u} x = ({u})a; x = x - ((x >> 1) & {pairs}); x = (x & {fours}) + ((x >> 2) & {fours}); "
        f"x = (x + (x >> 4)) & {eights}; return ({t})({total});"
    )
    shifts = " ".join(f"x |= x >> {by};" for by in (1, 2, 4, 8, 16, 32) if by < bits)
    zeros = f"{u} x = ({u})a; {shifts} return ({t})(K_{u}({bits}) - ({u})POPCOUNT_{t}(({t})x));"
    return [function(f"POPCOUNT_{t}", t, f"{t} a", count), function(f"CLZ_{t}", t, f"{t} a", zeros)]


def _of_floats(t: str) -> list[str]:
    u, one, two = f"u{WIDTHS[t]}", f"{t} a", f"{t} a, {t} b"
    lines = [
        function(f"{n}_{t}", t, two, f"return a {symbol} b;")
        for n, symbol in (("ADD", "+"), ("SUB", "-"), ("MUL", "*"), ("DIV", "/"))
    ]
    # Equal numbers have equal bits, except for zeros: the larger one is 0 if either is, the smaller one -0.
    for name, test, symbol in (("MAX", "GT", "&"), ("MIN", "LT", "|")):
        first, equal = f"{test}_{t}(a, b) | NE_{t}(a, a)", f"({t})(({u})a {symbol} ({u})b)"
        lines += [
            function(f"{name}_{t}", t, two, f"return SEL_{t}({first}, a, SEL_{t}(EQ_{t}(a, b), {equal}, b));"),
            function(f"{name}K_{t}", t, two, f"return SEL_{t}({first}, a, b);"),
        ]
    below = f"b32 r; EACH r[w] = -S_BELOW_{t}(a[w], b[w]); return r;"
    lines += [
        function(f"NEG_{t}", t, one, "return -a;"),
        function(f"ABS_{t}", t, one, f"return ({t})((({u})a) & (~({u}){{0}} >> 1));"),
        function(f"FINITE_{t}", "b32", one, f"return LT_{t}(ABS_{t}(a), K_{t}(INF_{t}));"),
        function(f"BELOW_{t}", "b32", two, below),
        f"#define DIVBY_{t}(a, b, reciprocal) ((a) / (b))",
    ]
    lines += [_lane_by_lane(n, t, 1) for n in (*LIBRARY, "SIGN", "RSQRT", "LOGISTIC")]
    return lines + [_lane_by_lane(n, t, 2) for n in LIBRARY_OF_TWO]


def _lane_by_lane(name: str, t: str, operands: int) -> str:
    names = ("a", "b")[:operands]
    call = ", ".join(f"{n}[w]" for n in names)
    body = f"{t} r; EACH r[w] = S_{name}_{t}({call}); return r;"
    return function(f"{name}_{t}", t, ", ".join(f"{t} {n}" for n in names), body)


def _conversion(to: str, t: str) -> str:
    name = f"CVT_{to}_{t}"
    if to == "b32":
        return function(name, "b32", f"{t} x", f"return NE_{t}(x, ({t}){{0}});")
    if t == "b32":
        return function(name, to, "b32 x", f"return __builtin_convertvector(x & 1, {to});")
    if t[0] == "f" and to[0] in "iu":
        return function(name, to, f"{t} x", f"{to} r; EACH r[w] = S_{name}(x[w]); return r;")
    return function(name, to, f"{t} x", f"return __builtin_convertvector(x, {to});")
