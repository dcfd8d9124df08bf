"""Breaks lines of Rust that are too long to read, where a person would: at operators, and inside brackets.

Not by `rustfmt` where it is installed: digests and exported packages need the same text on every machine.
"""

import re

from overclock.translate.printing.line_breaking import bracket_depths, packed, split_at_commas, split_at_operators

LONGEST = 110  # characters of a line
# From the weakest: a line is broken at the weakest operator it has outside of all brackets.
OPERATORS = ((" || ",), (" && ",), (" + ", " - "), (" * ", " / "))

NAMES = re.compile(r"\|\w+(, \w+)*\|")


def wrapped(line: str) -> list[str]:
    """A line as several lines that are short enough, if it can be broken."""
    text = line.lstrip()
    pad = line[: len(line) - len(text)]
    if len(line) <= LONGEST or text.startswith("//"):
        return [line]
    for symbols in OPERATORS:
        parts = split_at_operators(text, symbols, _depths(text))
        if len(parts) > 1:
            return [one for at, part in enumerate(parts) for one in wrapped(f"{pad}{'    ' if at else ''}{part}")]
    inside = _longest_group(text)
    if inside is None:
        return [line]
    start, end = inside
    parts = split_at_commas(text[start:end], _depths(text[start:end]))
    lines = packed(parts, f"{pad}    ", LONGEST, False) if len(parts) > 1 else [f"{pad}    {text[start:end]}"]
    return [f"{pad}{text[:start]}", *(one for line in lines for one in wrapped(line)), *wrapped(f"{pad}{text[end:]}")]


def _depths(text: str) -> list[int]:
    """How many brackets are open at each character; the names of a closure count as bracketed."""
    return bracket_depths(NAMES.sub(lambda names: f"({'_' * (len(names[0]) - 2)})", text))


def _longest_group(text: str) -> tuple[int, int] | None:
    """The range between the outermost brackets that hold most; blocks are left alone."""
    depths = _depths(text)
    found = (0, 0)
    start = 0
    for at, letter in enumerate(text):
        if depths[at] == 0 and letter in "([{":
            start = at + 1
        if depths[at] == 0 and letter in ")]" and at - start > found[1] - found[0]:
            found = start, at
    return found if found[1] - found[0] > LONGEST // 4 else None
