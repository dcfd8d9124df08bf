"""What a reference's process sees of its branches while a comparison plays: outcomes taken, and those left over.

    watcher = Watcher(subject)
    with watcher:
        subject.step(actions)
    watcher.seen()

It looks at `step` and `reset` and at everything of the rules that they call. A function that never ran is listed if a
line that ran names it (dispatch by class or by table); otherwise it lies behind an outcome that is listed.
"""

import ast
import re
from collections.abc import Iterator
from types import CodeType
from typing import Any

from overclock.verify.reach.bytecode import Branch
from overclock.verify.reach.idle import idle_functions
from overclock.verify.reach.ledger import CALLED, ENTERED, Aside, Outcome, Seen, SeenOutcome
from overclock.verify.reach.rule_files import outside_packages, rule_modules
from overclock.verify.reach.settled import Settled
from overclock.verify.reach.syntax import Syntax
from overclock.verify.rollout.branches import BranchTracer, Handler, TracedCode

RENDERING = re.compile(r"\b_?render(ing|er|ed|s|_mode|_fps)?\b")
GIVEN_TO_RESETS = frozenset({"seed", "options"})


class Watcher:
    """Use it as a context manager around calls of a subject that are compared."""

    def __init__(self, subject: Any) -> None:
        self._root = _root(subject)
        self._modules = [] if self._root is None else rule_modules(self._root)
        files = {str(module.__file__): module for module in self._modules}
        self._syntax = {file: Syntax(file) for file in files}
        self._names = {file: _shown(module.__name__, file) for file, module in files.items()}
        self._tracer = BranchTracer(files, self._handlers)
        self.watching = False

    def __enter__(self) -> "Watcher":
        self.watching = True
        self._tracer.__enter__()
        return self

    def __exit__(self, *about: object) -> None:
        self._tracer.__exit__(*about)
        self.watching = False

    @property
    def known(self) -> int:
        """How many outcomes were taken so far."""
        return len(self._tracer.reached)

    def covers(self, module: str) -> bool:
        """Whether a module is part of the rules."""
        return any(one.__name__ == module for one in self._modules)

    def report(self) -> dict[str, list[str]]:
        """The same in words, as `BranchTracer.report`."""
        return self._tracer.report()

    def seen(self) -> Seen:
        """All that was seen so far. What is not asked for is not looked at any more, which would cost time."""
        found: dict[Outcome, SeenOutcome] = {}
        ran = [traced.code for traced in self._tracer.entered]
        files = {code.co_filename for code in ran}
        modules = [module for module in self._modules if module.__file__ in files]
        settled = Settled(self._root, self._modules, ran)
        for one in self._outcomes(settled):
            before = found.get(one.outcome)
            if before is not None:  # the compiler may place one test twice: either one counts
                one = SeenOutcome(one.outcome, one.taken or before.taken, one.aside or before.aside)
            found[one.outcome] = one
        return Seen(list(found.values()), outside_packages(modules), bool(found))

    def _outcomes(self, settled: Settled) -> Iterator[SeenOutcome]:
        for traced in self._tracer.entered:
            code = traced.code
            if RENDERING.search(code.co_name):
                continue
            yield SeenOutcome(self._function(code), True)
            for branch in traced.branches.values():
                for jumped, said, raises in branch.outcomes:
                    taken = (code.co_filename, branch, jumped) in self._tracer.reached
                    aside: Aside | None = "raises" if raises else self._aside(code, branch, settled)
                    if aside is not None:
                        traced.close(branch, jumped)
                    elif not taken:  # it was set aside before some module ran
                        traced.reopen(branch, jumped)
                    yield SeenOutcome(self._outcome(code, branch.line, branch.column, branch.condition, said),
                                      taken, aside)  # fmt: skip
            yield from self._entered(traced)
        for code, aside in idle_functions(self._root, self._modules, self._syntax, self._tracer.entered):
            if not RENDERING.search(code.co_qualname):
                yield SeenOutcome(self._function(code), False, aside)

    def _entered(self, traced: TracedCode) -> Iterator[SeenOutcome]:
        """The handlers of a function whose `try` ran."""
        syntax = self._syntax[traced.code.co_filename]
        for handler in traced.handlers:
            text, raises, tried = syntax.handler(handler)
            if any(map(traced.ran, tried)):
                outcome = self._outcome(traced.code, handler[0], 0, text, ENTERED)
                yield SeenOutcome(outcome, handler in traced.entered_handlers, "raises" if raises else None)

    @staticmethod
    def _aside(code: CodeType, branch: Branch, settled: Settled) -> Aside | None:
        if RENDERING.search(branch.condition):
            return "rendering"
        test = _parsed(branch.condition)
        if test is None:
            return None
        names = {one.id for one in ast.walk(test) if isinstance(one, ast.Name)}
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if names and names <= GIVEN_TO_RESETS and names <= {*parameters}:
            return "call"
        return "constructor" if settled(code, test) else None

    def _function(self, code: CodeType) -> Outcome:
        return self._outcome(code, code.co_firstlineno, 0, code.co_qualname, CALLED)

    def _outcome(self, code: CodeType, line: int, column: int, condition: str, said: str) -> Outcome:
        return Outcome(self._names[code.co_filename], line, condition, said, code.co_qualname, column)

    def _handlers(self, code: CodeType) -> list[Handler]:
        return self._syntax[code.co_filename].handlers_of(code)


def _root(subject: Any) -> Any:
    """What the rules are looked for in: an instance, or the subject itself where that is not one of ours."""
    instances = getattr(subject, "instances", None)
    if instances:
        return instances[0]
    return None if type(subject).__module__.partition(".")[0] == "overclock" else subject


def _shown(module: str, file: str) -> str:
    """A module's path below the folder that it is imported from."""
    path = module.replace(".", "/")
    return f"{path}/__init__.py" if file.endswith("__init__.py") else f"{path}.py"


def _parsed(condition: str) -> ast.expr | None:
    try:
        return ast.parse(condition, mode="eval").body
    except SyntaxError:
        return None
