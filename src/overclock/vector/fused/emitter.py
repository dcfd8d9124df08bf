"""From a jaxpr to statements of C: every equation becomes variables, loops or branches of one lane's program.

The text is the same for every machine; what a number is (one lane's, or a vector with one number per lane) and what
`SEL_f32` or `SIN_f32` mean is defined by the prelude in front of it (prelude.py).
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from overclock.vector.fused import control, indexing, reductions, shaping
from overclock.vector.fused.elementwise import FORMULAS, divided_by, fold
from overclock.vector.fused.values import Few, UnsupportedError, Value, spread, type_name
from overclock.vector.fused.writer import Index, Writer

CALLS = {  # primitives that only wrap another jaxpr, and the parameter that holds it
    "jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr", "remat": "jaxpr",
    "remat2": "jaxpr", "checkpoint": "jaxpr", "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr", "composite": "jaxpr",
}  # fmt: skip

Rule = Callable[["Emitter", Any, list[Value]], list[Value]]
"""(emitter, equation, operands) -> results."""

RULES: dict[str, Rule] = {**control.RULES, **shaping.RULES, **indexing.RULES, **reductions.RULES}


class Emitter:
    """Writes jaxprs into a `Writer`."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def program(self, program: ClosedJaxpr | Jaxpr, operands: Sequence[Value]) -> list[Value]:
        """The results of a jaxpr, with constants of its own or without."""
        return self.closed(program, operands) if isinstance(program, ClosedJaxpr) else self.jaxpr(program, operands)

    def closed(self, program: ClosedJaxpr, operands: Sequence[Value]) -> list[Value]:
        """The results of a closed jaxpr."""
        return self.jaxpr(program.jaxpr, [*(self._constant(const) for const in program.consts), *operands])

    def jaxpr(self, program: Jaxpr, operands: Sequence[Value]) -> list[Value]:
        """The results of a jaxpr, whose constants come first among the operands."""
        known: dict[Any, Value] = dict(zip([*program.constvars, *program.invars], operands, strict=True))

        def read(atom: Any) -> Value:
            return self._constant(atom.val, _aval(atom).dtype) if isinstance(atom, Literal) else known[atom]

        needed = _needed(program)
        pairs = _sines_with_cosines(program, needed)
        for equation in program.eqns:
            if equation.effects:
                raise UnsupportedError(
                    "A fused kernel cannot speak to Python", equation.primitive.name, _source(equation)
                )
            if not needed.intersection(equation.outvars) or equation.outvars[0] in known:
                continue
            inputs = [read(atom) for atom in equation.invars]
            if equation in pairs:
                first, other = self._sine_and_cosine(equation, inputs[0])
                known |= {equation.outvars[0]: first, pairs[equation]: other}
                continue
            known.update(zip(equation.outvars, self.equation(equation, inputs), strict=True))
        return [read(atom) for atom in program.outvars]

    def equation(self, equation: Any, operands: list[Value]) -> list[Value]:
        """The results of one equation."""
        name = equation.primitive.name
        try:
            if name in CALLS:
                return self.program(equation.params[CALLS[name]], operands)
            if name in FORMULAS:
                return [self._elementwise(equation, operands)]
            if name == "integer_pow":
                return [self._integer_pow(equation, operands[0])]
            if name in RULES:
                return RULES[name](self, equation, operands)
        except UnsupportedError as error:
            # JAX remembers no place of the user's inside its own functions, but that of the call.
            source = error.source or _source(equation)
            raise UnsupportedError(error.reason, error.primitive or name, source) from None
        raise UnsupportedError("A fused kernel has no words for this", name, _source(equation))

    def _constant(self, number: Any, dtype: Any = None) -> Value:
        type_name(number.dtype if dtype is None else dtype)  # keys are refused before NumPy meets them
        return self.writer.literal(np.asarray(number, dtype))

    def _elementwise(self, equation: Any, operands: list[Value]) -> Value:
        name, aval = equation.primitive.name, equation.outvars[0].aval
        formula, kinds = FORMULAS[name], [type_name(operand.dtype) for operand in operands]
        if aval.shape == ():
            numbers = [self.writer.known.get(operand.at(())) for operand in operands]
            folded = None if any(n is None for n in numbers) else fold(name, numbers, aval.dtype)
            if folded is not None:
                return self.writer.literal(folded)

        operands = self.writer.indexable(operands, aval.shape)
        if name == "div" and operands[1].shape == ():
            by = divided_by(self.writer.known.get(operands[1].at(())), aval.dtype)
            if by is not None:
                return self.writer.each(aval.shape, aval.dtype, lambda index: by(spread(operands[0], index)))

        def element(index: Index) -> str:
            return formula(equation.params, kinds, *(spread(operand, index) for operand in operands))

        return self.writer.each(aval.shape, aval.dtype, element)

    def _integer_pow(self, equation: Any, value: Value) -> Value:
        """x ** y as JAX multiplies it: by squaring, from the lowest bit of y on."""
        y, kind, writer = equation.params["y"], type_name(value.dtype), self.writer

        def element(index: Index) -> str:
            power, total, left = value.at(index), "", abs(y)
            while left:
                if left & 1:
                    total = writer.define(value.dtype, f"MUL_{kind}({total}, {power})") if total else power
                left >>= 1
                power = writer.define(value.dtype, f"MUL_{kind}({power}, {power})") if left else ""
            total = total or f"K_{kind}(1)"
            return total if y >= 0 else f"DIV_{kind}(K_{kind}(1), {total})"

        return writer.each(value.shape, value.dtype, element)

    def _sine_and_cosine(self, equation: Any, operand: Value) -> tuple[Value, Value]:
        """Both of one angle: (what the equation asks for, the other)."""
        writer, kind = self.writer, type_name(operand.dtype)
        cosine = writer.variable(operand.dtype, f"K_{kind}(0)")
        sine = writer.define(operand.dtype, f"SINCOS_{kind}({operand.at(())}, &{cosine})")
        both = [Few((text,), (), operand.dtype) for text in (sine, cosine)]
        return (both[0], both[1]) if equation.primitive.name == "sin" else (both[1], both[0])


def _sines_with_cosines(program: Jaxpr, needed: set[Any]) -> dict[Any, Any]:
    """The equation that asks first for a sine or cosine of an angle, and the variable of the other one."""
    first: dict[tuple[Any, str], Any] = {}
    pairs: dict[Any, Any] = {}
    for equation in program.eqns:
        name = equation.primitive.name
        if name not in ("sin", "cos") or equation.outvars[0] not in needed or _aval(equation.outvars[0]).shape != ():
            continue
        angle = equation.invars[0]
        if isinstance(angle, Literal):
            continue
        other = first.get((angle, "cos" if name == "sin" else "sin"))
        if other is not None and other not in pairs:
            pairs[other] = equation.outvars[0]
        else:
            first[angle, name] = equation
    return pairs


def _aval(atom: Any) -> Any:
    """Shape and dtype of an atom; every value of a kernel is an array."""
    return atom.aval


def _needed(program: Jaxpr) -> set[Any]:
    """The variables that the results depend on: nothing else is written."""
    needed = {var for var in program.outvars if not isinstance(var, Literal)}
    for equation in reversed(program.eqns):
        if needed.intersection(equation.outvars):
            needed.update(var for var in equation.invars if not isinstance(var, Literal))
    return needed


def _source(equation: Any) -> str:
    """Where in the user's program an equation comes from, as far as JAX remembers."""
    return source_info_util.summarize(equation.source_info)
