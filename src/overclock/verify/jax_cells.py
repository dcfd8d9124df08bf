"""The limits that a JAX function compares one of its inputs with, from its expressions (its jaxpr).

The function is run expression by expression. Every value goes with a mask: where it is the input itself, moved or
spread or selected, but not changed. A comparison of the input with anything else gives a limit. Any other expression
that takes the input may depend on it in any way.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

COMPARISONS = frozenset({"lt", "le", "gt", "ge", "eq", "ne", "lt_to", "le_to"})
MOVES = frozenset({"broadcast_in_dim", "reshape", "squeeze", "copy", "transpose"})
MOST_TURNS = 64  # of a loop that is followed
CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "custom_jvp_call": "call_jaxpr"}


def next_limit(function: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """`function(number, *rest)` as one that gives (the lowest limit at or above the number, it was only compared)."""

    def limit(number: Any, *rest: Any) -> tuple[Any, Any]:
        closed = jax.make_jaxpr(function)(number, *rest)
        looked = _Looked(number)
        values = [number, *jax.tree.leaves(rest)]
        masks = [jnp.ones((), jnp.bool_), *(None for _ in values[1:])]
        out = looked.run(closed.jaxpr, closed.consts, list(zip(values, masks, strict=True)))
        shown = any(mask is not None for _, mask in out)
        return looked.lowest, jnp.asarray(looked.only_compared and not shown)

    return limit


Masked = tuple[Any, Any]  # a value, and where it is the number; None: nowhere


class _Looked:
    """What was found out on the way through the expressions."""

    def __init__(self, number: Any) -> None:
        self._number = number
        self.lowest = jnp.full((), jnp.inf, number.dtype)
        self.only_compared = True

    def run(self, jaxpr: Any, consts: Any, given: list[Masked]) -> list[Masked]:
        """The results of a program."""
        known: dict[Any, Masked] = {var: (value, None) for var, value in zip(jaxpr.constvars, consts, strict=True)}
        known |= dict(zip(jaxpr.invars, given, strict=True))

        def read(one: Any) -> Masked:
            return (one.val, None) if isinstance(one, core.Literal) else known[one]

        for equation in jaxpr.eqns:
            known |= dict(zip(equation.outvars, self._equation(equation, [*map(read, equation.invars)]), strict=True))
        return [read(one) for one in jaxpr.outvars]

    def _equation(self, equation: Any, given: list[Masked]) -> list[Masked]:
        name, parameters = equation.primitive.name, equation.params
        values, masks = [value for value, _ in given], [mask for _, mask in given]
        if name in CALLS:
            inner = parameters[CALLS[name]]
            return self.run(inner.jaxpr, inner.consts, given)
        if name == "scan" and parameters["length"] <= MOST_TURNS and any(mask is not None for mask in masks):
            return self._scan(parameters, given)
        how = equation.primitive.get_bind_params(parameters)
        functions, parameters = how if isinstance(how, tuple) else ((), how)  # as JAX versions have it
        out = equation.primitive.bind(*functions, *values, **parameters)
        found = list(out) if equation.primitive.multiple_results else [out]
        if all(mask is None for mask in masks):
            return [(one, None) for one in found]
        if name in COMPARISONS:
            self._compared(values, masks)
            return [(found[0], None)]
        same_type = equation.outvars[0].aval.dtype == self._number.dtype
        if name == "convert_element_type" and same_type:
            return [(found[0], masks[0])]
        if name in MOVES and len(given) == 1:
            return [(found[0], equation.primitive.bind(masks[0], **parameters))]
        if name == "select_n" and masks[0] is None:
            return [(found[0], equation.primitive.bind(values[0], *map(_mask, values[1:], masks[1:])))]
        self.only_compared = False
        return [(one, None) for one in found]

    def _scan(self, parameters: Any, given: list[Masked]) -> list[Masked]:
        """A loop, turn by turn."""
        body, length = parameters["jaxpr"], parameters["length"]
        start = parameters["num_consts"]
        end = start + parameters["num_carry"]
        carry, turns = given[start:end], list[list[Masked]]()
        for turn in range(length)[:: -1 if parameters["reverse"] else 1]:
            rows = [(value[turn], None if mask is None else mask[turn]) for value, mask in given[end:]]
            out = self.run(body.jaxpr, body.consts, [*given[:start], *carry, *rows])
            carry = out[: len(carry)]
            turns.append(out[len(carry) :])
        stacked = zip(*(turns[::-1] if parameters["reverse"] else turns), strict=True)
        return [*carry, *(_stacked(column) for column in stacked)]

    def _compared(self, values: list[Any], masks: list[Any]) -> None:
        first, second = map(_mask, values, masks)
        for limit, there in ((values[1], first & ~second), (values[0], second & ~first)):
            counts = there & (limit >= self._number)
            self.lowest = jnp.minimum(self.lowest, jnp.where(counts, limit, jnp.inf).min())


def _stacked(rows: tuple[Masked, ...]) -> Masked:
    mask = None if all(mask is None for _, mask in rows) else jnp.stack([_mask(*row) for row in rows])
    return jnp.stack([value for value, _ in rows]), mask


def _mask(value: Any, mask: Any) -> Any:
    return jnp.zeros(np.shape(value), jnp.bool_) if mask is None else mask
