"""A function of a program as lines of JAX, readable as its source was.

Both arms of a branch are computed and `jnp.where` picks; loops become `while_loop`. The source's own words stand above
each branch and loop.
"""

from overclock.translate.ir.nodes import Block, Call, Const, If, Let, Loop, Operand, Var
from overclock.translate.jax.expressions import ATOM, dtype_text
from overclock.translate.jax.lines import Line, Nested, mark, read_in
from overclock.translate.jax.names import Hints
from overclock.translate.jax.tables import Tables
from overclock.translate.jax.uses import Uses
from overclock.translate.jax.writer import INLINE, Writer
from overclock.translate.printing.walk import read_inside

MANY = 5  # values that a loop carries, of which its test takes what it needs
SHORT = 44  # characters of a condition that needs no name


class Body(Writer):
    """Writes the lines of one function."""

    def __init__(self, tables: Tables, draws: dict[str, int], uses: Uses, hints: Hints, indent: int) -> None:
        super().__init__(tables, draws, uses, hints, indent)
        self._guards: list[str] = []  # conditions of the branches around

    def guard(self, text: str) -> None:
        """Add a condition without which loops do not turn."""
        self._guards.append(text)

    def block(self, block: Block) -> None:
        for statement in block:
            match statement:
                case Let():
                    self._let(statement)
                case If():
                    self._if(statement)
                case Loop():
                    self._loop(statement)
                case Call():
                    self._call(statement)

    def _let(self, let: Let) -> None:
        base = let.args[0] if let.op == "getitem" else None
        if isinstance(base, Const) and not base.name and self.hints.of(let.out):
            let.args = (Const(base.value, f"{self.hints.of(let.out)}_table"), *let.args[1:])
        text, strength = self.expression(let)
        self.sure.learn(let)
        if self.in_place(let.out, text, let.op):
            self.inlined[let.out] = (text, strength)
            return
        while self.too_long(let.out, text) and self.spelled_out(list(let.args)):
            text, _ = self.expression(let)
        self.define([let.out], text)

    def _if(self, branch: If, word: str = "if") -> None:
        note = self.comment(f"{word} {branch.note}:") if branch.note else None
        start = len(self.lines)
        nested = bool(branch.then or branch.orelse)
        if nested or len(branch.outs) > 1 or self.length(self.text(branch.condition)) > SHORT:
            guard = self.named(branch.condition)
            if nested:
                self._arms(branch, guard, note)
        for out, yes, no in zip(branch.outs, branch.yes, branch.no, strict=True):
            self._result(branch.condition, out, yes, no)
        if note is not None and len(self.lines) == start:
            self.lines.remove(note)

    def _arms(self, branch: If, guard: str, note: Line | None) -> None:
        noted = note is not None
        self.depth += noted
        self._guards.append(guard)
        self.block(branch.then)
        self._guards[-1] = f"~{guard}"
        before, last = branch.orelse[:-1], branch.orelse[-1] if branch.orelse else None
        if noted and branch.orelse and self.lines[-1] is note:
            note.text = note.text.replace(f"if {branch.note}:", f"if {_opposite(branch.note)}:")
            self.block(branch.orelse)
        elif noted and isinstance(last, If) and last.note and all(isinstance(one, Let) for one in before):
            self.depth -= 1
            self.block(before)
            self._if(last, "elif")
            self.depth += 1
        elif branch.orelse:
            self._else(branch.orelse, noted)
        self._guards.pop()
        self.depth -= noted

    def _else(self, block: Block, noted: bool) -> None:
        self.depth -= noted
        note = self.comment("else:") if noted else None
        start = len(self.lines)
        self.depth += noted
        self.block(block)
        if note is not None and len(self.lines) == start:
            self.lines.remove(note)

    def _result(self, condition: Operand, out: Var, yes: Operand, no: Operand) -> None:
        if self.sure.picked(out, yes, no):
            self.sure.add(out)
        text, strength = self.choice(condition, out, yes, no)
        if self.uses.of(out) == 1 and (self.goes_on(out, text) if out.hint else self.length(text) <= INLINE):
            self.inlined[out] = (text, strength)
            return
        while self.too_long(out, text) and self.spelled_out([yes, no]):
            text, _ = self.choice(condition, out, yes, no)
        self.define([out], text)

    def _call(self, call: Call) -> None:
        helper = call.helper
        given = ["draw"] if helper.draws else []
        given += [self.text(arg) for arg in call.args]
        if helper.guarded and self._guards:
            given.append(f"when={self._guard()}")
        if all(map(self.sure.of, call.args)):
            for out in call.outs:
                self.sure.add(out)
        self.define(call.outs, f"{helper.name}({', '.join(given)})")

    def _guard(self) -> str:
        return " & ".join(dict.fromkeys(self._guards))

    # ---- loops ----

    def _loop(self, loop: Loop) -> None:
        for var in sorted(read_inside(loop), key=lambda var: var.number):
            self.named(var)
        first = [self._typed(one, var) for one, var in zip(loop.first, loop.carried, strict=True)]
        if loop.note:
            self.comment(f"{loop.note}:")
        for one, var, out in zip(loop.first, loop.carried, loop.outs, strict=True):
            if isinstance(one, Const) or self.sure.of(one):
                self.sure.add(var)
                self.sure.add(out)
        guard = self._guard()
        again = self._nested("again", loop, loop.header)
        test = self.text(loop.test)
        again.lines.append(Line(f"return {guard} & {self.text(loop.test, 4)}" if guard else f"return {test}"))
        if len(loop.carried) > MANY:
            self._pick_carried(again, loop.carried)
        turn = self._nested("turn", loop, loop.body)
        following = [self._typed(one, var) for one, var in zip(loop.following, loop.carried, strict=True)]
        turn.lines.append(Line(f"return {_tuple(following, bare=True)}"))
        start = _tuple(first)
        if self.length(start) > SHORT:
            self.lines.append(Line(f"start = {start}"))
            start = "start"
        self.lines += [again, turn]
        self.define(loop.outs, f"jax.lax.while_loop(again, turn, {start})", unpacked=True)

    def _nested(self, name: str, loop: Loop, block: Block) -> Nested:
        """A function of the values that a loop carries."""
        outer, guards, depth = self.lines, self._guards, self.depth
        self.lines, self._guards, self.depth = [], [], 0
        self.indent += 1
        self.define(loop.carried, "carried", unpacked=True)
        self.block(block)
        found = Nested(f"def {name}(carried):", lines=self.lines)
        self.lines, self._guards, self.depth = outer, guards, depth
        self.indent -= 1
        return found

    def _pick_carried(self, again: Nested, carried: list[Var]) -> None:
        """Of many carried values, a test takes only those that it reads."""
        read = read_in(again.lines[1:])
        mine = [(at, var) for at, var in enumerate(carried) if var.number in read]
        values = ", ".join(f"carried[{at}]" for at, _ in mine)
        names = tuple(var for _, var in mine)
        again.lines[:1] = [Line(f"{', '.join(map(mark, names))} = {values}", names)] if mine else []

    def _typed(self, operand: Operand, var: Var) -> str:
        """A value with exactly the dtype that is carried."""
        if isinstance(operand, Const):
            return self.number(operand, exact=True, dtype=var.type.dtype)
        if operand.type.dtype != var.type.dtype:
            return f"{self.text(operand, ATOM)}.astype({dtype_text(var.type.dtype)})"
        return self.text(operand)


def _opposite(condition: str) -> str:
    return f"not {condition}" if condition.replace(".", "").isidentifier() else f"not ({condition})"


def _tuple(parts: list[str], bare: bool = False) -> str:
    inner = ", ".join(parts) + ("," if len(parts) == 1 else "")
    return inner if bare and len(parts) > 1 else f"({inner})"
