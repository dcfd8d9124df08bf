"""Mutants: copies of the performance side's source with one small mistake each, in an order that never changes.

Only code that a comparison could see is changed: no docstrings, annotations, decorators, messages or rendering.
Every mutant compiles and no two have the same syntax tree.
"""

import ast
import dataclasses
import hashlib
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from overclock.verify.mutation.operators import OPERATORS, Scope, number
from overclock.verify.mutation.result import MutantFacts
from overclock.verify.sides.patched import source_of

RENDERING = "render"  # no comparison looks at a function whose name contains this
NOT_CODE = (ast.Import, ast.ImportFrom, ast.Raise, ast.Assert, ast.JoinedStr)
NOT_WALKED = {"annotation", "returns", "decorator_list", "bases", "type_comment", "type_params"}


@dataclasses.dataclass(frozen=True)
class Mutant:
    """One mistake: where it is, the statement (or its first line) before and after, and the whole changed source."""

    id: str
    operator: str
    module: str
    line: int
    function: str  # where it is: 'CartPole.fallen', or a class, or empty for the module's top level
    before: str
    after: str
    source: str = dataclasses.field(repr=False)

    @property
    def file(self) -> str:
        """The module as a path below the folder of its top package."""
        return f"{self.module.replace('.', '/')}.py"

    @property
    def facts(self) -> MutantFacts:
        """The mutant without its source."""
        return MutantFacts(
            id=self.id, operator=self.operator, line=self.line, function=self.function, before=self.before,
            after=self.after, file=self.file,
        )  # fmt: skip


def mutants_of(modules: Sequence[str]) -> list[Mutant]:
    """Every mutant of these modules."""
    return [mutant for module in modules for mutant in mutate_source(module, source_of(module)[0])]


