"""The branches of a function, read from its byte code: every conditional jump has two outcomes.

So each operand of an `or`, each loop and each conditional expression counts on its own.
"""

import ast
import dataclasses
import dis
import linecache
from collections.abc import Collection, Iterable, Iterator
from types import CodeType

# Between the tested value and its jump there may be instructions that only prepare the value.
PREPARING = {"COPY", "TO_BOOL", "EXTENDED_ARG", "CACHE", "NOT_TAKEN"}
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
RAISING = ("RAISE_VARARGS", "RERAISE")
ENDING = ("RETURN_VALUE", "RETURN_CONST", "YIELD_VALUE", "RETURN_GENERATOR", "SEND")


@dataclasses.dataclass(frozen=True)
class Branch:
    """A conditional jump; its outcomes are named by what is true of `condition` when it jumps and when it does not.

    `line` and `column` are those of what is tested, `jump_line` is that of the jump, None where it has none.
    `raises` tells of both outcomes whether they can only raise an exception that leaves the function.
    """

    function: str
    line: int
    offset: int
    next_offset: int  # where the code goes on without the jump
    condition: str
    jumps: str
    stays: str
    column: int = 0
    jump_line: int | None = None
    raises: tuple[bool, bool] = (False, False)  # where it jumps, where it does not

    @property
    def outcomes(self) -> tuple[tuple[bool, str, bool], ...]:
        """Both: whether it jumps, what holds then, whether that only raises."""
        return (True, self.jumps, self.raises[0]), (False, self.stays, self.raises[1])


def branches_of(code: CodeType) -> dict[int, Branch]:
    """Every conditional jump of a function, by the offsets at which the interpreter announces it."""
    instructions = list(dis.get_instructions(code))
    raising = _Raising(code, instructions)
    found: dict[int, Branch] = {}
    for index, jump in enumerate(instructions[:-1]):
        outcomes = _outcomes(jump.opname)
        if outcomes is None:
            continue
        tested = index - 1
        while tested > 0 and instructions[tested].opname in PREPARING:
            tested -= 1
        line, column, condition = _text(code, instructions[tested])
        after = instructions[index + 1].offset
        branch = Branch(
            code.co_qualname, line, jump.offset, after, condition, *outcomes, column,
            None if jump.positions is None else jump.positions.lineno,
            (raising.only(jump.argval), raising.only(after)),
        )  # fmt: skip
        found[jump.offset] = branch
        while index > 0 and instructions[index - 1].opname == "EXTENDED_ARG":  # a far jump is announced at its prefix
            index -= 1
            found[instructions[index].offset] = branch
    return found


class _Raising:
    """Which places of a function lead to nothing but an exception that leaves it."""

    def __init__(self, code: CodeType, instructions: list[dis.Instruction]) -> None:
        self._instructions = instructions
        self._places = {one.offset: index for index, one in enumerate(instructions)}
        self._caught: list[range] = []
        entries = getattr(dis.Bytecode(code), "exception_entries", ())
        self._caught = [range(entry.start, entry.end) for entry in entries if self._handles(entry.target)]

    def only(self, offset: int) -> bool:
        """Whether the code from here on can only raise."""
        index = self._places.get(offset)
        while index is not None and index < len(self._instructions):
            one = self._instructions[index]
            if one.opname in RAISING:
                return not any(one.offset in span for span in self._caught)
            if one.opname in ENDING or "BACKWARD" in one.opname:
                return False
            if _outcomes(one.opname) is not None:
                return self.only(one.argval) and self.only(self._instructions[index + 1].offset)
            if one.opname.startswith("JUMP"):
                index = self._places.get(one.argval)
            else:
                index += 1
        return False

    def _handles(self, target: int) -> bool:
        """Whether an exception's target is a handler of the source, and no clean-up or `finally`."""
        index = self._places.get(target)
        if index is None or self._instructions[index].opname != "PUSH_EXC_INFO":
            return False
        after = self._instructions[index + 1].opname if index + 1 < len(self._instructions) else ""
        return after != "WITH_EXCEPT_START" and not self.only(target)


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


