"""Reads parts of outputs and answers: JSON among other lines, checked counts, an HTTP status inside a sentence."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from overclock.recipe.gateway.dialects.fields import Json
from overclock.recipe.gateway.usage import Usage

STATUS = re.compile(
    r"(?:status|http|code|error)\W{0,6}([45]\d\d)\b|\b(?:(401) unauthorized|(402) payment required|(403) forbidden)",
    re.IGNORECASE,
)


class UnreadableError(Exception):
    """The output does not have the form of its dialect."""


def usage_of(read: Callable[[], Usage]) -> Usage | None:
    """The usage, or None where a count is missing or where nothing was counted: no model answers for nothing."""
    try:
        usage = read()
    except (KeyError, TypeError, AttributeError, UnreadableError):
        return None
    return usage if usage.input_tokens or usage.output_tokens else None


def counted(
    calls: int,
    input_tokens: int,
    cached_tokens: int = 0,
    cache_write_tokens: int = 0,
    output_tokens: int = 0,
    reasoning_tokens: int = 0,
    dollars: float | None = None,
) -> Usage:
    """A self-reported `Usage` with these counts."""
    counts = (calls, input_tokens, cached_tokens, cache_write_tokens, output_tokens, reasoning_tokens)
    return Usage(*counts, dollars=dollars, basis="self-reported")


def count(value: Any) -> int:
    """The value, if it is a whole number that is not negative; else UnreadableError."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise UnreadableError
    return value


def dollars(value: Any) -> float | None:
    """An amount, or None where it is not one."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0 else None


def words(value: Any) -> str:
    """The text without blanks around it; "" for any other value."""
    return value.strip() if isinstance(value, str) else ""


def word(answer: Json, name: str) -> str | None:
    """An entry that is a text, or None."""
    return words(answer.get(name)) or None


def status_in(error: str) -> int | None:
    """The HTTP status that is mentioned in an error message, or None."""
    match = STATUS.search(error)
    return int(match[1] or match[2]) if match else None


def json_value(text: str, opening: str) -> Any:
    """The first JSON value that starts on a line of its own with `opening`; notices may stand before and after it."""
    for match in re.finditer(rf"^\s*{re.escape(opening)}", text, re.MULTILINE):
        try:
            return json.JSONDecoder().raw_decode(text, match.end() - 1)[0]
        except (ValueError, RecursionError):
            continue
    raise UnreadableError


def json_object(text: str, required: bool = True) -> Json:
    """The first object; an empty one where it is not required and there is none."""
    try:
        return json_value(text, "{")
    except UnreadableError:
        if required:
            raise
        return {}


def json_lines(text: str) -> Iterator[Json]:
    """The lines that are JSON objects; UnreadableError if there is none."""
    found = False
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found = True
            yield value
    if not found:
        raise UnreadableError
