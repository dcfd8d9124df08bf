"""What level 3 found about how whole episodes come out: flags, lengths, rewards, to the end of every episode."""

import dataclasses
from typing import Literal

from overclock.verify.contract import Precision


@dataclasses.dataclass(frozen=True, kw_only=True)
class OutcomeDifference:
    """The first place where an episode differs; `explained`: copies of the reference did so, too."""

    field: str
    episode_seed: int
    step: int
    reference: object
    performance: object
    explained: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class OutcomeResult:
    """Episodes that ran freely to their end, in the precision that users run.

    `differing` of the `episodes` differ from the reference, `unexplained` ones where no rounded copy of it does.
    `earlier` and `later` ended too soon and too late, `less` and `more` are episodes whose first difference is a lower
    or a higher reward. `returns_below` and `returns_above` count returns, of episodes that rounding took apart.
    """

    verdict: Literal["pass", "fail"]
    precision: Precision
    episodes: int
    steps: int
    differing: int
    unexplained: int
    earlier: int
    later: int
    less: int
    more: int
    returns_below: int
    returns_above: int
    first: OutcomeDifference | None
    sentence: str
