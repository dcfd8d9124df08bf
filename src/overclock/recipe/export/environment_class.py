"""Asks a candidate's worker which class its `make()` returns, so that its package can make the environment again."""

import dataclasses
from typing import Any

import jax
import numpy as np

from overclock.entry_point import EntryPoint
from overclock.errors import UsageError
from overclock.recipe.judging.candidate import CandidateSubject
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import SubjectSpec


@dataclasses.dataclass(frozen=True)
class EnvironmentClass:
    """The class of the environment, and whether `Class()` is the same environment as the one that was judged."""

    cls: str
    module: str  # inside the candidate's folder
    plain: bool
    default: bool  # whether its parameters are those of `default_params`


def with_class_call(spec: SubjectSpec) -> SubjectSpec:
    """The spec of a `ClassSubject` with the options of a candidate's subject."""
    return dataclasses.replace(spec, entry_point=EntryPoint.of(ClassSubject))


def environment_class(performance: ProcessSubject) -> EnvironmentClass:
    """Ask the worker of a `ClassSubject`; UsageError if `default_params` differ from what was judged."""
    found = EnvironmentClass(**performance.ask("environment_class"))
    if not found.default:
        raise UsageError(
            f"Its make() returns other parameters than {found.cls}.default_params(), which everybody would play with "
            "who names none; let both be the same and translate again."
        )
    return found


class ClassSubject(CandidateSubject):
    """A candidate's subject that also answers the call `environment_class`."""

    def describe(self) -> dict[str, Any]:
        known = super().describe()
        return {**known, "calls": [*known["calls"], "environment_class"]}

    def environment_class(self) -> dict[str, Any]:
        """The fields of an `EnvironmentClass`."""
        env, (_, params) = self.made, self.rules
        cls = type(env)
        try:
            plain = bool(cls() == env)
        except TypeError:  # it has fields without a default
            plain = False
        default = env.default_params()
        leaves = zip(jax.tree.leaves(params), jax.tree.leaves(default), strict=False)
        same = jax.tree.structure(params) == jax.tree.structure(default)
        same = same and all(np.array_equal(one, other) for one, other in leaves)
        return dataclasses.asdict(EnvironmentClass(cls.__name__, cls.__module__.partition(".")[2], plain, same))
