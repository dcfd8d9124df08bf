"""How often, and for what, a function's variables are read: that decides which expressions are written in place."""

import dataclasses
from collections import Counter
from collections.abc import Iterable

from overclock.translate.ir.nodes import Block, If, Loop, Operand, Var
from overclock.translate.printing.walk import operands, read_inside, statements


@dataclasses.dataclass
class Uses:
    """The reads of every variable, counted by what they are for."""

    reads: Counter[Operand] = dataclasses.field(default_factory=Counter)
    tests: Counter[Operand] = dataclasses.field(default_factory=Counter)  # as the condition of a branch
    arms: dict[Operand, Var] = dataclasses.field(default_factory=dict)  # read once, as this result of a branch

    def of(self, var: Var) -> int:
        return self.reads[var] + self.tests[var]

    def only_tested(self, var: Var) -> bool:
        return self.reads[var] == 0 and self.tests[var] == 1

    def becomes(self, var: Var) -> Var | None:
        """The result that a variable is one arm of, where it is nothing else."""
        return self.arms.get(var) if self.of(var) == 1 else None


def counted(block: Block, results: Iterable[Operand]) -> Uses:
    """Count the uses of every variable in a block, inner blocks included, and in `results`."""
    uses = Uses(Counter(results))
    for statement in statements(block):
        read = operands(statement)
        if isinstance(statement, If):
            uses.tests[read.pop(0)] += 1
            for out, *arms in zip(statement.outs, statement.yes, statement.no, strict=True):
                uses.arms |= dict.fromkeys(arms, out)
        if isinstance(statement, Loop):  # what a loop reads is computed before it
            read += 2 * list(read_inside(statement))
        uses.reads.update(read)
    return uses
