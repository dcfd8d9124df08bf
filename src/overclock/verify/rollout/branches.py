"""Which branches of a reference's own Python code were taken, seen instruction by instruction.

Every conditional jump of the byte code is a branch with two outcomes, so each operand of an `or`, each loop and each
conditional expression counts on its own, where line-based coverage sees a single line. Only the given files are traced
(about six times slower than untraced on CartPole); everything else costs one look at a file name per call.
"""

import dataclasses
import dis
import inspect
import linecache
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

# Between the tested value and its jump there may be instructions that only prepare the value.
PREPARING = {"COPY", "TO_BOOL", "EXTENDED_ARG", "CACHE", "NOT_TAKEN"}


@dataclasses.dataclass(frozen=True)
class Branch:
    """A conditional jump; its outcomes are named by what is true of `condition` when it jumps and when it does not."""

    function: str
    line: int
    offset: int
    next_offset: int  # where the code goes on without the jump
    condition: str
    jumps: str
    stays: str


class BranchTracer:
    """Use as a context manager around calls into the reference; `reached` grows, nothing is ever forgotten."""

    def __init__(self, files: list[str]) -> None:
        self.reached: set[tuple[str, Branch, bool]] = set()  # file, branch, whether it jumped
        self._files = frozenset(files)
        self._entered: dict[int, tuple[CodeType, dict[int, Branch]]] = {}  # by identity: hashing code objects is slow
        self._before: Any = None

    def __enter__(self) -> "BranchTracer":
        self._before = sys.gettrace()
        # From Python 3.12 on, settrace announces single instructions only if some frame asked for them before.
        sys._getframe().f_trace_opcodes = True
        sys.settrace(self._on_call)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def report(self) -> dict[str, list[str]]:
        """Outcomes reached and missed in the functions that ran, and the functions that never ran."""
        places = {(code.co_filename, branch) for code, found in self._entered.values() for branch in found.values()}
        outcomes: dict[str, bool] = {}
        for file, branch in sorted(places, key=lambda place: (place[0], place[1].line, place[1].offset)):
            for jumped, outcome in ((True, branch.jumps), (False, branch.stays)):
                text = f"{Path(file).name}:{branch.line} {branch.condition} {outcome}"
                # The compiler may place one test twice (at the head and the end of a loop): either one counts.
                outcomes[text] = outcomes.get(text, False) or (file, branch, jumped) in self.reached
        entered = {(code.co_filename, code.co_qualname, code.co_firstlineno) for code, _ in self._entered.values()}
        idle = [
            f"{Path(file).name}:{code.co_firstlineno} {code.co_qualname}"
            for file in sorted(self._files)
            for code in sorted(_functions(file), key=lambda code: code.co_firstlineno)
            if (file, code.co_qualname, code.co_firstlineno) not in entered
        ]
        return {
            "reached": [text for text, reached in outcomes.items() if reached],
            "missed": [text for text, reached in outcomes.items() if not reached],
            "never_entered": idle,
        }

    def _on_call(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        code = frame.f_code
        if code.co_filename not in self._files:
            return None
        if id(code) not in self._entered:
            self._entered[id(code)] = (code, _branches(code))
        branches = self._entered[id(code)][1]
        if not branches:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._watch(code.co_filename, branches)

    def _watch(self, file: str, branches: dict[int, Branch]) -> Callable[..., Any]:
        pending: Branch | None = None
        reached = self.reached

        def on_event(frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
            nonlocal pending
            if event == "opcode":
                offset = frame.f_lasti
                if pending is not None and offset != pending.offset:
                    reached.add((file, pending, offset != pending.next_offset))
                pending = branches.get(offset)
            elif event == "exception":  # the test itself raised: neither outcome
                pending = None
            return on_event

        return on_event


def rule_files(env: Any) -> list[str]:
    """The source files of an environment's rules: of its classes, of objects it holds, of functions they import.

    `env` may be wrapped. What Gymnasium, NumPy and Python bring along is not searched for branches.
    """
    waiting, files, known = [env.unwrapped], set[str](), set[int]()
    while waiting:
        found = waiting.pop()
        if id(found) in known:
            continue
        known.add(id(found))
        classes = [cls for cls in type(found).__mro__ if _own(cls.__module__, env)]
        files |= {file for cls in classes for file in _source(cls)}
        for cls in classes:
            helpers = vars(sys.modules[cls.__module__]).values()
            files |= {
                file
                for one in helpers
                if inspect.isfunction(one) and _own(one.__module__, env)
                for file in _source(one)
            }
        if classes:
            waiting += list(getattr(found, "__dict__", {}).values())
    return sorted(files)


def _own(module: str | None, env: Any) -> bool:
    """Whether a module belongs with an environment's rules: of the same package, or of the same part of Gymnasium."""
    home = type(env.unwrapped).__module__.split(".")
    depth = 3 if home[0] == "gymnasium" else 1
    return module is not None and module in sys.modules and module.split(".")[:depth] == home[:depth]


def _source(thing: Any) -> list[str]:
    try:
        return [inspect.getfile(thing)]
    except (TypeError, OSError):
        return []


def _branches(code: CodeType) -> dict[int, Branch]:
    """Every conditional jump of a function, by the offsets at which the interpreter announces it."""
    instructions = list(dis.get_instructions(code))
    found: dict[int, Branch] = {}
    for index, jump in enumerate(instructions[:-1]):
        outcomes = _outcomes(jump.opname)
        if outcomes is None:
            continue
        tested = index - 1
        while tested > 0 and instructions[tested].opname in PREPARING:
            tested -= 1
        line, condition = _text(code, instructions[tested])
        branch = Branch(
            code.co_qualname, line, jump.offset, instructions[index + 1].offset, condition, outcomes[0], outcomes[1]
        )
        found[jump.offset] = branch
        while index > 0 and instructions[index - 1].opname == "EXTENDED_ARG":  # a far jump is announced at its prefix
            index -= 1
            found[instructions[index].offset] = branch
    return found


def _outcomes(opname: str) -> tuple[str, str] | None:
    """What holds when this instruction jumps and when it does not; None if it is no conditional jump."""
    if opname == "FOR_ITER":
        return "is exhausted", "gives an item"
    if not opname.startswith(("POP_JUMP", "JUMP_IF")):
        return None
    for end, (jumps, stays) in {
        "NOT_NONE": ("is not None", "is None"),
        "NONE": ("is None", "is not None"),
        "TRUE": ("is true", "is false"),
        "FALSE": ("is false", "is true"),
    }.items():
        if opname.removesuffix("_OR_POP").endswith(end):
            return jumps, stays
    return None


def _text(code: CodeType, instruction: dis.Instruction) -> tuple[int, str]:
    """Line and source text of what an instruction computes."""
    where = instruction.positions
    if where is None or where.lineno is None:
        return code.co_firstlineno, "`?`"
    line = linecache.getline(code.co_filename, where.lineno)
    end = where.end_col_offset if where.end_lineno == where.lineno else None
    # Columns count bytes of UTF-8.
    return where.lineno, f"`{line.encode()[where.col_offset : end].decode(errors='replace').strip()}`"


def _functions(file: str) -> Iterator[CodeType]:
    """Every function of a source file, nested ones included."""
    waiting = [compile(Path(file).read_text(encoding="utf-8"), file, "exec")]
    while waiting:
        for constant in waiting.pop().co_consts:
            if isinstance(constant, CodeType):
                waiting.append(constant)
                if constant.co_flags & 0x1:  # CO_OPTIMIZED: functions have it, class bodies do not
                    yield constant
