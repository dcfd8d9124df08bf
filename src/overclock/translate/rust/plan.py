"""What is computed where: which values are written in place of their use, and which are still needed later.

A *lazy* value has no variable: its expression stands where it is used, and an array's elements are computed one by one
there. A value is *needed* at a point if something behind it reads it; an array that is not needed any more is changed
in place instead of copied. Lazy values need whatever their expressions read (`roots`).
"""

from collections.abc import Iterable

from overclock.translate.ir.nodes import Block, Const, If, Let, Loop, Operand, Var
from overclock.translate.ir.passes import lets
from overclock.translate.printing.walk import defined
from overclock.translate.program import Function
from overclock.translate.rust.index import MOVES, region
from overclock.translate.rust.scalars import ELEMENTWISE

REDUCTIONS = frozenset({"sum", "prod", "mean", "min", "max", "any", "all", "argmin", "argmax", "count_nonzero"})
PRODUCTS = frozenset({"matmul", "dot"})
GROUPS = frozenset({"stack", "concatenate"})
EXPRESSIONS = ELEMENTWISE | REDUCTIONS | PRODUCTS | GROUPS | MOVES | {"cast", "same", "getitem", "draw"}
MOST_PARTS = 9  # operations in one expression
OFTEN = 2  # uses of what is read again and again


class Plan:
    """Which values of one function are lazy, and which are needed behind each statement."""

    def __init__(self, function: Function) -> None:
        self.made: dict[Var, Let] = {}  # of lazy values
        self._uses: dict[Var, int] = {}
        self._sizes: dict[Var, int] = {}
        self._passed: set[Operand] = set()  # on to a branch, a loop or the results, where they get another name
        self._pass(function.results.values())
        self._count(function.block)
        for let in lets(function.block):
            self._choose(let)

    def roots(self, operands: Iterable[Operand]) -> set[Var]:
        """The variables that operands are computed from."""
        found: set[Var] = set()
        for operand in operands:
            if isinstance(operand, Var):
                made = self.made.get(operand)
                found |= {operand} if made is None else self.roots(made.args)
        return found

    def needed(self, block: Block, behind: set[Var]) -> list[set[Var]]:
        """What is needed behind each statement of a block, and first what is needed before it."""
        found = [set(behind)]
        for statement in reversed(block):
            now = found[-1]
            match statement:
                case Let() if statement.out not in self.made:
                    now = (now - {statement.out}) | self.roots(statement.args)
                case If():
                    rest = now - set(statement.outs)
                    now = rest | self.roots([statement.condition])
                    now |= self.needed(statement.then, self.roots(statement.yes) | rest)[0]
                    now |= self.needed(statement.orelse, self.roots(statement.no) | rest)[0]
                case Loop():
                    now = (now - set(statement.outs)) | self.roots(statement.first) | self.read_by(statement)
            found.append(set(now))
        return found[::-1]

    def read_by(self, loop: Loop) -> set[Var]:
        """What a loop reads from outside, in any of its turns."""
        inside = self.needed([*loop.header, *loop.body], self.roots([loop.test, *loop.following]))[0]
        return inside - set(loop.carried)

    # ---- which values are lazy ----

    def _use(self, operands: Iterable[Operand], times: int = 1) -> None:
        for operand in operands:
            if isinstance(operand, Var):
                self._uses[operand] = self._uses.get(operand, 0) + times

    def _pass(self, operands: Iterable[Operand]) -> None:
        operands = list(operands)
        self._use(operands)
        self._passed.update(operands)

    def _count(self, block: Block) -> None:
        """Backwards, so that all uses of a result are known when its operands are counted."""
        for statement in reversed(block):
            match statement:
                case Let():
                    for arg in statement.args:
                        self._use([arg], OFTEN if self._reads_again(statement, arg) else 1)
                case If():
                    self._use([statement.condition])
                    self._pass([*statement.yes, *statement.no])
                    self._count(statement.orelse)
                    self._count(statement.then)
                case Loop():
                    before = dict(self._uses)
                    self._use([statement.test])
                    self._pass(statement.following)
                    self._count([*statement.header, *statement.body])
                    made = {*statement.carried, *defined([*statement.header, *statement.body])}
                    self._use(
                        [var for var in self._uses if self._uses[var] != before.get(var) and var not in made], OFTEN
                    )
                    self._use(statement.first)

    def _reads_again(self, let: Let, arg: Operand) -> bool:
        """Whether an operation may read elements of an operand more than once, so that they are better kept."""
        if _is_view(let) and self._uses.get(let.out, 0) > 1:
            return True
        if let.op == "getitem" and arg is let.args[0]:
            return any(one.type.shape for one in let.args[1:])
        if let.op in MOVES | GROUPS | REDUCTIONS or not let.out.type.shape:
            return False
        if let.op == "setitem":
            written = region(let.args[0].type.shape, let.keywords["index"], let.args[2:])
            return arg is not let.args[0] and arg.type.shape != written
        return let.op in PRODUCTS or arg.type.shape != let.out.type.shape

    def _choose(self, let: Let) -> None:
        size = 1 + sum(self._sizes.get(arg, 0) for arg in let.args if isinstance(arg, Var))
        nameless = not let.out.hint or let.out in self._passed
        once = self._uses.get(let.out, 0) == 1 and nameless and size <= MOST_PARTS
        if (once and let.op in EXPRESSIONS) or _is_view(let) or let.op in ("draw", "same"):
            self.made[let.out] = let
            self._sizes[let.out] = size


def _is_view(let: Let) -> bool:
    """Whether an array is a part of another one at places that are known."""
    if not let.out.type.shape:
        return False
    return let.op in MOVES | {"getitem"} and all(isinstance(one, Const) for one in let.args[1:])
