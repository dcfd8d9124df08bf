"""`match`: one case after the other, each under the condition that none before it has matched.

Constants, `|`, `_`, a name for everything and guards are followed; patterns that take a value apart are refused.
"""

import ast

from overclock.recording.errors import UnsupportedError
from overclock.translate.ir.layout import number
from overclock.translate.ir.nodes import Const, Operand
from overclock.translate.ir.values import Known, Value
from overclock.translate.python.iteration import Iteration


class Matching(Iteration):
    """What `match` means."""

    def visit_Match(self, node: ast.Match) -> None:
        held = self._temporary_name()
        subject = self.locals[held] = self.evaluate(node.subject)
        self._cases(subject, node.cases, self.frame.source.text(node.subject))
        self.locals.pop(held)

    def _cases(self, subject: Value, cases: list[ast.match_case], text: str) -> None:
        if not cases:
            return
        case, *further = cases
        matched = number(self._matches(subject, case.pattern))
        if case.guard is not None:
            guard = case.guard
            matched = self._short("and", matched, lambda: number(self.condition(guard)))
        self.branch(
            self.truth(matched),
            lambda: self.run(case.body),
            lambda: self._cases(subject, further, text),
            f"case {self.frame.source.text(case.pattern)} of {text}",
        )

    def _matches(self, subject: Value, pattern: ast.pattern) -> Operand:
        match pattern:
            case ast.MatchValue(value=value):
                return self.truth(self.compare(ast.Eq(), subject, self.evaluate(value)))
            case ast.MatchSingleton(value=value):
                return self.truth(self.compare(ast.Is(), subject, Known(value)))
            case ast.MatchOr(patterns=patterns):
                found: Operand = Const(False)
                for one in patterns:
                    found = self.logical("or", found, self._matches(subject, one))
                return found
            case ast.MatchAs(pattern=None, name=None):
                return Const(True)
            case ast.MatchAs(pattern=None, name=str(name)):
                self.assign(ast.Name(name, ast.Store()), subject)
                return Const(True)
        kind = type(pattern).__name__.removeprefix("Match").lower()
        raise UnsupportedError(f"a pattern of a `match` that is no constant (a {kind} pattern)")
