"""Whether a candidate under `vmap` is the program that JAX makes of one lane, at sizes that the grader chose."""

from collections.abc import Sequence
from typing import Any

import jax

from overclock.env.environment import Environment
from overclock.recipe.judging.hygiene.programs import digest
from overclock.recipe.judging.one_lane import AnotherProgramError, Programs, one_lane
from overclock.recipe.judging.speed import timed_programs

STEPS = 4  # of a rollout: a scan is the same program, however long it is


def batched_otherwise(env: Environment[Any, Any], params: Any, batches: Sequence[int]) -> list[int]:
    """The batches whose rollout is another program than that of as many lanes of one lane's rules.

    What one lane is, is seen first, before there is a batch that it could find in other ways than by its arguments.
    """
    known: Programs = {}
    _rollout(one_lane(env, known), params, 1)
    return [batch for batch in batches if _is_another(env, known, params, batch)]


def _is_another(env: Environment[Any, Any], known: Programs, params: Any, batch: int) -> bool:
    try:
        return _rollout(env, params, batch) != _rollout(one_lane(env, known), params, batch)
    except AnotherProgramError:
        return True


def _rollout(env: Environment[Any, Any], params: Any, batch: int) -> str:
    begin, steps = timed_programs(env, batch, STEPS)
    return digest(jax.make_jaxpr(lambda given: steps(begin(given), given))(params))
