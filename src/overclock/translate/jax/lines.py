"""Lines of a function before its variables have names: a name is given again once nobody reads its former value.

While a function is written, variables stand in its text as marks. Only when all lines are known is it certain where a
variable is read for the last time; from there on, its name is free for the next version of the same thing.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable

from overclock.translate.ir.nodes import Var
from overclock.translate.jax.names import RESERVED, free

MARK = re.compile("\x01(\\d+)\x02")


def mark(var: Var) -> str:
    """The placeholder of a variable in a text whose variables have no names yet."""
    return f"\x01{var.number}\x02"


@dataclasses.dataclass(eq=False)
class Line:
    """A statement with the variables that it defines, or a comment."""

    text: str
    defines: tuple[Var, ...] = ()
    comment: bool = False


@dataclasses.dataclass(eq=False)
class Nested:
    """A function inside a function: its head and its lines."""

    head: str
    lines: "list[Line | Nested]" = dataclasses.field(default_factory=list)


Lines = list[Line | Nested]


def read_in(lines: Lines) -> set[int]:
    """The numbers of the variables that lines read or define."""
    found: set[int] = set()
    for line in lines:
        found |= read_in(line.lines) if isinstance(line, Nested) else {int(one) for one in MARK.findall(line.text)}
    return found


def _made_in(lines: Lines) -> set[int]:
    found: set[int] = set()
    for line in lines:
        if isinstance(line, Nested):
            found |= _made_in(line.lines)
        else:
            found |= {var.number for var in line.defines}
    return found


def named(
    lines: Lines,
    names: dict[int, str],
    hint: Callable[[Var], str],
    taken: Iterable[str],
    indent: int,
    params: dict[int, str] | None = None,
) -> list[str]:
    """Lines as text: every variable gets a name that is free from its definition to its last read.

    `names`: of variables from outside; `taken`: names that mean something else; `params`: names of the parameters.
    """
    busy = {*RESERVED, *taken, *names.values()}
    last = _last_reads(lines)
    held = {name: number for number, name in (params or {}).items()}  # who has a name now
    names = names | (params or {})
    pad = "    " * indent
    found: list[str] = []
    for at, line in enumerate(lines):
        if isinstance(line, Nested):
            apart = len(found) - (at > 0 and isinstance(before := lines[at - 1], Line) and before.comment)
            if apart > 0 and found[apart - 1]:
                found.insert(apart, "")
            outside = read_in(line.lines) - _made_in(line.lines)
            known = {number: names[number] for number in outside if number in names}
            found += [pad + line.head, *named(line.lines, known, hint, taken, indent + 1), ""]
            continue
        read = names
        if line.defines:
            read = dict(names)
            dead = {name for name, number in held.items() if last.get(number, -1) <= at}
            for name in dead:
                del held[name]
            for var in line.defines:
                name = free(hint(var), busy | set(held))
                held[name], names[var.number] = var.number, name
                read.setdefault(var.number, name)
        shown = read | {var.number: names[var.number] for var in line.defines}
        found.append(pad + MARK.sub(lambda mark, shown=shown: shown[int(mark[1])], line.text))
    return found


def _last_reads(lines: Lines) -> dict[int, int]:
    """The last line that reads each variable; a function reads until the statement behind it, which calls it."""
    last: dict[int, int] = {}
    for at, line in enumerate(lines):
        if isinstance(line, Nested):
            behind = ((k, one) for k, one in enumerate(lines) if k > at)
            calling = next(k for k, one in behind if isinstance(one, Line) and not one.comment)
            last |= dict.fromkeys(read_in(line.lines), calling)
        else:
            own = {var.number for var in line.defines}
            last |= dict.fromkeys((int(one) for one in MARK.findall(line.text) if int(one) not in own), at)
    return last
