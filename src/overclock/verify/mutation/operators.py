"""The mistakes that are planted: each operator turns one node of a syntax tree into wrong versions of itself.

They are the slips that people and language models make when they translate an environment: a wrong sign, `<` for `<=`,
a neighbouring field, a dropped branch, one random number used twice. Operators never look at what code computes, so
some of what they make is equivalent to the original; `equivalent_mutants.py` says how those are dealt with.
"""

import ast
import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

SMALL = 1e-6  # relative: far above rounding in float64, far below what anybody sees in a return


@dataclasses.dataclass(frozen=True)
class Scope:
    """What an operator may know about the place: classes of the module, annotated parameters, names made so far."""

    fields: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)  # of the module's classes
    parameters: Mapping[str, str] = dataclasses.field(default_factory=dict)  # parameter or local -> class it is of
    made: Mapping[str, str] = dataclasses.field(default_factory=dict)  # local -> class that it was made by
    bound: frozenset[str] = frozenset()  # names that have a value before this statement


Operator = Callable[[ast.AST, Scope], Iterator[ast.AST]]

ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
              ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift}  # fmt: skip
COMPARISON = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}  # fmt: skip
LOGICAL = {ast.BitOr: (ast.BitAnd, ast.BitXor), ast.BitAnd: (ast.BitOr, ast.BitXor), ast.BitXor: (ast.BitOr,)}
FUNCTIONS = {
    one: other
    for a, b in (
        ("sin", "cos"), ("min", "max"), ("minimum", "maximum"), ("floor", "ceil"), ("any", "all"), ("zeros", "ones"),
        ("argmin", "argmax"), ("sum", "prod"), ("zeros_like", "ones_like"),
    )
    for one, other in ((a, b), (b, a))
}  # fmt: skip
DRAWS = ("words", "unit", "uniform", "integers", "bernoulli", "normal", "masked_choice")  # methods of `Rng`
NARROWER = {"float64": "float32", "float32": "float16", "int64": "int32", "int32": "int8", "uint32": "uint8"}
CHOICES = ("where", "select")
SYMMETRIC = ("minimum", "maximum", "min", "max", "hypot", "logical_or", "logical_and", "logical_xor")


