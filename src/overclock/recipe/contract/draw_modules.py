"""Level 1 of a candidate's own luck: what it draws for resets and steps, and when its episodes are cut off.

Everything else replays what the reference drew, so nothing else would notice a candidate that draws too little, too
much, or the same again and again. Samples are compared with the reference's, and with the distributions that the
contract names; each for the first events of many streams and for many events of one, as a lane goes through them.
"""

import functools
from typing import Any

import numpy as np

from overclock.recipe.contract import rules
from overclock.recipe.contract.cases import COUNTS, UNLIMITED_STEPS, RecordedCases
from overclock.recipe.contract.distributions import known_draws
from overclock.recipe.contract.draw_samples import Facts
from overclock.recipe.contract.fair_play import DRAWN, PLAYED
from overclock.recipe.contract.values import by_chance, equal
from overclock.verify.property.module import Module
from overclock.verify.sides.subject import Arrays

TIME_LIMIT = "gymnasium.wrappers.common:TimeLimit.step"
COUNTED = ("max_steps", "default_max_steps", "steps", "truncated")


def samples(cls: str, recorded: RecordedCases, by_seed: dict[str, Any], attributes: tuple[str, ...]) -> list[Module]:
    """Samples of both sides, some thousand of each."""
    contract, found = recorded.contract, list[Module]()
    for name, later in (("draw", False), ("draw_later", True)) if contract.reset_draws else ():
        performance = functools.partial(rules.draw, later)
        outputs = by_chance(contract, [draw.name for draw in contract.reset_draws])
        found.append(
            Module(name, (f"{cls}.reset",), recorded.draw_case, performance, (), outputs, **by_seed,
                   attributes=attributes)
        )  # fmt: skip
    for name, later in (("draw_step", False), ("draw_step_later", True)) if contract.step_draws else ():
        performance = functools.partial(rules.draw_step, later)
        outputs = by_chance(contract, [draw.name for draw in contract.step_draws])
        found.append(Module(name, (DRAWN,), recorded.step_draw_case, performance, (), outputs, **_played(recorded)))
    return found


def distributions(
    cls: str, recorded: RecordedCases, by_seed: dict[str, Any], attributes: tuple[str, ...]
) -> list[Module]:
    """Very large samples of the candidate, where the contract names their distribution."""
    contract, found = recorded.contract, list[Module]()
    if known := known_draws(contract.reset_draws):
        facts = Facts(known)
        found.append(
            Module(
                "draw_known", (f"{cls}.reset",), functools.partial(recorded.known_reset_case, facts),
                functools.partial(rules.known_reset, facts), (), facts.outputs(contract), **by_seed,
                attributes=attributes,
            )
        )  # fmt: skip
    if known := known_draws(contract.step_draws):
        facts = Facts(known)
        found.append(
            Module(
                "draw_step_known", (DRAWN,), functools.partial(recorded.known_step_case, facts),
                functools.partial(rules.known_step, facts), (), facts.outputs(contract), **_played(recorded),
            )
        )  # fmt: skip
    return found


def time_limit(recorded: RecordedCases) -> Module:
    """The step counter, next to the limit above all: few episodes of a judge get there."""
    return Module(
        "time_limit", (TIME_LIMIT,), recorded.time_limit_case, rules.time_limit, (),
        equal(recorded.contract, *COUNTED), boundary=_left, apply=recorded.apply_count, attributes=COUNTS,
    )  # fmt: skip


def _played(recorded: RecordedCases) -> dict[str, Any]:
    return {"boundary": _numbers, "apply": recorded.apply_play}


def _numbers() -> Arrays:
    return {"number": np.arange(PLAYED)}


def _left() -> Arrays:
    return {"left": np.arange(len(UNLIMITED_STEPS))}
