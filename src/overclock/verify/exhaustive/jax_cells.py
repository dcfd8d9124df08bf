"""The limits that a JAX function compares one of its inputs with, from its expressions (its jaxpr).

The function is run expression by expression. Every value goes with a mask: where it is the input itself, moved or
spread or selected, but not changed. A comparison of the input with anything else gives a limit. Any other expression
that takes the input may depend on it in any way.

A limit must not be computed with floats: XLA compiles the function that is compared and the one that is looked at here
apart from each other, and may round each in its own way. So a value also says whether it is fixed: a constant, an
input, or whatever is picked from them.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

from overclock.vector.fused.control import scan_counts

COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "lt_to", "le_to"})
MOVES = frozenset({"broadcast_in_dim", "reshape", "squeeze", "copy", "transpose"})
UNROUNDED = COMPARISONS | MOVES | {
    "abs", "argmax", "argmin", "clamp", "concatenate", "convert_element_type", "dynamic_slice", "gather", "iota", "max",
    "min", "neg", "pad", "reduce_max", "reduce_min", "rev", "select_n", "sign", "slice", "sort",
}  # fmt: skip
MOST_TURNS = 256  # of all loops together that are followed
CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr"}


def next_limit(function: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """`function(number, *rest)` as one that gives (the lowest limit at or above the number, it was only compared)."""

    def limit(number: Any, *rest: Any) -> tuple[Any, Any]:
        closed = jax.make_jaxpr(function)(number, *rest)
        looked = _Looked(number)
        given = [Seen(number, jnp.ones((), jnp.bool_)), *(Seen(leaf) for leaf in jax.tree.leaves(rest))]
        out = looked.run(closed.jaxpr, closed.consts, given)
        shown = any(one.mask is not None for one in out)
        return looked.lowest, jnp.asarray(looked.only_compared and not shown)

    return limit


class Seen(NamedTuple):
    """A value, where it is the number (None: nowhere), and whether it is fixed, not computed."""

    value: Any
    mask: Any = None
    fixed: bool = True


class _Looked:
    """What was found out on the way through the expressions."""

    def __init__(self, number: Any) -> None:
        self._number, self._turns = number, 0
        self.lowest = jnp.full((), jnp.inf, number.dtype)
        self.only_compared = True

    def run(self, jaxpr: Any, consts: Any, given: list[Seen]) -> list[Seen]:
        """The results of a program."""
        known: dict[Any, Seen] = {var: Seen(value) for var, value in zip(jaxpr.constvars, consts, strict=True)}
        known |= dict(zip(jaxpr.invars, given, strict=True))

        def read(one: Any) -> Seen:
            return Seen(one.val) if isinstance(one, core.Literal) else known[one]

        for equation in jaxpr.eqns:
            known |= dict(zip(equation.outvars, self._equation(equation, [*map(read, equation.invars)]), strict=True))
        return [read(one) for one in jaxpr.outvars]

    def _equation(self, equation: Any, given: list[Seen]) -> list[Seen]:
        primitive, name, parameters = equation.primitive, equation.primitive.name, equation.params
        if name in CALLS:
            inner = parameters[CALLS[name]]
            return self.run(inner.jaxpr, inner.consts, given)
        touched = any(one.mask is not None for one in given)
        if touched and name == "scan" and 0 < parameters["length"] <= MOST_TURNS - self._turns:
            self._turns += parameters["length"]
            return self._scan(parameters, given)
        how = primitive.get_bind_params(parameters)
        functions, parameters = how if isinstance(how, tuple) else ((), how)  # as JAX versions have it
        out = primitive.bind(*functions, *(one.value for one in given), **parameters)
        values = list(out) if primitive.multiple_results else [out]
        fixed = [self._fixed(equation, value, given) for value in values]
        if not touched:
            return [Seen(value, None, known) for value, known in zip(values, fixed, strict=True)]
        if name in COMPARISONS:
            self._compared(*given)
            return [Seen(values[0])]
        if name == "convert_element_type" and values[0].dtype == self._number.dtype:
            return [Seen(values[0], given[0].mask, fixed[0])]
        if name in MOVES and len(given) == 1:
            return [Seen(values[0], primitive.bind(given[0].mask, **parameters), fixed[0])]
        if name == "select_n" and given[0].mask is None:
            return [Seen(values[0], primitive.bind(given[0].value, *map(_mask, given[1:])), fixed[0])]
        self.only_compared = False
        return [Seen(value, None, False) for value in values]

    def _fixed(self, equation: Any, value: Any, given: list[Seen]) -> bool:
        """Whether nothing was rounded on the way to a value."""
        whole = not jnp.issubdtype(value.dtype, jnp.inexact) and not any(map(_programs, equation.params.values()))
        return (whole or equation.primitive.name in UNROUNDED) and all(one.fixed for one in given)

    def _scan(self, parameters: Any, given: list[Seen]) -> list[Seen]:
        """A loop, turn by turn."""
        body = parameters["jaxpr"]
        start, carried = scan_counts(parameters, len(given))
        end = start + carried
        carry, turns = given[start:end], list[list[Seen]]()
        for turn in range(parameters["length"])[:: -1 if parameters["reverse"] else 1]:
            rows = [
                Seen(one.value[turn], None if one.mask is None else one.mask[turn], one.fixed) for one in given[end:]
            ]
            out = self.run(body.jaxpr, body.consts, [*given[:start], *carry, *rows])
            carry = out[: len(carry)]
            turns.append(out[len(carry) :])
        stacked = zip(*(turns[::-1] if parameters["reverse"] else turns), strict=True)
        return [*carry, *map(_stacked, stacked)]

    def _compared(self, first: Seen, second: Seen) -> None:
        ours, theirs = _mask(first), _mask(second)
        for limit, there in ((second, ours & ~theirs), (first, theirs & ~ours)):
            counts = there & (limit.value >= self._number)
            self.lowest = jnp.minimum(self.lowest, jnp.where(counts, limit.value, jnp.inf).min())
        # Which of them are the number may differ from lane to lane, so all that may be limits must be fixed.
        self.only_compared &= first.fixed and second.fixed


def _programs(parameter: Any) -> bool:
    """Whether a parameter holds expressions of its own, of a loop or a branch."""
    inner = parameter if isinstance(parameter, tuple | list) else (parameter,)
    return any(hasattr(one, "eqns") or hasattr(one, "jaxpr") for one in inner)


def _stacked(rows: tuple[Seen, ...]) -> Seen:
    mask = None if all(one.mask is None for one in rows) else jnp.stack([_mask(one) for one in rows])
    return Seen(jnp.stack([one.value for one in rows]), mask, all(one.fixed for one in rows))


def _mask(one: Seen) -> Any:
    return jnp.zeros(np.shape(one.value), jnp.bool_) if one.mask is None else one.mask
