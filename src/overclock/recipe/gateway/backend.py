"""Who answers calls: a provider over HTTP or a recording. The gateway meters both alike."""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Protocol

from overclock.recipe.gateway.call import Call

JSON_TYPE = "application/json"


class UnansweredError(Exception):
    """There is no answer. `paid` tells whether the provider may have done work, and so may ask for money."""

    def __init__(self, message: str, paid: bool, status: int = 502) -> None:
        super().__init__(message)
        self.paid, self.status = paid, status


class CutError(Exception):
    """The answer broke off. Raised by the chunks of an answer."""


@dataclasses.dataclass(frozen=True)
class Answer:
    """An answer that may still be under way."""

    status: int
    content_type: str
    chunks: Iterator[bytes]
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)  # besides type and length


class ModelBackend(Protocol):
    """Answers calls, from many threads at once."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """Keys that must not be recorded."""
        ...

    def answer(self, call: Call) -> Answer:
        """Answer, or raise UnansweredError."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


def problem(status: int, reason: str, message: str) -> bytes:
    """An error that every dialect's clients understand, and whose message they show."""
    error = {"type": reason, "code": status, "status": reason.upper(), "message": message}
    return json.dumps({"type": "error", "error": error}).encode()
