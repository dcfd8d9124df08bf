"""Breaks lines of Rust that are too long to read, where a person would: at operators, and inside brackets."""

import itertools
import re

from overclock.translate.rust.words import LONGEST

OPENING, CLOSING = "([{", ")]}"
# From the weakest: a line is broken at the weakest operator it has outside of all brackets.
OPERATORS = ((" || ",), (" && ",), (" + ", " - "), (" * ", " / "))

NAMES = re.compile(r"\|\w+(, \w+)*\|")


def wrapped(line: str) -> list[str]:
    """A line as several that are short enough, if they can be."""
    text = line.lstrip()
    pad = line[: len(line) - len(text)]
    if len(line) <= LONGEST or text.startswith("//"):
        return [line]
    parts = _at_operators(text)
    if parts is not None:
        return [one for at, part in enumerate(parts) for one in wrapped(f"{pad}{'    ' if at else ''}{part}")]
    inside = _longest_group(text)
    if inside is None:
        return [line]
    start, end = inside
    return [
        f"{pad}{text[:start]}",
        *_filled(text[start:end], f"{pad}    "),
        *wrapped(f"{pad}{text[end:]}"),
    ]


def _depths(text: str) -> list[int]:
    """How many brackets are open at each character; a bracket itself counts as inside, as do a closure's names."""
    found, depth = [], 0
    for letter in NAMES.sub(lambda names: f"({'_' * (len(names[0]) - 2)})", text):
        depth += letter in OPENING
        found.append(depth)
        depth -= letter in CLOSING
    return found


def _at_operators(text: str) -> list[str] | None:
    depths = _depths(text)
    for group in OPERATORS:
        places = [
            match.start() + 1
            for match in re.finditer("|".join(map(re.escape, group)), text)
            if depths[match.start()] == 0
        ]
        if places:
            edges = [0, *places, len(text)]
            return [text[a:b].rstrip() for a, b in itertools.pairwise(edges)]
    return None


def _longest_group(text: str) -> tuple[int, int] | None:
    """What stands between the outermost brackets that hold most; blocks are left alone."""
    depths = _depths(text)
    found = (0, 0)
    start = 0
    for at, letter in enumerate(text):
        if depths[at] == 1 and letter in OPENING:
            start = at + 1
        if depths[at] == 1 and letter in ")]" and at - start > found[1] - found[0]:
            found = start, at
    return found if found[1] - found[0] > LONGEST // 4 else None


def _filled(text: str, pad: str) -> list[str]:
    """The parts between commas, as many on a line as fit."""
    depths = _depths(text)
    edges = [0, *(at + 2 for at, letter in enumerate(text) if letter == "," and depths[at] == 0), len(text)]
    lines = [""]
    for a, b in itertools.pairwise(edges):
        part = text[a:b].rstrip()
        if lines[-1] and len(f"{pad}{lines[-1]} {part}") > LONGEST:
            lines.append("")
        lines[-1] = f"{lines[-1]} {part}".lstrip()
    several = len(edges) > 2
    if several and not lines[-1].endswith(","):
        lines[-1] += ","
    return [one for line in lines for one in wrapped(pad + line)]
