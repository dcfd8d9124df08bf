"""How closely two correct programs can agree on a reference's floats: the tolerances of a contract, with their reasons.

One set of rules for contracts that come of watching a reference (new_contract.py) and of translating it
(builtin_agent.py). Whole numbers and flags are exact in every precision. float32 is what people run, so it is judged as
well: each step from the reference's own state, rounded to float32, and only a few steps in a row without synchronising.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from overclock.recipe.contract.file import Closeness
from overclock.recipe.contract.thresholds import Limits
from overclock.verify.contract import Precision

# float64: a few thousand ulp for one step, and a thousand times that after HORIZON steps of a system that is not calm.
PER_STEP, FREE_RUNNING, HORIZON = 1e-12, 1e-9, 100
# float32: one step is a formula of some dozen operations, each off by half an ulp of the largest number in it.
SINGLE = 64 * float(np.finfo(np.float32).eps)
# A few steps add up, and an unstable system multiplies them (an inverted pendulum by 21 in 16 steps).
SHORT, GROWN = 16, 16
MIXED_PER_STEP = 1e-6
SPREAD = 4  # times what was seen in some dozen steps, which is hardly the most there is

ROUNDING = "library functions and fused multiply-adds round differently by a few ulp"
ARITHMETIC = "numbers are float32 here and float64 in the reference: some ulp of the largest number of a step"
MIXED = "the reference itself keeps this state sometimes in float32 and sometimes in float64"
ACTIONS = "the reference rounds to float32 what it computes from a float32 action alone, others may not do so there"
REWARDS = "rewards are float32 by contract"
THRESHOLD = "a state that one step in float32 moves by as much may land on the other side of a threshold"


@dataclasses.dataclass(frozen=True)
class Numbers:
    """What is known about the numbers of a reference.

    - `largest`: of the floats of its state, by size; None where the state has none;
    - `largest_reward`, and whether a reward is no float32 (`rounded_rewards`);
    - `observations`: their dtype, and `largest_observation` of those that are no whole numbers, None where all are;
    - `spread`, `limits`: as `survey.rounding` finds them, limits by the names of the contract;
    - `mixed`: a float of the state changes its dtype.
    """

    largest: float | None
    largest_reward: float
    rounded_rewards: bool
    observations: str
    largest_observation: float | None
    spread: Mapping[str, float] = dataclasses.field(default_factory=dict)
    limits: Mapping[str, tuple[float, ...]] = dataclasses.field(default_factory=dict)
    mixed: bool = False


def closeness(known: Numbers) -> dict[Precision, Closeness]:
    """The tolerances in both precisions, from what is known about the reference's numbers."""
    return {"float64": _double(known), "float32": _single(known)}


def _double(known: Numbers) -> Closeness:
    # Half a spacing by the one side's cast and as much by a number that was off beforehand, and that twice.
    reward = 2 * _spacing(known.largest_reward) if known.rounded_rewards else 0.0
    if known.largest is None:
        near = {"reward": reward} if reward else {}
        return Closeness(near, near, REWARDS if reward else "")
    scale = max(1.0, known.largest)
    sizes = {"state": scale, "obs": scale, "reward": max(scale, known.largest_reward)}
    per_step = {name: PER_STEP * size for name, size in sizes.items()}
    running = {name: FREE_RUNNING * size for name, size in sizes.items()}
    reasons = [ROUNDING]
    if known.spread:
        reasons.append(ACTIONS)
        for name, seen in known.spread.items():
            per_step[name] = max(per_step[name], SPREAD * seen)
            running[name] = max(running[name], SPREAD * seen * FREE_RUNNING / PER_STEP)
        # What is seen of a state, and paid for it, strays with the state.
        strayed = running["state"] / (FREE_RUNNING * scale)
        running = {name: max(size, strayed * FREE_RUNNING * sizes[name]) for name, size in running.items()}
    if known.mixed:
        reasons = [MIXED]
        per_step = running = {name: MIXED_PER_STEP * size for name, size in sizes.items()}
    cast = 2 * _spacing(scale) if known.observations == "float32" else 0.0
    lowest = {"state": 0.0, "obs": cast, "reward": reward}
    reasons += [REWARDS] if reward else []
    per_step, running = _at_least(per_step, lowest), _at_least(running, lowest)
    return Closeness(per_step, running, "; ".join(reasons), HORIZON)


def _single(known: Numbers) -> Closeness:
    scale = max(1.0, known.largest or 0.0)
    sizes = {"state": scale}  # of whole numbers it says nothing; of functions that are checked alone it does
    if known.largest is not None or known.largest_observation is not None:
        sizes["obs"] = max(scale, known.largest_observation or 0.0)
    if known.largest is not None or known.rounded_rewards:
        sizes["reward"] = max(scale, known.largest_reward)
    per_step = {name: SINGLE * size for name, size in sizes.items()}
    running = {name: GROWN * size for name, size in per_step.items()}
    if known.largest is None:  # nothing adds up
        return Closeness(per_step, per_step, ARITHMETIC)
    limits = Limits(dict(known.limits), per_step["state"], THRESHOLD) if known.limits else None
    return Closeness(per_step, running, ARITHMETIC, SHORT, limits)


def _at_least(sizes: Mapping[str, float], lowest: Mapping[str, float]) -> dict[str, float]:
    return {name: max(size, lowest[name]) for name, size in sizes.items()}


def _spacing(value: float) -> float:
    return float(np.spacing(np.float32(value)))
