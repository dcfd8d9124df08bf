"""Level 3 beyond the end of episodes: steps that a user may take and no episode has.

Both sides are put into the state that the reference shows after an end and take one step from there, three in a row.
What a reference remembers besides its state does not count: it is put into the state as well.
"""

import dataclasses
from collections.abc import Iterator

import numpy as np

from overclock.verify.contract import Twin
from overclock.verify.reach.counts import SearchCounts
from overclock.verify.reach.ledger import Ledger, Outcome
from overclock.verify.reach.subject_search import FoundStates
from overclock.verify.rollout.actions import random_legal
from overclock.verify.rollout.lockstep import SEEDS, compare_from
from overclock.verify.rollout.result import RolloutResult
from overclock.verify.sides.pair import Sides
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.soundness import Form
from overclock.verify.sides.subject import Arrays, Observed

BEYOND = "beyond the end, uniform"
LATE = "late"  # a call of the reference
LANES, PLAYED = 16, 512  # steps of every lane in which ends are looked for: more than the usual time limit of 500
ENDS = 32  # of each kind
STEPS = 3  # beyond an end


def check_beyond_end(
    sides: Sides, twin: Twin, found: FoundStates | None, seed: tuple[int, ...], ledger: Ledger | None
) -> tuple[str | None, list[RolloutResult]]:
    """A comparison per precision; or why there is none, where the twin wants one.

    Ends come from random play and from the episodes of a search's states.
    """
    if not twin.beyond_end:
        return None, []
    generator = np.random.default_rng(seed)
    try:
        with sides.reference(LANES) as reference:
            ends = [*_of_play(reference, generator)]
            ends += [] if found is None else [*_of_found(reference, found)]
            if not ends:
                return f"no episode ended in {LANES * PLAYED:,} steps, so none is compared beyond its end", []
            late = _steps_from(reference, ends, generator)
    except CouldNotVerifyError as error:
        return f"steps beyond the end are not compared: {str(error).removeprefix('could not verify: ')}", []
    results = []
    for precision in twin.contracts:
        with sides.pair(precision, LANES, traced=False) as pair:
            results.append(compare_from(late, *pair, twin, "per_step", precision, ledger, BEYOND))
    return None, results


def set_late_aside(sides: Sides, twin: Twin, ledger: Ledger, seed: int) -> None:
    """Ask for no outcome that only steps beyond an end take, by what the reference remembers beside its state."""
    if not twin.beyond_end or not ledger.missing:
        return
    with sides.reference(LANES) as reference:
        if LATE in reference.description.get("calls", ()):
            ledger.set_aside([Outcome(**one) for one in reference.ask(LATE, seed=seed)], "late")


def _of_play(reference: ProcessSubject, generator: np.random.Generator) -> Iterator[Arrays]:
    """The states after the ends of random episodes, terminated and truncated ones alike."""
    act, lanes = random_legal(reference.description), reference.num_envs
    shown = reference.reset(np.ones(lanes, np.bool_), generator.integers(SEEDS, size=lanes))
    kept = {"terminated": 0, "truncated": 0}
    for _ in range(PLAYED):
        shown = reference.step(act(generator, shown))
        ended = np.zeros(lanes, np.bool_)
        for flag in kept:
            for lane in np.flatnonzero(shown.outputs[flag] & ~ended)[: ENDS - kept[flag]].tolist():
                kept[flag] += 1
                yield _of_lane(shown, lane)
            ended |= shown.outputs[flag]
        if min(kept.values()) >= ENDS:
            return
        if ended.any():
            shown = reference.reset(ended, generator.integers(SEEDS, size=lanes))


def _of_found(reference: ProcessSubject, found: FoundStates) -> Iterator[Arrays]:
    """The states after the ends of episodes that begin where a search came to."""
    lanes, everyone = reference.num_envs, np.ones(reference.num_envs, np.bool_)
    for first in range(0, len(found.seeds), lanes):
        chosen = np.minimum(np.arange(first, first + lanes), len(found.seeds) - 1)
        open_ = np.arange(first, first + lanes) < len(found.seeds)
        reference.reset(everyone, found.seeds[chosen])
        reference.set_state({name: values[chosen] for name, values in found.states.items()})
        # Shorter episodes repeat an action, which they were not tried with: nothing is taken of them then.
        for number in range(int(found.lengths[chosen].min())):
            shown = reference.step(found.actions[chosen, number])
            ended = shown.outputs["terminated"] | shown.outputs["truncated"]
            for lane in np.flatnonzero(ended & open_).tolist():
                yield _of_lane(shown, lane)
            open_ &= ~ended


def _steps_from(reference: ProcessSubject, ends: list[Arrays], generator: np.random.Generator) -> FoundStates:
    """Single steps from these states and from those that they lead to."""
    lanes, everyone = reference.num_envs, np.ones(reference.num_envs, np.bool_)
    act, form = random_legal(reference.description), Form(lanes)
    states, seeds, actions = list[Arrays](), list[int](), list[np.ndarray]()
    for first in range(0, len(ends), lanes):
        own = ends[first : first + lanes]
        batch = {name: np.stack([one[name] for one in [*own, *own[-1:] * (lanes - len(own))]]) for name in own[0]}
        for _ in range(STEPS):
            drawn = generator.integers(SEEDS, size=lanes)
            shown = reference.reset(everyone, drawn)
            reference.set_state(batch)
            action = act(generator, dataclasses.replace(shown, state=batch))
            states += [{name: values[lane] for name, values in batch.items()} for lane in range(len(own))]
            seeds += drawn[: len(own)].tolist()
            actions += list(action[: len(own)])
            batch = form.after_step(reference.step(action)).state
    return FoundStates(
        SearchCounts(0, len(seeds), [], [], [], ""),
        {name: np.stack([one[name] for one in states]) for name in states[0]},
        np.array(seeds, np.int64),
        np.stack(actions)[:, None],
        np.ones(len(seeds), np.int64),
        np.ones(len(seeds), np.bool_),
    )


def _of_lane(shown: Observed, lane: int) -> Arrays:
    return {name: values[lane].copy() for name, values in shown.state.items()}
