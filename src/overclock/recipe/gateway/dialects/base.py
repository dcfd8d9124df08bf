"""What the gateway must know about a wire dialect: how calls are addressed, counted, read and written."""

import abc
import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from overclock.recipe.gateway.tokens import Tokens

DialectName = Literal["anthropic", "responses", "chat", "gemini"]
Operation = Literal["generate", "count"]
Json = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Said:
    """One entry of a conversation: a person's text, a tool's result, or an answer of the model that ended its turn."""

    kind: Literal["prompt", "result", "final"]
    text: str = ""


@dataclasses.dataclass(frozen=True)
class Tool:
    """A tool that the agent offers. A free-form one takes plain text instead of a JSON object."""

    name: str
    schema: Mapping[str, Any]
    free_form: bool = False
    namespace: str | None = None


@dataclasses.dataclass(frozen=True)
class Reply:
    """What a scripted model says: a text, or one tool call."""

    model: str
    tokens: Tokens
    number: int  # of the reply within its conversation, so that call ids are unique there and equal in every run
    text: str = ""
    tool: Tool | None = None
    arguments: Any = None

    @property
    def id(self) -> str:
        """The id of the tool call."""
        return f"call_{self.number}"


class Dialect(abc.ABC):
    """One provider's protocol. The first group of methods serves metering, the second the scripted model."""

    name: DialectName
    prefix: str  # what a client's base URL ends in, and what the upstream's base URL includes as well
    key_header: tuple[str, str]  # how the provider wants its key: header, format

    @abc.abstractmethod
    def operation(self, path: str) -> Operation | None:
        """What a POST to this path asks for; None if it is not of this dialect."""

    @abc.abstractmethod
    def max_output(self, body: Json) -> int | None:
        """The most output tokens the request allows, over all its alternatives; None if it does not say."""

    @abc.abstractmethod
    def raw_usage(self, message: Json) -> Json | None:
        """The provider's usage object in a JSON answer or in one event of a stream."""

    @abc.abstractmethod
    def tokens(self, usage: Json) -> Tokens:
        """The counts of such an object."""

    @abc.abstractmethod
    def finishes(self, event: Json) -> bool:
        """Whether this event of a stream says that the answer is complete."""

    def model(self, path: str, body: Json) -> str:
        """The model's name."""
        return str(body.get("model") or "")

    def streams(self, path: str, body: Json) -> bool:
        """Whether the answer is asked for as server-sent events."""
        return body.get("stream") is True

    def limited(self, body: Json, most: int) -> Json | None:
        """A request that sets no limit of its own, with one; None where a limit could make it invalid."""
        return None

    def hides_prompt(self, body: Json) -> bool:
        """Whether part of the prompt lies at the provider, so that the body's size says too little."""
        return False

    def to_forward(self, body: Json) -> Json:
        """The request as the provider must see it for its usage to be reported."""
        return body

    def hidden(self, event: Json) -> bool:
        """Whether an event is there only because of `to_forward` and must not reach the client."""
        return False

    @abc.abstractmethod
    def said(self, body: Json) -> Iterator[Said]:
        """The conversation, oldest first."""

    @abc.abstractmethod
    def tools(self, body: Json) -> Iterator[Tool]:
        """The tools on offer."""

    @abc.abstractmethod
    def wanted_schema(self, body: Json) -> Json | None:
        """The JSON schema that the answer's text must fit, if any."""

    @abc.abstractmethod
    def answer(self, reply: Reply) -> Json:
        """A whole answer."""

    @abc.abstractmethod
    def events(self, reply: Reply) -> Iterator[bytes]:
        """The same answer as a stream of events."""

    @abc.abstractmethod
    def counted(self, tokens: int) -> Json:
        """The answer to a count of tokens."""


def sse(data: Json | str, event: str | None = None) -> bytes:
    """One server-sent event."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return ((f"event: {event}\n" if event else "") + f"data: {text}\n\n").encode()


def count(usage: Any, *names: str) -> int:
    """A count inside nested objects; 0 where it is missing or null."""
    for name in names:
        usage = usage.get(name) if isinstance(usage, dict) else None
    return usage if isinstance(usage, int) else 0


def whole_number(value: Any) -> int | None:
    """A positive whole number of a request; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def objects(value: Any) -> list[Json]:
    """The objects of a list; nothing for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(content: Any) -> str:
    """The text of a message whose content is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in objects(content) if "text" in part)
