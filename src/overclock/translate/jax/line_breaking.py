"""Breaks lines of Python that are too long, as ruff does: at the last brackets, or at operators inside new ones.

Not by `ruff format` where it is installed: digests and exported packages need the same text on every machine.
"""

import re

from overclock.translate.printing.line_breaking import last_opening, packed, split_at_commas, split_at_operators

WIDTH = 120
MANY = 6  # parts that would make a column
SKIP = "  # fmt: skip"
# From the weakest: a line is broken at the weakest operator that it has outside of all brackets.
OPERATORS = (
    (" == ", " != ", " < ", " <= ", " > ", " >= "), (" | ",), (" ^ ",), (" & ",), (" + ", " - "),
    (" * ", " / ", " // ", " % ", " @ "),
)  # fmt: skip
HEADS = re.compile(r"(return |[^=()\[\]]+ = |\([^=]*\) = |\w+=)")


def wrapped(line: str, whole: bool = True) -> list[str]:
    """A statement (`whole`), or a part of one, as lines that are short enough, if it can be broken."""
    text = line.lstrip()
    pad = line[: len(line) - len(text)]
    if len(line) <= WIDTH or text.startswith("#"):
        return [line]
    found = HEADS.match(text)
    head, rest = (found[0], text[found.end() :]) if found else ("", text)
    comma = "," if rest.endswith(",") and head not in ("return ",) and not split_at_commas(rest[:-1])[1:] else ""
    rest = rest.removesuffix(",") if comma else rest
    if head.rstrip(" =").count(",") and len(pad + head) > WIDTH - 24:
        names = [one for one in head.rstrip("= ").split(", ") if one]
        return [f"{pad}(", *packed(names, f"{pad}    ", WIDTH), f"{pad}) = {rest}{SKIP}"]
    several = split_at_commas(rest)
    if len(several) > 1:
        if whole and len(several) > MANY:
            return [f"{pad}{head}(", *packed(several, f"{pad}    ", WIDTH), f"{pad}){SKIP}"]
        return [f"{pad}{head}(", *_listed(several, pad), f"{pad}){comma}"]
    start = last_opening(rest)
    for symbols in OPERATORS:
        parts = split_at_operators(rest, symbols)
        if len(parts) == 2 and start is not None and len(f"{pad}{head}{rest[:start]}") < WIDTH:
            break
        if len(parts) > 1:
            if head and len(f"{pad}    {rest}") <= WIDTH:
                return [f"{pad}{head}(", f"{pad}    {rest}", f"{pad}){comma}"]
            inner = [one for part in parts for one in wrapped(f"{pad}    {part}", False)]
            unindented = [one for part in parts for one in wrapped(f"{pad}{part}", False)]
            return [f"{pad}{head}(", *inner, f"{pad}){comma}"] if head else unindented
    if start is None:
        return [line]
    inside = rest[start + 1 : -1]
    parts = split_at_commas(inside)
    one_line = f"{pad}    {inside}"
    if whole and len(parts) > MANY and len(one_line) > WIDTH:
        return [f"{pad}{head}{rest[: start + 1]}", *packed(parts, f"{pad}    ", WIDTH), f"{pad}{rest[-1]}{comma}{SKIP}"]
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
    return [one for part in parts for one in wrapped(f"{pad}    {part},", False)]
