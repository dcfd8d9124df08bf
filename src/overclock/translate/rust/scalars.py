"""Operations on numbers, element by element: each as the Rust expression that computes what NumPy computes."""

import math
from collections.abc import Sequence

import numpy as np

from overclock.recording.errors import UnsupportedError
from overclock.translate.rust.helpers import Helpers
from overclock.translate.rust.syntax import Strength, Text, compared, joined, kind_of, literal, negated

COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "truediv": "/"}
BITS = {"and": "&", "or": "|", "xor": "^"}
FLAGS = {"and": "&&", "or": "||", "add": "||", "mul": "&&", "maximum": "||", "minimum": "&&"}
# Methods of floats. The standard library calls the C library's functions, as Python's `math` does.
METHODS = {
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh",
    "cosh": "cosh", "tanh": "tanh", "exp": "exp", "exp2": "exp2", "log": "ln", "log2": "log2", "log10": "log10",
    "log1p": "ln_1p", "expm1": "exp_m1", "sqrt": "sqrt", "cbrt": "cbrt", "floor": "floor", "ceil": "ceil",
    "trunc": "trunc", "rint": "round_ties_even", "abs": "abs", "isnan": "is_nan", "isinf": "is_infinite",
    "isfinite": "is_finite",
}  # fmt: skip
PAIRED = {"arctan2": "atan2", "hypot": "hypot", "copysign": "copysign", "power": "powf"}
ROUNDING = ("floor", "ceil", "trunc", "rint", "round")  # which leaves whole numbers as they are
FACTORS = {"rad2deg": 180.0 / math.pi, "deg2rad": math.pi / 180.0}
FLOAT_HELPERS = {"sign": "sign", "mod": "float_mod", "floordiv": "float_floor_div"}
WHOLE = {
    "floordiv": "floor_div", "mod": "floor_mod", "power": "int_power", "lshift": "shift_left", "rshift": "shift_right",
}  # fmt: skip
TESTS = frozenset({*COMPARISONS, "isnan", "isinf", "isfinite", "not"})  # which give flags
ELEMENTWISE = frozenset(
    {
        *COMPARISONS, *ARITHMETIC, *BITS, *METHODS, *PAIRED, *FACTORS, *WHOLE, "minimum", "maximum", "not", "invert",
        "neg", "square", "sign", "fmod", "reciprocal", "round", "around", "where",
    }
)  # fmt: skip


def computed(
    op: str, dtype: str, args: Sequence[Text], helpers: Helpers, small: bool = False, divisor: int = 0
) -> Text:
    """One of `ELEMENTWISE` on numbers of one dtype (that of the last two for `where`).

    `small`: a whole result is known to be far from the ends of its type. `divisor`: the second number, if it is known.
    """
    kind = np.dtype(dtype).kind
    if op == "where":
        return Text(f"if {args[0].text} {{ {args[1].text} }} else {{ {args[2].text} }}", Strength.LOOSE)
    if op in COMPARISONS:
        return compared(COMPARISONS[op], args)
    if kind == "b":
        return _flag(op, args)
    if kind == "f":
        return _float(op, kind_of(dtype), args, helpers)
    return _whole(op, dtype, args, helpers, small, divisor)


def _method(name: str, args: Sequence[Text]) -> Text:
    return Text(f"{args[0].owner}.{name}({', '.join(one.text for one in args[1:])})")


def _call(name: str, args: Sequence[Text]) -> Text:
    return Text(f"{name}({', '.join(one.text for one in args)})")


def _unknown(op: str, dtype: str) -> UnsupportedError:
    return UnsupportedError(f"the Rust printer has no '{op}' of {dtype} numbers")


def _flag(op: str, args: Sequence[Text]) -> Text:
    if op in ("not", "invert"):
        return negated(args[0])
    if op == "abs":
        return args[0]
    if op in ("xor", "sub"):
        return compared("!=", args)
    if op in FLAGS:
        return joined(FLAGS[op], args)
    raise _unknown(op, "bool")


