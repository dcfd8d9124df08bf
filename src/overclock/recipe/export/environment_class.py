"""What a candidate's `make()` returns, asked in the candidate's own worker: how its package can make it again."""

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
class Made:
    """The class of the environment, and whether `Class()` is the same environment as the one that was judged."""

    cls: str
    module: str  # inside the candidate's folder
    plain: bool
    default: bool  # whether its parameters are those of `default_params`


def asked(spec: SubjectSpec) -> SubjectSpec:
    """A candidate's subject that also answers `made`."""
    return dataclasses.replace(spec, entry_point=EntryPoint.of(MadeCandidate))


def made_by(performance: ProcessSubject) -> Made:
    """What such a worker says; UsageError where users of the environment would not get what was judged."""
    made = Made(**performance.ask("made"))
    if not made.default:
        raise UsageError(
            f"Its make() returns other parameters than {made.cls}.default_params(), which everybody would play with "
            "who names none; let both be the same and translate again."
        )
    return made


class MadeCandidate(CandidateSubject):
    """A candidate that also tells how it was made."""

    def describe(self) -> dict[str, Any]:
        """As `Subject.describe`."""
        known = super().describe()
        return {**known, "calls": [*known["calls"], "made"]}

    def made(self) -> dict[str, Any]:
        """The fields of `Made`."""
        env, params = self.rules
        cls = type(env)
        try:
            plain = bool(cls() == env)
        except TypeError:  # it has fields without a default
            plain = False
        default = env.default_params()
        leaves = zip(jax.tree.leaves(params), jax.tree.leaves(default), strict=False)
        same = jax.tree.structure(params) == jax.tree.structure(default)
        same = same and all(np.array_equal(one, other) for one, other in leaves)
        return dataclasses.asdict(Made(cls.__name__, cls.__module__.partition(".")[2], plain, same))
