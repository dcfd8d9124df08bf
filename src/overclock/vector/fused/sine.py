"""Sine and cosine of float32 on a processor: computed in float64 and rounded once, within 0.501 ulp of the true value.

The C library's are slower and a little less accurate, and a vector has none. The same formula serves one lane and a
vector of them, so that a result does not depend on where a lane runs. float64 and CUDA use their libraries.
"""

import math

LIMIT = 2.0**20  # beyond it the C library reduces the angle
MAGIC = 1.5 * 2.0**52  # added and taken away again, it rounds to the nearest whole number
HALF_PI_HIGH = float.fromhex("0x1.921fb54400000p+0")  # its first 33 bits: a product with 20 bits is exact
HALF_PI_LOW = float.fromhex("0x1.0b4611a626331p-34")  # the rest
TERMS = 8  # of each series: the next one is below 2**-53 for an angle of pi / 4
QUARTERS = {"SIN": 0, "COS": 1}  # a cosine is the sine a quarter turn further


def scalar_sine(p: str, e: str, t: str, cuda: bool) -> list[str]:
    """SIN, COS and SINCOS (the sine; the cosine through a pointer) of one number."""
    c, f = f"{e}{t}", "f" if t == "f32" else ""
    if cuda:
        both = f"{c} s, k; sincos{f}(a, &s, &k); *cosine = k; return s;"
    else:
        both = f"*cosine = {p}COS_{t}(a); return {p}SIN_{t}(a);"
    if cuda or t == "f64":
        single = [f"INLINE {c} {p}{name}_{t}({c} a) {{ return {name.lower()}{f}(a); }}" for name in QUARTERS]
    else:
        single = [_of_one(p, e, name) for name in QUARTERS]
    return [*single, f"INLINE {c} {p}SINCOS_{t}({c} a, {c}* cosine) {{ {both} }}"]


def vector_sine() -> list[str]:
    """The same words for a vector of lanes."""
    lines = [
        f"INLINE f64 {name}_f64(f64 a) {{ f64 r; EACH r[w] = {name.lower()}(a[w]); return r; }}" for name in QUARTERS
    ]
    lines += [_of_vector(name) for name in QUARTERS]
    return lines + [
        f"INLINE {t} SINCOS_{t}({t} a, {t}* cosine) {{ *cosine = COS_{t}(a); return SIN_{t}(a); }}"
        for t in ("f32", "f64")
    ]


def _of_one(p: str, e: str, name: str) -> str:
    return (
        f"INLINE {e}f32 {p}{name}_f32({e}f32 a) {{ "
        f"if (!(fabsf(a) < {LIMIT.hex()}f)) return (float){name.lower()}((double)a); {_series('double', '(double)a')}"
        f"const int q = (int)n + {QUARTERS[name]}; const double h = (q & 1) ? c : s; "
        "return (float)((q & 2) ? -h : h); }"
    )


def _of_vector(name: str) -> str:
    return (
        f"INLINE f32 {name}_f32(f32 a) {{ if (ANY(NOT_b32(LT_f32(ABS_f32(a), K_f32({LIMIT.hex()}f))))) "
        f"{{ f32 r; EACH r[w] = S_{name}_f32(a[w]); return r; }} {_series('f64', '__builtin_convertvector(a, f64)')}"
        f"const i64 q = (i64)big + {QUARTERS[name]}; const i64 odd = -(q & 1), minus = (q & 2) << 62; "
        "const i64 h = ((i64)c & odd) | ((i64)s & ~odd); return __builtin_convertvector((f64)(h ^ minus), f32); }"
    )


def _series(real: str, x: str) -> str:
    """`s` and `c`, sine and cosine of x minus `n` quarter turns; the last bits of `big` are those of n."""
    sine, cosine = ([(-1) ** k / math.factorial(2 * k + first) for k in range(TERMS)] for first in (1, 0))
    return (
        f"const {real} d = {x}; const {real} big = d * {(2 / math.pi).hex()} + {MAGIC.hex()}; "
        f"const {real} n = big - {MAGIC.hex()}; "
        f"const {real} y = (d - n * {HALF_PI_HIGH.hex()}) - n * {HALF_PI_LOW.hex()}; const {real} z = y * y; "
        f"const {real} s = {_horner(sine)} * y; const {real} c = {_horner(cosine)}; "
    )


def _horner(coefficients: list[float]) -> str:
    """The text of a polynomial in z, by Horner's scheme."""
    text = coefficients[-1].hex()
    for coefficient in reversed(coefficients[:-1]):
        text = f"({text} * z + {coefficient.hex()})"
    return text
