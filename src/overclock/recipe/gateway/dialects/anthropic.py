"""Anthropic Messages: Claude Code and every Claude model."""

from collections.abc import Collection, Iterator
from typing import ClassVar

from overclock.recipe.gateway.dialects.base import Dialect, Entry, Operation, Tool
from overclock.recipe.gateway.dialects.fields import Json, count, objects, text_of, whole_number
from overclock.recipe.gateway.tokens import Tokens

RUN_BY_AGENTS = ("bash_", "text_editor_", "computer_", "memory_")  # Anthropic's own tools of which this is true
COMPACTION = "compact"  # begins the edits that ask the model once more, whose tokens the usage leaves out


class Anthropic(Dialect):
    """The dialect of POST .../v1/messages and .../v1/messages/count_tokens."""

    name = "anthropic"
    prefix = ""
    key_header = ("x-api-key", "{}")
    surcharges: ClassVar = {"speed": ("standard",), "inference_geo": ("global",), "mcp_servers": (), "container": ()}

    def operation(self, path: str) -> Operation | None:
        if path.endswith("/messages"):
            return "generate"
        return "count" if path.endswith("/messages/count_tokens") else None

    def max_output(self, body: Json) -> int | None:
        return whole_number(body.get("max_tokens"))

    def unmetered(self, body: Json) -> str | None:
        edits = body.get("context_management")
        for edit in objects(edits.get("edits") if isinstance(edits, dict) else None):
            if str(edit.get("type")).startswith(COMPACTION):
                return "'context_management' with a compaction"
        return super().unmetered(body)

    def runs_at_the_agent(self, tool: Json) -> bool:
        kind = tool.get("type") or "custom"
        return kind == "custom" or str(kind).startswith(RUN_BY_AGENTS)

    def raw_usage(self, message: Json) -> Json | None:
        inner = message.get("message")  # of message_start; message_delta and a whole answer have it at the top
        return (inner if isinstance(inner, dict) else message).get("usage")

    def tokens(self, usage: Json) -> Tokens:
        # Here alone input_tokens leaves out what was read from or written to the cache.
        read, written = count(usage, "cache_read_input_tokens"), count(usage, "cache_creation_input_tokens")
        return Tokens(
            input=count(usage, "input_tokens") + read + written,
            cached=read,
            cache_write=written,
            cache_write_hour=count(usage, "cache_creation", "ephemeral_1h_input_tokens"),
            output=count(usage, "output_tokens"),
            reasoning=count(usage, "output_tokens_details", "thinking_tokens"),
        )

    @property
    def counts(self) -> Collection[str]:
        return {
            *("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
            *("cache_creation.ephemeral_5m_input_tokens", "cache_creation.ephemeral_1h_input_tokens"),
            "output_tokens_details.thinking_tokens",
        }

    def tells_output(self, usage: Json) -> bool:
        return "output_tokens" in usage

    def finishes(self, event: Json) -> bool:
        return event.get("type") == "message_stop" or bool((event.get("delta") or {}).get("stop_reason"))

    def conversation(self, body: Json) -> Iterator[Entry]:
        for message in objects(body.get("messages")):
            content = message.get("content")
            kinds = [part.get("type") for part in objects(content)]
            if message.get("role") == "assistant":
                if "tool_use" not in kinds:
                    yield Entry("final", text_of(content))
                continue
            yield from (Entry("result") for kind in kinds if kind == "tool_result")
            if text := text_of(content):
                yield Entry("prompt", text)

    def tools(self, body: Json) -> Iterator[Tool]:
        for tool in objects(body.get("tools")):
            if "input_schema" in tool:  # the provider's own tools have none, and are not ours to call
                yield Tool(tool["name"], tool["input_schema"])
