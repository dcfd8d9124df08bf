"""A tokenizer for Rust: names, literals and signs without comments, enough to see what a file names.

It handles what a search of the text would miss: `std :: r#fs`, names inside comments, quotes inside raw strings.
"""

import dataclasses
import re
from typing import Literal

Kind = Literal["name", "text", "number", "lifetime", "sign"]
# A number takes a sign after its exponent's e, and a point only if a digit follows (1..4 is a range).
PATTERN = re.compile(
    r"""
      (?P<space>\s+|//[^\n]*)
    | (?P<block>/\*)
    | (?P<raw>(?:br|cr|r)(?P<hashes>\#*)")
    | (?P<text>(?:[bc])?"(?:[^"\\]|\\.)*"|b?'(?:[^'\\\n]|\\(?:u\{[^}]*\}|x[0-9A-Fa-f]{2}|.))')
    | (?P<lifetime>'[^\W\d]\w*)
    | (?P<name>(?:r\#)?[^\W\d]\w*)
    | (?P<number>\d(?:\w|(?<=[eE])[+-](?=\d)|\.(?=\d))*)
    | (?P<sign>::|!=|->|=>|\S)
    """,
    re.VERBOSE | re.DOTALL,
)
COMMENT = re.compile(r"/\*|\*/")


class NotRustError(Exception):
    """A text or comment without an end; the message is the line where it begins."""


@dataclasses.dataclass(frozen=True)
class Token:
    """A raw name is shown without its r#; a text with its quotes."""

    kind: Kind
    text: str
    line: int


def tokens(source: str) -> list[Token]:
    """All tokens of a file."""
    found: list[Token] = []
    at, line = 0, 1
    while at < len(source):
        match = PATTERN.match(source, at)
        assert match is not None  # the last alternative takes anything that is no space
        kind, end = str(match.lastgroup), match.end()
        if kind == "block":
            end = _comment_end(source, end, line)
        elif kind == "raw":
            end = source.find('"' + match["hashes"], end) + 1 + len(match["hashes"])
            if end <= match.end() - 1:
                raise NotRustError(str(line))
            found.append(Token("text", source[at:end], line))
        elif match[0] == '"':
            raise NotRustError(str(line))
        elif kind in ("name", "text", "number", "lifetime", "sign"):
            found.append(Token(kind, match[0].removeprefix("r#") if kind == "name" else match[0], line))
        line += source.count("\n", at, end)
        at = end
    return found


def _comment_end(source: str, at: int, line: int) -> int:
    """Where a block comment ends; they nest."""
    depth = 1
    while depth:
        match = COMMENT.search(source, at)
        if match is None:
            raise NotRustError(str(line))
        depth += 1 if match[0] == "/*" else -1
        at = match.end()
    return at
