"""Gemini generateContent and streamGenerateContent: Gemini CLI."""

import re
from collections.abc import Collection, Iterator
from typing import ClassVar

from overclock.recipe.gateway.dialects.base import ORDINARY_TIERS, Dialect, Entry, Operation, Tool
from overclock.recipe.gateway.dialects.fields import Json, count, number_of, objects, text_of, whole_number
from overclock.recipe.gateway.dialects.unseen import LONGEST_PROMPT
from overclock.recipe.gateway.tokens import Tokens

ADDRESS = re.compile(r"/models/(?P<model>[^/:]+):(?P<verb>generateContent|streamGenerateContent|countTokens)$")


class Gemini(Dialect):
    """The dialect of POST .../models/MODEL:VERB, with the verbs of ADDRESS."""

    name = "gemini"
    prefix = ""
    key_header = ("x-goog-api-key", "{}")
    surcharges: ClassVar = {"serviceTier": ORDINARY_TIERS}

    def operation(self, path: str) -> Operation | None:
        match = ADDRESS.search(path)
        return match and ("count" if match["verb"] == "countTokens" else "generate")

    def model(self, path: str, body: Json) -> str:
        match = ADDRESS.search(path)
        return match["model"] if match else ""

    def streams(self, path: str, body: Json) -> bool:
        return path.endswith(":streamGenerateContent")

    def max_output(self, body: Json) -> int | None:
        return whole_number(_settings(body).get("maxOutputTokens"))

    def alternatives(self, body: Json) -> int:
        return number_of(_settings(body).get("candidateCount"))

    def with_limit(self, body: Json, most: int) -> Json | None:
        return {**body, "generationConfig": {**_settings(body), "maxOutputTokens": most}}

    def unseen_tokens(self, body: Json) -> int:
        return LONGEST_PROMPT if body.get("cachedContent") else super().unseen_tokens(body)

    def unmetered(self, body: Json) -> str | None:
        # The provider also takes names in its own spelling, in which a limit or a count would not be seen here.
        own = next((name for name in (*body, *_settings(body)) if "_" in name), None)
        return f"'{own}', for which there is a name without '_'," if own else super().unmetered(body)

    def runs_at_the_agent(self, tool: Json) -> bool:
        return set(tool) <= {"functionDeclarations"}

    def raw_usage(self, message: Json) -> Json | None:
        return message.get("usageMetadata")

    def tokens(self, usage: Json) -> Tokens:
        thoughts = count(usage, "thoughtsTokenCount")  # not among the candidates' tokens, but paid like them
        return Tokens(
            input=count(usage, "promptTokenCount") + count(usage, "toolUsePromptTokenCount"),
            cached=count(usage, "cachedContentTokenCount"),
            output=count(usage, "candidatesTokenCount") + thoughts,
            reasoning=thoughts,
        )

    @property
    def counts(self) -> Collection[str]:
        return {
            *("promptTokenCount", "toolUsePromptTokenCount", "cachedContentTokenCount", "candidatesTokenCount"),
            *("thoughtsTokenCount", "totalTokenCount"),
        }

    def total(self, usage: Json) -> int:
        return count(usage, "totalTokenCount")

    def tells_output(self, usage: Json) -> bool:
        return any(name in usage for name in ("candidatesTokenCount", "thoughtsTokenCount", "totalTokenCount"))

    def finishes(self, event: Json) -> bool:
        blocked = isinstance(event.get("promptFeedback"), dict) and "blockReason" in event["promptFeedback"]
        return blocked or any(candidate.get("finishReason") for candidate in objects(event.get("candidates")))

    def conversation(self, body: Json) -> Iterator[Entry]:
        for content in objects(body.get("contents")):
            parts = objects(content.get("parts"))
            if content.get("role") == "model":
                if not any("functionCall" in part for part in parts):
                    yield Entry("final", text_of(parts))
                continue
            yield from (Entry("result") for part in parts if "functionResponse" in part)
            if text := text_of(parts):
                yield Entry("prompt", text)

    def tools(self, body: Json) -> Iterator[Tool]:
        for tool in objects(body.get("tools")):
            for declared in objects(tool.get("functionDeclarations")):
                schema = declared.get("parametersJsonSchema") or declared.get("parameters") or {}
                yield Tool(declared["name"], schema)


def _settings(body: Json) -> Json:
    settings = body.get("generationConfig")
    return settings if isinstance(settings, dict) else {}
