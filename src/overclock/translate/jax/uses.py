"""How often, and for what, a function's variables are read: that decides what is written in place."""

import dataclasses
from collections.abc import Iterable
from typing import Any

from overclock.translate.ir.nodes import Block, Call, If, Let, Loop, Operand, Var


@dataclasses.dataclass
class Uses:
    """Counts, by variable."""

    reads: dict[Var, int] = dataclasses.field(default_factory=dict)
    tests: dict[Var, int] = dataclasses.field(default_factory=dict)  # as the condition of a branch
    arms: dict[Var, Var] = dataclasses.field(default_factory=dict)  # read once, as this result of a branch

    def of(self, var: Var) -> int:
        """All of them."""
        return self.reads.get(var, 0) + self.tests.get(var, 0)

    def only_tested(self, var: Var) -> bool:
        """Whether a variable is the condition of one branch and nothing else."""
        return self.reads.get(var, 0) == 0 and self.tests.get(var, 0) == 1

    def becomes(self, var: Var) -> Var | None:
        """The result that a variable is one arm of, where it is nothing else."""
        return self.arms.get(var) if self.of(var) == 1 else None


def counted(block: Block, results: Iterable[Operand]) -> Uses:
    """The uses in a block and those inside it."""
    uses = Uses()

    def read(operand: Any, weight: int = 1) -> None:
        if isinstance(operand, Var):
            uses.reads[operand] = uses.reads.get(operand, 0) + weight

    def walk(inner: Block) -> None:
        for one in inner:
            match one:
                case Let(_, _, args, _):
                    for arg in args:
                        read(arg)
                case Call():
                    for arg in one.args:
                        read(arg)
                case If():
                    if isinstance(one.condition, Var):
                        uses.tests[one.condition] = uses.tests.get(one.condition, 0) + 1
                    walk(one.then)
                    walk(one.orelse)
                    for out, *arms in zip(one.outs, one.yes, one.no, strict=True):
                        for arm in arms:
                            read(arm)
                            if isinstance(arm, Var):
                                uses.arms[arm] = out
                case Loop():
                    walk(one.header)
                    walk(one.body)
                    for arg in (*one.first, *one.following, one.test):
                        read(arg)
                    for var in read_inside(one):  # what a loop reads is computed before it
                        read(var, 2)

    walk(block)
    for one in results:
        read(one)
    return uses


def operands(statement: Let | If | Loop | Call) -> list[Operand]:
    """What a statement itself reads, blocks inside not included."""
    match statement:
        case Let():
            return list(statement.args)
        case Call():
            return list(statement.args)
        case If():
            return [statement.condition, *statement.yes, *statement.no]
        case Loop():
            return [*statement.first, statement.test, *statement.following]


def made(statement: Let | If | Loop | Call) -> list[Var]:
    """What a statement leaves behind."""
    return [statement.out] if isinstance(statement, Let) else list(statement.outs)


def read_inside(loop: Loop) -> set[Var]:
    """Variables of outside that a loop reads."""
    own: set[Var] = set(loop.carried)
    read: set[Var] = set()

    def walk(block: Block) -> None:
        for one in block:
            match one:
                case If():
                    walk(one.then)
                    walk(one.orelse)
                case Loop():
                    own.update(one.carried)
                    walk(one.header)
                    walk(one.body)
                case Let() | Call():
                    pass
                case _:
                    continue
            read.update(operand for operand in operands(one) if isinstance(operand, Var))
            own.update(made(one))

    walk(loop.header)
    walk(loop.body)
    read.update(one for one in (loop.test, *loop.following) if isinstance(one, Var))
    return read - own
