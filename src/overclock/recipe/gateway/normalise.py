"""Normalises requests, so that a recorded one is found again, and says how two requests differ."""

import json
import re
from collections.abc import Sequence
from typing import Any

# Ids of sessions, users and caches, at any depth.
VOLATILE_KEYS = {
    *("metadata", "user", "session_id", "conversation_id", "prompt_cache_key", "client_metadata", "safety_identifier"),
    "prompt_cache_retention",
}
VOLATILE_TEXT = (
    (re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"), "<uuid>"),
    (re.compile(r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?"), "<date>"),
    (re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \w+ \d{1,2}, \d{4}"), "<date>"),
    (re.compile(r"\bChunk ID: \w+"), "<chunk>"),  # how Codex and Gemini CLI label the output of a command
    (re.compile(r"\bPGID: \d+"), "<process>"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|seconds?)\b"), "<time>"),
)
SHOWN = 60  # characters of a difference, on each side


def normalised(value: Any, blank: Sequence[str] = ()) -> Any:
    """The same JSON value with ids, dates and durations redacted, and every text of `blank` as well."""
    if isinstance(value, dict):
        return {key: normalised(inner, blank) for key, inner in value.items() if key not in VOLATILE_KEYS}
    if isinstance(value, list):
        return [normalised(inner, blank) for inner in value]
    if isinstance(value, str):
        for text in blank:
            value = value.replace(text, "<blank>")
        for pattern, name in VOLATILE_TEXT:
            value = pattern.sub(name, value)
    return value


def fingerprint(value: Any) -> str:
    """Equal for equal values, whatever the order of keys."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def first_difference(recorded: Any, asked: Any, place: str = "request") -> str | None:
    """Where two values differ first, and how; None if they do not."""
    if isinstance(recorded, dict) and isinstance(asked, dict):
        for key in [*recorded, *(key for key in asked if key not in recorded)]:
            if key not in asked:
                return f"{place}.{key} is missing"
            if key not in recorded:
                return f"{place}.{key} was not there when recorded"
            if found := first_difference(recorded[key], asked[key], f"{place}.{key}"):
                return found
        return None
    if isinstance(recorded, list) and isinstance(asked, list):
        for index, (old, new) in enumerate(zip(recorded, asked, strict=False)):
            if found := first_difference(old, new, f"{place}[{index}]"):
                return found
        if len(recorded) != len(asked):
            return f"{place} has {len(asked)} entries, recorded were {len(recorded)}"
        return None
    if recorded == asked:
        return None
    return f"{place} is {_around(asked, recorded)}, recorded was {_around(recorded, asked)}"


def _around(value: Any, other: Any) -> str:
    """A value as text, long texts from shortly before the place where they differ."""
    if not (isinstance(value, str) and isinstance(other, str)):
        return json.dumps(value, ensure_ascii=False)[:SHOWN]
    same = next((i for i, (a, b) in enumerate(zip(value, other, strict=False)) if a != b), min(len(value), len(other)))
    start = max(0, same - SHOWN // 3)
    return ("..." if start else "") + repr(value[start : start + SHOWN])
