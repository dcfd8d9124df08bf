"""Parts of a prompt that are not in the request: links to other places, and files that the provider unpacks.

The worst case of a call is taken from the size of its body, and that says nothing about these. They are looked for at
any depth, by their name and the form of their value: a tool's schema may describe an argument of the same name.
"""

from typing import Any

from overclock.recipe.gateway.dialects.fields import Json

LONGEST_PROMPT = 1_100_000  # tokens; the longest context of the listed models
PICTURE = 10_000  # tokens; more than any provider makes of one
FILES = ("file_id", "file_url", "file_uri", "fileUri", "file_data")  # a few kilobytes of PDF may be a thousand pages
LINKS = ("image_url", "video_url", "audio_url")  # a text, or an object with a text `url`
INLINE = ("inlineData", "inline_data")  # Gemini: an object with its type and its content
ELSEWHERE = ("url", "file")  # types of Anthropic's `source`; the others are "text", "content" and "base64"


def unseen_tokens(body: Json) -> int:
    """An upper bound of the prompt's tokens that the size of the body does not show."""
    pictures = 0
    waiting: list[Any] = [body]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            kinds = list(_media(value))
            if not all(kind.startswith("image/") for kind in kinds):
                return LONGEST_PROMPT
            pictures += len(kinds)
            waiting += value.values()
    return pictures * PICTURE


def _media(part: Json) -> list[str]:
    """The media types of what a part refers to; "" for what is not in the body at all."""
    kinds = ["" for name in FILES if isinstance(part.get(name), str)]
    for name in LINKS:
        link = part.get(name)
        address = link.get("url") if isinstance(link, dict) else link
        if isinstance(address, str):
            kinds.append(address.removeprefix("data:") if address.startswith("data:") else "")
    for name in INLINE:
        inline = part.get(name)
        if isinstance(inline, dict) and isinstance(inline.get("data"), str):
            kinds.append(str(inline.get("mimeType") or inline.get("mime_type")))
    source = part.get("source")
    kind = source.get("type") if isinstance(source, dict) else None
    if isinstance(source, dict) and (kind == "base64" or kind in ELSEWHERE):
        kinds.append(str(source.get("media_type")) if kind == "base64" else "")
    return kinds
