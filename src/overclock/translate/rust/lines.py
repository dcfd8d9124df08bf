"""The lines of a Rust function as a tree: plain lines, blocks, branches, and variables that may have to be `mut`."""

import dataclasses
from collections.abc import Sequence

from overclock.translate.rust.line_breaking import LONGEST


@dataclasses.dataclass(eq=False)
class Storage:
    """A variable that holds an array. `level`: how deep in blocks it was made; `changed`: it must be `mut`."""

    name: str
    changeable: bool = True
    level: int = 0
    changed: bool = False


@dataclasses.dataclass
class Declaration:
    """The line that defines the variable of an array."""

    storage: Storage
    kind: str
    value: str


@dataclasses.dataclass
class Nest:
    """A block with a head: a loop, or an `if let`."""

    head: str
    lines: "Lines"


@dataclasses.dataclass
class Branch:
    """`if` with any number of `else if`; its value is bound to `targets`, or is that of the block around it."""

    arms: "list[tuple[str, Lines]]"
    last: "Lines"
    targets: list[Storage] = dataclasses.field(default_factory=list)
    kind: str = ""
    is_value: bool = False


Line = str | Declaration | Nest | Branch
Lines = list[Line]


def rendered(lines: Sequence[Line], depth: int = 0) -> list[str]:
    """The lines of a tree as text."""
    found: list[str] = []
    pad = "    " * depth
    for line in lines:
        match line:
            case str():
                found.append(pad + line)
            case Declaration(storage, kind, value):
                mutable = "mut " if storage.changed else ""
                found.append(f"{pad}let {mutable}{storage.name}: {kind} = {value};")
            case Nest(head, inner):
                found += [f"{pad}{head} {{", *rendered(inner, depth + 1), f"{pad}}}"]
            case Branch():
                found += _branch(line, depth)
    return found


def _branch(branch: Branch, depth: int) -> list[str]:
    pad = "    " * depth
    pattern = listed([f"mut {one.name}" if one.changed else one.name for one in branch.targets])
    bound = f"let {pattern}{f': {branch.kind}' if branch.kind else ''} = " if pattern else ""
    end = ";" if bound else ""
    short = _one_line(branch)
    if (bound or branch.is_value) and short and len(pad + bound + short) <= LONGEST:
        return [f"{pad}{bound}{short}{end}"]
    found: list[str] = []
    for at, (condition, inner) in enumerate(branch.arms):
        head = f"{pad}{bound}if" if at == 0 else f"{pad}}} else if"
        found += [f"{head} {condition} {{", *rendered(inner, depth + 1)]
    if branch.last:
        found += [f"{pad}}} else {{", *rendered(branch.last, depth + 1)]
    return [*found, f"{pad}}}{end}"]


def listed(parts: Sequence[str]) -> str:
    """One text as it is, several as a tuple."""
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})" if parts else ""


def _one_line(branch: Branch) -> str:
    """The branch in one line, if its arms are values without statements."""
    if len(branch.arms) != 1:
        return ""
    condition, yes = branch.arms[0]
    if not all(len(arm) == 1 and isinstance(arm[0], str) and arm[0][-1] not in ";}" for arm in (yes, branch.last)):
        return ""
    return f"if {condition} {{ {yes[0]} }} else {{ {branch.last[0]} }}"


def chained(branch: Branch) -> Branch:
    """A branch whose last arm is nothing but another branch, as one with `else if`."""
    if len(branch.last) == 1 and isinstance(inner := branch.last[0], Branch) and not inner.targets:
        return dataclasses.replace(branch, arms=branch.arms + inner.arms, last=inner.last)
    return branch
