"""One more check without a reference: the performance side in float32 against itself in float64, step by step."""

import numpy as np

from overclock.verify.compare import RareEvents, judge, too_many_excused, too_many_rare
from overclock.verify.contract import MASK, Twin
from overclock.verify.interaction.result import SelfCheck
from overclock.verify.rollout.actions import mask_uniform, uniform
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.tolerance import EXACT

STEPS = 24


def check_precisions(twin: Twin, double: ProcessSubject, single: ProcessSubject, seed: int = 0) -> SelfCheck:
    """Every step from the float64 side's own state and randomness; bound by what the contract allows one step.

    Both sides may be that far from a reference, in opposite directions, so their tolerances add up.
    """
    contract = twin.contracts["float32"]
    allowed_in_float64 = {field.name: field.tolerance("per_step") for field in twin.contracts["float64"].fields}
    lanes = double.num_envs
    generator, everyone = np.random.default_rng(seed), np.ones(lanes, np.bool_)
    seeds = np.arange(seed, seed + lanes, dtype=np.int64)
    seen = double.reset(everyone, seeds)
    source = (mask_uniform if MASK.name in seen.outputs else uniform)(double.description)
    largest, worst, reason, excused, rare = 0.0, "", "", 0, RareEvents("per_step", lanes)
    for _ in range(STEPS):
        actions = source(generator, seen)
        single.set_state(seen.state)
        seen = double.step(actions)
        low = single.step(actions, seen.draws)
        rarely = np.zeros(lanes, np.bool_)
        for field in contract.compared:
            tolerance = field.tolerance("per_step") + allowed_in_float64.get(field.name, EXACT)
            judged = judge(contract, field, tolerance, seen, low)
            if judged is None:
                continue
            excused += int(judged.excused.sum())
            rarely |= judged.rare
            share = float(judged.shares[~judged.rare].max(initial=0.0))
            if share > largest:
                largest, worst, reason = share, field.name, field.reason
        rare.add(rarely)
        ended = seen.outputs["terminated"] | seen.outputs["truncated"]
        if ended.any():
            seeds = np.where(ended, seeds + lanes, seeds)
            seen = double.reset(ended, seeds)
    return SelfCheck(
        name="float32 and float64",
        precision="both",
        passed=largest <= 1.0
        and not too_many_excused(excused, STEPS * lanes * len(contract.limit_fields))
        and not too_many_rare(rare.count, STEPS * lanes, contract.rare_share),
        compared=STEPS * lanes,
        largest_error=largest,
        tolerance=1.0,
        unit="of the contract's tolerance for one step",
        worst_field=worst,
        excused_flags=excused,
        reason=reason,
    )
