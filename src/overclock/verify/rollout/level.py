"""Level 3: which whole episodes are compared, and what they show together.

Random play comes in both modes and every precision, and its clean episodes state a bound. The other sources go where
random play does not, in the strictest precision and one step at a time: long pushes, the scripted player, whatever
reaches new branches of the reference, trained policies. Where episodes must be equal bit for bit they run free as well.
A finite environment is also walked exhaustively, a chaotic one held against the reference's own spread (envelope.py).
Where float32 may round, episodes also run freely to their end, and flags, lengths and rewards count (outcomes.py).
No two comparisons share an episode; they share processes.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator

from overclock.entry_point import EntryPoint
from overclock.env import registry
from overclock.progress import Progress
from overclock.verify.contract import Mode, Precision, Twin
from overclock.verify.exhaustive.result import WalkResult
from overclock.verify.exhaustive.walk import check_exhaustively
from overclock.verify.reach.ledger import Ledger
from overclock.verify.reach.reached import reached
from overclock.verify.repro.episode import Episode
from overclock.verify.rollout.actions import SourceMaker, controlled, random_legal, scripted, sticky
from overclock.verify.rollout.beyond_end import check_beyond_end, set_late_aside
from overclock.verify.rollout.envelope import LEAST_EPISODES, check_envelope
from overclock.verify.rollout.found_states import check_found
from overclock.verify.rollout.guided import coverage_guided
from overclock.verify.rollout.lockstep import compare_sides
from overclock.verify.rollout.outcomes import check_outcomes
from overclock.verify.rollout.result import UNIFORM, EnvelopeResult, RolloutLevel, RolloutResult, comparison_title
from overclock.verify.rollout.trained_player import trained
from overclock.verify.sides.pair import Sides

GUIDED, CONTROLLED = "coverage-guided", "controlled"
# Keep their episodes apart from those of the comparisons, which are numbered from 1.
ENVELOPE, OUTCOMES, BEYOND_END = 1_000, 2_000, 3_000
LONG_SHARE = 10  # one long episode (of a player that does well) for this many random ones


@dataclasses.dataclass(frozen=True)
class Diverging:
    """An episode that left the contract, and how it was compared: what a repro is made from."""

    episode: Episode
    mode: Mode
    precision: Precision


@dataclasses.dataclass(frozen=True)
class Comparison:
    """One comparison of level 3; `source` makes the source of its actions when its turn has come."""

    mode: Mode
    precision: Precision
    actions: str
    source: Callable[[], SourceMaker]
    episodes: int
    uncut: int | None = None  # steps that the first episode may last, whatever the contract's step limit

    @property
    def title(self) -> str:
        """Where the actions come from, the precision and the mode, in words."""
        return comparison_title(self.actions, self.precision, self.mode)


def check_rollouts(
    twin: Twin,
    controller: str | None,
    episodes: int,
    seed: int,
    timeout: float,
    progress: Progress,
    ledger: Ledger | None = None,
) -> tuple[RolloutLevel, Diverging | None]:
    """Every comparison that the twin allows; also returns the first episode that diverged.

    `controller` is the entry point of the environment's scripted player, for a twin that names none. With a `ledger`,
    branches of the reference that neither these comparisons nor earlier ones took make a pass inconclusive.
    """
    results: list[RolloutResult] = []
    # Numbers from 1, because a sequence of seeds that ends in zero is the one without it.
    with Sides(twin, timeout) as sides:
        for number, planned in enumerate(plan(twin, controller, episodes, seed, timeout, progress), start=1):
            if planned.actions == "trained" and not all(result.passed for result in results):
                continue  # training takes long, and there is nothing left to find out
            source, lanes = planned.source(), min(twin.lanes, planned.episodes)
            with sides.pair(planned.precision, lanes, traced=planned.actions == GUIDED) as pair:
                result = compare_sides(
                    *pair, twin, planned.episodes, planned.mode, planned.precision, planned.actions, source,
                    seed=(seed, number), progress=Heard(progress, planned), ledger=ledger, uncut=planned.uncut,
                )  # fmt: skip
            results.append(result)
        searched, found_results = check_found(sides, twin, _modes(twin, twin.strictest), seed, timeout, ledger)
        late, beyond_results = check_beyond_end(sides, twin, searched, (seed, BEYOND_END), ledger)
        results += found_results + beyond_results
        outcomes = check_outcomes(sides, twin, episodes, (seed, OUTCOMES), progress)
        enveloped = _enveloped(sides, twin, episodes, (seed, ENVELOPE), progress)
    walked = (
        None if twin.exhaustive is None else check_exhaustively(twin, timeout=timeout, ledger=ledger, **twin.exhaustive)
    )
    found = {"pass" if result.passed else "fail" for result in results}
    found |= {part.verdict for part in (walked, enveloped, outcomes) if part is not None}
    if ledger is not None:
        set_late_aside(Sides(twin, timeout), twin, ledger, seed)
    reach = None if ledger is None else reached(ledger, twin.unreached)
    found |= {"inconclusive"} if reach is not None and not reach.complete else set()
    level = RolloutLevel(
        verdict=next(verdict for verdict in ("fail", "could not verify", "inconclusive", "pass") if verdict in found),
        comparisons=[result.summary() for result in results],
        exhaustive=walked,
        envelope=enveloped,
        search=None if searched is None else searched.counts,
        beyond_end=late,
        reached=reach,
        outcomes=outcomes,
    )
    return level, next(filter(None, map(diverging, results)), None) or _walked_into(walked)


def _enveloped(
    sides: Sides, twin: Twin, episodes: int, seed: tuple[int, ...], progress: Progress
) -> EnvelopeResult | None:
    """Free running of a chaotic system beside the reference's own spread, where the contract asks for it.

    Every round of episodes is played ten times and more, so that its lanes are shared out evenly.
    """
    precision = twin.strictest
    envelope, episodes = twin.contracts[precision].envelope, max(episodes, LEAST_EPISODES)
    if envelope is None:
        return None
    planned = Comparison("free_running", precision, "envelope: uniform", lambda: random_legal, episodes)
    lanes = math.ceil(episodes / math.ceil(episodes / twin.lanes))
    with sides.pair(precision, lanes, traced=False) as pair:
        return check_envelope(*pair, twin, envelope, episodes, random_legal, seed, Heard(progress, planned))


def diverging(result: RolloutResult) -> Diverging | None:
    """The episode of a comparison's first divergence."""
    episode = result.first_episode
    return None if episode is None else Diverging(episode, result.mode, result.precision)


