"""Reads the usage that a provider reports out of an answer while it is passed on, whole or as a stream of events.

Events are split by hand instead of with httpx-sse, which decodes them from an httpx response only, without the bytes
that have to be passed on unchanged.
"""

import codecs
import json
import re
from typing import Any

from overclock.recipe.gateway.dialects import Dialect, Json
from overclock.recipe.gateway.dialects.reported import doubt, whole
from overclock.recipe.gateway.tokens import Tokens

EVENT_STREAM = "text/event-stream"
BETWEEN_EVENTS = re.compile(rb"\r\n\r\n|\n\n|\r\r")
DONE = "[DONE]"  # ends an OpenAI Chat stream


class Reader:
    """Fed with the bytes of one answer. `tokens` is None until the provider has said something about its usage."""

    def __init__(self, dialect: Dialect, content_type: str) -> None:
        self.dialect = dialect
        self.streamed = content_type.lower().startswith(EVENT_STREAM)
        self.finished = False  # the provider has said that the answer is complete
        self._pending = b""
        self._usage: Json = {}
        self._doubt: str | None = None  # the first of any event: a later one may put a right count over a wrong one

    @property
    def tokens(self) -> Tokens | None:
        """The tokens that were reported so far, or None."""
        return self.dialect.tokens(self._usage) if self._usage else None

    @property
    def doubt(self) -> str | None:
        """Why the tokens cannot be those of the call, in words; None if they can."""
        return self._doubt or (self.dialect.doubt(self._usage) if self._usage else None)

    def feed(self, chunk: bytes) -> None:
        """Read the next bytes of the answer."""
        self._pending += chunk
        if self.streamed:
            *events, self._pending = BETWEEN_EVENTS.split(self._pending)
            for event in events:
                self._take_event(event)

    def end(self) -> None:
        """Read what is left; called when the provider has closed the answer."""
        if self.streamed:
            self._take_event(self._pending)
        else:
            for message in messages(self._pending):
                self._take(message)
                self.finished = True
        self._pending = b""

    def _take_event(self, event: bytes) -> None:
        data = data_of(event)
        if data == DONE:
            self.finished = True
        for message in messages(data):
            self._take(message)
            self.finished = self.finished or self.dialect.finishes(message)

    def _take(self, message: Json) -> None:
        usage = self.dialect.raw_usage(message)
        if isinstance(usage, dict):
            # Several events of one stream may tell a usage. Each tells the sum so far, of all or of some counts, and
            # some providers put zeros where they repeat nothing: the largest count is the last one that was meant.
            self._doubt = self._doubt or doubt(usage, self.dialect.counts)
            _keep_largest(self._usage, usage)
        elif usage is not None:
            self._doubt = self._doubt or f"the usage is {type(usage).__name__} and no object"


def split_events(stream: bytes) -> list[bytes]:
    """The events of a stream, each with the blank line that ends it."""
    pieces, start = [], 0
    for match in BETWEEN_EVENTS.finditer(stream):
        pieces.append(stream[start : match.end()])
        start = match.end()
    return [*pieces, stream[start:]] if start < len(stream) else pieces


def data_of(event: bytes) -> str:
    """The data of one event, its lines joined."""
    lines = event.decode("utf-8", "replace").lstrip(codecs.BOM_UTF8.decode()).splitlines()
    return "\n".join(line[5:].removeprefix(" ") for line in lines if line.startswith("data:"))


def messages(text: str | bytes) -> list[Json]:
    """The JSON objects in a text: one, several in an array, or none."""
    try:
        value = json.loads(text)
    except ValueError:
        return []
    # Gemini streams a JSON array to a client that does not ask for events.
    return [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]


def _keep_largest(known: Json, told: dict[str, Any]) -> None:
    for name, value in told.items():
        if isinstance(value, dict):
            inner = known.setdefault(name, {})
            if isinstance(inner, dict):
                _keep_largest(inner, value)
        elif (number := whole(value)) is not None and not isinstance(known.get(name), dict):
            known[name] = max(known.get(name, 0), number)