def _float(op: str, kind: str, args: Sequence[Text], helpers: Helpers) -> Text:
    if op in ARITHMETIC:
        return joined(ARITHMETIC[op], args)
    if op in METHODS or op in PAIRED:
        return _method(METHODS.get(op) or PAIRED[op], args)
    if op in FACTORS:
        factor = literal(FACTORS[op], "float64" if kind == "f64" else "float32")
        return joined("*", (args[0], factor))
    match op:
        case "neg":
            return Text(f"-{args[0].within(Strength.UNARY)}", Strength.UNARY)
        case "not":
            return Text(f"{args[0].within(Strength.COMPARE + 1)} == 0.0", Strength.COMPARE)
        case "square" if args[0].text.isidentifier():
            return joined("*", (args[0], args[0]))
        case "square" | "minimum" | "maximum":
            return _call(helpers.name(op), args)
        case "sign" | "mod" | "floordiv":
            return _call(helpers.name(FLOAT_HELPERS[op], kind), args)
        case "fmod":
            return joined("%", args)
        case "reciprocal":
            return joined("/", (Text("1.0"), args[0]))
        case "round" | "around":
            return _method("round_ties_even", args)
    raise _unknown(op, kind)


def _whole(op: str, dtype: str, args: Sequence[Text], helpers: Helpers, small: bool, divisor: int) -> Text:
    kind = kind_of(dtype)
    if op in ("add", "sub", "mul"):
        return joined(ARITHMETIC[op], args) if small else _method(f"wrapping_{op}", args)
    if op in BITS:
        return joined(BITS[op], args)
    if op in ROUNDING:
        return args[0]
    if op in ("floordiv", "mod") and divisor > 0:
        return _method("div_euclid" if op == "floordiv" else "rem_euclid", args)
    if op in ("floordiv", "mod") and kind[0] == "u":
        return Text(f"{_method('checked_div' if op == 'floordiv' else 'checked_rem', args).text}.unwrap_or(0)")
    if op in WHOLE and kind == "u64":
        raise _unknown(op, dtype)
    if op in WHOLE:
        found = _call(helpers.name(WHOLE[op]), [cast(one, dtype, "int64") for one in args])
        return cast(found, "int64", dtype)
    match op:
        case "minimum" | "maximum":
            return _method(op[:3], args)
        case "neg":
            return _method("wrapping_neg", args)
        case "square":
            return Text(f"{args[0].owner}.wrapping_pow(2)")
        case "invert":
            return negated(args[0])
        case "not":
            return Text(f"{args[0].within(Strength.COMPARE + 1)} == 0", Strength.COMPARE)
        case "abs" | "sign" if kind[0] == "i":
            return _method("wrapping_abs" if op == "abs" else "signum", args)
        case "abs":
            return args[0]
        case "fmod":
            return Text(f"{_method('checked_rem', args).text}.unwrap_or(0)")
    raise _unknown(op, dtype)


def cast(value: Text, before: str, after: str) -> Text:
    """A number in another dtype, as C casts it."""
    if before == after:
        return value
    kind = kind_of(after)
    if after == "bool":
        return Text(f"{value.within(Strength.COMPARE + 1)} != {literal(0, before).text}", Strength.COMPARE)
    if before == "bool":
        whole = f"{kind}::from({value.text})"
        return Text(whole if kind[0] != "f" else f"{kind}::from(u8::from({value.text}))")
    if before == "float32" and after == "float64":
        return Text(f"f64::from({value.text})")
    owner = value.typed or value.within(Strength.AS)
    if kind_of(before)[0] == "f" and kind not in ("f32", "f64", "i64", "u64"):
        return Text(f"{owner} as i64 as {kind}", Strength.AS)  # small types wrap, as they do in NumPy
    return Text(f"{owner} as {kind}", Strength.AS)
