"""What a comparison of whole episodes saw: counts, the largest error of every field, where the sides first part."""

import dataclasses
from typing import Any

from overclock.verify.compare import too_many_excused
from overclock.verify.contract import Field, Mode, Precision
from overclock.verify.repro.episode import Episode
from overclock.verify.statistics import bound_clean_episodes

UNIFORM = "uniform"  # random legal actions, as a comparison names them


@dataclasses.dataclass
class Divergence:
    """The first place where a field left its tolerance."""

    field: str
    episode_seed: int
    step: int
    reference: Any
    performance: Any
    error: float
    tolerance: float
    state_before: dict[str, Any]
    action: Any


@dataclasses.dataclass
class FieldResult:
    """One field over a whole comparison."""

    field: Field
    tolerance: float
    compared: int = 0
    largest_error: float = 0.0
    first_divergence: Divergence | None = None
    episode: Episode | None = None  # the one that diverged, up to there


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
    free_running_reason: str = ""
    fields: dict[str, FieldResult] = dataclasses.field(default_factory=dict)
    branches: dict[str, list[str]] | None = None  # of the reference, where the actions were guided by them

    @property
    def passed(self) -> bool:
        """Whether every field stayed inside its tolerance, over at least one episode, without many excuses."""
        clean = all(result.first_divergence is None for result in self.fields.values())
        return self.episodes > 0 and clean and not self.too_many_excused

    @property
    def too_many_excused(self) -> bool:
        """Whether more flags were excused than rounding explains."""
        return too_many_excused(self.excused_flags, self.excusable_flags)

    @property
    def divergence_bound(self) -> float | None:
        """With no divergence in n random episodes, the share that diverges is below this, at 95 % confidence.

        None where some diverged, and for other play, whose episodes are no sample of anything a user would play.
        """
        return bound_clean_episodes(self.episodes) if self.passed and self.actions == UNIFORM else None

    @property
    def first_divergence(self) -> Divergence | None:
        """The earliest one by step."""
        return None if (first := self._first()) is None else first.first_divergence

    @property
    def first_episode(self) -> Episode | None:
        """The episode of `first_divergence`, up to there: what `shrink` starts from."""
        return None if (first := self._first()) is None else first.episode

    def _first(self) -> FieldResult | None:
        found = [(result.first_divergence.step, result) for result in self.fields.values() if result.first_divergence]
        return min(found, key=lambda pair: pair[0], default=(0, None))[1]
