"""What a comparison of whole episodes saw: counts, the largest error of every field, where the sides first part."""

import dataclasses
from typing import Literal

import numpy as np

from overclock.results import Values, absent
from overclock.verify.compare import ComparedField, margins_of, too_many_excused, too_many_rare
from overclock.verify.contract import Envelope, Field, Mode, Precision, causes_first
from overclock.verify.exhaustive.result import WalkResult
from overclock.verify.reach.counts import SearchCounts
from overclock.verify.reach.reached import Reached
from overclock.verify.repro.episode import Episode
from overclock.verify.rollout.outcome_result import OutcomeResult
from overclock.verify.statistics import bound_clean_episodes
from overclock.verify.tolerance import Tolerance

UNIFORM = "uniform"  # random legal actions, as a comparison names them


def comparison_title(actions: str, precision: str, mode: str) -> str:
    """What a comparison of episodes is called: the source of its actions, its precision and its mode."""
    return f"{actions} actions, {precision}, {mode.replace('_', ' ')}"


@dataclasses.dataclass(frozen=True)
class Divergence:
    """The first place where a field left its tolerance; `action` is None after a reset."""

    field: str
    episode_seed: int
    step: int
    reference: object
    performance: object
    error: float
    tolerance: float
    state_before: Values
    action: object


