"""Walks over the statements of a program: blocks inside blocks, which variables are read, which are defined."""

from collections.abc import Callable, Iterator, Mapping

from overclock.translate.ir.nodes import Block, Call, If, Let, Loop, Note, Operand, Statement, Var
from overclock.translate.ir.passes import lets, live
from overclock.translate.program import Function

Computation = Let | If | Loop | Call


def inner_blocks(statement: Statement) -> list[Block]:
    """The blocks directly inside a statement."""
    match statement:
        case If():
            return [statement.then, statement.orelse]
        case Loop():
            return [statement.header, statement.body]
    return []


def statements(block: Block) -> Iterator[Computation]:
    """All statements of a block in order, those inside a statement before it; comments are left out."""
    for statement in block:
        for inner in inner_blocks(statement):
            yield from statements(inner)
        if not isinstance(statement, Note):
            yield statement


def operands(statement: Computation) -> list[Operand]:
    """What a statement itself reads, blocks inside not included; of a branch, the condition comes first."""
    match statement:
        case Let() | Call():
            return list(statement.args)
        case If():
            return [statement.condition, *statement.yes, *statement.no]
        case Loop():
            return [*statement.first, statement.test, *statement.following]


def outputs(statement: Computation) -> list[Var]:
    """The variables that a statement defines for those behind it."""
    return [statement.out] if isinstance(statement, Let) else list(statement.outs)


def defined(block: Block) -> set[Var]:
    """Every variable that a block defines, those carried by loops and those of inner blocks included."""
    found: set[Var] = set()
    for statement in statements(block):
        found.update(outputs(statement), statement.carried if isinstance(statement, Loop) else ())
    return found


def read_inside(loop: Loop) -> set[Var]:
    """The variables defined outside of a loop that its header, its body or its next turn read."""
    inside = [*loop.header, *loop.body]
    read = {one for statement in statements(inside) for one in operands(statement)} | {loop.test, *loop.following}
    return {one for one in read if isinstance(one, Var)} - defined(inside) - set(loop.carried)


def rewrite_lets(function: Function, rewrite: Callable[[Let, Mapping[Operand, Let]], None]) -> None:
    """Let `rewrite` change every operation in place, then drop what nothing needs any more.

    `rewrite` gets an operation and the operations so far by the variables they define.
    """
    made: dict[Operand, Let] = {}
    for let in lets(function.block):
        made[let.out] = let
        rewrite(let, made)
    live(function.block, {one for one in function.results.values() if isinstance(one, Var)})
