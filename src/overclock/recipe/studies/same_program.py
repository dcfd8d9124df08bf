"""Which mutants are no mistakes at all: those from which JAX makes the same program, in every precision.

Two programs are the same if each of their results is the same expression of the same inputs: equal operations on equal
values, whatever their order in the source, and without what no result needs. No input can tell those apart. Equal
results on inputs that were tried would be no proof, and are not asked for.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from overclock.env.environment import Environment
from overclock.env.rng import Rng, Section
from overclock.recipe.judging.candidate import MAIN, made_by
from overclock.verify.contract import Precision, Twin
from overclock.verify.mutation.mutants import Mutant
from overclock.verify.sides.patched import Patch
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import SubjectSpec


def same_programs(twin: Twin, text: str, mutants: Sequence[Mutant], timeout: float) -> set[str]:
    """The ids of those mutants of a candidate's env.py (whose source is `text`) that are the same program."""
    left = list(mutants)
    for precision in twin.contracts if mutants else ():
        with ProcessSubject(_spec(twin, precision), 1, "the candidate", timeout) as worker:
            original = worker.ask("programs", old=text, new=text)
            left = [one for one in left if worker.ask("programs", old=text, new=one.source) == original]
    return {mutant.id for mutant in left}


def _spec(twin: Twin, precision: Precision) -> SubjectSpec:
    spec = twin.performance_in(precision)
    return spec.with_worker(Programs, folder=dict(spec.options)["folder"])


class Programs:
    """Runs in a worker: what a candidate computes, as hashes."""

    def __init__(self, num_envs: int, folder: str) -> None:
        self._folder = Path(folder)

    def describe(self) -> dict[str, Any]:
        """The calls that this worker answers."""
        return {"calls": ["programs"]}

    def programs(self, old: str, new: str) -> dict[str, Any]:
        """Of the candidate with another source: every function of the contract, and what else it says of itself."""
        try:
            env, params = made_by(self._folder, [Patch(MAIN, old, new)])
            spaces = env.action_space(params), env.observation_space(params)
            said = [env, env.num_players, params, env.default_params(), *spaces]
            return {"said": [repr(one) for one in said], **expressions(env, params)}
        except Exception as error:  # of a mutant: not the same, and the next one is asked all the same
            return {"raised": repr(error)}


def expressions(env: Environment[Any, Any], params: Any) -> dict[str, list[str]]:
    """Every function of the contract: the structure and types of what it gives, and its results as expressions."""
    rng, space = Rng.of(0), env.action_space(params)
    found: dict[str, list[str]] = {}

    def look(name: str, function: Callable[..., Any], *inputs: Any) -> Any:
        program, given = jax.make_jaxpr(function, return_shape=True)(*inputs)
        found[name] = [str(given), *_results(program)]
        return given

    chance = look("draw_reset", lambda r: env.draw_reset(r.of_section(Section.RESET), params), rng)
    state = look("init", lambda draw: env.begin(draw, params), chance)
    luck = look("draw_step", lambda r, s: env.draw_step(r.of_section(Section.STEP), s, params), rng, state.rules)
    action = jax.eval_shape(lambda r: space.sample(r), rng)
    look("transition", lambda s, a, draw: env.advance(s, a, draw, params), state, action, luck)
    look("observe", lambda rules: env.observe(rules, params), state.rules)
    look("action_mask", lambda rules: env.action_mask(rules, params), state.rules)
    look("info", lambda rules: env.info(rules, params), state.rules)
    return found


def _results(program: ClosedJaxpr) -> list[str]:
    """A hash of each result: of its operation and the hashes of what that is applied to, down to the inputs."""
    inner = program.jaxpr
    known: dict[Any, str] = {}
    for number, variable in enumerate(inner.invars):
        known[variable] = _hash("input", number, variable.aval)
    for variable, value in zip(inner.constvars, program.consts, strict=True):
        known[variable] = _constant(value)
    for equation in inner.eqns:
        operands = [_operand(one, known) for one in equation.invars]
        options = [(name, _option(value)) for name, value in sorted(equation.params.items())]
        for number, variable in enumerate(equation.outvars):
            known[variable] = _hash(equation.primitive, number, variable.aval, operands, options)
    return [_operand(one, known) for one in inner.outvars]


def _operand(one: Any, known: dict[Any, str]) -> str:
    return _constant(one.val, one.aval) if isinstance(one, Literal) else known[one]


def _constant(value: Any, *more: Any) -> str:
    array = np.asarray(value)
    return _hash("constant", array.dtype, array.shape, array.tobytes().hex(), *more)


def _option(value: Any) -> Any:
    """An option of an operation; programs inside of it (of loops and branches) by their results."""
    if isinstance(value, ClosedJaxpr):
        return _results(value)
    if isinstance(value, Jaxpr):
        return _results(ClosedJaxpr(value, ()))
    return [_option(one) for one in value] if isinstance(value, tuple | list) else repr(value)


def _hash(*parts: Any) -> str:
    return hashlib.sha256(repr([str(part) for part in parts]).encode()).hexdigest()
