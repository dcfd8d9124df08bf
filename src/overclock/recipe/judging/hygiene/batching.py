"""Whether a candidate under `vmap` is the program that JAX makes of one lane, at sizes that the grader chose."""

from collections.abc import Sequence
from typing import Any

import jax

from overclock.env.environment import Environment
from overclock.recipe.judging.hygiene.programs import digest
from overclock.recipe.judging.one_lane import one_lane
from overclock.recipe.judging.speed import timed_programs

STEPS = 4  # of a rollout: a scan is the same program, however long it is


def batched_otherwise(env: Environment[Any, Any], params: Any, batches: Sequence[int]) -> list[int]:
    """The batches whose rollout is another program than that of as many lanes of one lane's rules."""
    return [batch for batch in batches if _rollout(env, params, batch) != _rollout(one_lane(env), params, batch)]


def _rollout(env: Environment[Any, Any], params: Any, batch: int) -> str:
    begin, steps = timed_programs(env, batch, STEPS)
    return digest(jax.make_jaxpr(lambda given: steps(begin(given), given))(params))
