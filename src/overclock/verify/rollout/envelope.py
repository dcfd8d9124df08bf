"""Level 3 for chaotic systems: free running may take the sides no further apart than the reference gets from itself.

Two runs of a chaotic reference that begin an ulp apart are soon as far apart as any two. A tolerance for whole episodes
would have to be that large and would find nothing. So copies of the reference play the same episodes from a first state
that is off by an ulp, and show how fast errors grow by themselves; the performance side has to stay inside of that.
The same episodes are also played one step at a time, from the reference's own states, where nothing can grow.
"""

import dataclasses
import math
from collections.abc import Callable

import numpy as np

from overclock.errors import UsageError
from overclock.results import extended
from overclock.verify.compare import steering, too_many_rare
from overclock.verify.contract import Envelope, Field, Twin
from overclock.verify.rollout.actions import ActionSource, SourceMaker
from overclock.verify.rollout.lockstep import seeds_of
from overclock.verify.rollout.result import (
    EnvelopeCurve,
    EnvelopeResult,
    OutsideEnvelope,
    PerStepCurve,
    ReachedError,
)
from overclock.verify.sides.process import ProcessSubject
from overclock.verify.sides.subject import Arrays, Observed
from overclock.verify.tolerance import EXACT, Tolerance, compare_values

SHARES = (0.5, 0.9, 1.0)  # of the episodes
# A share is judged where so many running episodes lie above it. The worst episode is shown and never judged: it is a
# single one, in which an ulp may decide whether a foot touches the floor, in a copy as on the performance side.
RESTS_ON = 10
LEAST_EPISODES = 20  # so that half of them can be judged
THRESHOLDS = (1e-10, 1e-6, 1e-3, 1e-1)
POINTS = 200  # of a curve in the report at most; more cannot be told apart on a page


@dataclasses.dataclass(frozen=True)
class _Played:
    """Episodes of the reference, side by side: where their steps began, what was done, how many steps they have."""

    seeds: np.ndarray
    first: Observed
    states: list[Arrays]  # after the reset and every step
    actions: list[np.ndarray]
    draws: list[Arrays]
    lengths: np.ndarray


