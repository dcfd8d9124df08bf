"""Level 3: how whole episodes come out where nothing synchronises the sides: flags, lengths and rewards, to the end.

Tolerances of free running hold for a few steps. A clock that adds 0.1 thirty times in float32 stays inside of them and
still ends every episode a step late. So episodes run freely to their end, beside the unrounded reference, in the
precision that users run. A float may drift, an outcome may not: an episode may differ only where the
reference lay so near a threshold that rounding decides. That is measured with copies of the reference whose state is
rounded after every step, never with the side under test. One episode in a hundred may do so, and not always in the
same direction.
"""

import dataclasses
from collections.abc import Mapping

import numpy as np

from overclock.progress import Progress
from overclock.verify.compare import steering
from overclock.verify.contract import Precision, Twin
from overclock.verify.repro.episode import Episode, History
from overclock.verify.rollout.actions import SourceMaker, random_legal, sticky
from overclock.verify.rollout.following import Following, Parting
from overclock.verify.rollout.lockstep import seeds_of
from overclock.verify.rollout.outcome_result import OutcomeDifference, OutcomeResult
from overclock.verify.rollout.outcome_text import sentence_of
from overclock.verify.sides.pair import Sides
from overclock.verify.sides.process import CouldNotVerifyError, ProcessSubject
from overclock.verify.sides.soundness import require_same_actions
from overclock.verify.sides.subject import Arrays, Observed
from overclock.verify.statistics.sign import one_sided_too_often

# Bits of a rounded number; one fewer in float64, which holds all of the reference's.
BITS: Mapping[Precision, int] = {"float32": 24, "float64": 52}
# 300 clean episodes show that fewer than 1 % differ, at 95 % confidence. Once one differs, 1,000 tell how many do.
FIRST, ALL = 300, 1_000
FIRST_STEPS, ALL_STEPS = 100_000, 300_000  # no further episodes are begun beyond
MOST_DIFFERING = 0.01  # of the episodes; a single one may always
CHANCE = 0.01  # below which so many in one direction are not explained by chance
RETURNS_CHANCE = 1e-4  # the same for returns, whose errors are symmetrical only nearly
COPIES = 64  # of the reference, for an episode that differs: the first is not rounded
COARSER = 2  # bits fewer in half of the copies: a step of a program rounds more than once


