"""Breaks lines of Python that are too long, as ruff does: at the last brackets, or at operators inside new ones."""

import re

WIDTH = 120
MANY = 6  # parts that would make a column
SKIP = "  # fmt: skip"
OPENING, CLOSING = "([{", ")]}"
# From the weakest: a line is broken at the weakest operator that it has outside of all brackets.
OPERATORS = (
    (" == ", " != ", " < ", " <= ", " > ", " >= "), (" | ",), (" ^ ",), (" & ",), (" + ", " - "),
    (" * ", " / ", " // ", " % ", " @ "),
)  # fmt: skip
HEADS = re.compile(r"(return |[^=()\[\]]+ = |\([^=]*\) = |\w+=)")


def wrapped(line: str, whole: bool = True) -> list[str]:
    """A statement (`whole`), or a part of one, as lines that are short enough, if they can be."""
    text = line.lstrip()
    pad = line[: len(line) - len(text)]
    if len(line) <= WIDTH or text.startswith("#"):
        return [line]
    found = HEADS.match(text)
    head, rest = (found[0], text[found.end() :]) if found else ("", text)
    comma = "," if rest.endswith(",") and head not in ("return ",) and not _parts(rest[:-1], ",")[1:] else ""
    rest = rest.removesuffix(",") if comma else rest
    if head.rstrip(" =").count(",") and len(pad + head) > WIDTH - 24:
        names = [one for one in head.rstrip("= ").split(", ") if one]
        return [f"{pad}(", *_packed(names, pad), f"{pad}) = {rest}{SKIP}"]
    several = _parts(rest, ",")
    if len(several) > 1:
        if whole and len(several) > MANY:
            return [f"{pad}{head}(", *_packed(several, pad), f"{pad}){SKIP}"]
        return [f"{pad}{head}(", *_listed(several, pad), f"{pad}){comma}"]
    for symbols in OPERATORS:
        parts = _at(rest, symbols)
        if len(parts) == 2 and rest[-1] in CLOSING and len(f"{pad}{head}{rest[: _last_opening(rest)]}") < WIDTH:
            break
        if len(parts) > 1:
            if head and len(f"{pad}    {rest}") <= WIDTH:
                return [f"{pad}{head}(", f"{pad}    {rest}", f"{pad}){comma}"]
            inner = [one for part in parts for one in wrapped(f"{pad}    {part}", False)]
            return [f"{pad}{head}(", *inner, f"{pad}){comma}"] if head else _indented(parts, pad)
    start = _last_opening(rest)
    if start is None:
        return [line]
    inside = rest[start + 1 : -1]
    parts = _parts(inside, ",")
    one_line = f"{pad}    {inside}"
    if whole and len(parts) > MANY and len(one_line) > WIDTH:
        return [f"{pad}{head}{rest[: start + 1]}", *_packed(parts, pad), f"{pad}{rest[-1]}{comma}{SKIP}"]
    lines = [one_line] if len(one_line) <= WIDTH else _listed(parts, pad)
    return [f"{pad}{head}{rest[: start + 1]}", *lines, f"{pad}{rest[-1]}{comma}"]


def signature(start: str, params: list[str], returns: str = "") -> list[str]:
    """The head of a function; `start` is everything before its parameters."""
    end = f") -> {returns}:" if returns else "):"
    whole, pad = f"{start}({', '.join(params)}{end}", " " * (len(start) - len(start.lstrip()))
    if len(whole) <= WIDTH:
        return [whole]
    inside = f"{pad}    {', '.join(params)}"
    return [f"{start}(", *([inside] if len(inside) <= WIDTH else _listed(params, pad)), f"{pad}{end}"]


def _listed(parts: list[str], pad: str) -> list[str]:
    """One part a line."""
    return [one for part in parts for one in wrapped(f"{pad}    {part},", False)]


def _packed(parts: list[str], pad: str) -> list[str]:
    """As many parts a line as there is room for; ruff would give each its own."""
    lines = [f"{pad}   "]
    for part in parts:
        if len(lines[-1]) + len(part) + 2 > WIDTH and lines[-1].strip():
            lines.append(f"{pad}   ")
        lines[-1] += f" {part},"
    return lines


def _indented(parts: list[str], pad: str) -> list[str]:
    return [one for part in parts for one in wrapped(f"{pad}{part}", False)]


def _depths(text: str) -> list[int]:
    found, depth = [], 0
    for letter in text:
        depth -= letter in CLOSING
        found.append(depth)
        depth += letter in OPENING
    return found


def _parts(text: str, separator: str) -> list[str]:
    """The parts of a text between separators outside of all brackets."""
    depths = _depths(text)
    found, start = [], 0
    for at, letter in enumerate(text):
        if letter == separator and depths[at] == 0:
            found.append(text[start:at].strip())
            start = at + 1
    return [*found, text[start:].strip()] if text[start:].strip() else found


def _at(text: str, symbols: tuple[str, ...]) -> list[str]:
    """The parts of a text, each but the first with its operator in front."""
    depths = _depths(text)
    cuts = [at for at in range(len(text)) if depths[at] == 0 and any(text.startswith(symbol, at) for symbol in symbols)]
    return [text[a:b].strip() for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]


def _last_opening(text: str) -> int | None:
    """Where the brackets begin that a text ends with."""
    if not text or text[-1] not in CLOSING:
        return None
    depths = _depths(text)
    return max(at for at in range(len(text) - 1) if depths[at] == 0 and text[at] in OPENING)
