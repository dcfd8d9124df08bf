"""OpenAI Responses: the dialect in which Codex calls its model."""

from collections.abc import Iterator
from typing import Any

from overclock.recipe.gateway.dialects.base import Entry, Operation, Tool
from overclock.recipe.gateway.dialects.fields import Json, objects, text_of, whole_number
from overclock.recipe.gateway.dialects.openai import OpenAI
from overclock.recipe.gateway.dialects.unseen import LONGEST_PROMPT

REFERENCE = "item_reference"
RUN_BY_AGENTS = ("function", "custom", "local_shell", "apply_patch")
ENDINGS = ("response.completed", "response.incomplete", "response.failed")


class Responses(OpenAI):
    """The dialect of POST .../responses."""

    name = "responses"
    input_count, output_count = "input_tokens", "output_tokens"

    def operation(self, path: str) -> Operation | None:
        return "generate" if path.endswith("/responses") else None

    def max_output(self, body: Json) -> int | None:
        return whole_number(body.get("max_output_tokens"))

    def with_limit(self, body: Json, most: int) -> Json | None:
        return {**body, "max_output_tokens": most}

    def unseen_tokens(self, body: Json) -> int:
        kept = body.get("previous_response_id") or body.get("conversation") or body.get("prompt")
        # An item without a role and a type stands for one that the provider keeps.
        named = any(
            (item.get("type") or REFERENCE) == REFERENCE and not item.get("role") for item in objects(body.get("input"))
        )
        return LONGEST_PROMPT if kept or named else super().unseen_tokens(body)

    def offered(self, body: Json) -> list[Any]:
        # For its newest models Codex puts tools into the conversation.
        written = super().offered
        return [tool for place in (body, *objects(body.get("input"))) for tool in written(place)]

    def runs_at_the_agent(self, tool: Json) -> bool:
        kind = tool.get("type")
        if kind == "namespace":
            return all(self.runs_at_the_agent(inner) for inner in objects(tool.get("tools")))
        return kind in RUN_BY_AGENTS or (kind == "tool_search" and tool.get("execution") == "client")

    def raw_usage(self, message: Json) -> Json | None:
        inner = message.get("response")
        return (inner if isinstance(inner, dict) else message).get("usage")

    def finishes(self, event: Json) -> bool:
        return event.get("type") in ENDINGS

    def conversation(self, body: Json) -> Iterator[Entry]:
        given = body.get("input")
        if isinstance(given, str):
            yield Entry("prompt", given)
        for item in objects(given):
            kind = str(item.get("type", "message"))
            if kind.endswith("_call_output"):
                yield Entry("result")
            elif kind == "message" and item.get("role") in ("user", "assistant"):
                yield Entry("prompt" if item["role"] == "user" else "final", text_of(item.get("content")))

    def tools(self, body: Json) -> Iterator[Tool]:
        for tool in objects(body.get("tools")):
            if tool.get("type") == "namespace":
                for inner in objects(tool.get("tools")):
                    yield Tool(inner["name"], inner.get("parameters") or {}, namespace=tool["name"])
            elif tool.get("type") == "function":
                yield Tool(tool["name"], tool.get("parameters") or {})
            elif tool.get("type") == "custom":
                yield Tool(tool["name"], {}, free_form=True)