def _walked_into(walked: WalkResult | None) -> Diverging | None:
    """The one step from a given state that an exhaustive walk found to differ."""
    found = None if walked is None else walked.first_mismatch
    if walked is None or found is None or found.draws:  # no episode leads to a number that was chosen
        return None
    episode = Episode(0, (found.action,), state=dict(found.state_before)) if found.state_before else Episode(0)
    return Diverging(episode, "per_step", walked.precision)


def plan(
    twin: Twin, controller: str | None, episodes: int, seed: int, timeout: float, progress: Progress
) -> Iterator[Comparison]:
    """What is compared, in order."""
    long = max(1, episodes // LONG_SHARE)
    strictest, player = twin.strictest, player_of(twin, controller)
    for precision in twin.contracts:
        yield Comparison("per_step", precision, UNIFORM, lambda: random_legal, episodes)
        yield Comparison("free_running", precision, UNIFORM, lambda: random_legal, episodes)
        if player is not None:
            modes, count = _modes(twin, precision), max(long, len(twin.players))
            for mode in modes:
                uncut = twin.uncut if (precision, mode) == (strictest, modes[-1]) else None
                yield Comparison(mode, precision, CONTROLLED, lambda player=player: player, count, uncut)
    for mode in _modes(twin, strictest):
        yield Comparison(mode, strictest, "sticky", lambda: sticky(base=random_legal), episodes)
    for mode in _modes(twin, strictest) if twin.traced else ():
        guided = coverage_guided(random_legal, legal_only=True)
        yield Comparison(mode, strictest, GUIDED, lambda guided=guided: guided, episodes)
    if twin.transfer is not None:
        learnt = functools.cache(lambda: trained(twin, seed, timeout, progress, long))  # the same ones in both modes
        for mode in _modes(twin, strictest):
            yield Comparison(mode, strictest, "trained", learnt, long)


def player_of(twin: Twin, controller: str | None) -> SourceMaker | None:
    """The scripted players that the twin names, else the environment's controller; None where there is neither."""
    if twin.players:
        return scripted(*(EntryPoint.of(player).load() for player in twin.players))
    return None if controller is None else controlled(registry.load(controller))


def _modes(twin: Twin, precision: Precision) -> tuple[Mode, ...]:
    """How sources other than random play are compared: a tolerance for episodes says little after a long one."""
    return ("per_step", "free_running") if twin.contracts[precision].exact else ("per_step",)


@dataclasses.dataclass(frozen=True)
class Heard:
    """Progress of one comparison, under its title."""

    progress: Progress
    planned: Comparison

    def __call__(self, finished: int) -> None:
        """So many episodes are finished."""
        self.progress(self.planned.title, finished, self.planned.episodes)
