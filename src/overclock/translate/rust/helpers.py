"""Small Rust functions that mean what Python and NumPy mean; a generated file gets those it uses.

`FLOAT` in a text stands for f64 or f32.
"""

HELPERS = {
    "place": """\
/// A place of an array: negative ones count from its end. One that Python would refuse is moved to the nearest.
#[inline]
fn place(index: i64, length: usize) -> usize {
    let index = if index < 0 { index + length as i64 } else { index };
    index.clamp(0, length as i64 - 1) as usize
}""",
    "inside": """\
/// A place of an array to write to: negative ones count from its end; None where there is no such place.
#[inline]
fn inside(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index + length as i64 } else { index };
    (0..length as i64).contains(&index).then_some(index as usize)
}""",
    "square": """\
#[inline]
fn square<N: Copy + std::ops::Mul<Output = N>>(x: N) -> N {
    x * x
}""",
    "maximum": """\
/// The larger number; if one is not a number, that one.
#[inline]
fn maximum<N: PartialOrd>(a: N, b: N) -> N {
    if a >= b || a.partial_cmp(&a).is_none() { a } else { b }
}""",
    "sign": """\
#[inline]
fn sign(x: FLOAT) -> FLOAT {
    if x == 0.0 || x.is_nan() { x } else { x.signum() }
}""",
    "floor_div": """\
/// Rounded towards minus infinity; by zero it is 0, as NumPy's.
#[inline]
fn floor_div(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let (quotient, rest) = (a.wrapping_div(b), a.wrapping_rem(b));
    if rest != 0 && (rest < 0) != (b < 0) { quotient - 1 } else { quotient }
}""",
    "floor_mod": """\
/// With the sign of `b`; by zero it is 0, as NumPy's.
#[inline]
fn floor_mod(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let rest = a.wrapping_rem(b);
    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
}""",
    "float_mod": """\
/// With the sign of `b`, as Python's and NumPy's `%`.
#[inline]
fn float_mod(a: FLOAT, b: FLOAT) -> FLOAT {
    let rest = if a.abs() < b.abs() { a } else { a % b }; // the same, and the first is quick
    if rest == 0.0 {
        return (0.0 as FLOAT).copysign(b);
    }
    if (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
}""",
    "float_floor_div": """\
/// As Python's and NumPy's `//`.
#[inline]
fn float_floor_div(a: FLOAT, b: FLOAT) -> FLOAT {
    if b == 0.0 {
        return a / b;
    }
    let rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != 0.0 && (rest < 0.0) != (b < 0.0) {
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (0.0 as FLOAT).copysign(a / b);
    }
    let floor = quotient.floor();
    if quotient - floor > 0.5 { floor + 1.0 } else { floor }
}""",
    "int_power": """\
/// Wraps as NumPy's; a negative exponent, which NumPy refuses, gives 0.
#[inline]
fn int_power(base: i64, exponent: i64) -> i64 {
    u32::try_from(exponent).map_or(0, |exponent| base.wrapping_pow(exponent))
}""",
    "shift_left": """\
#[inline]
fn shift_left(a: i64, b: i64) -> i64 {
    if (0..64).contains(&b) { a << b } else { 0 }
}""",
    "shift_right": """\
#[inline]
fn shift_right(a: i64, b: i64) -> i64 {
    a >> b.clamp(0, 63)
}""",
    "sum": """\
/// In NumPy's order: eight running sums, and halves of what is long.
fn sum<N: Copy + std::ops::Add<Output = N> + From<i8>>(values: &[N]) -> N {
    let ordered = |part: &[N]| part.iter().fold(N::from(0), |total, value| total + *value);
    if values.len() < 8 {
        return ordered(values);
    }
    if values.len() > 128 {
        let half = values.len() / 2;
        let (first, second) = values.split_at(half - half % 8);
        return sum(first) + sum(second);
    }
    let mut parts = [N::from(0); 8];
    parts.copy_from_slice(&values[..8]);
    let chunks = values[8..].chunks_exact(8);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (part, value) in parts.iter_mut().zip(chunk) {
            *part = *part + *value;
        }
    }
    let [a, b, c, d, e, f, g, h] = parts;
    rest.iter().fold(((a + b) + (c + d)) + ((e + f) + (g + h)), |total, value| total + *value)
}""",
    "argmax": """\
/// The first place of the largest value, or of one that is not a number.
fn argmax<N: Copy + PartialOrd>(values: &[N]) -> i64 {
    let mut best = 0;
    for (at, value) in values.iter().enumerate() {
        if value.partial_cmp(value).is_none() {
            return at as i64;
        }
        if *value > values[best] {
            best = at;
        }
    }
    best as i64
}""",
    "normal": """\
/// A standard normal number by the method of Box and Muller, of two sites that lie far apart.
fn normal(rng: Rng, site: u32) -> f64 {
    let (u, v) = (rng.unit_f64(site), rng.unit_f64(site + FURTHER));
    (-2.0 * (1.0 - u).ln()).sqrt() * (2.0 * std::f64::consts::PI * v).cos()
}

const FURTHER: u32 = 1 << 18; // half of an event's sites""",
    "permutation": """\
/// The first `K` of `N` things in random order: the order of as many random numbers.
fn permutation<const N: usize, const K: usize>(rng: Rng, site: u32) -> [i64; K] {
    let mut order: [i64; N] = from_fn(|at| at as i64);
    order.sort_by(|a, b| rng.unit_f64(site + *a as u32).total_cmp(&rng.unit_f64(site + *b as u32)));
    from_fn(|at| order[at])
}""",
    "weighted": """\
/// A position by the running sums of all probabilities but the last.
fn weighted(edges: &[f64], unit: f64) -> i64 {
    edges.iter().filter(|edge| **edge <= unit).count() as i64
}""",
}
# Of two mirror images, one is the other with the opposite comparison.
HELPERS["minimum"] = HELPERS["maximum"].replace("maximum", "minimum").replace("larger", "smaller").replace(">=", "<=")
HELPERS["argmin"] = (
    HELPERS["argmax"].replace("argmax", "argmin").replace("largest", "smallest").replace("> values", "< values")
)


class Helpers:
    """The helpers that a file uses; each is written once, at its end."""

    def __init__(self) -> None:
        self._used: dict[str, str] = {}

    def name(self, helper: str, kind: str = "f64") -> str:
        """The name to call a helper by, which is noted as used; the f32 form of one for floats has f32 in its name."""
        text = HELPERS[helper]
        called = f"{helper}_{kind}" if "FLOAT" in text and kind != "f64" else helper
        self._used[called] = text.replace(f"fn {helper}(", f"fn {called}(").replace("FLOAT", kind)
        return called

    def texts(self) -> list[str]:
        """The texts of all helpers that are used, by name."""
        return [self._used[name] for name in sorted(self._used)]


RESERVED = {name for helper in HELPERS for name in (helper, f"{helper}_f32")}
