"""What gets a line of its own in a function of JAX, and what is written in the place where it is used."""

import re

from overclock.translate.ir.nodes import Const, Operand, Var
from overclock.translate.jax.dtypes import Sure
from overclock.translate.jax.expressions import ATOM, Expressions, dtype_text
from overclock.translate.jax.line_breaking import WIDTH
from overclock.translate.jax.lines import MARK, Line, Lines, mark
from overclock.translate.jax.names import Hints
from overclock.translate.jax.tables import Tables
from overclock.translate.jax.uses import Uses

SHORTEST = 20  # characters of an expression that gets a name where a line is too long
INLINE = 70  # of an expression that is used once and written in place
NESTED = 64  # of one that has a name in the source, but goes into the `where` that gives it back under that name
COMMENT = 96


class Writer(Expressions):
    """Decides for every value whether it gets a line of its own or is written where it is used."""

    def __init__(self, tables: Tables, draws: dict[str, int], uses: Uses, hints: Hints, indent: int) -> None:
        super().__init__(tables, draws)
        self.lines: Lines = []
        self.sure = Sure()
        self.uses, self.hints, self.indent = uses, hints, indent
        self.depth = 0  # of branches, in comments
        self._names_of: dict[int, str] = {}

    def name_inputs(self, inputs: dict[Var, str]) -> None:
        """Name the fields of the state, whose dtype is certain, and the action, whose dtype is not."""
        for var, text in inputs.items():
            self.inlined[var] = (text, ATOM)
            if text != "action":
                self.sure.add(var)

    def exactly(self, operand: Operand, dtype: str) -> str:
        """The text of a result with this dtype, never weakly typed."""
        if isinstance(operand, Const):
            return self.number(operand, exact=True, dtype=dtype)
        if self.sure.of(operand) and operand.type.dtype == dtype:
            return self.text(operand)
        text = self.text(operand, ATOM)
        cast = f".astype({dtype_text(dtype)})"
        return text if text.endswith(cast) else text + cast

    def define(self, variables: list[Var], text: str, unpacked: bool = False) -> None:
        """Add a line that defines variables; `unpacked`: from a tuple, even where it is one variable."""
        self._names_of |= {var.number: self.hints.shown(var) for var in variables}
        shown = ", ".join(map(mark, variables))
        shown = f"({shown},)" if unpacked and len(variables) == 1 else shown
        self.lines.append(Line(f"{shown} = {text}", tuple(variables)))

    def comment(self, text: str) -> Line:
        """Add a line with words of the source, indented by the depth of the branches around."""
        whole = "    " * self.depth + text
        line = Line(f"# {whole if len(whole) <= COMMENT else whole[: COMMENT - 4] + ' ...'}", comment=True)
        self.lines.append(line)
        return line

    def length(self, text: str) -> int:
        """The approximate length of a text once its variables have names."""
        return len(MARK.sub(lambda found: self._names_of.get(int(found[1]), "value"), text))

    def in_place(self, out: Var, text: str, op: str) -> bool:
        """Whether the result of an operation is written where it is used."""
        if self.uses.only_tested(out):
            return True  # it gets its name where it is asked for, below the source's words
        if self.uses.of(out) != 1:
            return op == "draw" and not out.type.shape and not out.hint and self.length(text) < INLINE
        if not out.hint or op in ("cast", "stack"):
            return self.length(text) <= INLINE
        return self.goes_on(out, text)

    def goes_on(self, out: Var, text: str) -> bool:
        """Whether a value is only a step to the next one of its name, and short enough to stand in its line."""
        becomes = self.uses.becomes(out)
        same = becomes is not None and becomes.hint == out.hint
        return same and self.length(text) <= NESTED and text.count("where(") < 2

    def too_long(self, out: Var, text: str) -> bool:
        return 4 * self.indent + len(self.hints.shown(out)) + 5 + self.length(text) > WIDTH

    def spelled_out(self, operands: list[Operand]) -> bool:
        """Give the longest expression that would be written in place a line and a name; False where there is none."""
        inner = [one for one in operands if isinstance(one, Var) and one in self.inlined]
        inner = [one for one in inner if not is_name(self.inlined[one][0])]
        longest = max(inner, key=lambda one: self.length(self.inlined[one][0]), default=None)
        if longest is None or self.length(self.inlined[longest][0]) < SHORTEST:
            return False
        self.named(longest)
        return True

    def named(self, operand: Operand) -> str:
        """The name of a value; what was to be written in place gets a line and a name."""
        text, _ = self.inlined.get(operand, ("", ATOM)) if isinstance(operand, Var) else ("", ATOM)
        if isinstance(operand, Var) and text and not is_name(text):
            del self.inlined[operand]
            self.define([operand], text)
        return self.text(operand)


def is_name(text: str) -> bool:
    """Whether an expression is a variable or a field of the state."""
    return bool(re.fullmatch("[\\w.\x01\x02]+", text))
