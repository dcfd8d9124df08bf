"""What the red team found: which layers of the judge rejected every cheat, and what became of the honest candidate."""

import dataclasses
from typing import Literal


@dataclasses.dataclass(frozen=True)
class Rejection:
    """A layer of the judge that rejected a candidate, and its sentence."""

    layer: str
    sentence: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class JudgedCandidate:
    """What became of a candidate: every layer that rejected it, the first one again as `by` with its `sentence`."""

    name: str
    what: str
    by: str | None
    sentence: str
    seconds: float
    layers: list[Rejection]
    caught: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class JudgedCheat(JudgedCandidate):
    """A cheat, and the `wall` that is there to catch it behind the static scan."""

    wall: str


@dataclasses.dataclass(frozen=True, kw_only=True)
class JudgedControl(JudgedCandidate):
    """The honest candidate, which must pass."""

    passed: bool


@dataclasses.dataclass(frozen=True, kw_only=True)
class RedteamReport:
    """The result of `redteam`; `caught_without_scan` counts the cheats that a check behind the static scan rejected."""

    schema: Literal["overclock.redteam/1"] = "overclock.redteam/1"
    caught: int
    caught_without_scan: int
    total: int
    scan: bool
    cheats: list[JudgedCheat]
    control: JudgedControl
    sandbox: str
    seed: int
    seconds: float
