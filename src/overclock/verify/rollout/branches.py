"""Which branches of a reference's own Python code were taken, seen instruction by instruction.

Line-based coverage sees a single line where a condition has several operands; here each is a branch of its own. Only
the given files are traced, line by line, and instruction by instruction only on lines with an outcome that was not
taken yet. A function with nothing left to see costs what others cost: one look at its file name per call.
"""

import linecache
import sys
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

from overclock.verify.reach.bytecode import Branch, Met, branches_of

Handler = tuple[int, int]  # the first and the last line of an exception handler


class TracedCode:
    """A function that ran: its branches, and what was not seen of it yet."""

    def __init__(self, code: CodeType, handlers: Collection[Handler]) -> None:
        self.code, self.branches, self.handlers = code, branches_of(code), frozenset(handlers)
        self.entered_handlers: set[Handler] = set()
        self.lines: set[int] = {code.co_firstlineno}  # that ran while something was left to see
        self.taken: set[tuple[Branch, bool]] = set()  # and whether it jumped
        self._open = {(branch, jumps) for branch in self.branches.values() for jumps in (True, False)}
        self._everywhere = any(branch.jump_line is None for branch in self.branches.values())
        self.open_lines: frozenset[int | None] = frozenset()
        self._look()

    @property
    def complete(self) -> bool:
        """Whether every outcome was taken that does not raise, and every handler entered."""
        return not self.open_lines and len(self.entered_handlers) == len(self.handlers)

    def ran(self, line: int) -> bool:
        """Whether a line ran, if an outcome before it did not keep the function from it."""
        return self.complete or line in self.lines

    def met(self) -> Met:
        """The part of the function that lies behind no outcome that was never taken."""
        unentered = self.handlers - self.entered_handlers
        return Met(self.code, self.taken, [range(first, last + 1) for first, last in unentered])

    def close(self, branch: Branch, jumped: bool) -> None:
        """Note that nothing is left to see of an outcome."""
        if (branch, jumped) in self._open:
            self._open.discard((branch, jumped))
            self._look()

    def reopen(self, branch: Branch, jumped: bool) -> None:
        """Note that an outcome does not count as taken after all."""
        self._open.add((branch, jumped))
        self._look()

    def runs(self, line: int) -> bool:
        """Note that a line runs; returns whether its instructions are of interest."""
        self.lines.add(line)
        if self.handlers:
            self.entered_handlers |= {one for one in self.handlers if one[0] <= line <= one[1]}
        return line in self.open_lines or (self._everywhere and bool(self.open_lines))

    def _look(self) -> None:
        self.open_lines = frozenset(branch.jump_line for branch, jumped in self._open if not branch.raises[not jumped])


class BranchTracer:
    """Use as a context manager around calls into the reference; `reached` grows, nothing is ever forgotten.

    `handlers` gives the exception handlers of a function, for whom wants to know which were entered.
    """

    def __init__(
        self, files: Collection[str], handlers: Callable[[CodeType], Collection[Handler]] = lambda code: ()
    ) -> None:
        self.reached: set[tuple[str, Branch, bool]] = set()  # file, branch, whether it jumped
        self._files, self._handlers = frozenset(files), handlers
        self._entered: dict[int, TracedCode] = {}  # by identity: hashing code objects is slow
        self._before: Any = None
        self._chained: Any = None

    def __enter__(self) -> "BranchTracer":
        self._before = sys.gettrace()
        # A tracer written in C takes the place of whoever calls it.
        self._chained = self._before if isinstance(self._before, FunctionType | MethodType) else None
        # From Python 3.12 on, settrace announces single instructions only if some frame asked for them before.
        sys._getframe().f_trace_opcodes = True
        sys.settrace(self._on_call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    @property
    def entered(self) -> list[TracedCode]:
        """The functions that ran, in the order of their first calls."""
        return list(self._entered.values())

    def report(self) -> dict[str, list[str]]:
        """Outcomes reached and missed in the functions that ran, and the functions that never ran."""
        places = {(one.code.co_filename, branch) for one in self.entered for branch in one.branches.values()}
        outcomes: dict[str, bool] = {}
        for file, branch in sorted(places, key=lambda place: (place[0], place[1].line, place[1].offset)):
            for jumped, outcome, _ in branch.outcomes:
                text = f"{Path(file).name}:{branch.line} `{branch.condition}` {outcome}"
                # The compiler may place one test twice (at the head and the end of a loop): either one counts.
                outcomes[text] = outcomes.get(text, False) or (file, branch, jumped) in self.reached
        entered = {_place(one.code) for one in self.entered}
        idle = [
            f"{Path(file).name}:{code.co_firstlineno} {code.co_qualname}"
            for file in sorted(self._files)
            for code in sorted(functions_of(file), key=lambda code: code.co_firstlineno)
            if _place(code) not in entered
        ]
        return {
            "reached": [text for text, reached in outcomes.items() if reached],
            "missed": [text for text, reached in outcomes.items() if not reached],
            "never_entered": idle,
        }

    def _on_call(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        other = None if self._chained is None else self._chained(frame, event, arg)
        code = frame.f_code
        if code.co_filename not in self._files:
            return other
        traced = self._entered.get(id(code))
        if traced is None:
            traced = self._entered[id(code)] = TracedCode(code, self._handlers(code))
        if traced.complete:
            return other
        frame.f_trace_lines = True
        return self._watch(traced, other)

    def _watch(self, traced: TracedCode, other: Any) -> Callable[..., Any]:
        pending: Branch | None = None
        file, branches, reached = traced.code.co_filename, traced.branches, self.reached

        def on_event(frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
            nonlocal pending, other
            if event in ("opcode", "line"):
                offset = frame.f_lasti
                if pending is not None and offset != pending.offset:
                    jumped = offset != pending.next_offset
                    reached.add((file, pending, jumped))
                    traced.taken.add((pending, jumped))
                    traced.close(pending, jumped)
                    pending = None
                if event == "line":
                    frame.f_trace_opcodes = traced.runs(frame.f_lineno)
                else:
                    pending = branches.get(offset, pending)
            elif event == "exception":  # the test itself raised: neither outcome
                pending = None
            if other is not None and event != "opcode":
                other = other(frame, event, arg)
            return on_event

        return on_event


def functions_of(file: str) -> Iterator[CodeType]:
    """Every function of a source file, nested ones included."""
    waiting = [compile("".join(linecache.getlines(file)), file, "exec")]
    while waiting:
        for constant in waiting.pop().co_consts:
            if isinstance(constant, CodeType):
                waiting.append(constant)
                if constant.co_flags & 0x1:  # CO_OPTIMIZED: functions have it, class bodies do not
                    yield constant


def _place(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno
