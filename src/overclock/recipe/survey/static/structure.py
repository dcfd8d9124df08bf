"""The shape of a reference's rules, counted in its syntax: branches, loops, containers, bits, recursion, tables."""

import ast
import dataclasses

from overclock.recipe.survey.static.decompose import rules
from overclock.recipe.survey.static.definitions import Definition
from overclock.recipe.survey.static.dependency_order import components
from overclock.recipe.survey.static.rule_selection import own_nodes
from overclock.recipe.survey.static.source import Source

GROWING = {
    "append", "appendleft", "extend", "insert", "pop", "popleft", "popitem", "remove", "discard", "add", "setdefault",
}  # fmt: skip
CHURNING = {"heappush", "heappop", "deque", "OrderedDict", "defaultdict"}
BYTES = {"bytes", "bytearray", "memoryview", "to_bytes", "from_bytes", "unpack", "pack", "uint8", "uint16"}
BITWISE = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift)


@dataclasses.dataclass(frozen=True)
class Structure:
    """Counts, over all rules or over those that run during episodes (not only when an environment is made)."""

    lines: int
    statements: int  # during episodes, as the branches
    branches: int  # if, ternary, match case
    searching_loops: int  # while loops, and for loops left early: how long they run depends on the data
    growing: int  # calls that make a container longer or shorter during episodes
    bit_operations: int
    byte_names: int
    longest_choice: int  # of if/elif or match: an interpreter's dispatch has dozens
    recursive: tuple[str, ...]  # functions that call themselves, directly or around a corner
    table_entries: int  # numbers written down in the largest literal

    @property
    def branching(self) -> float:
        """Branches per statement that runs during episodes."""
        return self.branches / max(1, self.statements)

    @property
    def byte_level(self) -> bool:
        """Whether it looks like an emulator: bits, bytes, and a long choice between opcodes or registers."""
        dense = self.bit_operations >= 20 and self.bit_operations > 0.1 * self.statements
        return dense and (self.byte_names > 0 or self.longest_choice >= 16)


def structure(source: Source) -> Structure:
    """Count the branches, loops, containers and so on in the rules of a reference."""
    kept = rules(source)
    nodes = [node for one in kept.definitions for node in own_nodes(one)]
    playing = [node for one in kept.playing for node in own_nodes(one)]
    types = _annotations(nodes)
    by_name = {one.name: one for one in kept.definitions}
    return Structure(
        lines=sum(len(one.lines) for one in kept.definitions),
        statements=sum(isinstance(node, ast.stmt) and not _is_text(node) for node in playing),
        branches=sum(isinstance(node, ast.If | ast.IfExp | ast.match_case) for node in playing),
        searching_loops=sum(_searches(node) for node in playing),
        growing=sum(_grows(node) for node in playing),
        bit_operations=sum(
            isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, BITWISE) and id(node) not in types
            for node in nodes
        ),
        byte_names=sum(getattr(node, "attr", getattr(node, "id", "")) in BYTES for node in nodes),
        longest_choice=max((_choice(node) for node in nodes), default=0),
        recursive=tuple(
            by_name[name].qualified
            for group in components(list(by_name), kept.edges)
            for name in group
            if by_name[name].kind == "function" and (len(group) > 1 or _calls_itself(by_name[name]))
        ),
        table_entries=max((_entries(node) for node in nodes), default=0),
    )


def _annotations(nodes: list[ast.AST]) -> set[int]:
    """The nodes of type annotations, in which `|` is no operation."""
    given = (getattr(node, name, None) for node in nodes for name in ("annotation", "returns"))
    return {id(inner) for one in given if isinstance(one, ast.AST) for inner in ast.walk(one)}


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _searches(node: ast.AST) -> bool:
    if isinstance(node, ast.While):
        return True
    return isinstance(node, ast.For) and any(isinstance(inner, ast.Break | ast.Return) for inner in ast.walk(node))


def _grows(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
    return (isinstance(node.func, ast.Attribute) and name in GROWING) or name in CHURNING


def _choice(node: ast.AST) -> int:
    if isinstance(node, ast.Match):
        return len(node.cases)
    length = 0
    while isinstance(node, ast.If):
        length += 1
        node = node.orelse[0] if len(node.orelse) == 1 else ast.Pass()
    return length


def _entries(node: ast.AST) -> int:
    if not isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Set):
        return 0
    return sum(isinstance(inner, ast.Constant) and not isinstance(inner.value, str) for inner in ast.walk(node))


def _calls_itself(one: Definition) -> bool:
    """By its own name; `super().reset()` or another object's method of the same name is no recursion."""
    own = {"self", "cls"} if one.owner else set[str]()
    for node in own_nodes(one):
        if isinstance(node, ast.Call):
            function = node.func
            if isinstance(function, ast.Name) and not one.owner and function.id == one.short:
                return True
            if isinstance(function, ast.Attribute) and function.attr == one.short:
                return isinstance(function.value, ast.Name) and function.value.id in own
    return False
