"""What level 4 shows: every group of policies on both sides, the controls, the margins, the curves of training."""

import dataclasses
from typing import Any, Literal

from overclock.results import absent
from overclock.verify.contract import Precision
from overclock.verify.statistics.margin import Margin
from overclock.verify.statistics.verdict import Equivalence, Verdict


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReturnsOnSide:
    """Mean returns of the policies of a group on one side, their mean and standard deviation."""

    mean: float
    sd: float
    policies: list[float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PowerOfTest:
    """For equal sides with the observed sd: how likely `equivalent` was, and how many policies make it likely."""

    sd: float
    to_show_equivalence: float
    policies_for_90_percent: int | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReturnsComparison:
    """The returns of the same policies on both sides: the paired TOST decides, Welch's is a second opinion."""

    verdict: Verdict
    sentence: str
    policies: int
    episodes: int
    margin: float
    reference: ReturnsOnSide
    performance: ReturnsOnSide
    differences: list[float]
    identical_episodes: float
    tost: Equivalence
    welch: Equivalence
    power: PowerOfTest
    n_needed: int | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class WorstDimension:
    """The dimension of the visited states that is most unlikely by chance alone."""

    dimension: str
    bits: float
    null_mean: float
    null_limit: float
    p: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class VisitedStates:
    """Jensen-Shannon divergence of the states that policies visit on both sides, beside what chance explains."""

    verdict: Literal["consistent", "different"]
    policies_different: int
    policies: int
    episodes: int
    alpha_per_policy: float
    mean_bits: float
    null_mean_bits: float
    worst: WorstDimension
    reference_against_itself_bits: float | None = absent()


@dataclasses.dataclass(frozen=True, kw_only=True)
class GroupName:
    """A group of policies: trained on a side ("reference", "performance" or "nothing") to a strength."""

    trained_on: str
    strength: str

    @property
    def title(self) -> str:
        """What the policies are and where they were trained, in words."""
        if self.trained_on == "nothing":
            return f"{self.strength} policies"
        side = "reference" if self.trained_on == "reference" else "performance side"
        return f"{self.strength} policies from the {side}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class GroupResult(ReturnsComparison, GroupName):
    """A group of policies on both sides."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class ComparedGroup(GroupResult):
    """A group that the verdict rests on; `look` is the last one at which policies were added to it."""

    look: int = 1
    visited: VisitedStates


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfComparedGroup(GroupResult):
    """A group on the reference alone, one half of its episodes against the other."""

    equivalent: bool | None = absent()


@dataclasses.dataclass(frozen=True, kw_only=True)
class GroupWithBug(GroupResult):
    """A group on the reference and on the performance side with a bug; `visited` is None where only rewards differ."""

    visited: VisitedStates | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class SelfControl:
    """The A/A control: whether no group differs from itself, and whether all are shown to be equivalent."""

    passed: bool
    equivalent: bool | None = absent()
    groups: list[SelfComparedGroup]


@dataclasses.dataclass(frozen=True, kw_only=True)
class BugControl:
    """A bug in the performance side, and whether returns show it; a `synthetic` one is added to the rewards."""

    bug: str
    synthetic: bool = False
    seen: bool
    result: str
    verdict: Verdict
    states_differ: bool
    groups: list[GroupWithBug]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Controls:
    """Whether the evaluation can be believed; `unseen` is a bug that returns are known to hide."""

    a_a: SelfControl
    unseen: BugControl | None
    planted: BugControl | None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Margins:
    """The largest harmless difference by strength, from the plan or by the rule whose `pieces` are kept."""

    by: Literal["plan", "rule"]
    reason: str
    values: dict[str, float]
    pieces: Margin | None = absent()


@dataclasses.dataclass(frozen=True, kw_only=True)
class Curve:
    """Return against steps and seconds of training: mean and band over the seeds, and every seed.

    None before the first episode has finished.
    """

    steps: list[int]
    seconds: list[float]
    mean: list[float | None]
    low: list[float | None]
    high: list[float | None]
    band: list[float]
    seeds: list[list[float | None]] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, kw_only=True)
class RegisteredPlan:
    """A `TransferPlan` as it was fixed before anything ran; the fingerprint covers the twin's name and the seed too."""

    attempt: int = 1
    episodes: int
    kernel: bool = False
    looks: int
    margin_reason: str
    margins: dict[str, float] | None
    planted: str | None
    precision: Precision
    reference_env: Any
    seed: int
    seeds: int
    step_limit: int
    strengths: list[tuple[str, float]]
    training: dict[str, Any]
    twin: str
    unseen: str | None
    sha256: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class TransferLevel:
    """The result of level 4."""

    level: Literal[4] = 4
    name: Literal["transfer"] = "transfer"
    verdict: Literal["pass", "fail", "inconclusive", "could not verify"]
    summary: str
    quick: bool
    plan: RegisteredPlan
    groups: list[ComparedGroup]
    controls: Controls
    margins: Margins
    alpha: float
    trained_on: list[str]
    curves: dict[str, Curve]
    seconds: dict[str, float]


@dataclasses.dataclass(frozen=True, kw_only=True)
class ReturnsAlone:
    """What a comparison of returns and nothing else says of a refuted twin; the returns are means of all policies."""

    verdict: Verdict
    reference: float
    performance: float
    margin: float
    policies: int
    episodes: int
    sentence: str