def check_envelope(
    reference: ProcessSubject,
    performance: ProcessSubject,
    twin: Twin,
    envelope: Envelope,
    episodes: int,
    source: SourceMaker,
    seed: tuple[int, ...],
    progress: Callable[[int], None] = lambda finished: None,
) -> EnvelopeResult:
    """Play `episodes` of the reference, of its copies and of the performance side; returns what they show."""
    of_episodes, of_actions, of_nudges = np.random.SeedSequence(seed).spawn(3)
    seeds, generator = seeds_of(of_episodes), np.random.default_rng(of_actions)
    nudging, lanes, done = np.random.default_rng(of_nudges), reference.num_envs, 0
    field = next(one for one in twin.contracts[twin.strictest].fields if one.name == envelope.field)
    forced: list[np.ndarray] = []
    shares: list[np.ndarray] = []
    free: list[np.ndarray] = []
    apart: list[list[np.ndarray]] = [[] for _ in range(envelope.copies)]
    while done < episodes:
        wanted = min(lanes, episodes - done)
        chosen = np.array([next(seeds) for _ in range(lanes)], np.int64)
        played = _play(reference, twin, chosen, wanted, source(reference.description), generator)
        for number, errors in enumerate(apart, start=1):
            begin = nudged(played.states[0], envelope, nudging)
            errors.append(_replay(reference, played, field, begin)[:, :wanted])
            progress(done + wanted * number // (envelope.copies + 2))
        free.append(_replay(performance, played, field)[:, :wanted])
        single, share = _steps(performance, played, field)
        forced.append(single[:, :wanted])
        shares.append(share[:, :wanted])
        done += wanted
        progress(done)
    copies = np.stack([_joined(errors) for errors in apart])
    allowed, rare_share = field.tolerance("per_step"), twin.contracts[twin.strictest].rare_share
    return judge_errors(
        envelope, allowed, _joined(forced), _joined(free), copies, _joined(shares), field.rare or 0.0, rare_share
    )


def nudged(state: Arrays, envelope: Envelope, generator: np.random.Generator) -> Arrays:
    """A state with every number of the nudged fields one ulp up or down; all other fields are as they were."""
    moved = dict(state)
    for name in envelope.nudged:
        if name not in state:
            raise UsageError(f"The contract's envelope nudges '{name}'; the reference's state has {', '.join(state)}.")
        up = generator.random(state[name].shape) < 0.5
        moved[name] = np.nextafter(state[name], np.where(up, np.inf, -np.inf).astype(state[name].dtype))
    return moved


def judge_errors(
    envelope: Envelope,
    per_step: Tolerance,
    forced: np.ndarray,
    free: np.ndarray,
    apart: np.ndarray,
    shares: np.ndarray | None = None,
    rare: float = 0.0,
    rare_share: float = 0.001,
) -> EnvelopeResult:
    """What errors show: those of the performance side, (steps, episodes), and of copies, (copies, steps, episodes).

    An episode that is over has NaN. One step may be off by `per_step`; `shares` are errors of steps as shares of what
    is allowed, element by element (by default of the largest absolute part); a step that is further off, and by no more
    than `rare`, is a rare event. In free running, at every step, the error
    that half (nine in ten) of the running episodes stay below may be `slack` times the largest of any copy up to there.
    """
    running = (~np.isnan(free)).sum(axis=1)
    shown = _shown(len(free))
    between = np.concatenate([[0], shown[:-1] + 1])  # where the steps begin that a shown one stands for
    curves, outside, ratio = list[EnvelopeCurve](), list[OutsideEnvelope](), 0.0
    for share in SHARES:
        ours, copies = quantile(free, share), quantile(apart, share)
        most = np.maximum.accumulate(copies.max(axis=0))
        judged = running * (1.0 - share) >= RESTS_ON - 1e-9
        wrong = np.flatnonzero(judged & ~(ours <= envelope.slack * most))
        if wrong.size:
            step = int(wrong[0])
            allowed = envelope.slack * float(most[step])
            outside.append(OutsideEnvelope(share=share, step=step + 1, error=float(ours[step]), allowed=allowed))
        compared = judged & (most > 0)
        ratio = max(ratio, float((ours[compared] / most[compared]).max(initial=0.0)))
        curves.append(
            EnvelopeCurve(
                share=share,
                judged_steps=int(judged.sum()),
                performance=ours[shown].tolist(),
                reference_low=copies.min(axis=0)[shown].tolist(),
                reference_high=most[shown].tolist(),
            )
        )
    first = min(outside, key=lambda one: one.step, default=None)
    largest = float(np.nanmax(forced))
    with np.errstate(divide="ignore", invalid="ignore"):
        used = np.where(forced == 0.0, 0.0, forced / per_step.largest_absolute) if shares is None else shares
    beyond = ~np.isnan(used) & (used > 1.0)
    rarely = int((beyond & (forced <= rare)).sum())
    steps = int((~np.isnan(used)).sum())
    inside = int(beyond.sum()) == rarely and not (rarely and too_many_rare(rarely, steps, rare_share))
    result = extended(
        EnvelopeResult,
        envelope,
        verdict="pass" if first is None and inside else "fail",
        episodes=int(free.shape[1]),
        steps=int(running.sum()),
        per_step=per_step.largest_absolute,
        per_step_relative=per_step.relative,
        per_step_inside=inside,
        largest_per_step=largest,
        rare_steps=rarely or None,
        largest_ratio=ratio,
        first_outside=first,
        reached=[
            ReachedError(error=limit, performance=_reached(limit, free), reference=_reached(limit, *apart))
            for limit in THRESHOLDS
        ],
        curve_steps=(shown + 1).tolist(),
        curves=curves,
        per_step_curves=[
            PerStepCurve(share=share, performance=np.maximum.reduceat(quantile(forced, share), between).tolist())
            for share in SHARES
        ],
        sentence="",
    )
    return dataclasses.replace(result, sentence=_sentence(result))


def _shown(steps: int) -> np.ndarray:
    """Places of the steps that curves have: dense at first, where errors grow, and evenly spread to the end."""
    places = np.concatenate([np.geomspace(1, steps, POINTS // 2), np.linspace(1, steps, POINTS // 2)])
    return np.unique(places.round().astype(int)) - 1


def quantile(errors: np.ndarray, share: float) -> np.ndarray:
    """Per step, the error that is not exceeded in this share of the episodes (last axis) that are not over.

    It is one of the errors, never between two: those may be ten orders of magnitude apart.
    """
    running = (~np.isnan(errors)).sum(axis=-1, keepdims=True)
    place = np.maximum(np.ceil(share * running - 1e-9).astype(int) - 1, 0)
    return np.take_along_axis(np.sort(errors, axis=-1), place, axis=-1)[..., 0]  # NaN is sorted to the end


def _reached(limit: float, *runs: np.ndarray) -> int | None:
    """In the median episode of some runs, the step at which the error passes a limit; None where it never does."""
    beyond = np.concatenate(runs, axis=1) > limit
    firsts = np.where(beyond.any(axis=0), beyond.argmax(axis=0) + 1.0, np.inf)
    middle = float(quantile(firsts, 0.5))
    return int(middle) if math.isfinite(middle) else None


def _sentence(result: EnvelopeResult) -> str:
    first = result.first_outside
    if not result.per_step_inside:
        relative = f" and {result.per_step_relative:.1e} of an element" if result.per_step_relative else ""
        allowed = f"{result.per_step:.1e}{relative} is allowed"
        if result.rare_steps:
            return f"{result.rare_steps:,} steps are further off than they may be but rarely ({allowed})"
        return f"a single step is off by {result.largest_per_step:.1e}, and {allowed}"
    if first is not None:
        return (
            f"free running leaves what an ulp explains at step {first.step}: {first.error:.1e}, and "
            f"{first.allowed:.1e} is allowed (for {first.share:.0%} of the episodes)"
        )
    return (
        f"free running to the end of {result.episodes:,} episodes stays in the envelope of {result.copies} copies of "
        f"the reference that begin an ulp away (at most {result.largest_ratio:.2g} times as far, {result.slack:g} "
        f"allowed), single steps within {result.largest_per_step:.1e}"
    )


def _play(
    reference: ProcessSubject,
    twin: Twin,
    seeds: np.ndarray,
    wanted: int,
    source: ActionSource,
    generator: np.random.Generator,
) -> _Played:
    """Whole episodes of the first lanes of the reference; one that has ended goes on and is not looked at any more."""
    contract, everyone = twin.contracts[twin.strictest], np.ones(len(seeds), np.bool_)
    first = seen = reference.reset(everyone, seeds)
    states, actions, draws = [seen.state], [], []
    lengths = np.where(np.arange(len(seeds)) < wanted, contract.step_limit or np.iinfo(np.int64).max, 0)
    while len(actions) < lengths.max():
        actions.append(source(generator, steering(contract, seen, seen)))
        seen = reference.step(actions[-1])
        states.append(seen.state)
        draws.append(seen.draws)
        ended = seen.outputs["terminated"] | seen.outputs["truncated"]
        lengths = np.where(ended, np.minimum(lengths, len(actions)), lengths)
    return _Played(seeds, first, states, actions, draws, lengths)


def _replay(side: ProcessSubject, played: _Played, field: Field, begin: Arrays | None = None) -> np.ndarray:
    """Errors of a side that plays the same episodes freely, (steps, lanes): NaN after an episode's end.

    The performance side gets the recorded draws; a copy of the reference begins in a state and draws for itself.
    """
    everyone, copy = np.ones(len(played.seeds), np.bool_), begin is not None
    side.reset(everyone, played.seeds, None if copy else played.first.draws)
    if begin is not None:
        side.set_state(begin)
    errors = np.full((len(played.actions), len(played.seeds)), np.nan)
    for index, (action, draws) in enumerate(zip(played.actions, played.draws, strict=True)):
        seen = side.step(action, None if copy else draws)
        gap = compare_values(_of(field, played.states[index + 1]), _of(field, seen.state), EXACT).errors
        errors[index] = np.where(index < played.lengths, gap, np.nan)
    return errors


def _steps(side: ProcessSubject, played: _Played, field: Field) -> tuple[np.ndarray, np.ndarray]:
    """The same, every step from the reference's own state; also the errors as shares of what one step may be off."""
    side.reset(np.ones(len(played.seeds), np.bool_), played.seeds, played.first.draws)
    errors = np.full((len(played.actions), len(played.seeds)), np.nan)
    shares = errors.copy()
    for index, (action, draws) in enumerate(zip(played.actions, played.draws, strict=True)):
        side.set_state(played.states[index])
        seen = side.step(action, draws)
        after = _of(field, played.states[index + 1])
        found = compare_values(after, _of(field, seen.state), field.tolerance("per_step"))
        errors[index] = np.where(index < played.lengths, found.errors, np.nan)
        shares[index] = np.where(index < played.lengths, found.shares.max(axis=1, initial=0.0), np.nan)
    return errors, shares


def _of(field: Field, state: Arrays) -> np.ndarray:
    values = field.of(Observed(outputs={}, state=state, draws={}))
    assert values is not None  # a contract's envelope is of a state field
    return values


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    """Rounds of episodes side by side, the shorter ones filled up."""
    steps = max(map(len, parts))
    filled = [np.concatenate([part, np.full((steps - len(part), part.shape[1]), np.nan)]) for part in parts]
    return np.concatenate(filled, axis=1)