def sample(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Some of them, in the same order."""
    chosen = random.Random(seed).sample(range(len(mutants)), min(count, len(mutants)))
    return [mutants[index] for index in sorted(chosen)]


def mutate_source(module: str, source: str) -> list[Mutant]:
    """Every mutant of one source text."""
    planter = _Planter(module, source)
    planted = (planter.plant(place, *change) for place in planter.places for change in _changes(place))
    return [mutant for mutant in planted if mutant is not None]


def sample_statements(module: str, source: str, count: int, seed: int) -> list[Mutant]:
    """Some mutants of one source text, in its order: statements are drawn first, then a mistake in each.

    So a table of a thousand numbers counts as one line. None gets a second mistake before all others have their first.
    """
    chance, planter = random.Random(seed), _Planter(module, source)
    statements: dict[int, list[_Place]] = {}
    for place in planter.places:
        statements.setdefault(id(place.statement), []).append(place)
    waiting = [chance.sample(places, len(places)) for places in statements.values()]
    found: list[Mutant] = []
    while waiting and len(found) < count:
        chance.shuffle(waiting)
        waiting = [places for places in waiting if len(found) < count and _plant_one(planter, places, chance, found)]
    return sorted(found, key=lambda mutant: (mutant.line, mutant.id))


def _plant_one(planter: "_Planter", places: "list[_Place]", chance: random.Random, found: list[Mutant]) -> bool:
    """One more mutant of a statement; a place is used up by it. False where the statement has none left."""
    while places:
        place = places.pop()
        changes = list(_changes(place))
        for change in chance.sample(changes, len(changes)):
            if (mutant := planter.plant(place, *change)) is not None:
                found.append(mutant)
                return True
    return False


def _changes(place: "_Place") -> "Iterator[tuple[str, ast.AST]]":
    """The wrong versions of a node, each with the operator that made it."""
    for name, operator in OPERATORS.items():
        for changed in operator(place.node, place.scope):
            yield name, changed


class _Planter:
    """Plants mistakes in one source, one at a time; no two of its mutants have the same syntax tree."""

    def __init__(self, module: str, source: str) -> None:
        self._module, self._tree = module, ast.parse(source)
        self.places = list(_places(self._tree))
        self._seen, self._ids = {ast.dump(self._tree)}, dict[str, int]()

    def plant(self, place: "_Place", operator: str, changed: ast.AST) -> Mutant | None:
        """The mutant, or None where it does not compile or was made before."""
        before = _first_line(place.statement)
        with place.replaced(changed):
            text, after = ast.unparse(self._tree), _first_line(place.shown(changed))
        shape = _compiled(text)
        if shape is None or shape in self._seen:
            return None
        self._seen.add(shape)
        digest = hashlib.sha256("\n".join((self._module, place.function, before, after)).encode()).hexdigest()[:8]
        self._ids[digest] = self._ids.get(digest, 0) + 1  # a statement may stand twice in one function
        unique = digest if self._ids[digest] == 1 else f"{digest}-{self._ids[digest]}"
        line = getattr(place.node, "lineno", place.statement.lineno)
        return Mutant(unique, operator, self._module, line, place.function, before, after, text)


class _Place:
    """A node with its position in the tree, so that it can be exchanged for a moment."""

    def __init__(self, node: ast.AST, parent: ast.AST, field: str, index: int | None, around: "_Around") -> None:
        self.node, self._parent, self._field, self._index = node, parent, field, index
        self.statement: Any = around.statement or node
        self.scope, self.function = around.scope, around.function

    def shown(self, changed: ast.AST) -> ast.AST:
        """The statement to show while the node is exchanged."""
        return changed if self.node is self.statement else self.statement

    def replaced(self, changed: ast.AST) -> "_Replaced":
        return _Replaced(self._put, self.node, changed)

    def _put(self, node: ast.AST) -> None:
        if self._index is None:
            setattr(self._parent, self._field, node)
        else:
            getattr(self._parent, self._field)[self._index] = node


class _Replaced:
    def __init__(self, put: Any, node: ast.AST, changed: ast.AST) -> None:
        self._put, self._node, self._changed = put, node, changed

    def __enter__(self) -> None:
        self._put(self._changed)

    def __exit__(self, *_: object) -> None:
        self._put(self._node)


@dataclasses.dataclass(frozen=True)
class _Around:
    """The statement, the function and the names in scope around a node of a syntax tree."""

    statement: Any = None
    function: str = ""
    scope: Scope = Scope()


def _places(tree: ast.Module) -> Iterator[_Place]:
    fields = {cls.name: _field_names(cls) for cls in ast.walk(tree) if isinstance(cls, ast.ClassDef)}
    yield from _inside(tree, _Around(scope=Scope(fields=fields)))


def _inside(parent: ast.AST, around: _Around) -> Iterator[_Place]:
    """Every node below, in the order of the source."""
    for field, value in ast.iter_fields(parent):
        if field in NOT_WALKED:
            continue
        children = value if isinstance(value, list) else [value]
        for index, child in enumerate(children):
            if not isinstance(child, ast.AST) or _left_out(child):
                continue
            inner = _entered(child, around)
            if not isinstance(child, ast.expr_context | ast.operator | ast.cmpop | ast.FunctionDef | ast.ClassDef):
                yield _Place(child, parent, field, index if isinstance(value, list) else None, inner)
            if number(child) is None:  # the minus sign of a literal belongs to it
                yield from _inside(child, inner)
            around = _after(child, around)


def _left_out(node: ast.AST) -> bool:
    docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    rendering = isinstance(node, ast.FunctionDef) and RENDERING in node.name
    return docstring or rendering or isinstance(node, NOT_CODE)


def _entered(node: ast.AST, around: _Around) -> _Around:
    """What encloses the children of a node."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        name = f"{around.function}.{node.name}" if around.function else node.name
        around = dataclasses.replace(around, statement=None, function=name)
        if isinstance(node, ast.FunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            known = {a.arg: ast.unparse(a.annotation).strip("'\"") for a in arguments if a.annotation}
            scope = dataclasses.replace(
                around.scope, parameters=known, made={}, bound=frozenset(a.arg for a in arguments)
            )
            around = dataclasses.replace(around, scope=scope)
        return around
    return dataclasses.replace(around, statement=node) if isinstance(node, ast.stmt) else around


def _after(node: ast.AST, around: _Around) -> _Around:
    """What the statements after a node know."""
    if not isinstance(node, ast.Assign):
        return around
    scope = around.scope
    names = [target.id for target in node.targets if isinstance(target, ast.Name)]
    made_by = node.value.func.id if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) else None
    if made_by in scope.fields:
        scope = dataclasses.replace(
            scope,
            parameters={**scope.parameters, **dict.fromkeys(names, made_by)},
            made={**scope.made, **dict.fromkeys(names, made_by)},
        )
    return dataclasses.replace(around, scope=dataclasses.replace(scope, bound=scope.bound | set(names)))


def _field_names(cls: ast.ClassDef) -> list[str]:
    return [s.target.id for s in cls.body if isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name)]


def _first_line(statement: ast.AST) -> str:
    return ast.unparse(statement).partition("\n")[0]


def _compiled(text: str) -> str | None:
    """The syntax tree of a source that compiles, as text; None for one that does not."""
    try:
        tree = ast.parse(text)
        compile(tree, "<mutant>", "exec")
    except (SyntaxError, ValueError):
        return None
    return ast.dump(tree)


def operators_of(mutants: Iterable[Mutant]) -> dict[str, int]:
    """How many mutants each operator made."""
    counts = dict.fromkeys(OPERATORS, 0)
    for mutant in mutants:
        counts[mutant.operator] += 1
    return {name: count for name, count in counts.items() if count}
