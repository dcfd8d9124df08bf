"""Where the numbers of a draw come from: the words of the Rng, constants and the state, and how they are combined.

`draw_reset` and `draw_step` are traced for one lane, and every value of the program is labelled with what it is made
of. A draw may depend on the state (its range may, or which of several numbers it is), but its random bits come from the
generator's words alone, and these from the stream's key and counter as they are.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from overclock.env.environment import Environment
from overclock.env.rng import Rng, Section
from overclock.vector.fused.control import scan_counts
from overclock.verify.randomness.expressions import (
    COMMUTATIVE,
    INDEX,
    KEYS,
    WORD,
    WORD_BITS,
    Expressions,
    scaled_by_constant_pattern,
    scaled_pattern,
    sections_of,
    word_pattern,
)

KEY, STATE, RANDOM, BITS, MIXED = "key", "state", "random", "bits", "mixed"
Labels = frozenset[str]
NONE: Labels = frozenset()
SENTENCES = {
    KEY: "uses the stream's key or counter otherwise than through the words of its own section",
    MIXED: "mixes the bits of a random number with those of the state",
    STATE: "follows from the state alone, without a random number",
}
SAME_VALUE = frozenset({"broadcast_in_dim", "reshape", "squeeze", "expand_dims", "copy", "copy_p"})
INTEGER_ARITHMETIC = frozenset(
    {
        "add", "sub", "mul", "div", "rem", "pow", "integer_pow", "neg", "and", "or", "xor", "not", "max", "min",
        "shift_left", "shift_right_logical", "shift_right_arithmetic", "population_count", "clz", "dot_general",
        "reduce_sum", "reduce_xor", "cumsum", "cumprod", "reduce_prod",
    }
)  # fmt: skip
KEPT = COMMUTATIVE | {"sub", "shift_left", "shift_right_logical"}  # operations without parameters
FIXED_POINTS = 8  # labels only grow, and there are five


@dataclasses.dataclass(frozen=True)
class Value:
    """A value of a program: its expression, and what it is made of."""

    expression: int
    labels: Labels


def origins_of_draws(env: Environment[Any, Any], params: Any) -> list[tuple[str, str]]:
    """What the draws of an environment must not be made of, as (part of the draw, sentence); empty if all is well."""
    rng = Rng.of(0)
    begin, go = rng.of_section(Section.RESET), rng.of_section(Section.STEP)
    state = jax.eval_shape(lambda r: env.reset_state(r, params).rules, rng)
    return [
        *_found("draw_reset", Section.RESET, lambda r: env.draw_reset(r, params), begin),
        *_found("draw_step", Section.STEP, lambda r, s: env.draw_step(r, s, params), go, state),
    ]


def _found(name: str, section: Section, draw: Any, rng: Rng, *state: Any) -> list[tuple[str, str]]:
    closed, shape = jax.make_jaxpr(draw, return_shape=True)(rng, *state)
    table = Expressions()
    keys = [Value(table.of("input", key), frozenset({KEY})) for key in KEYS]
    others = [Value(table.opaque(), frozenset({STATE})) for _ in closed.jaxpr.invars[len(keys) :]]
    made = _Origins(table, section).run(closed.jaxpr, closed.consts, [*keys, *others])
    paths, _ = jax.tree_util.tree_flatten_with_path(shape)
    told = []
    for (path, _), value in zip(paths, made, strict=True):
        part = ".".join(filter(None, (name, jax.tree_util.keystr(path, simple=True, separator="."))))
        wrong = [label for label in (KEY, MIXED) if label in value.labels]
        if STATE in value.labels and not value.labels & {RANDOM, *wrong}:
            wrong.append(STATE)
        told += [(part, SENTENCES[label]) for label in wrong]
    return told


class _Origins:
    """Labels every value of a program, inner programs included."""

    def __init__(self, table: Expressions, section: int) -> None:
        self._table, self._section = table, section
        self._labels: dict[int, Labels] = {}  # of every expression, where there are any

    def run(self, program: Any, constants: Sequence[Any], given: Sequence[Value]) -> list[Value]:
        """The results of a program, from what it is given."""
        read = dict(zip(program.invars, given, strict=True))
        read |= {
            name: Value(self._table.constant(value), NONE)
            for name, value in zip(program.constvars, constants, strict=True)
        }

        def of(atom: Any) -> Value:
            return Value(self._table.constant(atom.val), NONE) if hasattr(atom, "val") else read[atom]

        for equation in program.eqns:
            read |= zip(equation.outvars, self._equation(equation, [of(atom) for atom in equation.invars]), strict=True)
        return [of(atom) for atom in program.outvars]

    def _equation(self, equation: Any, given: list[Value]) -> list[Value]:
        name, parameters = equation.primitive.name, equation.params
        self._labels |= {value.expression: value.labels for value in given}
        if name == "while":
            return self._while(parameters, given)
        if name == "cond":
            return self._cond(parameters["branches"], given)
        if name == "scan":
            return self._scan(parameters, given)
        inner = parameters.get("jaxpr", parameters.get("call_jaxpr", parameters.get("fun_jaxpr")))
        if (
            inner is not None
            and len(_plain(inner).invars) == len(given)
            and len(_plain(inner).outvars) == len(equation.outvars)
        ):
            return self._inner(inner, given)
        return [self._result(name, variable.aval, given) for variable in equation.outvars]

    def _inner(self, program: Any, given: Sequence[Value]) -> list[Value]:
        return self.run(_plain(program), getattr(program, "consts", ()), given)

    def _cond(self, branches: Any, given: list[Value]) -> list[Value]:
        chosen = [self._inner(branch, given[1:]) for branch in branches]
        return [self._joined([given[0], *values], values) for values in map(list, zip(*chosen, strict=True))]

    def _while(self, parameters: Any, given: list[Value]) -> list[Value]:
        asked, kept = parameters["cond_nconsts"], parameters["body_nconsts"]
        of_condition, of_body, carried = given[:asked], given[asked : asked + kept], given[asked + kept :]
        body = parameters["body_jaxpr"]
        for _ in range(FIXED_POINTS):
            (condition,) = self._inner(parameters["cond_jaxpr"], [*of_condition, *carried])
            after = self._inner(body, [*of_body, *carried])
            carried = self._carried(body, kept, carried, after, condition.labels)
        return carried

    def _scan(self, parameters: Any, given: list[Value]) -> list[Value]:
        kept, count = scan_counts(parameters, len(given))
        constants, carried, rows = given[:kept], given[kept : kept + count], given[kept + count :]
        rows = [Value(self._table.opaque(), row.labels) for row in rows]
        after: list[Value] = []
        for _ in range(FIXED_POINTS):
            after = self._inner(parameters["jaxpr"], [*constants, *carried, *rows])
            carried = self._carried(parameters["jaxpr"], kept, carried, after[:count], NONE)
        return [*carried, *(Value(self._table.opaque(), value.labels) for value in after[count:])]

    def _carried(self, body: Any, kept: int, before: list[Value], after: list[Value], more: Labels) -> list[Value]:
        """What a loop carries after another turn; what it hands on untouched stays what it is."""
        plain, carried = _plain(body), []
        for place, (old, new) in enumerate(zip(before, after, strict=True)):
            untouched = plain.outvars[place] is plain.invars[kept + place]
            carried.append(old if untouched else Value(self._table.opaque(), old.labels | new.labels | more))
        return carried

    def _joined(self, of: Sequence[Value], values: Sequence[Value]) -> Value:
        labels = frozenset[str]().union(*(value.labels for value in of))
        if len({value.expression for value in values}) == 1 and labels == values[0].labels:
            return values[0]
        return Value(self._table.opaque(), labels)

    def _result(self, name: str, aval: Any, given: list[Value]) -> Value:
        """The result of one operation, or of a whole formula that it completes."""
        dtype = np.dtype(aval.dtype) if hasattr(aval, "dtype") and _is_plain(aval.dtype) else None
        labels = frozenset[str]().union(*(value.labels for value in given))
        if name in SAME_VALUE and len(given) == 1:
            return given[0]
        expression = self._table.of(name, str(dtype), *(value.expression for value in given))
        if word_pattern().operation == name and KEY in labels and self._is_word(expression):
            return Value(expression, frozenset({RANDOM, BITS}))
        if scaled_pattern().operation == name and BITS in labels and (parts := self._scaled(expression)) is not None:
            return Value(expression, parts)
        if name == "convert_element_type" and self._is_short(given[0].expression):
            labels -= {BITS}
        if name not in KEPT:
            expression = self._table.opaque()  # it may have other parameters on the same operands
        return Value(expression, _labelled(name, dtype, given, labels))

    def _is_word(self, expression: int) -> bool:
        found = word_pattern().match(self._table, expression)
        return found is not None and sections_of(self._table, found[INDEX]) == {self._section}

    def _is_short(self, expression: int) -> bool:
        """Whether this is a value without its lowest bits, as a number below a power of two is drawn."""
        operation, *_, last = self._table.known(expression)
        places = self._table.value(last) if operation == "shift_right_logical" else None
        return places is not None and bool((places > 0).all())

    def _scaled(self, expression: int) -> Labels | None:
        """The labels of a word that was scaled to a number below a bound; None where that is not what happened."""
        for pattern in (scaled_pattern(), scaled_by_constant_pattern()):
            if (found := pattern.match(self._table, expression)) is not None:
                word = self._labels.get(found[WORD], NONE)
                bounds = (self._labels.get(at, NONE) for hole, at in found.items() if hole != WORD)
                return (word - {BITS}).union(*bounds) if BITS in word else None
        return None


def _labelled(name: str, dtype: np.dtype[Any] | None, given: Sequence[Value], labels: Labels) -> Labels:
    """What the result of an operation is made of."""
    if name == "bitcast_convert_type" and RANDOM in labels:
        labels |= {BITS}
    if dtype is None or dtype.kind not in "iu":
        return labels - {BITS}
    if name == "rem" and BITS in given[0].labels:  # a number below the second operand
        return labels - {BITS}
    narrow = dtype.itemsize * 8 <= WORD_BITS
    if name in INTEGER_ARITHMETIC and narrow and _meet(given, BITS, STATE):
        return labels | {MIXED}
    return labels | {MIXED} if name == "xor" and _meet(given, RANDOM, STATE) else labels


def _meet(given: Sequence[Value], first: str, second: str) -> bool:
    """Whether one operand has the first label, and another one the second."""
    return any(
        first in one.labels and second in other.labels
        for i, one in enumerate(given)
        for j, other in enumerate(given)
        if i != j
    )


def _plain(program: Any) -> Any:
    return getattr(program, "jaxpr", program)


def _is_plain(dtype: Any) -> bool:
    return not jnp.issubdtype(dtype, jax.dtypes.extended)