def _text(code: CodeType, instruction: dis.Instruction) -> tuple[int, int, str]:
    """Line, column and source text of what an instruction computes; several lines become one."""
    where = instruction.positions
    if where is None or where.lineno is None:
        return code.co_firstlineno, 0, "?"
    if instruction.opname == "CHECK_EXC_MATCH":  # its place is the whole handler
        text = linecache.getline(code.co_filename, where.lineno).partition("#")[0].strip()
        return where.lineno, where.col_offset or 0, text.partition(":")[0]
    first, last = where.lineno, where.end_lineno or where.lineno
    lines = [linecache.getline(code.co_filename, line).encode() for line in range(first, last + 1)]
    lines[-1] = lines[-1][: where.end_col_offset]  # columns count bytes of UTF-8
    lines[0] = lines[0][where.col_offset :]
    text = " ".join(line.decode(errors="replace").strip() for line in lines)
    return first, where.col_offset or 0, text


class Met:
    """The part of a function that lies behind no outcome that was never taken.

    `taken` tells which outcomes of branches were; `left_out` are lines of exception handlers that were not entered.
    """

    def __init__(self, code: CodeType, taken: Collection[tuple[Branch, bool]], left_out: Iterable[range]) -> None:
        self._instructions = list(dis.get_instructions(code))
        self._left_out = list(left_out)
        self._branches = branches_of(code)
        # The compiler may place one test twice: what either of them took counts for both.
        self._taken = {_key(branch, jumped) for branch, jumped in taken}
        self._places = {one.offset: index for index, one in enumerate(self._instructions)}
        self._entries = [*getattr(dis.Bytecode(code), "exception_entries", ())]
        self._met: set[int] = set()
        waiting = [0]
        while waiting:
            offset = waiting.pop()
            if offset in self._places and offset not in self._met:
                self._met.add(offset)
                waiting += self._next(self._places[offset])

    def reads(self, node: ast.Name | ast.Attribute) -> bool:
        """Whether a name or an attribute of the function's source is read there."""
        found = [one for one in self._instructions if _loads(one, node)]
        return any(map(self._ran, found)) or not found

    def makes(self, function: CodeType) -> bool:
        """Whether a nested function is made there."""
        return any(self._ran(one) for one in self._instructions if one.argval is function)

    def _ran(self, one: dis.Instruction) -> bool:
        line = None if one.positions is None else one.positions.lineno
        return one.offset in self._met and not any(line in lines for lines in self._left_out)

    def _next(self, index: int) -> Iterator[int]:
        one = self._instructions[index]
        yield from (entry.target for entry in self._entries if entry.start <= one.offset < entry.end)
        after = [self._instructions[index + 1].offset] if index + 1 < len(self._instructions) else []
        if (branch := self._branches.get(one.offset)) is not None and _outcomes(one.opname) is not None:
            if _key(branch, True) in self._taken:
                yield one.argval
            if _key(branch, False) in self._taken:
                yield from after
        elif one.opcode in dis.hasjrel or one.opcode in dis.hasjabs:
            yield one.argval
            if not one.opname.startswith("JUMP"):  # SEND goes both ways
                yield from after
        elif one.opname not in (*RAISING, "RETURN_VALUE", "RETURN_CONST"):
            yield from after


def _key(branch: Branch, jumped: bool) -> tuple[int, int, str, str]:
    return branch.line, branch.column, branch.condition, branch.jumps if jumped else branch.stays


def _loads(one: dis.Instruction, node: ast.Name | ast.Attribute) -> bool:
    """Whether an instruction reads this name or attribute, or makes the comprehension in which it stands."""
    if isinstance(one.argval, CodeType):
        inner = one.argval.co_name in COMPREHENSIONS
        return inner and any(_loads(within, node) for within in dis.get_instructions(one.argval))
    where = one.positions
    if where is None or not one.opname.startswith("LOAD"):
        return False
    return (where.end_lineno, where.end_col_offset) == (node.end_lineno, node.end_col_offset)


def only_raises(code: CodeType) -> bool:
    """Whether a function does nothing but raise an exception."""
    instructions = list(dis.get_instructions(code))
    return _Raising(code, instructions).only(0)