@dataclasses.dataclass(frozen=True)
class Branches:
    """Branch outcomes of the reference's functions that ran, and its functions that never ran."""

    reached: list[str]
    missed: list[str]
    never_entered: list[str]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparisonResult:
    """A comparison of whole episodes; see `RolloutResult`, of which this is the part that reports keep.

    `rare_steps` were further off than a tolerance, as rare events may be (in free running: episodes with one). Older
    reports lack them and the `horizon`.
    """

    mode: Mode
    precision: Precision
    actions: str
    passed: bool
    episodes: int
    steps: int
    terminated: int
    truncated: int
    cut: int = 0
    excused_flags: int = 0
    excusable_flags: int = 0
    limit_reason: str = ""
    too_many_excused: bool = False
    rare_steps: int | None = absent()
    rare_share: float | None = absent()
    rare_reason: str | None = absent()
    beyond_horizon: int = 0
    horizon: int | None = absent()
    free_running_reason: str = ""
    divergence_bound: float | None
    branches: Branches | None
    fields: list[ComparedField]
    first_divergence: Divergence | None

    @property
    def title(self) -> str:
        """Where the actions came from, the precision and the mode, in words."""
        return comparison_title(self.actions, self.precision, self.mode)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OutsideEnvelope:
    """The first step at which a share of the episodes is further off than the envelope allows."""

    share: float
    step: int
    error: float
    allowed: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReachedError:
    """The step at which the median episode's error passes a size, on both sides; None where it never does."""

    error: float
    performance: int | None
    reference: int | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvelopeCurve:
    """The error that a share of the episodes stays below, against the step, beside the copies of the reference."""

    share: float
    judged_steps: int
    performance: list[float]
    reference_low: list[float]
    reference_high: list[float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PerStepCurve:
    """The error of single steps that a share of the episodes stays below, against the step."""

    share: float
    performance: list[float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Verdict:
    verdict: Literal["pass", "fail"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class EnvelopeResult(Envelope, _Verdict):
    """Free running of a chaotic system beside the reference's own spread, with the contract's `Envelope`."""

    episodes: int
    steps: int
    per_step: float
    per_step_relative: float = 0.0
    per_step_inside: bool = True
    largest_per_step: float
    rare_steps: int | None = absent()
    largest_ratio: float
    first_outside: OutsideEnvelope | None
    reached: list[ReachedError]
    curve_steps: list[int]
    curves: list[EnvelopeCurve]
    per_step_curves: list[PerStepCurve]
    sentence: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class RolloutLevel:
    """The result of level 3: comparisons, and where the twin asks for them a walk over all states and an envelope.

    `search` is what the search for branches did, `reached` what all comparisons so far took of the reference's
    branches: where some are missing, a pass becomes inconclusive. Older reports lack both. `beyond_end` says why no
    step beyond an end was compared, where the twin wants that.
    `search` is what the search for branches did, `outcomes` how episodes come out that run freely to their end; older
    reports lack them.
    """

    level: Literal[3] = 3
    name: Literal["rollout"] = "rollout"
    verdict: Literal["pass", "fail", "inconclusive", "could not verify"]
    comparisons: list[ComparisonResult]
    exhaustive: WalkResult | None
    envelope: EnvelopeResult | None = None
    search: SearchCounts | None = absent()
    reached: Reached | None = absent()
    beyond_end: str | None = absent()
    outcomes: OutcomeResult | None = absent()


@dataclasses.dataclass
class FieldResult:
    """One field over a comparison that is running."""

    field: Field
    tolerance: Tolerance
    compared: int = 0
    largest_error: float = 0.0
    shares: np.ndarray | None = None  # per element, the largest error as a share of what is allowed
    first_divergence: Divergence | None = None
    episode: Episode | None = None  # the one that diverged, up to there
    first_rare: tuple[Divergence, Episode] | None = None  # the first rare event, which may count as a divergence later

    def knows(self, rare: bool) -> bool:
        """Whether there was a divergence already, or a rare event."""
        return (self.first_rare if rare else self.first_divergence) is not None

    def keep(self, divergence: Divergence, episode: Episode, rare: bool) -> None:
        """Keep the first divergence, or the first rare event."""
        if rare:
            self.first_rare = divergence, episode
        else:
            self.first_divergence, self.episode = divergence, episode

    def add_shares(self, shares: np.ndarray) -> None:
        """Keep the largest share of every element; `shares` has a row per compared lane."""
        if self.tolerance and len(shares):
            largest = shares.max(axis=0)
            before = self.shares if self.shares is not None and self.shares.shape == largest.shape else 0.0
            self.shares = np.maximum(before, largest)


@dataclasses.dataclass
class RolloutResult:
    """What a comparison of episodes saw."""

    mode: Mode
    precision: Precision
    actions: str
    episodes: int = 0
    steps: int = 0
    terminated: int = 0
    truncated: int = 0
    cut: int = 0  # episodes that ended at the contract's step limit, without an end of their own
    excused_flags: int = 0  # flags that differed within the contract's margin of a threshold
    excusable_flags: int = 0  # compared ones of the kind that may be excused
    limit_reason: str = ""
    beyond_horizon: int = 0  # free-running steps not compared, past the contract's horizon
    horizon: int | None = None  # steps of an episode that are compared in free running; None: all
    free_running_reason: str = ""
    rare_steps: int = 0  # further off than a field's tolerance and within that of rare events; see RareEvents
    rare_share: float = 0.001
    rare_reason: str = ""
    fields: dict[str, FieldResult] = dataclasses.field(default_factory=dict)
    branches: Branches | None = None  # of the reference, where the actions were guided by them

    @property
    def passed(self) -> bool:
        """Whether every field stayed inside its tolerance, over at least one episode, without many excuses."""
        clean = all(result.first_divergence is None for result in self.fields.values())
        return self.episodes > 0 and clean and not self.too_many_excused

    @property
    def too_many_excused(self) -> bool:
        """Whether more flags were excused than rounding explains."""
        return too_many_excused(self.excused_flags, self.excusable_flags)

    def judge_rare_steps(self) -> None:
        """At the end: too many rare events are none, so the first of every field is where the sides part."""
        if too_many_rare(self.rare_steps, self.steps, self.rare_share):
            for result in self.fields.values():
                if result.first_rare is not None and result.first_divergence is None:
                    result.keep(*result.first_rare, rare=False)

    @property
    def divergence_bound(self) -> float | None:
        """With no divergence in n random episodes, the share that diverges is below this, at 95 % confidence.

        None where some diverged, and for other play, whose episodes are no sample of anything a user would play.
        """
        return bound_clean_episodes(self.episodes) if self.passed and self.actions == UNIFORM else None

    @property
    def first_divergence(self) -> Divergence | None:
        """The earliest one by step; of several at one step, by `causes_first`."""
        return None if (first := self._first()) is None else first.first_divergence

    @property
    def first_episode(self) -> Episode | None:
        """The episode of `first_divergence`, up to there: what `shrink` starts from."""
        return None if (first := self._first()) is None else first.episode

    def summary(self) -> ComparisonResult:
        """What reports keep of it: counts, errors by field, the first divergence, and not its episode."""
        own = {name: getattr(self, name) for name in _SUMMARY}
        fields = [
            ComparedField(
                name=one.field.name, compared=one.compared, largest_error=one.largest_error,
                tolerance=one.tolerance.largest_absolute, relative_tolerance=one.tolerance.relative,
                reason=one.field.reason, passed=one.first_divergence is None, **margins_of(one.shares),
            )
            for one in self.fields.values()
        ]  # fmt: skip
        return ComparisonResult(**own, fields=fields)

    def _first(self) -> FieldResult | None:
        found = [(result.first_divergence, result) for result in self.fields.values() if result.first_divergence]
        found.sort(key=lambda pair: (pair[0].step, causes_first(pair[0].field)))
        return found[0][1] if found else None


_SUMMARY = tuple(field.name for field in dataclasses.fields(ComparisonResult) if field.name != "fields")