def check_outcomes(
    sides: Sides, twin: Twin, episodes: int, seed: tuple[int, ...], progress: Progress
) -> OutcomeResult | None:
    """Episodes of random play to their end in float32; None where whole episodes are compared exactly anyway.

    A twin without a contract for float32 is judged in the precision that it has.
    """
    precision = twin.usual
    if twin.contracts[precision].exact:
        return None
    first = max(episodes, min(FIRST, 3 * episodes))
    found = _Outcomes(twin, precision, np.random.SeedSequence(seed))
    with sides.pair(precision, min(twin.lanes, first), traced=False) as pair:
        require_same_actions(*pair)
        for wanted, steps in ((first, FIRST_STEPS), (max(first, ALL), ALL_STEPS)):
            for share, source in ((0.5, random_legal), (1.0, sticky(base=random_legal))):
                if not found.hopeless:
                    found.play(*pair, source, share, wanted, steps, max(1, episodes // 2), progress)
            if not found.partings:
                break
        return found.judged(sides)


class _Outcomes:
    """Episodes that were played so far, and where they differ."""

    def __init__(self, twin: Twin, precision: Precision, sequence: np.random.SeedSequence) -> None:
        self.contract = twin.contracts[precision]
        self.precision: Precision = precision
        of_episodes, of_actions, of_copies = sequence.spawn(3)
        self._seeds, self._acting = seeds_of(of_episodes), np.random.default_rng(of_actions)
        self._rounding = np.random.default_rng(of_copies)
        self.episodes = self.steps = 0
        self.partings: list[Parting] = []
        self.returns: list[float] = []

    @property
    def hopeless(self) -> bool:
        """Whether more episodes differ already than may of all that could be played."""
        return len(self.partings) > MOST_DIFFERING * max(ALL, self.episodes)

    def play(
        self,
        reference: ProcessSubject,
        performance: ProcessSubject,
        source: SourceMaker,
        share: float,
        wanted: int,
        most_steps: int,
        least: int,
        progress: Progress,
    ) -> None:
        """Episodes of one source of actions, until `share` of those `wanted` are finished or the steps are spent."""
        lanes, began, quota = reference.num_envs, self.episodes, round(share * wanted) - self.episodes
        before, act, following = self.steps, source(reference.description), Following(self.contract, lanes)
        seeds = np.array([next(self._seeds) for _ in range(lanes)], np.int64)
        counted, started, length = np.arange(lanes) < quota, min(lanes, max(quota, 0)), np.zeros(lanes, np.int64)
        history, everyone = History(lanes), np.ones(lanes, np.bool_)
        ref = reference.reset(everyone, seeds)
        history.reset(everyone, ref.draws)
        performance.reset(everyone, seeds, ref.draws)
        title = f"outcomes, {self.precision}"
        while counted.any() and not self.hopeless:
            action = act(self._acting, steering(self.contract, ref, ref))
            ref = reference.step(action)
            history.step(action, ref.draws)
            for lane, found in following.step(ref, performance.step(action, ref.draws), counted):
                episode = history.episode(lane, int(seeds[lane]))
                self.partings.append(dataclasses.replace(found, episode=episode))
            length += 1
            self.steps += int(counted.sum())
            limit = self.contract.step_limit
            ended = _over(ref) | (length >= (limit or np.iinfo(np.int64).max))
            if not ended.any():
                continue
            self.returns += [gap for gap in following.drifted()[ended & counted].tolist() if gap == gap]
            self.episodes += int((ended & counted).sum())
            progress(title, min(self.episodes, wanted), wanted)
            length[ended] = 0
            for lane in np.flatnonzero(ended):
                enough = self.steps - before >= most_steps / 2 and self.episodes - began >= least
                counted[lane] &= started < quota and not enough
                started += int(counted[lane])
                seeds[lane] = next(self._seeds)
            following.begin(ended)
            ref = reference.reset(ended, seeds)
            history.reset(ended, ref.draws)
            performance.reset(ended, seeds, ref.draws)

    def judged(self, sides: Sides) -> OutcomeResult:
        """What the episodes show; those that differ are looked at with rounded copies of the reference."""
        most = max(1, int(MOST_DIFFERING * self.episodes))
        looked = self.partings[: most + 1]
        explained = self._explained(sides, looked) if looked else []
        late = [one.late for one in self.partings if one.late]
        gain = [one.gain for one in self.partings if one.gain]
        returns = [int(np.sign(gap)) for gap in self.returns if gap]
        wrong = not all(explained) or len(self.partings) > most
        wrong |= any(one_sided_too_often(signs, CHANCE) for signs in (late, gain))
        wrong |= one_sided_too_often(returns, RETURNS_CHANCE)
        first = next((number for number, known in enumerate(explained) if not known), 0)
        result = OutcomeResult(
            verdict="fail" if wrong else "pass",
            precision=self.precision,
            episodes=self.episodes,
            steps=self.steps,
            differing=len(self.partings),
            unexplained=explained.count(False),
            earlier=late.count(-1),
            later=late.count(1),
            less=gain.count(-1),
            more=gain.count(1),
            returns_below=returns.count(-1),
            returns_above=returns.count(1),
            first=_difference(looked[first], explained[first]) if looked else None,
            sentence="",
        )
        return dataclasses.replace(result, sentence=sentence_of(result, most))

    def _explained(self, sides: Sides, partings: list[Parting]) -> list[bool]:
        """For each, whether a rounded copy of the reference differs in that episode, no later."""
        try:
            with sides.reference(COPIES) as copies:
                return [self._rounding_decides(copies, one.episode) for one in partings]
        except CouldNotVerifyError:  # a reference that cannot be put into a state shows no bound: nothing is excused
            return [False] * len(partings)

    def _rounding_decides(self, copies: ProcessSubject, episode: Episode) -> bool:
        following, everyone = Following(self.contract, COPIES), np.ones(COPIES, np.bool_)
        discrete = copies.description["kind"] == "discrete"
        dtype = np.int32 if discrete else copies.description["low"].dtype
        seen = copies.reset(everyone, np.full(COPIES, episode.seed, np.int64))
        for action in episode.actions:
            copies.set_state(rounded_copies(seen.state, self.precision, self._rounding))
            seen = copies.step(np.array([action] * COPIES, dtype))
            ref = Observed(*({k: np.repeat(v[:1], COPIES, axis=0) for k, v in part.items()} for part in _parts(seen)))
            if any(following.step(ref, seen, np.arange(COPIES) > 0)):
                return True
        return False


def rounded_copies(state: Arrays, precision: Precision, generator: np.random.Generator) -> Arrays:
    """A state for every copy, whose floats are rounded to one of their two neighbours at random: the nearer more often.

    What float32 holds stays as it is. The first copy is not rounded, half of the others have two bits fewer.
    """
    return {name: _rounded(values, BITS[precision], generator) for name, values in state.items()}


def _rounded(values: np.ndarray, bits: int, generator: np.random.Generator) -> np.ndarray:
    if values.dtype.kind != "f":
        return values
    wide = values.astype(np.float64)
    kept = np.where(np.arange(len(values)) % 2, bits, bits - COARSER).reshape(-1, *(1,) * (values.ndim - 1))
    with np.errstate(invalid="ignore", over="ignore"):
        unit = np.ldexp(1.0, np.frexp(wide)[1] - kept)
        below = np.floor(wide / unit)
        moved = (below + (generator.random(values.shape) < wide / unit - below)) * unit
    moved = np.where(np.isfinite(wide) & (wide != 0.0), moved, wide).astype(values.dtype)
    moved[:1] = values[:1]
    return moved


def _parts(seen: Observed) -> tuple[Arrays, Arrays, Arrays]:
    return seen.outputs, seen.state, seen.draws


def _difference(one: Parting, explained: bool) -> OutcomeDifference:
    return OutcomeDifference(
        field=one.field, episode_seed=one.episode.seed, step=one.step, reference=one.reference,
        performance=one.performance, explained=explained,
    )  # fmt: skip


def _over(side: Observed) -> np.ndarray:
    return np.asarray(np.logical_or(side.outputs["terminated"], side.outputs["truncated"]))
