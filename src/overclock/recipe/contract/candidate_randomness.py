"""Level 1 of a candidate's own random draws, for resets and steps, and of its time limit.

Everything else replays what the reference drew, so nothing else would notice a candidate that draws too little, too
much, or the same again and again. Samples are compared with the reference's, and with the distributions that the
contract names; each for the first events of many streams and for many events of one, as a lane goes through them.
"""

import functools
from collections.abc import Callable

import numpy as np

from overclock.recipe.contract import rules
from overclock.recipe.contract.cases import COUNTS, LEFT, STEPS, RecordedCases
from overclock.recipe.contract.distributions import known_draws
from overclock.recipe.contract.outputs import by_chance, equal
from overclock.recipe.contract.random_play import DRAWN, PLAYED
from overclock.recipe.contract.sample_statistics import SampleStatistics
from overclock.verify.property.module import Module
from overclock.verify.sides.subject import Arrays

TIME_LIMIT = "gymnasium.wrappers.common:TimeLimit.step"
Boundary = Callable[[], Arrays]  # the inputs of further calls
COUNTED = ("max_steps", "default_max_steps", "steps", "truncated")


def samples(cls: str, recorded: RecordedCases, seeds: Boundary, attributes: tuple[str, ...]) -> list[Module]:
    """Samples of both sides, some thousand of each: of first events, and of later ones."""
    contract = recorded.contract
    reset = "draw", f"{cls}.reset", contract.reset_draws, recorded.draw_case, rules.draw
    step = "draw_step", DRAWN, contract.step_draws, recorded.step_draw_case, rules.draw_step
    events = ((*reset, seeds, recorded.apply_seed, attributes), (*step, _numbers, recorded.apply_play, None))
    return [
        Module(
            name + suffix, (function,), case, functools.partial(draw, later), (),
            by_chance(contract, [one.name for one in draws]), boundary, apply, attributes=looked_at,
        )
        for name, function, draws, case, draw, boundary, apply, looked_at in events
        for suffix, later in (("", False), ("_later", True))
        if draws
    ]  # fmt: skip


def distributions(cls: str, recorded: RecordedCases, seeds: Boundary, attributes: tuple[str, ...]) -> list[Module]:
    """Very large samples of the candidate, where the contract names their distribution."""
    contract = recorded.contract
    reset = "draw_known", f"{cls}.reset", contract.reset_draws, recorded.known_reset_case, rules.known_reset
    step = "draw_step_known", DRAWN, contract.step_draws, recorded.known_step_case, rules.known_step
    events = ((*reset, seeds, recorded.apply_seed, attributes), (*step, _numbers, recorded.apply_play, None))
    return [
        Module(
            name, (function,), functools.partial(case, facts), functools.partial(performance, facts), (),
            facts.outputs(contract), boundary, apply, attributes=looked_at,
        )
        for name, function, draws, case, performance, boundary, apply, looked_at in events
        for facts in [SampleStatistics(known_draws(draws))]
        if facts.draws
    ]  # fmt: skip


def time_limit(recorded: RecordedCases) -> Module:
    """The step counter, next to the limit above all: few episodes of a judge get there."""
    return Module(
        "time_limit", (TIME_LIMIT,), recorded.time_limit_case, rules.time_limit, (),
        equal(recorded.contract, *COUNTED), boundary=_counts, apply=recorded.apply_count, attributes=COUNTS,
    )  # fmt: skip


def _numbers() -> Arrays:
    return {"number": np.arange(PLAYED)}


def _counts() -> Arrays:
    return {"number": np.arange(len(LEFT) + len(STEPS))}
