"""The text of a whole kernel: load the lanes' state, T times {read, compute, write}, store the state.

`Signature` says which buffers go in and out; `source` puts prelude, tables and the written program into one function,
which in C plays a vector of lanes and in CUDA one lane per thread.
"""

import dataclasses
from typing import Any

from jax.extend.core import ClosedJaxpr

from overclock.vector.fused.control import assign
from overclock.vector.fused.emitter import Emitter
from overclock.vector.fused.prelude import Dialect, prelude
from overclock.vector.fused.values import Few, Many, UnsupportedError, Value, size_of, strides_of, type_name
from overclock.vector.fused.writer import Writer

# What a thread's stack can hold, and what the GPU's memory has for each of the threads that it runs at a time.
MOST_ARRAY_BYTES: dict[Dialect, int] = {"c": 2**25, "cuda": 2**16}
MEMORY = {"b32": "unsigned char"}  # what a buffer holds where it is not the number itself


@dataclasses.dataclass(frozen=True)
class Signature:
    """One lane's part of every buffer: state, constants of a lane, shared numbers, inputs, outputs."""

    carry: tuple[Any, ...]
    constant: tuple[Any, ...]
    shared: tuple[Any, ...]
    xs: tuple[Any, ...]
    ys: tuple[Any, ...]

    @property
    def inputs(self) -> int:
        """How many buffers go in."""
        return sum(map(len, (self.carry, self.constant, self.shared, self.xs)))

    @property
    def outputs(self) -> int:
        """How many buffers come out."""
        return len(self.carry) + len(self.ys)


def source(program: ClosedJaxpr, signature: Signature, dialect: Dialect, lanes: int) -> tuple[str, int]:
    """(the kernel's text, how many bytes the C arrays of a lane take).

    The program maps state, constants, shared numbers and xs to state and ys.
    """
    writer = Writer(vector=lanes > 1)
    emitter = Emitter(writer)
    kinds = ("carry", "constant", "shared", "xs")
    groups = {kind: list(getattr(signature, kind)) for kind in kinds}
    places = iter(range(sum(map(len, groups.values()))))
    buffers = {kind: [next(places) for _ in group] for kind, group in groups.items()}

    carry = [
        writer.changing(_load(writer, f"in[{b}]", a, "lane"))
        for b, a in zip(buffers["carry"], groups["carry"], strict=True)
    ]
    fixed = [_load(writer, f"in[{b}]", a, "lane") for b, a in zip(buffers["constant"], groups["constant"], strict=True)]
    shared = [_load_shared(writer, f"in[{b}]", a) for b, a in zip(buffers["shared"], groups["shared"], strict=True)]
    writer.line("long kept = lane, given = lane;")
    with writer.block("for (int t = 0; t < (int)steps; t++)"):
        xs = [_load(writer, f"in[{b}]", a, "given") for b, a in zip(buffers["xs"], groups["xs"], strict=True)]
        results = emitter.closed(program, [*carry, *fixed, *shared, *xs])
        for place, value in enumerate(results[len(carry) :], len(carry)):
            _store(writer, f"out[{place}]", value, "kept")
        assign(writer, results[: len(carry)], carry)
        if signature.xs:
            writer.line("given += total;")
        if signature.ys:
            writer.line("kept += total;")
            writer.line("if (kept >= window * total) kept = lane;")
    for place, value in enumerate(carry):
        _store(writer, f"out[{place}]", value, "lane")
    if writer.array_bytes > MOST_ARRAY_BYTES[dialect]:
        raise UnsupportedError(f"A fused kernel has no room for arrays of {writer.array_bytes:,} bytes in every lane")
    return _text(writer, dialect, lanes), writer.array_bytes


def body_of(text: str) -> str:
    """The statements of the function that plays the lanes, without the definitions before it."""
    return text.rpartition(" lanes(")[2]


def _pointer(buffer: str, kind: str, const: bool = True) -> str:
    return f"(({'const ' if const else ''}{MEMORY.get(kind, 'e_' + kind)}*){buffer})"


def _load(writer: Writer, buffer: str, aval: Any, lane: str) -> Value:
    """One lane's numbers of a buffer [total, ...], as variables or as an array."""
    kind, count = type_name(aval.dtype), size_of(aval.shape)

    def element(place: Any) -> str:
        return f"LOAD_{kind}({_pointer(buffer, kind)} + {lane} * {count} + {place}, {count}, count)"

    return _each_flat(writer, aval, element)


def _load_shared(writer: Writer, buffer: str, aval: Any) -> Value:
    kind = type_name(aval.dtype)
    splat = "K_b32(-!!{})" if kind == "b32" and writer.vector else f"K_{kind}({{}})"
    return _each_flat(writer, aval, lambda place: splat.format(f"{_pointer(buffer, kind)}[{place}]"))


