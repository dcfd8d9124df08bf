"""One parsed request of an agent: what it asks for, the most it can cost, and which secrets it carries."""

import dataclasses
import json
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit

from overclock.recipe.gateway.dialects import Dialect, Json, recognise
from overclock.recipe.gateway.dialects.base import Operation
from overclock.recipe.gateway.prices import MAX_OUTPUT, ModelPrice
from overclock.recipe.gateway.usage import Usage

SHORTEST_SECRET = 8  # blanking anything shorter would blank ordinary text
REDACTED = "[key]"
BYTES_PER_TOKEN = 3
ONE_EACH = b"0123456789" + bytes(range(0x80, 0x100))  # digits, and what is not ASCII


class BadCallError(Exception):
    """The request cannot be served; the message says why, `status` is the HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclasses.dataclass(frozen=True)
class Worst:
    """The most that a call can use: tokens of its prompt and of its answers, and dollars where there is a price."""

    prompt: int
    answer: int
    dollars: float | None

    @property
    def tokens(self) -> int:
        """The tokens of the prompt and of the answers together."""
        return self.prompt + self.answer

    def usage(self) -> Usage:
        """One call that used all of it."""
        return Usage(calls=1, input_tokens=self.prompt, output_tokens=self.answer, dollars=self.dollars)


@dataclasses.dataclass(frozen=True)
class Call:
    """A POST request in one of the dialects. Header names are lower case."""

    dialect: Dialect
    operation: Operation
    path: str
    query: str  # without a key
    headers: Mapping[str, str]
    body: bytes
    json: Json
    key: str | None  # what the agent presented as its API key
    limit: int | None = None  # output tokens, set by the gateway because the request sets none

    @classmethod
    def parse(cls, target: str, headers: Mapping[str, str], body: bytes) -> "Call":
        """Parse a request; raises BadCallError for one that cannot be metered."""
        address = urlsplit(target)
        known = recognise(address.path)
        if known is None:
            raise BadCallError(
                404,
                f"The gateway forwards only calls that it can meter, and '{address.path}' is none: it serves "
                "/messages, /responses, /chat/completions and /models/NAME:generateContent.",
            )
        try:
            content = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BadCallError(400, "The request's body is not JSON.") from error
        if not isinstance(content, dict):
            raise BadCallError(400, "The request's body is not a JSON object.")
        query = parse_qsl(address.query, keep_blank_values=True)
        rest = urlencode([(name, value) for name, value in query if name != "key"])
        return cls(*known, address.path, rest, headers, body, content, _key(headers, dict(query)))

    @property
    def model(self) -> str:
        """The name of the model, as the path or the body says it."""
        return self.dialect.model(self.path, self.json)

    @property
    def streams(self) -> bool:
        """Whether the answer is asked for as a stream of events."""
        return self.dialect.streams(self.path, self.json)

    def with_limit(self, most: int) -> "Call":
        """The same call with a limit of output tokens, if it has none and can have one."""
        if self.dialect.max_output(self.json) is None and self.dialect.with_limit(self.json, most) is not None:
            return dataclasses.replace(self, limit=most)
        return self

    def forwarded(self) -> bytes:
        """The body as the provider must see it, so that the limit holds and the usage is reported."""
        content = self.json
        if self.limit is not None:
            content = self.dialect.with_limit(content, self.limit) or content
        content = self.dialect.to_forward(content)
        # Written anew: of a name that comes twice in the agent's bytes we read the last, and a provider may the first.
        return json.dumps(content).encode()

    def worst(self, price: ModelPrice | None) -> Worst:
        """The most that the call can use, and what that costs where there is a price.

        The prompt is taken as one token for every digit of the body (some tokenizers split numbers that way), one for
        every byte of rare characters, and one for every three bytes of anything else, which is more than text, code and
        JSON have, at the dearest price of a prompt; and what lies elsewhere as the longest prompt that there can be.
        Each answer is taken at the limit that the request sets, or the gateway for it, or else the model itself.
        """
        rest = len(self.body.translate(None, ONE_EACH))
        prompt = len(self.body) - rest + -(-rest // BYTES_PER_TOKEN) + self.dialect.unseen_tokens(self.json)
        most = MAX_OUTPUT if price is None else price.max_output
        answer = (self.dialect.max_output(self.json) or self.limit or most) * self.dialect.alternatives(self.json)
        return Worst(prompt, answer, None if price is None else price.worst(prompt, answer))


def redacted(body: bytes, secrets: tuple[str | None, ...]) -> str:
    """A body without secrets, to be recorded: an agent may print its own key into the conversation."""
    text = body.decode("utf-8", "backslashreplace")
    for secret in secrets:
        if secret and len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, REDACTED)
    return text


def _key(headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
    bearer = headers.get("authorization", "")
    if bearer.lower().startswith("bearer "):
        return bearer[len("bearer ") :].strip()
    return headers.get("x-api-key") or headers.get("x-goog-api-key") or query.get("key")
