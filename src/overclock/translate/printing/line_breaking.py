"""Where a long line of code can be broken: at operators and commas outside of all brackets."""

import itertools
from collections.abc import Sequence

OPENING, CLOSING = "([{", ")]}"


def bracket_depths(text: str) -> list[int]:
    """How many brackets are open at each character; a bracket itself counts as outside of its pair."""
    found, depth = [], 0
    for letter in text:
        depth -= letter in CLOSING
        found.append(depth)
        depth += letter in OPENING
    return found


def split_at_commas(text: str, depths: Sequence[int] | None = None) -> list[str]:
    """The parts between commas outside of all brackets; nothing for what follows a last comma."""
    depths = bracket_depths(text) if depths is None else depths
    edges = [-1, *(at for at, letter in enumerate(text) if letter == "," and depths[at] == 0), len(text)]
    parts = [text[a + 1 : b].strip() for a, b in itertools.pairwise(edges)]
    return parts if parts[-1] else parts[:-1]


def split_at_operators(text: str, symbols: tuple[str, ...], depths: Sequence[int] | None = None) -> list[str]:
    """The parts between operators outside of all brackets, each but the first with its operator in front."""
    depths = bracket_depths(text) if depths is None else depths
    cuts = [at for at in range(len(text)) if depths[at] == 0 and text.startswith(symbols, at)]
    return [text[a:b].strip() for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def packed(parts: Sequence[str], pad: str, width: int, last_comma: bool = True) -> list[str]:
    """The parts with a comma behind each, as many on a line as fit into `width`.

    Without `last_comma`, the comma behind the last part may stand beyond the width.
    """
    *first, last = parts
    lines: list[str] = []
    for text in (*(f"{part}," for part in first), f"{last}," if last_comma else last):
        if lines and len(lines[-1]) + 1 + len(text) <= width:
            lines[-1] += f" {text}"
        else:
            lines.append(pad + text)
    return lines if last_comma else [*lines[:-1], f"{lines[-1]},"]


def last_opening(text: str) -> int | None:
    """The position of the bracket that the last character of a text closes."""
    if not text or text[-1] not in CLOSING:
        return None
    depths = bracket_depths(text)
    return max(at for at in range(len(text) - 1) if depths[at] == 0 and text[at] in OPENING)
