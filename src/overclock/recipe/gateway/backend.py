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
    """The answer broke off; raised while its chunks are read."""


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
        """Begin to answer; raises UnansweredError if there is no answer."""
        ...

    def close(self) -> None:
        """Close all connections of this backend."""
        ...


def error_body(status: int, reason: str, message: str) -> bytes:
    """The body of an error that clients of every dialect understand and show."""
    error = {"type": reason, "code": status, "status": reason.upper(), "message": message}
    return json.dumps({"type": "error", "error": error}).encode()
