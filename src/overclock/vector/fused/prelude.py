"""What the words of a kernel mean on each machine: types, arithmetic as XLA defines it, loads from arrays.

One kernel text is compiled against one of three preludes: C for one lane at a time, C for a vector of lanes (the vector
types of GCC and Clang, with every operation on all lanes at once), and CUDA for one lane per thread.
"""

from overclock.vector.fused.scalar_words import COMPARISONS, ELEMENTS, Dialect, scalar_words
from overclock.vector.fused.vector_words import vector_types, vector_words

__all__ = ["Dialect", "prelude"]

C_HEADING = (
    "#define INLINE static inline",
    "#include <math.h>",
    "#include <stdint.h>",
    "#include <string.h>",
    "#define TABLE static const",
    "#define INF_f32 __builtin_inff()",
    "#define INF_f64 __builtin_inf()",
    '#define NAN_f32 __builtin_nanf("")',
    '#define NAN_f64 __builtin_nan("")',
)
CUDA_HEADING = (
    "#define INLINE __device__ __forceinline__",
    "#define TABLE __device__ const",
    "#define INF_f32 __int_as_float(0x7f800000)",
    "#define INF_f64 __longlong_as_double(0x7ff0000000000000ll)",
    "#define NAN_f32 __int_as_float(0x7fc00000)",
    "#define NAN_f64 __longlong_as_double(0x7ff8000000000000ll)",
)


def prelude(dialect: Dialect, lanes: int) -> str:
    """The definitions in front of a kernel; `lanes` is how many of them one C variable holds."""
    heading = [*(CUDA_HEADING if dialect == "cuda" else C_HEADING)]
    heading += [f"typedef {c} e_{name};" for name, c in ELEMENTS.items()]
    if lanes == 1:
        return "\n".join([*heading, *_scalar_types(), *scalar_words("", dialect)])
    return "\n".join([*heading, *vector_types(lanes), *scalar_words("S_", dialect), *vector_words()])


def _scalar_types() -> list[str]:
    """A value is one number: bools are 0 or 1, a mask decides for it alone."""
    return [
        *(f"typedef {c} {name};" for name, c in ELEMENTS.items()),
        *(f"#define K_{name}(x) (({name})(x))" for name in ELEMENTS),
        *(f"#define SPLAT_{name}(x) (({name})(x))" for name in ELEMENTS),
        "#define K_TRUE 1", "#define K_FALSE 0", "#define ANY(m) (m)", "#define NOT_b32(m) ((m) ^ 1)",
        *(f"#define SEL_{name}(m, a, b) ((m) ? (a) : (b))" for name in ELEMENTS),
        *(f"#define TAKE_{name}(a, i) ((a)[i])" for name in ELEMENTS),
        *(f"#define LOOKUP_{name}(a, i) (({name})(a)[i])" for name in ELEMENTS),
        *(f"#define PUT_{name}(a, i, v, m) if (m) (a)[i] = (v)" for name in ELEMENTS),
        *(f"#define {name}_b32(a, b) ((a) {symbol} (b))" for name, symbol in COMPARISONS.items()),
        "#define BELOW_b32(a, b) ((a) < (b))", "#define MAX_b32(a, b) ((a) | (b))", "#define MIN_b32(a, b) ((a) & (b))",
    ]  # fmt: skip