def _each_flat(writer: Writer, aval: Any, element: Any) -> Value:
    flat = strides_of(aval.shape)

    def at(index: tuple[Any, ...]) -> str:
        return element(Many("", aval.shape, None, flat).flat(index))

    return writer.each(aval.shape, aval.dtype, at)


def _store(writer: Writer, buffer: str, value: Value, lane: str) -> None:
    kind, count = type_name(value.dtype), size_of(value.shape)
    target = f"{_pointer(buffer, kind, const=False)} + {lane} * {count}"
    if isinstance(value, Few) and count > 1:
        # Numbers of one lane lie side by side in memory: vectors are turned into a row per lane.
        with writer.block(""):
            writer.line(f"const {kind} rows[{count}] = {{{', '.join(value.elements)}}};")
            writer.line(f"STORE_ROWS_{kind}({target}, rows, {count}, count);")
        return
    if isinstance(value, Few):
        for place, element in enumerate(value.elements):
            writer.line(f"STORE_{kind}({target} + {place}, {count}, count, {element});")
        return
    with writer.loops(value.shape) as counters:
        place = Many("", value.shape, None, strides_of(value.shape)).flat(counters)
        writer.line(f"STORE_{kind}({target} + {place}, {count}, count, {value.at(counters)});")


def _text(writer: Writer, dialect: Dialect, lanes: int) -> str:
    body = "\n".join(writer.lines)
    heading = [prelude(dialect, lanes), memory(dialect, lanes), *writer.tables]
    if dialect == "cuda":
        return "\n".join([*heading, CUDA_KERNEL.replace("BODY", body)])
    return "\n".join([*heading, C_KERNEL.replace("BODY", body)])


C_KERNEL = """
static void lanes(void* const* in, void* const* out, long total, long steps, long window, long lane, int count) {
BODY
}
"""

CUDA_KERNEL = """
extern "C" __global__ void __launch_bounds__(THREADS) lanes(Buffers buffers, long total, long steps, long window) {
  const long lane = (long)blockIdx.x * blockDim.x + threadIdx.x;
  const int count = 1;
  if (lane >= total) return;
  void* const* in = buffers.in;
  void* const* out = buffers.out;
BODY
}
"""


def _wide_store(cell: str) -> str:
    """Four words at once where a row is a multiple of them (rows then begin at such a place, too)."""
    return (
        f"if (width * sizeof({cell}) % 16 == 0) {{ "
        f"union {{ {cell} cells[16 / sizeof({cell})]; uint4 words; }} u; "
        f"for (int k = 0; k < width; k += 16 / sizeof({cell})) {{ "
        f"for (int j = 0; j < 16 / sizeof({cell}); j++) u.cells[j] = rows[k + j]; *(uint4*)(p + k) = u.words; }} "
        "return; } "
    )


def memory(dialect: Dialect, lanes: int) -> str:
    """Loads and stores of `count` lanes whose numbers lie `step` apart; bools are bytes in memory."""
    lines = []
    for kind in ("f32", "f64", "b32", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"):
        cell = MEMORY.get(kind, f"e_{kind}")
        if lanes == 1:
            lines += [
                f"#define LOAD_{kind}(p, step, count) (({kind})*(p))",
                f"#define STORE_{kind}(p, step, count, v) *(p) = (v)",
                f"INLINE void STORE_ROWS_{kind}({cell}* p, const {kind}* rows, int width, int count) {{ "
                + (_wide_store(cell) if dialect == "cuda" else "")
                + "for (int k = 0; k < width; k++) p[k] = rows[k]; }",
            ]
            continue
        value, back = ("-(e_b32)p[w * step]", "v[w] & 1") if kind == "b32" else ("p[w * step]", "v[w]")
        quick = (
            ""
            if kind == "b32"
            else f"if (step == 1 && count == LANES) {{ {kind} r; memcpy(&r, p, sizeof r); return r; }} "
        )
        put = "" if kind == "b32" else "if (step == 1 && count == LANES) { memcpy(p, &v, sizeof v); return; } "
        rows = "rows[k][w] & 1" if kind == "b32" else "rows[k][w]"
        lines += [
            f"INLINE {kind} LOAD_{kind}(const {cell}* p, long step, int count) {{ {quick}{kind} r = {{0}}; "
            f"if (count == LANES) EACH r[w] = {value}; else SOME r[w] = {value}; return r; }}",
            f"INLINE void STORE_{kind}({cell}* p, long step, int count, {kind} v) {{ {put}"
            f"if (count == LANES) EACH p[w * step] = {back}; else SOME p[w * step] = {back}; }}",
            f"INLINE void STORE_ROWS_{kind}({cell}* p, const {kind}* rows, int width, int count) {{ "
            f"if (count == LANES) EACH for (int k = 0; k < width; k++) p[w * width + k] = {rows}; "
            f"else SOME for (int k = 0; k < width; k++) p[w * width + k] = {rows}; }}",
        ]
    return "\n".join(lines)
