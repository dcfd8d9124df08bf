"""A program's blocks as Rust: branches are `if`, loops are loops, and arrays nothing else reads change in place."""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from overclock.translate.ir.nodes import Block, Const, If, Let, Loop, Note, Operand, Var
from overclock.translate.rust.array_statements import Wholes
from overclock.translate.rust.lines import Branch, Lines, Nest, Storage, chained, listed
from overclock.translate.rust.plan import EXPRESSIONS, GROUPS
from overclock.translate.rust.syntax import Text, joined, negated, rust_type


class Body(Wholes):
    """Writes the lines of one function."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._turned: set[Operand] = set()  # numbers that a loop left in its variable

    def block(self, block: Block, after: Iterable[Operand]) -> None:
        """Write a block; `after` are the operands that are read behind it."""
        self._block(block, self.plan.roots(after))

    def _block(self, block: Block, behind: set[Var]) -> None:
        for statement, needed in zip(block, self.plan.needed(block, behind)[1:], strict=True):
            match statement:
                case Let() if statement.out not in self.plan.made:
                    self._let(statement, needed)
                case If():
                    self._if(statement, needed)
                case Loop():
                    self._loop(statement, needed)
                case Note(text):
                    self.lines.append(f"// {text}")

    def _let(self, let: Let, needed: set[Var]) -> None:
        if let.op not in EXPRESSIONS or let.op in GROUPS:
            self.make(let, needed)
        elif let.out.type.shape:
            self.keep(let.out, self.filled(let.out.type.shape, lambda places: self.computed(let, places).text))
        else:
            self._number(let.out, self.computed(let, []).text)

    def _number(self, var: Var, text: str) -> None:
        name = self.names.fresh(var.hint)
        self.lines.append(f"let {name} = {text};")
        self.texts[var] = name

    @contextlib.contextmanager
    def _into(self, lines: Lines, scope: set[str]) -> Iterator[None]:
        """Inside, lines go into another block."""
        before, self.lines = self.lines, lines
        self.level += 1
        with self.names.inside(scope):
            yield
        self.level -= 1
        self.lines = before

    # ---- branches ----

    def _if(self, branch: If, needed: set[Var]) -> None:
        condition = self.number(branch.condition, "bool")
        if not branch.then and not branch.orelse and self._flag(branch, condition):
            return
        rest = needed - set(branch.outs)
        arms: list[tuple[Lines, set[str], list[Operand]]] = [([], set(), branch.yes), ([], set(), branch.no)]
        for (lines, scope, values), block in zip(arms, (branch.then, branch.orelse), strict=True):
            with self._into(lines, scope):
                self._block(block, self.plan.roots(values) | rest)
        shared = self._shared(branch, rest)
        own = [at for at in range(len(branch.outs)) if at not in shared]
        for lines, scope, values in arms:
            with self._into(lines, scope):
                for at, storage in shared.items():
                    value = values[at]
                    if not isinstance(value, Var) or self.storage.get(value) is not storage:
                        self.lines.append(f"{storage.name} = {self.whole(value)};")
                        storage.changed = True
                if own:
                    self._value([self._typed(values[at], branch.outs[at]) for at in own])
        for at, storage in shared.items():
            self.texts[branch.outs[at]], self.storage[branch.outs[at]] = storage.name, storage
        self._write(branch, condition, arms[0][0], arms[1][0], [branch.outs[at] for at in own])

    def _flag(self, branch: If, condition: Text) -> bool:
        """A flag that is certain in one arm needs no branch."""
        if len(branch.outs) != 1 or branch.outs[0].type.dtype != "bool" or branch.outs[0].type.shape:
            return False
        (yes,), (no,) = branch.yes, branch.no
        known, other = (yes, no) if isinstance(yes, Const) else (no, yes)
        if not isinstance(known, Const):
            return False
        flag = condition if bool(known.value) == (known is yes) else negated(condition)
        self._comment(branch.note, "if ")
        self._number(branch.outs[0], joined("||" if known.value else "&&", (flag, self.number(other))).text)
        return True

    def _shared(self, branch: If, rest: set[Var]) -> dict[int, Storage]:
        """Arrays that may stay where one of the arms has them: nothing else that is read later lies there."""
        found: dict[int, Storage] = {}
        for at, out in enumerate(branch.outs):
            for value in (branch.yes[at], branch.no[at]):
                storage = self.storage.get(value) if isinstance(value, Var) else None
                if storage is None or not storage.changeable or storage.level > self.level or storage in found.values():
                    continue
                others = [one for values in (branch.yes, branch.no) for place, one in enumerate(values) if place != at]
                fits = (
                    isinstance(value, Var) and value.type.dtype == out.type.dtype and value.type.shape == out.type.shape
                )
                if fits and not self.in_use(storage, rest | self.plan.roots(others)):
                    found[at] = storage
                    break
        return found

    def _typed(self, value: Operand, out: Var) -> str:
        return self.whole(value, out.type.dtype, out.type.shape)

    def _value(self, texts: list[str]) -> None:
        """End a block with its value; a branch that computes just that is the value itself."""
        last = self.lines[-1] if self.lines else None
        if isinstance(last, Branch) and last.targets and [one.name for one in last.targets] == texts:
            last.targets, last.is_value = [], True
        else:
            self.lines.append(listed(texts))

    def _write(self, branch: If, condition: Text, then: Lines, orelse: Lines, outs: list[Var]) -> None:
        statement = not outs
        if statement and not then:
            condition, then, orelse = negated(condition), orelse, []
        if not then:
            return
        targets = [Storage(self.names.fresh(out.hint), level=self.level) for out in outs]
        for out, storage in zip(outs, targets, strict=True):
            self.texts[out] = storage.name
            if out.type.shape:
                self.storage[out] = storage
        values = [
            one
            for out, yes, no in zip(branch.outs, branch.yes, branch.no, strict=True)
            if out in outs
            for one in (yes, no)
        ]
        unsure = any(isinstance(one, Const) or one.type.shape for one in values)
        kinds = [rust_type(out.type.dtype, out.type.shape) for out in outs]
        made = Branch([(condition.text, then)], orelse, targets, listed(kinds) if unsure else "")
        if branch.then or branch.orelse:
            then[:0] = [f"// {branch.note}"] if branch.note else []
        else:
            self._comment(branch.note, "if ")
        self.lines.append(chained(made))

    def _comment(self, note: str, before: str = "") -> None:
        if note:
            self.lines.append(f"// {before}{note}")

    # ---- loops ----

    def _loop(self, loop: Loop, needed: set[Var]) -> None:
        rest = needed - set(loop.outs)
        read = self.plan.read_by(loop)
        self._comment(loop.note)
        for var, first in zip(loop.carried, loop.first, strict=True):
            self._carry(var, first, rest | read | set(loop.carried))
        lines: Lines = []
        scope: set[str] = set()
        with self._into(lines, scope):
            self._block(loop.header, self.plan.roots([loop.test]) | set(loop.carried) | read | rest)
            test = self.number(loop.test, "bool")
            head = "loop" if lines else f"while {test.text}"
            if lines:
                lines.append(Branch([(negated(test).text, ["break;"])], []))
            self._block(loop.body, self.plan.roots(loop.following) | read | rest)
            changed = [
                (self.texts[var], self._typed(value, var))
                for var, value in zip(loop.carried, loop.following, strict=True)
                if not (isinstance(value, Var) and var in self.storage and self.storage.get(value) is self.storage[var])
            ]
            if changed:
                targets, values = ([pair[side] for pair in changed] for side in range(2))
                lines.append(f"{listed(targets)} = {listed(values)};")
        self.lines.append(Nest(head, lines))
        for var, out in zip(loop.carried, loop.outs, strict=True):
            self.texts[out] = self.texts[var]
            self._turned.add(out)
            if var in self.storage:
                self.storage[out] = self.storage[var]

    def _carry(self, var: Var, first: Operand, needed: set[Var]) -> None:
        """A variable that changes from turn to turn."""
        if var.type.shape:
            if isinstance(first, Var) and first.type == var.type:
                self.own(first, var, needed)
            else:
                self.keep(var, self._typed(first, var), changed=True)
            return
        if first in self._turned and first not in needed:
            self.texts[var] = self.texts[first]  # pyright: ignore[reportArgumentType]
            return
        name = self.names.fresh(var.hint)
        self.lines.append(f"let mut {name}: {rust_type(var.type.dtype)} = {self._typed(first, var)};")
        self.texts[var] = name
