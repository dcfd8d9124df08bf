"""OpenAI Chat Completions: Qwen Code, opencode, aider, and almost every local server."""

from collections.abc import Iterator
from typing import ClassVar

from overclock.recipe.gateway.dialects.base import Entry, Operation, Tool
from overclock.recipe.gateway.dialects.fields import Json, number_of, objects, text_of, whole_number
from overclock.recipe.gateway.dialects.openai import OpenAI


class Chat(OpenAI):
    """The dialect of POST .../chat/completions."""

    name = "chat"
    input_count, output_count = "prompt_tokens", "completion_tokens"
    # Searches of OpenAI, OpenRouter, xAI and Alibaba; other models than the one that is named; spoken answers.
    surcharges: ClassVar = {
        **dict.fromkeys(("web_search_options", "plugins", "search_parameters", "enable_search"), ()),
        **dict.fromkeys(("models", "fallbacks", "audio"), ()),
        "modalities": (["text"],),
    }

    def operation(self, path: str) -> Operation | None:
        return "generate" if path.endswith("/chat/completions") else None

    def max_output(self, body: Json) -> int | None:
        # A server may know only one of the two names.
        limits = [whole_number(body.get(name)) for name in ("max_completion_tokens", "max_tokens")]
        return max((limit for limit in limits if limit), default=None)

    def alternatives(self, body: Json) -> int:
        return number_of(body.get("n"))

    def runs_at_the_agent(self, tool: Json) -> bool:
        return tool.get("type", "function") in ("function", "custom")

    def raw_usage(self, message: Json) -> Json | None:
        return message.get("usage")

    def finishes(self, event: Json) -> bool:
        return any(choice.get("finish_reason") for choice in objects(event.get("choices")))

    def to_forward(self, body: Json) -> Json:
        # A stream tells its usage only when asked to.
        if body.get("stream") is not True or self._asks_for_usage(body):
            return body
        return {**body, "stream_options": {**(body.get("stream_options") or {}), "include_usage": True}}

    def hidden(self, event: Json) -> bool:
        return event.get("choices") == [] and "usage" in event

    @staticmethod
    def _asks_for_usage(body: Json) -> bool:
        return bool((body.get("stream_options") or {}).get("include_usage"))

    def conversation(self, body: Json) -> Iterator[Entry]:
        for message in objects(body.get("messages")):
            role, text = message.get("role"), text_of(message.get("content"))
            if role == "user":
                yield Entry("prompt", text)
            elif role == "tool":
                yield Entry("result")
            elif role == "assistant" and not message.get("tool_calls"):
                yield Entry("final", text)

    def tools(self, body: Json) -> Iterator[Tool]:
        for tool in objects(body.get("tools")):
            if function := tool.get("function"):
                yield Tool(function["name"], function.get("parameters") or {})
