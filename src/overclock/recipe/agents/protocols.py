"""Two protocols in which a model is asked over HTTP: OpenAI's chat completions and Anthropic's messages.

Both classes have the same methods: `headers` authenticates, `start` begins a conversation with a prompt, `request` is
the body of the next call, `answer` reads what came back (UnreadableError if it cannot), and `results` tells the model
what its tools returned.
"""

import dataclasses
import json
from typing import Any

from overclock.recipe.agents.output_fields import UnreadableError, count, counted, usage_of, words
from overclock.recipe.agents.tools import ToolDescription
from overclock.recipe.gateway.dialects.fields import Json
from overclock.recipe.gateway.usage import Usage

Results = list[tuple["Call", str, bool]]  # what a tool returned, and whether that is an error
Message = Json  # of a conversation, as the provider defines it
OUTPUT_TOKENS = 32_000  # of one answer; Anthropic wants to be told


@dataclasses.dataclass(frozen=True)
class Call:
    """A tool call of the model; `arguments` is None where they are not JSON."""

    id: str
    name: str
    arguments: Any


@dataclasses.dataclass(frozen=True)
class Answer:
    """One answer of the model, as text and tool calls."""

    text: str
    calls: tuple[Call, ...]
    message: Message  # as it goes back into the conversation
    usage: Usage | None
    cut: bool  # it ran into the limit of its length


class OpenAI:
    """Chat completions, as OpenAI and everybody compatible with it offers them."""

    path, host = "/v1/chat/completions", "https://api.openai.com"
    key_variable, url_variable = "OPENAI_API_KEY", "OPENAI_BASE_URL"

    def headers(self, api_key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {api_key}"}

    def start(self, prompt: str) -> list[Message]:
        return [{"role": "user", "content": prompt}]

    def request(self, model: str, messages: list[Message], tools: dict[str, ToolDescription]) -> Json:
        functions = [
            {"type": "function", "function": {"name": name, "description": text, "parameters": schema}}
            for name, (text, schema) in tools.items()
        ]
        return {"model": model, "messages": messages, "tools": functions}

    def answer(self, body: Any) -> Answer:
        try:
            choice = body["choices"][0]
            message = choice["message"]
            calls = tuple(
                Call(call["id"], call["function"]["name"], _parsed(call["function"]["arguments"]))
                for call in message.get("tool_calls") or ()
            )
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise UnreadableError from error
        usage = usage_of(lambda: _openai_usage(body["usage"]))
        kept = {key: message[key] for key in ("content", "tool_calls") if message.get(key)}
        kept = {"role": "assistant", "content": None, **kept}
        return Answer(words(message.get("content")), calls, kept, usage, choice.get("finish_reason") == "length")

    def results(self, results: Results) -> list[Message]:
        return [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text, _ in results]


class Anthropic:
    """Messages, as Anthropic offers them."""

    path, host = "/v1/messages", "https://api.anthropic.com"
    key_variable, url_variable = "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"

    def headers(self, api_key: str) -> dict[str, str]:
        return {"x-api-key": api_key, "anthropic-version": "2023-06-01"}

    def start(self, prompt: str) -> list[Message]:
        # Every turn sends the prompt again; marked like this, all but the first are charged at the cache's price.
        block = {"type": "text", "text": prompt, "cache_control": {"type": "ephemeral"}}
        return [{"role": "user", "content": [block]}]

    def request(self, model: str, messages: list[Message], tools: dict[str, ToolDescription]) -> Json:
        described = [
            {"name": name, "description": text, "input_schema": schema} for name, (text, schema) in tools.items()
        ]
        return {"model": model, "max_tokens": OUTPUT_TOKENS, "messages": messages, "tools": described}

    def answer(self, body: Any) -> Answer:
        try:
            blocks = body["content"]
            text = "\n".join(block["text"] for block in blocks if block["type"] == "text")
            calls = tuple(Call(b["id"], b["name"], b["input"]) for b in blocks if b["type"] == "tool_use")
            cut = body.get("stop_reason") == "max_tokens"
        except (KeyError, TypeError, AttributeError) as error:
            raise UnreadableError from error
        usage = usage_of(lambda: _anthropic_usage(body["usage"]))
        return Answer(text, calls, {"role": "assistant", "content": blocks}, usage, cut)

    def results(self, results: Results) -> list[Message]:
        blocks = [
            {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": wrong}
            for call, text, wrong in results
        ]
        return [{"role": "user", "content": blocks}]


PROTOCOLS: dict[str, OpenAI | Anthropic] = {"openai": OpenAI(), "anthropic": Anthropic()}


def _parsed(arguments: Any) -> Any:
    try:
        return json.loads(arguments or "{}")
    except (ValueError, TypeError, RecursionError):
        return None


def _openai_usage(tokens: Json) -> Usage:
    cached = (tokens.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    reasoning = (tokens.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    return counted(
        1, count(tokens["prompt_tokens"]), count(cached), 0, count(tokens["completion_tokens"]), count(reasoning)
    )


def _anthropic_usage(tokens: Json) -> Usage:
    read = count(tokens.get("cache_read_input_tokens") or 0)
    written = count(tokens.get("cache_creation_input_tokens") or 0)
    return counted(1, count(tokens["input_tokens"]) + read + written, read, written, count(tokens["output_tokens"]))
