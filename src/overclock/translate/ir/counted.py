"""A time limit of an environment's own: after how many steps its rules say `truncated`, if that is a fixed number.

It is one where `truncated` follows from counters alone: from attributes that begin at known numbers and whose next
values follow from nothing but themselves. Then the steps can be counted here, with the program's own arithmetic.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from overclock.translate.ir.nodes import Block, Const, If, Let, Note, Operand, Var
from overclock.translate.ir.passes import FOLDED, copied, live

MOST_STEPS = 100_000  # that are counted; nobody sees a later end


class NotCountedError(Exception):
    """It depends on more than counters, or on arithmetic that is not followed."""


def counted(block: Block, truncated: Var, following: Mapping[Var, Operand], first: Mapping[Var, Operand]) -> int | None:
    """The number of steps until `truncated`; None: never, as far as anybody counts.

    `following` has the next value of every number of the state, `first` what a reset gives it.
    """
    counters: set[Var] = set()
    while (needed := _inputs(block, [truncated, *(following[one] for one in counters)])) - counters:
        if not needed <= following.keys():
            raise NotCountedError
        counters |= needed
    results = {one: following[one] for one in counters}
    part = copied(block)
    live(part, {one for one in (truncated, *results.values()) if isinstance(one, Var)})
    values = {one: _number(first[one], {}) for one in counters}
    for step in range(1, MOST_STEPS + 1):
        known = dict(values)
        _run(part, known)
        if known[truncated]:
            return step
        after = {one: _number(result, known) for one, result in results.items()}
        if after == values:  # nothing changes any more
            return None
        values = after
    return None


def _inputs(block: Block, results: Sequence[Operand]) -> set[Var]:
    """What results follow from, of all that the block does not compute."""
    return live(copied(block), {one for one in results if isinstance(one, Var)})


def _run(block: Block, known: dict[Var, Any]) -> None:
    for statement in block:
        match statement:
            case Let():
                known[statement.out] = _let(statement, known)
            case If():
                arm, results = (statement.then, statement.yes) if _number(statement.condition, known) else (
                    statement.orelse, statement.no)  # fmt: skip
                _run(arm, known)
                known |= {out: _number(one, known) for out, one in zip(statement.outs, results, strict=True)}
            case Note():
                pass
            case _:
                raise NotCountedError


def _let(let: Let, known: Mapping[Var, Any]) -> Any:
    values = [_number(one, known) for one in let.args]
    if let.out.type.shape or let.keywords.keys() - {"dtype"}:
        raise NotCountedError
    match let.op:
        case "same" | "cast":
            found = values[0]
        case "not":
            found = not values[0]
        case "floordiv" | "mod" | "truediv" if values[1] == 0:
            raise NotCountedError
        case _ if let.op in FOLDED:
            found = FOLDED[let.op](*values)
        case _:
            raise NotCountedError
    return np.asarray(found).astype(let.out.type.dtype)[()]


def _number(operand: Operand, known: Mapping[Var, Any]) -> Any:
    if isinstance(operand, Var):
        if operand not in known:
            raise NotCountedError
        return known[operand]
    if not isinstance(operand, Const) or operand.type.shape:
        raise NotCountedError
    return np.asarray(operand.value)[()]
