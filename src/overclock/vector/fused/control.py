"""Branches and loops: real ones for a single lane; for a vector of lanes both sides run where some lane needs them.

Nothing in a jaxpr has side effects, so lanes that a branch is not meant for may compute anything in it. Only a loop
must know which lanes it is meant for, or it might never end.
"""

from typing import TYPE_CHECKING, Any

from overclock.vector.fused.shaping import row, stacked
from overclock.vector.fused.values import (
    MOST_FEW,
    Few,
    Many,
    UnsupportedError,
    Value,
    compact,
    constant,
    size_of,
    spread,
    type_name,
)
from overclock.vector.fused.writer import Index, Writer

if TYPE_CHECKING:
    from overclock.vector.fused.emitter import Emitter

MOST_UNROLLED = 4  # rounds of a loop that are written one after the other
MOST_UNROLLED_EQUATIONS = 256  # of all rounds of a loop over few numbers, which then needs no array
LOOPS_AND_BRANCHES = {"while", "scan", "cond"}


def cond(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Write `lax.cond` and `lax.switch` as branches."""
    writer, branches = emitter.writer, equation.params["branches"]
    which, *inputs = operands
    number, kind = which.at(()), type_name(which.dtype)
    outs = [writer.blank(var.aval.shape, var.aval.dtype) for var in equation.outvars]
    for i, branch in enumerate(branches):
        mask = writer.define("bool", _chosen(number, kind, i, len(branches)))
        meant = mask if writer.active == "K_TRUE" else writer.define("bool", f"({writer.active} & {mask})")
        with writer.block(f"if (ANY({meant}))"), writer.meant_for(meant):
            for result, out in zip(emitter.closed(branch, inputs), outs, strict=True):
                writer.copy(result, out, mask if writer.vector else None)
    return outs


def _small(program: Any, most: int) -> bool:
    """Whether a program has no loops, no branches and few equations."""
    names = [equation.primitive.name for equation in program.jaxpr.eqns]
    return len(names) <= most and not LOOPS_AND_BRANCHES & set(names)


def _chosen(number: str, kind: str, i: int, count: int) -> str:
    """Whether branch i is taken; an index beyond the ends means the first or the last."""
    if count == 1:
        return "K_TRUE"
    if kind == "b32":
        return number if i else f"NOT_b32({number})"
    if i == 0:
        return f"LE_{kind}({number}, K_{kind}(0))"
    return f"{'GE' if i == count - 1 else 'EQ'}_{kind}({number}, K_{kind}({i}))"


def while_loop(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """`lax.while_loop`: until no lane goes on."""
    writer, params = emitter.writer, equation.params
    n_test, n_body = params["cond_nconsts"], params["body_nconsts"]
    test_consts, body_consts = operands[:n_test], operands[n_test : n_test + n_body]
    carry = [writer.changing(value) for value in operands[n_test + n_body :]]
    with writer.block("for (;;)"):
        (goes_on,) = emitter.closed(params["cond_jaxpr"], [*test_consts, *carry])
        mask = writer.define("bool", f"({goes_on.at(())} & {writer.active})")
        writer.line(f"if (!ANY({mask})) break;")
        with writer.meant_for(mask):
            results = emitter.closed(params["body_jaxpr"], [*body_consts, *carry])
            assign(writer, results, carry, mask if writer.vector else None)
    return carry


def assign(writer: Writer, results: list[Value], carry: list[Value], mask: str | None = None) -> None:
    """All results over all variables at once: a result may be another variable's old value."""
    changing = {variable.name for variable in carry if isinstance(variable, Many)}

    def held(result: Value) -> Value:
        if isinstance(result, Few):
            return Few(tuple(writer.define(result.dtype, e) for e in result.elements), result.shape, result.dtype)
        if result.name not in changing:
            return result
        kept = writer.array(result.shape, result.dtype)
        writer.copy(result, kept)
        return kept

    pairs = [(result, variable) for result, variable in zip(results, carry, strict=True) if result != variable]
    for value, variable in [(held(result), variable) for result, variable in pairs]:
        writer.copy(value, variable, mask)


def scan(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """`lax.scan`, and `fori_loop` with known bounds: a counted loop, or its rounds one after the other."""
    params = equation.params
    fixed, carried = scan_counts(params, len(operands))
    consts, inits, xs = operands[:fixed], operands[fixed : fixed + carried], operands[fixed + carried :]
    outs = [var.aval for var in equation.outvars[carried:]]
    if _written_out(params, xs, outs):
        return _rounds(emitter, params, consts, inits, xs, outs)
    writer, length = emitter.writer, params["length"]
    carry = [writer.changing(value) for value in inits]
    arrays = [writer.as_view(x) for x in xs]
    rows = [writer.array(aval.shape, aval.dtype) for aval in outs]
    with writer.counted(length) as counter:
        place = f"({length - 1} - {counter})" if params["reverse"] else counter
        results = emitter.closed(params["jaxpr"], [*consts, *carry, *(_loaded(writer, x, place) for x in arrays)])
        for result, whole in zip(results[carried:], rows, strict=True):
            _store(writer, result, whole, place)
        assign(writer, results[:carried], carry)
    return [*carry, *(compact(whole) for whole in rows)]


def scan_counts(params: Any, operands: int) -> tuple[int, int]:
    """How many operands of a scan are constants, and how many are carried from round to round, in any JAX."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    consts, carry, _ = params["ft_in"].update(range(operands)).unpack()  # since JAX 0.11
    return len(list(consts)), len(list(carry))


def _written_out(params: Any, xs: list[Value], outs: list[Any]) -> bool:
    """Short loops are, and small ones over few numbers, which would have to become an array to be counted through."""
    length = params["length"]
    if length <= MOST_UNROLLED:
        return True
    few = [size_of(x.shape) <= MOST_FEW for x in xs if isinstance(x, Few)] + [
        size_of(a.shape) <= MOST_FEW for a in outs
    ]
    return any(few) and _small(params["jaxpr"], MOST_UNROLLED_EQUATIONS // length)


def _rounds(
    emitter: "Emitter", params: Any, consts: list[Value], carry: list[Value], xs: list[Value], outs: list[Any]
) -> list[Value]:
    """A loop's rounds one after the other."""
    length, carried = params["length"], len(carry)
    rows: list[list[Value]] = [[] for _ in outs]
    for i in reversed(range(length)) if params["reverse"] else range(length):
        results = emitter.closed(params["jaxpr"], [*consts, *carry, *(row(x, i) for x in xs)])
        carry = results[:carried]
        for kept, result in zip(rows, results[carried:], strict=True):
            kept.insert(0, result) if params["reverse"] else kept.append(result)
    return [*carry, *(stacked(emitter, kept, 0, aval) for kept, aval in zip(rows, outs, strict=True))]


def _loaded(writer: Writer, value: Many, place: str) -> Value:
    """One entry along the first axis, at a loop's place."""
    return writer.each(value.shape[1:], value.dtype, lambda index: value.at((place, *index)))


def _store(writer: Writer, value: Value, whole: Many, place: str) -> None:
    def one(index: Index) -> None:
        writer.line(f"{whole.at((place, *index))} = {value.at(index)};")

    writer.over(value.shape, one, isinstance(value, Few))


def same(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """A barrier for compilers is none for us, and a lane's numbers are on its device."""
    return list(operands)


def select_n(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """One of several arrays, number by number."""
    aval, writer = equation.outvars[0].aval, emitter.writer
    which, *cases = writer.indexable(operands, aval.shape)
    kind = type_name(which.dtype)

    def element(index: Index) -> str:
        number, chosen = spread(which, index), spread(cases[0], index)
        for i, case in enumerate(cases[1:], 1):
            mask = number if kind == "b32" else f"GE_{kind}({number}, {constant(i, which.dtype)})"
            chosen = writer.select(mask, spread(case, index), chosen, aval.dtype)
        return chosen

    return [writer.each(aval.shape, aval.dtype, element)]


def no_keys(emitter: "Emitter", equation: Any, operands: list[Value]) -> list[Value]:
    """Primitives that belong to `jax.random`."""
    raise UnsupportedError(
        "A fused kernel draws from an Rng alone, in draw_reset and draw_step, and this environment uses jax.random"
    )


RULES = {
    "cond": cond, "while": while_loop, "scan": scan, "select_n": select_n, "optimization_barrier": same,
    "device_put": same,
    **dict.fromkeys(("random_bits", "random_seed", "random_wrap", "random_unwrap", "random_fold_in", "random_split",
                     "random_clone", "threefry2x32", "rng_bit_generator"), no_keys),
}  # fmt: skip
