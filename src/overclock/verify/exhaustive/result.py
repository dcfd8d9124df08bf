"""What a walk over every state of a finite environment shows."""

import dataclasses
from typing import Literal

from overclock.results import Values
from overclock.verify.contract import Precision


@dataclasses.dataclass(frozen=True, kw_only=True)
class DifferingStep:
    """The step that both sides answer differently: the state before it, the actions that lead there, what was drawn.

    `action` is None after a reset.
    """

    field: str
    reference: object
    performance: object
    error: float
    tolerance: float
    state_before: Values
    path: list[int]
    action: int | None
    draws: Values = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class WalkResult:
    """Every state and action that was tried; `proof` says whether equality of all episodes follows (see walk.py)."""

    level: Literal[3] = 3
    name: Literal["exhaustive"] = "exhaustive"
    verdict: Literal["pass", "fail", "could not verify"]
    proof: bool
    precision: Precision
    states: int
    actions: int
    transitions: int
    reset_states: int
    excused_flags: int
    first_mismatch: DifferingStep | None
    notes: list[str]
    sentence: str
