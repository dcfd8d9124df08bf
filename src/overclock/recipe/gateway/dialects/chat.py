"""OpenAI Chat Completions: Qwen Code, opencode, aider, and almost every local server."""

import json
from collections.abc import Iterator

from overclock.recipe.gateway.dialects.base import (
    Dialect,
    Json,
    Operation,
    Reply,
    Said,
    Tool,
    count,
    objects,
    sse,
    text_of,
    whole_number,
)
from overclock.recipe.gateway.tokens import Tokens


class Chat(Dialect):
    """POST .../chat/completions."""

    name = "chat"
    prefix = "/v1"
    key_header = ("authorization", "Bearer {}")

    def operation(self, path: str) -> Operation | None:
        return "generate" if path.endswith("/chat/completions") else None

    def max_output(self, body: Json) -> int | None:
        most = whole_number(body.get("max_completion_tokens")) or whole_number(body.get("max_tokens"))
        return most and most * (whole_number(body.get("n")) or 1)

    def raw_usage(self, message: Json) -> Json | None:
        return message.get("usage")

    def tokens(self, usage: Json) -> Tokens:
        return Tokens(
            input=count(usage, "prompt_tokens"),
            cached=count(usage, "prompt_tokens_details", "cached_tokens"),
            cache_write=count(usage, "prompt_tokens_details", "cache_write_tokens"),
            output=count(usage, "completion_tokens"),
            reasoning=count(usage, "completion_tokens_details", "reasoning_tokens"),
        )

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

    def said(self, body: Json) -> Iterator[Said]:
        for message in objects(body.get("messages")):
            role, text = message.get("role"), text_of(message.get("content"))
            if role == "user":
                yield Said("prompt", text)
            elif role == "tool":
                yield Said("result")
            elif role == "assistant" and not message.get("tool_calls"):
                yield Said("final", text)

    def tools(self, body: Json) -> Iterator[Tool]:
        for tool in objects(body.get("tools")):
            if function := tool.get("function"):
                yield Tool(function["name"], function.get("parameters") or {})

    def wanted_schema(self, body: Json) -> Json | None:
        return ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")

    def answer(self, reply: Reply) -> Json:
        message = {"role": "assistant", "content": reply.text or None, **self._tool_calls(reply)}
        choice = {"index": 0, "message": message, "finish_reason": self._finish_reason(reply)}
        return {**self._head(reply, "chat.completion"), "choices": [choice], "usage": self._usage(reply)}

    def events(self, reply: Reply) -> Iterator[bytes]:
        head = self._head(reply, "chat.completion.chunk")
        delta = {"role": "assistant", "content": reply.text or None, **self._tool_calls(reply)}
        yield sse({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]})
        yield sse({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": self._finish_reason(reply)}]})
        yield sse({**head, "choices": [], "usage": self._usage(reply)})
        yield sse("[DONE]")

    def counted(self, tokens: int) -> Json:
        return {"total_tokens": tokens}

    @staticmethod
    def _head(reply: Reply, kind: str) -> Json:
        return {"id": f"chatcmpl-{reply.number}", "object": kind, "created": 0, "model": reply.model}

    @staticmethod
    def _tool_calls(reply: Reply) -> Json:
        if not reply.tool:
            return {}
        function = {"name": reply.tool.name, "arguments": json.dumps(reply.arguments)}
        return {"tool_calls": [{"index": 0, "id": reply.id, "type": "function", "function": function}]}

    @staticmethod
    def _finish_reason(reply: Reply) -> str:
        return "tool_calls" if reply.tool else "stop"

    @staticmethod
    def _usage(reply: Reply) -> Json:
        tokens = reply.tokens
        return {
            "prompt_tokens": tokens.input,
            "prompt_tokens_details": {"cached_tokens": tokens.cached, "cache_write_tokens": tokens.cache_write},
            "completion_tokens": tokens.output,
            "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
            "total_tokens": tokens.input + tokens.output,
        }
