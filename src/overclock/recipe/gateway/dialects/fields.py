"""Reads entries of JSON that somebody else wrote, whatever their type turns out to be; used by every dialect."""

import math
from typing import Any

Json = dict[str, Any]


def count(usage: Any, *names: str) -> int:
    """A count inside nested objects; 0 where it is missing or null."""
    for name in names:
        usage = usage.get(name) if isinstance(usage, dict) else None
    if isinstance(usage, float) and usage.is_integer():
        return int(usage)
    return usage if isinstance(usage, int) else 0


def whole_number(value: Any) -> int | None:
    """A positive whole number of a request; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def number_of(value: Any) -> int:
    """How many a request asks for, as a lenient server reads it: also where it is written as a text."""
    try:
        return max(1, math.ceil(float(value)))
    except (TypeError, ValueError, OverflowError):
        return 1


def objects(value: Any) -> list[Json]:
    """The objects of a list; nothing for anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text_of(content: Any) -> str:
    """The text of a message whose content is a string or a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part["text"]) for part in objects(content) if "text" in part)
