"""How a provider answers in each dialect: the counterpart of the gateway's dialects, which only read such answers."""

import dataclasses
import json
from collections.abc import Iterator
from typing import Any

from overclock.recipe.gateway.dialects.base import Tool
from overclock.recipe.gateway.dialects.fields import Json
from overclock.recipe.gateway.tokens import Tokens

UNFILLED = ("content", "arguments", "input")  # what an item of a Responses stream lacks when it is announced


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


def sse(data: Json | str, event: str | None = None) -> bytes:
    """The bytes of one server-sent event, with its name if it has one."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return ((f"event: {event}\n" if event else "") + f"data: {text}\n\n").encode()


class _Anthropic:
    def wanted_schema(self, body: Json) -> Json | None:
        form = body.get("output_format") or (body.get("output_config") or {}).get("format") or {}
        return form.get("schema")

    def answer(self, reply: Reply) -> Json:
        return {
            **self._opening(reply),
            "content": [{**self._empty_block(reply), **self._filling(reply)}],
            "stop_reason": self._stop_reason(reply),
            "usage": self._usage(reply),
        }

    def events(self, reply: Reply) -> Iterator[bytes]:
        opening = {**self._opening(reply), "usage": {**self._usage(reply), "output_tokens": 1}}
        if reply.tool:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
        else:
            delta = {"type": "text_delta", "text": reply.text}
        ending = {"stop_reason": self._stop_reason(reply), "stop_sequence": None}
        for event in (
            {"type": "message_start", "message": opening},
            {"type": "content_block_start", "index": 0, "content_block": self._empty_block(reply)},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ending, "usage": {"output_tokens": reply.tokens.output}},
            {"type": "message_stop"},
        ):
            yield sse(event, event=event["type"])

    def counted(self, tokens: int) -> Json:
        return {"input_tokens": tokens}

    @staticmethod
    def _opening(reply: Reply) -> Json:
        return {
            "id": f"msg_{reply.number}",
            "type": "message",
            "role": "assistant",
            "model": reply.model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
        }

    @staticmethod
    def _empty_block(reply: Reply) -> Json:
        if reply.tool:
            return {"type": "tool_use", "id": reply.id, "name": reply.tool.name, "input": {}}
        return {"type": "text", "text": ""}

    @staticmethod
    def _filling(reply: Reply) -> Json:
        return {"input": reply.arguments} if reply.tool else {"text": reply.text}

    @staticmethod
    def _stop_reason(reply: Reply) -> str:
        return "tool_use" if reply.tool else "end_turn"

    @staticmethod
    def _usage(reply: Reply) -> Json:
        tokens = reply.tokens
        return {
            "input_tokens": tokens.input - tokens.cached - tokens.cache_write,
            "cache_read_input_tokens": tokens.cached,
            "cache_creation_input_tokens": tokens.cache_write,
            "cache_creation": {"ephemeral_1h_input_tokens": tokens.cache_write_hour},
            "output_tokens": tokens.output,
        }


def _openai_usage(reply: Reply, asked: str, answered: str) -> Json:
    tokens = reply.tokens
    return {
        asked: tokens.input,
        f"{asked}_details": {"cached_tokens": tokens.cached, "cache_write_tokens": tokens.cache_write},
        answered: tokens.output,
        f"{answered}_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.input + tokens.output,
    }


class _Chat:
    def _usage(self, reply: Reply) -> Json:
        return _openai_usage(reply, "prompt_tokens", "completion_tokens")

    def wanted_schema(self, body: Json) -> Json | None:
        return ((body.get("response_format") or {}).get("json_schema") or {}).get("schema")

    def answer(self, reply: Reply) -> Json:
        message = {"role": "assistant", "content": reply.text or None, **self._tool_calls(reply)}
        choice = {"index": 0, "message": message, "finish_reason": self._finish_reason(reply)}
        return {
            **self._head(reply, "chat.completion"),
            "choices": [choice],
            "usage": _openai_usage(reply, "prompt_tokens", "completion_tokens"),
        }

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


class _Gemini:
    def wanted_schema(self, body: Json) -> Json | None:
        settings = body.get("generationConfig") or {}
        return settings.get("responseJsonSchema") or settings.get("responseSchema")

    def answer(self, reply: Reply) -> Json:
        tokens = reply.tokens
        part = {"text": reply.text}
        if reply.tool:
            part = {"functionCall": {"id": reply.id, "name": reply.tool.name, "args": reply.arguments}}
        return {
            "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
            "usageMetadata": {
                "promptTokenCount": tokens.input,
                "cachedContentTokenCount": tokens.cached,
                "candidatesTokenCount": tokens.output - tokens.reasoning,
                "thoughtsTokenCount": tokens.reasoning,
                "totalTokenCount": tokens.input + tokens.output,
            },
            "modelVersion": reply.model,
            "responseId": f"resp_{reply.number}",
        }

    def events(self, reply: Reply) -> Iterator[bytes]:
        yield sse(self.answer(reply))

    def counted(self, tokens: int) -> Json:
        return {"totalTokens": tokens}


class _Responses:
    def wanted_schema(self, body: Json) -> Json | None:
        return ((body.get("text") or {}).get("format") or {}).get("schema")

    def answer(self, reply: Reply) -> Json:
        return {
            **self._response(reply, "completed"),
            "output": [self._item(reply)],
            "usage": _openai_usage(reply, "input_tokens", "output_tokens"),
        }

    def events(self, reply: Reply) -> Iterator[bytes]:
        item = self._item(reply)
        beginning = {"status": "in_progress", **{key: type(item[key])() for key in UNFILLED if key in item}}
        place = {"output_index": 0, "item_id": item["id"]}
        events: list[Json] = [
            {"type": "response.created", "response": self._response(reply, "in_progress")},
            {"type": "response.output_item.added", "output_index": 0, "item": {**item, **beginning}},
        ]
        if not reply.tool:
            events.append({"type": "response.output_text.delta", **place, "content_index": 0, "delta": reply.text})
        events += [
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": self.answer(reply)},
        ]
        for number, event in enumerate(events):
            yield sse({**event, "sequence_number": number}, event=event["type"])

    def counted(self, tokens: int) -> Json:
        return {"object": "response.input_tokens", "input_tokens": tokens}

    @staticmethod
    def _response(reply: Reply, status: str) -> Json:
        return {
            "id": f"resp_{reply.number}",
            "object": "response",
            "model": reply.model,
            "status": status,
            "output": [],
            "usage": None,
        }

    @staticmethod
    def _item(reply: Reply) -> Json:
        if reply.tool is None:
            content = [{"type": "output_text", "text": reply.text, "annotations": []}]
            head = {"type": "message", "id": f"msg_{reply.number}", "role": "assistant"}
            return {**head, "status": "completed", "content": content}
        head = {"status": "completed", "call_id": reply.id, "name": reply.tool.name}
        if reply.tool.free_form:
            return {"type": "custom_tool_call", "id": f"ctc_{reply.number}", **head, "input": reply.arguments}
        if reply.tool.namespace:
            head["namespace"] = reply.tool.namespace
        return {"type": "function_call", "id": f"fc_{reply.number}", **head, "arguments": json.dumps(reply.arguments)}


WRITERS = {"anthropic": _Anthropic(), "chat": _Chat(), "gemini": _Gemini(), "responses": _Responses()}
