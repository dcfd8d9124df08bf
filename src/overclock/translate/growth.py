"""How much longer a list may become in one run of a function, read from the arithmetic of its length.

A `Most` (k, c) says: at most the length before plus k, or at most c, whichever is larger. Ranges of variables are no
evidence: that of a length is the room that was guessed for its list.
"""

import math
from collections.abc import Mapping
from typing import Any

from overclock.translate.ir.nodes import Block, Const, If, Let, Loop, Operand, Var

Most = tuple[float, float]
NEVER = -math.inf
Definitions = Mapping[Var, tuple[Let | If | Loop, int]]


class UnboundedError(Exception):
    """Nothing in the arithmetic bounds the length."""


def definitions(block: Block) -> dict[Var, tuple[Let | If | Loop, int]]:
    """Which statement makes a variable, and as which of its results; carried values of loops are made by the loop."""
    found: dict[Var, tuple[Let | If | Loop, int]] = {}
    for statement in block:
        match statement:
            case Let():
                found[statement.out] = statement, 0
            case If():
                found |= {out: (statement, place) for place, out in enumerate(statement.outs)}
                found |= definitions(statement.then) | definitions(statement.orelse)
            case Loop():
                for names in (statement.outs, statement.carried):
                    found |= {out: (statement, place) for place, out in enumerate(names)}
                found |= definitions(statement.header) | definitions(statement.body)
            case _:
                pass
    return found


def most(length: Operand, before: Var | None, made: Definitions) -> Most:
    """What a length is at most, by the length before; raises UnboundedError where nothing says so."""
    return _Reader(before, made).most(length)


class _Reader:
    def __init__(self, before: Var | None, made: Definitions) -> None:
        self._before, self._made = before, made
        self._known: dict[Var, Most] = {}
        self._under_way: set[Var] = set()

    def most(self, operand: Operand) -> Most:
        if isinstance(operand, Const):
            return NEVER, float(operand.value)
        if operand is self._before:
            return 0, NEVER
        if operand not in self._known:
            if operand in self._under_way or operand not in self._made:
                raise UnboundedError
            self._under_way.add(operand)
            self._known[operand] = self._of(*self._made[operand])
            self._under_way.discard(operand)
        return self._known[operand]

    def _of(self, statement: Let | If | Loop, place: int) -> Most:
        match statement:
            case Let():
                return self._let(statement.op, statement.args)
            case If():
                return _joined(self.most(statement.yes[place]), self.most(statement.no[place]))
            case Loop():
                return self._loop(statement, place)

    def _let(self, op: str, args: tuple[Operand, ...]) -> Most:
        match op, args:
            case "same" | "cast", (one, *_):
                return self.most(one)
            case "where", (_, one, other):
                return _joined(self.most(one), self.most(other))
            case "maximum", (one, other):
                return _joined(self.most(one), self.most(other))
            case "minimum", (one, Const()) | (Const(), one):  # often the guess itself
                return self.most(one)
            case "add", (one, Const(by)) | (Const(by), one):
                return _moved(self.most(one), by)
            case "sub", (one, Const(by)):
                return _moved(self.most(one), -by)
            case _:
                raise UnboundedError

    def _loop(self, loop: Loop, place: int) -> Most:
        """Every turn adds the same at most; how many there are follows from the length of what is walked over."""
        k, c = _Reader(loop.carried[place], self._made).most(loop.following[place])
        first = _joined(self.most(loop.first[place]), (NEVER, c))
        if k <= 0:
            return first
        turns = (NEVER, loop.count) if loop.count is not None else self._turns(loop)
        if turns[0] == NEVER:
            return _moved(first, k * turns[1])
        if k != 1 or first[0] != NEVER:
            raise UnboundedError
        return turns[0] + first[1], turns[1] + first[1]

    def _turns(self, loop: Loop) -> Most:
        """How often a loop turns at most, by a condition `place < length` whose place goes up by one."""
        conditions = [loop.test]
        for one in conditions:
            made = self._made[one][0] if isinstance(one, Var) and one in self._made else None
            match made:
                case Let(op="and"):
                    conditions += made.args
                case Let(op="lt", args=(place, end)) if _counts(loop, place, self._made):
                    return self.most(end)
                case _:
                    pass
        raise UnboundedError


def _counts(loop: Loop, place: Operand, made: Definitions) -> bool:
    """Whether a carried value counts the turns from 0."""
    if not isinstance(place, Var) or place not in loop.carried:
        return False
    at = loop.carried.index(place)
    first, after = loop.first[at], loop.following[at]
    step = made[after][0] if isinstance(after, Var) and after in made else None
    match step, first:
        case Let(op="add", args=(before, Const(by))), Const(begin):
            return before is place and by == 1 and begin == 0
        case _:
            return False


def _joined(one: Most, other: Most) -> Most:
    return max(one[0], other[0]), max(one[1], other[1])


def _moved(one: Most, by: Any) -> Most:
    return one[0] + float(by), one[1] + float(by)
