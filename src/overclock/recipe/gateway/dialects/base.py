"""What the gateway must know about a wire dialect: how calls are addressed, metered and read."""

import abc
import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import Any, ClassVar, Literal

from overclock.recipe.gateway.dialects.fields import Json, count
from overclock.recipe.gateway.dialects.reported import doubt
from overclock.recipe.gateway.dialects.unseen import unseen_tokens
from overclock.recipe.gateway.tokens import Tokens

# Tiers at the listed price or below it; the first two are what a request without any gets.
ORDINARY_TIERS = ("auto", "default", "standard", "standard_only", "flex")
DialectName = Literal["anthropic", "responses", "chat", "gemini"]
Operation = Literal["generate", "count"]


@dataclasses.dataclass(frozen=True)
class Entry:
    """One entry of a conversation: a prompt, a tool's result, or an answer with which the model ended its turn."""

    kind: Literal["prompt", "result", "final"]
    text: str = ""


@dataclasses.dataclass(frozen=True)
class Tool:
    """A tool that the agent offers. A free-form one takes plain text instead of a JSON object."""

    name: str
    schema: Mapping[str, Any]
    free_form: bool = False
    namespace: str | None = None


class Dialect(abc.ABC):
    """One provider's protocol: how its calls are metered, and how a recorded call is recognised."""

    name: DialectName
    prefix: str  # what a client's base URL ends in, and what the upstream's base URL includes as well
    key_header: tuple[str, str]  # how the provider wants its key: header, format
    # Fields of a request that cost more than its tokens, each with the values that do not.
    surcharges: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    @abc.abstractmethod
    def operation(self, path: str) -> Operation | None:
        """What a POST to this path asks for; None if it is not of this dialect."""

    @abc.abstractmethod
    def max_output(self, body: Json) -> int | None:
        """The most output tokens that the request allows one answer; None if it does not say."""

    @abc.abstractmethod
    def raw_usage(self, message: Json) -> Json | None:
        """The provider's usage object in a JSON answer or in one event of a stream."""

    @abc.abstractmethod
    def tokens(self, usage: Json) -> Tokens:
        """The counts of such an object."""

    @property
    @abc.abstractmethod
    def counts(self) -> Collection[str]:
        """The names of all counts that `tokens` reads or that only repeat others, with a dot where they are nested."""

    def doubt(self, usage: Json) -> str | None:
        """Why a whole usage cannot be what the call used, in words; None if it can."""
        wrong, told, total = doubt(usage, self.counts), self.tokens(usage), self.total(usage)
        if wrong is not None:
            return wrong
        if told.input == 0:
            return "the tokens of the prompt are missing"
        if not self.tells_output(usage):
            return "the tokens of the answer are missing"
        if told.cached + told.cache_write > told.input or told.reasoning > told.output:
            return "a part of the tokens is more than all of them"
        if total > told.input + told.output:
            return "its total is more than the tokens that it names"
        return None

    def total(self, usage: Json) -> int:
        """All tokens of the call, as the provider adds them up; 0 where it does not."""
        return count(usage, "total_tokens")

    @abc.abstractmethod
    def tells_output(self, usage: Json) -> bool:
        """Whether it says how long the answer was."""

    @abc.abstractmethod
    def finishes(self, event: Json) -> bool:
        """Whether this event of a stream says that the answer is complete."""

    def model(self, path: str, body: Json) -> str:
        """The name of the model, as the path or the body says it."""
        return str(body.get("model") or "")

    def streams(self, path: str, body: Json) -> bool:
        """Whether the answer is asked for as server-sent events."""
        return body.get("stream") is True

    def with_limit(self, body: Json, most: int) -> Json | None:
        """A request that sets no limit of its own, with one; None where a limit could make it invalid."""
        return None

    def alternatives(self, body: Json) -> int:
        """How many answers the request asks for; each is paid."""
        return 1

    def unseen_tokens(self, body: Json) -> int:
        """The most tokens of the prompt that the body's size does not show, because they lie elsewhere."""
        return unseen_tokens(body)

    def unmetered(self, body: Json) -> str | None:
        """Something in the request that is paid otherwise than by the tokens of its model; None if nothing is."""
        for name, ordinary in {"service_tier": ORDINARY_TIERS, **self.surcharges}.items():
            if body.get(name) and body[name] not in ordinary:
                return f"'{name}'"
        for tool in self.offered(body):
            if not isinstance(tool, dict) or not self.runs_at_the_agent(tool):
                kind = tool.get("type") or next(iter(tool), "") if isinstance(tool, dict) else tool
                return f"the tool '{kind}', which runs at the provider,"
        return None

    def offered(self, body: Json) -> list[Any]:
        """Every tool in the request, as it is written there."""
        tools = body.get("tools") or []
        return tools if isinstance(tools, list) else [tools]

    @abc.abstractmethod
    def runs_at_the_agent(self, tool: Json) -> bool:
        """Whether a tool is one that the agent runs itself; whatever is not known is not."""

    def to_forward(self, body: Json) -> Json:
        """The request as the provider must see it for its usage to be reported."""
        return body

    def hidden(self, event: Json) -> bool:
        """Whether an event is there only because of `to_forward` and must not reach the client."""
        return False

    @abc.abstractmethod
    def conversation(self, body: Json) -> Iterator[Entry]:
        """The entries of the conversation in the request, oldest first."""

    @abc.abstractmethod
    def tools(self, body: Json) -> Iterator[Tool]:
        """The tools that the request offers to the model."""
