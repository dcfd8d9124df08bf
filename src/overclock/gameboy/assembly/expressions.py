"""Expressions in assembly text: parsed once, evaluated when every label is known."""

import re
from collections.abc import Callable

from overclock.gameboy.assembly.errors import AssemblyError

Lookup = Callable[[str], int]
Expression = Callable[[Lookup], int]

TOKEN = re.compile(
    r"""\s*(?:(?P<hex>(?:0x|\$)[0-9a-fA-F_]+)
    |(?P<binary>(?:0b|%)[01_]+)
    |(?P<decimal>[0-9][0-9_]*)
    |(?P<character>'(?:[^'\\]|\\.)')
    |(?P<name>@|\.?[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)
    |(?P<sign><<|>>|<=|>=|==|!=|[-+*/%&|^~!()<>,]))""",
    re.VERBOSE,
)
# Lower binds looser.
PRECEDENCE = {
    "==": 1, "!=": 1, "<": 1, ">": 1, "<=": 1, ">=": 1,
    "|": 2, "^": 3, "&": 4, "<<": 5, ">>": 5, "+": 6, "-": 6, "*": 7, "/": 7, "%": 7,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[[int], int]] = {
    "low": lambda value: value & 0xFF,
    "high": lambda value: value >> 8 & 0xFF,
}


def _apply(sign: str, left: int, right: int) -> int:
    if sign in "/%" and right == 0:
        raise AssemblyError("a number is divided by zero.")
    results: dict[str, Callable[[], int]] = {
        "+": lambda: left + right, "-": lambda: left - right, "*": lambda: left * right,
        "/": lambda: left // right, "%": lambda: left % right, "&": lambda: left & right,
        "|": lambda: left | right, "^": lambda: left ^ right, "<<": lambda: left << right, ">>": lambda: left >> right,
        "==": lambda: int(left == right), "!=": lambda: int(left != right), "<": lambda: int(left < right),
        ">": lambda: int(left > right), "<=": lambda: int(left <= right), ">=": lambda: int(left >= right),
    }  # fmt: skip
    return results[sign]()


class _Parser:
    def __init__(self, text: str, characters: dict[str, int]) -> None:
        self.text, self.characters = text, characters
        self.tokens: list[tuple[str, str]] = []
        position, end = 0, len(text.rstrip())
        while position < end:
            match = TOKEN.match(text, position)
            if match is None:
                raise AssemblyError(f"{text[position:].strip()!r} is not part of an expression.")
            self.tokens.append((str(match.lastgroup), match.group(str(match.lastgroup))))
            position = match.end()
        self.next = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.next] if self.next < len(self.tokens) else ("end", "")

    def take(self) -> tuple[str, str]:
        token = self.peek()
        self.next += 1
        return token

    def expect(self, sign: str) -> None:
        if self.take() != ("sign", sign):
            raise AssemblyError(f"{self.text!r} lacks a {sign!r}.")

    def whole(self) -> Expression:
        expression = self.binary(0)
        if self.peek()[0] != "end":
            raise AssemblyError(f"{self.text!r} has something behind its end: {self.peek()[1]!r}.")
        return expression

    def binary(self, loosest: int) -> Expression:
        left = self.unary()
        while (found := PRECEDENCE.get(self.peek()[1], 0)) > loosest and self.peek()[0] == "sign":
            sign = self.take()[1]
            left = self._joined(sign, left, self.binary(found))
        return left

    @staticmethod
    def _joined(sign: str, left: Expression, right: Expression) -> Expression:
        return lambda lookup: _apply(sign, left(lookup), right(lookup))

    def unary(self) -> Expression:
        kind, word = self.take()
        if kind == "sign" and word in "-~!+":
            inner = self.unary()
            signs: dict[str, Callable[[int], int]] = {
                "-": lambda value: -value, "~": lambda value: ~value, "!": lambda value: int(not value),
                "+": lambda value: value,
            }  # fmt: skip
            return lambda lookup: signs[word](inner(lookup))
        if kind == "sign" and word == "(":
            inner = self.binary(0)
            self.expect(")")
            return inner
        if kind == "name":
            return self.named(word)
        value = self.literal(kind, word)
        return lambda lookup: value

    def named(self, word: str) -> Expression:
        if self.peek() != ("sign", "("):
            return lambda lookup: lookup(word)
        self.take()
        if word == "bank":  # of a label, which is no number that could be worked out first
            label = self.take()[1]
            self.expect(")")
            return lambda lookup: lookup("bank:" + label)
        if word not in FUNCTIONS:
            raise AssemblyError(f"there is no function {word}(); there are low, high and bank.")
        inner = self.binary(0)
        self.expect(")")
        return lambda lookup: FUNCTIONS[word](inner(lookup))

    def literal(self, kind: str, word: str) -> int:
        if kind == "hex":
            return int(word.removeprefix("$").removeprefix("0x").replace("_", ""), 16)
        if kind == "binary":
            return int(word.removeprefix("%").removeprefix("0b").replace("_", ""), 2)
        if kind == "decimal":
            return int(word.replace("_", ""))
        if kind == "character":
            return character_value(word[1:-1].removeprefix("\\"), self.characters)
        raise AssemblyError(f"{self.text.strip()!r} is not a number." if self.text.strip() else "a number is missing.")


def character_value(character: str, characters: dict[str, int]) -> int:
    """The number of a character in the text's own character set, else in ASCII."""
    if character in characters:
        return characters[character]
    if ord(character) > 0x7F:
        raise AssemblyError(f"the character {character!r} is neither ASCII nor named by charmap.")
    return ord(character)


def parse_expression(text: str, characters: dict[str, int] | None = None) -> Expression:
    """A function of the labels' values."""
    return _Parser(text, characters or {}).whole()