def arithmetic(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """`a + b` becomes `a - b`, `a * b` becomes `a + b`, `a / b` becomes `a * b`; a minus sign is lost."""
    if isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield _with(node, op=ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and number(node) is None:
        yield node.operand


def comparison(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """`<` becomes `<=` and `>`."""
    if isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            for other in COMPARISON[type(operator)]:
                yield _with(node, ops=[*node.ops[:place], other(), *node.ops[place + 1 :]])


def constant(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """A number becomes zero, changes its sign, doubles, or moves a little; a flag flips."""
    value = number(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(value, float):
        yield from map(_literal, (0.0, -value, 2 * value, value * (1 + SMALL)) if value else (1.0, -1.0))
    elif isinstance(value, int):
        yield from map(_literal, (0, 2 * value) if value else ())


def logical(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """`|`, `&` and `^` become each other, `and` and `or` too; a negation is lost or added."""
    if isinstance(node, ast.BinOp) and type(node.op) in LOGICAL:
        for other in LOGICAL[type(node.op)]:
            yield _with(node, op=other())
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.Invert):
        yield node.operand
    elif isinstance(node, ast.If | ast.IfExp):
        yield _with(node, test=ast.UnaryOp(ast.Not(), node.test))


def order(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Neighbours change places: arguments of a call, elements of a tuple or list, the sides of `-` and `/`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub | ast.Div):
        yield _with(node, left=node.right, right=node.left)
    field = "args" if isinstance(node, ast.Call) else "elts"
    symmetric = isinstance(node, ast.Call) and _called(node) in SYMMETRIC
    stored = isinstance(getattr(node, "ctx", None), ast.Store)
    if isinstance(node, ast.Call | ast.Tuple | ast.List) and not stored and not symmetric:
        items = getattr(node, field)
        for place in range(len(items) - 1):
            yield _with(node, **{field: [*items[:place], items[place + 1], items[place], *items[place + 2 :]]})


def off_by_one(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """A whole number or an index is one too large or too small."""
    if isinstance(value := number(node), int):
        yield from map(_literal, (value + 1, value - 1))
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant | ast.Slice | ast.Tuple):
        for operator in (ast.Add(), ast.Sub()):
            yield _with(node, slice=ast.BinOp(node.slice, operator, ast.Constant(1)))


def branch(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """A choice is always made the same way."""
    if isinstance(node, ast.Call) and _called(node) in CHOICES and len(node.args) == 3:
        yield from (_with(node, args=[ast.Constant(value), *node.args[1:]]) for value in (True, False))
    elif isinstance(node, ast.If | ast.IfExp):
        yield from (_with(node, test=ast.Constant(value)) for value in (True, False))


def skip(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """An update is left out: of a variable, of a field, of the state that is returned; or a function is not applied."""
    if isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Assign) and all(isinstance(t, ast.Name) and t.id in scope.bound for t in node.targets)
    ):
        yield ast.Pass()
    elif isinstance(node, ast.keyword) and node.arg is not None:
        for inner in ast.walk(node.value):
            if isinstance(inner, ast.Attribute) and inner.attr == node.arg and inner is not node.value:
                yield _with(node, value=inner)
                break
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in scope.made:
        for name, cls in scope.parameters.items():
            if cls == scope.made[node.id] and name != node.id:
                yield ast.Name(name, ast.Load())
    elif isinstance(node, ast.Call) and _called(node) == "replace" and isinstance(node.func, ast.Attribute):
        yield node.func.value
    elif isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        applied = _called(node) not in ("astype", *DRAWS) and not isinstance(node.args[0], ast.Starred)
        yield from node.args if applied else ()


def rng(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """Random numbers are shared: one site for all draws, one for two of them, or the words of another section."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in DRAWS):
        return
    generator = node.func.value
    if not (isinstance(generator, ast.Name) and scope.parameters.get(generator.id) == "Rng" and node.args):
        return
    site, *others = node.args
    if not isinstance(site, ast.Constant):
        for shared in (ast.Constant(0), ast.BinOp(site, ast.FloorDiv(), ast.Constant(2))):
            yield _with(node, args=[shared, *others])
    section = ast.parse(f"{generator.id}.replace(section={generator.id}.section + 1)", mode="eval").body
    yield _with(node, func=ast.Attribute(section, node.func.attr, ast.Load()))


def dtype(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """A number loses width, or a cast is forgotten."""
    if isinstance(node, ast.Call) and _called(node) == "astype" and isinstance(node.func, ast.Attribute):
        yield node.func.value
    elif isinstance(node, ast.Attribute) and node.attr in NARROWER:
        yield _with(node, attr=NARROWER[node.attr])
    elif isinstance(node, ast.Attribute) and node.attr == "dtype":
        yield from (ast.Constant("float32"), ast.Constant("float16"))
    elif isinstance(node, ast.Call):
        for place, argument in enumerate(node.args):
            if isinstance(argument, ast.Name) and argument.id == "dtype":
                yield _with(node, args=[*node.args[:place], ast.Constant("float32"), *node.args[place + 1 :]])
                yield _with(node, args=[*node.args[:place], *node.args[place + 1 :]])


def term(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """A term, a factor or a condition is missing."""
    if isinstance(node, ast.BinOp):
        yield node.left
        if isinstance(node.op, ast.Add | ast.Mult | ast.BitOr | ast.BitAnd):
            yield node.right


def field(node: ast.AST, scope: Scope) -> Iterator[ast.AST]:
    """The neighbouring field of a record, or the function that is usually mistaken for this one."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        names = scope.fields.get(scope.parameters.get(node.value.id, ""), ())
        if node.attr in names and len(names) > 1:
            yield _with(node, attr=names[(names.index(node.attr) + 1) % len(names)])
    if isinstance(node, ast.Call) and (other := FUNCTIONS.get(_called(node))):
        renamed = _with(node.func, attr=other) if isinstance(node.func, ast.Attribute) else ast.Name(other, ast.Load())
        yield _with(node, func=renamed)


OPERATORS: dict[str, Operator] = {
    operator.__name__: operator
    for operator in (
        arithmetic, comparison, constant, logical, order, off_by_one, branch, skip, rng, dtype, term, field,
    )
}  # fmt: skip


def number(node: ast.AST) -> int | float | None:
    """The value of a literal number, its minus sign included."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        value = number(node.operand)
        return None if value is None else -value
    value = node.value if isinstance(node, ast.Constant) else None
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _literal(value: float) -> ast.expr:
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if value < 0 else ast.Constant(value)


def _with(node: ast.AST, **changes: Any) -> Any:
    """A shallow copy with other fields; the tree it came from stays as it is."""
    changed = copy.copy(node)
    for name, value in changes.items():
        setattr(changed, name, value)
    return changed


def _called(node: ast.Call) -> str:
    """The last part of a called function's name."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
