"""What the gateway records about every call, once when it is opened and once when it is closed.

The opened record is written before anything is forwarded and carries the reserved dollars. The closed record is written
before the end of the answer reaches the agent, and carries what was paid. A kill in between, at any moment, therefore
leaves a call that was opened and never closed; it counts at its reservation, which is the most it can have cost
(runs/cost.py). What is lost is the answer's text and the difference between the reservation and the true price, never a
payment.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, Protocol

from overclock.recipe.gateway.dialects.base import DialectName, Operation
from overclock.recipe.gateway.usage import Usage

Stage = Literal["opened", "closed"]
# What a closed call was charged: what the provider said; the reservation, because the provider did not get to say; or
# nothing, because it was refused, or failed before the provider did any work.
Charged = Literal["usage", "reservation", "nothing"]


@dataclasses.dataclass(frozen=True)
class Exchange:
    """One call, without any header: keys cannot leak from here. Bodies are text, keys redacted wherever they occur."""

    id: str  # the same in both stages
    stage: Stage
    dialect: DialectName
    operation: Operation
    model: str
    path: str  # without its query
    streamed: bool
    opened_at: float  # seconds since 1970
    request: str
    reserved: float | None  # dollars; None where the model has no price
    # known when closed
    seconds: float = 0.0
    status: int | None = None
    content_type: str = ""
    response: str = ""
    complete: bool = False  # the provider ended its answer properly
    charged: Charged = "nothing"
    usage: Usage = Usage()
    reserved_tokens: int = 0
    doubt: str | None = None  # why the usage that was reported could not be right

    def as_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "Exchange":
        """The record of which `as_dict` gave `content`."""
        return cls(**{**content, "usage": Usage(**content["usage"])})


class Recorder(Protocol):
    """Keeps exchanges, as a run's journal does. Called from many threads, but never from two at once."""

    def record(self, exchange: Exchange) -> None:
        """Store the exchange so that it survives a kill of this process once this returns."""
        ...
