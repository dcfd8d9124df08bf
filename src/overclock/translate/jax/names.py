"""Names for what the source gives none: conditions are called after their own words, steps of a value after the value.

Nothing depends on these names: a bad one is only harder to read.
"""

import ast
import builtins
import itertools
import keyword
import re

from overclock.translate.ir.nodes import COMPARISONS, Block, Call, Const, If, Let, Loop, Operand, Var
from overclock.translate.jax.small_arrays import NAMES as QUICK
from overclock.translate.printing.walk import Computation, statements

LONGEST_NAME = 36
SHORT_NUMBER = 6  # digits that are worth reading in a name
RESERVED = {
    "state", "action", "draw", "params", "rng", "self", "jnp", "jax", "np", "dataclasses", "carried", "again", "turn",
    "after", "when", "start", "make", "int", "float", "bool", "Any", "Array", *QUICK, *keyword.kwlist,
    *filter(str.islower, dir(builtins)),
}  # fmt: skip
WORDS: dict[type[ast.AST], str] = {
    ast.Eq: "is", ast.NotEq: "is_not", ast.Lt: "below", ast.LtE: "at_most", ast.Gt: "above", ast.GtE: "at_least",
    ast.In: "in", ast.NotIn: "not_in", ast.Is: "is", ast.IsNot: "is_not", ast.Add: "plus", ast.Sub: "minus",
    ast.Mult: "times", ast.Div: "over", ast.FloorDiv: "over", ast.Mod: "mod", ast.And: "and", ast.Or: "or",
}  # fmt: skip
OP_WORDS = {"eq": "is", "ne": "is_not", "lt": "below", "le": "at_most", "gt": "above", "ge": "at_least"}
OP_NAMES = {
    "sum": "total", "any": "found", "all": "every", "argsort": "order", "lexsort": "order", "count_nonzero": "count",
    "order_by": "order", "first_above": "at",
    "cumsum": "running", "argmax": "at", "argmin": "at", "stack": "items", "concatenate": "joined", "abs": "size",
    "floor": "whole", "sqrt": "root",
}  # fmt: skip
KEEPING = ("cast", "same", "clip", "minimum", "maximum", "reshape", "ravel", "transpose", "mod", "negative")
SHIFTING = ("add", "sub")


def condition_name(text: str) -> str:
    """A name for the condition of an `if`, from its source: 'self.ball_dir == 0' -> 'ball_dir_is_0'."""
    try:
        words = _words(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return ""
    name = fitting_name("_".join(filter(None, words)))
    return f"if_{name}" if name in RESERVED else name


def fitting_name(name: str) -> str:
    """A text as a valid name; empty where it would be longer than a person would write."""
    name = re.sub(r"_+", "_", re.sub(r"\W", "_", name)).strip("_")
    name = f"if_{name}" if name[:1].isdigit() else name
    return name if len(name) <= LONGEST_NAME else ""


def _words(node: ast.expr) -> list[str]:
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Attribute(value=ast.Name() | ast.Attribute(), attr=name):
            return [name]
        case ast.Attribute(value=owner, attr=name):
            return [*_words(owner), name]
        case ast.Constant(value=value):
            return [str(value).replace("-", "minus_").replace(".", "p")]
        case ast.Compare(left=left, ops=ops, comparators=others):
            pairs = zip(ops, others, strict=True)
            return [*_words(left), *(word for op, one in pairs for word in (WORDS[type(op)], *_words(one)))]
        case ast.BoolOp(op=op, values=values):
            parts = [_words(one) for one in values]
            return [*parts[0], *(word for one in parts[1:] for word in (WORDS[type(op)], *one))]
        case ast.BinOp(left=left, op=op, right=right):
            return [*_words(left), WORDS.get(type(op), "with"), *_words(right)]
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return ["not", *_words(inner)]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return ["minus", *_words(inner)]
        case ast.Call(func=function, args=args):
            return [*_words(function), *(word for one in args for word in _words(one))]
        case ast.Subscript(value=owner, slice=index):
            return [*_words(owner), *_words(index)]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return [word for one in parts for word in _words(one)]
    return ["x" * LONGEST_NAME, "x"]  # too long: no name


class Hints:
    """Suggests a name for every variable of a function: of results, conditions, and what is made from named values."""

    def __init__(self, block: Block, results: dict[str, Operand], inputs: dict[Var, str]) -> None:
        self._of: dict[Var, str] = {}
        self._all = list(statements(block))
        self._given = inputs
        for name, operand in results.items():
            self._suggest(operand, name)
        # First where values go to, as the source says it, then where they come from.
        for one in self._all:
            if isinstance(one, If) and one.note:
                self._suggest(one.condition, condition_name(one.note))
        for _ in range(2):
            for one in reversed(self._all):
                self._backward(one)
            for one in self._all:
                self._forward(one)

    def of(self, var: Var) -> str:
        """A name that other variables may have too; empty where there is none."""
        if var in self._given:
            return self._given[var]
        hint = re.sub(r"\W", "", var.hint or var.label).strip("_")
        if hint:
            return f"_{hint}" if hint[0].isdigit() else hint
        return self._of.get(var, "")

    def shown(self, var: Var) -> str:
        """The same, but never empty and never a reserved word."""
        name = self.of(var) or ("test" if var.type.dtype == "bool" else "value")
        return f"new_{name}" if name in RESERVED else name

    def _suggest(self, operand: Operand, name: str) -> None:
        if isinstance(operand, Var) and name and not self.of(operand):
            self._of[operand] = name

    def _backward(self, one: Computation) -> None:
        """A value that becomes a named variable gets its name."""
        match one:
            case If():
                for out, *arms in zip(one.outs, one.yes, one.no, strict=True):
                    for arm in arms:
                        self._suggest(arm, self.of(out))
            case Loop():
                for same in zip(one.carried, one.outs, one.first, one.following, strict=True):
                    name = next((self.of(var) for var in same if isinstance(var, Var) and self.of(var)), "")
                    for var in same:
                        self._suggest(var, name)
            case Let(out, "setitem" | "put" | "cast" | "same", args, _):
                self._suggest(args[0], self.of(out))
            case Let(out, "where", (_, *arms), _):
                for arm in arms:
                    self._suggest(arm, self.of(out))

    def _forward(self, one: Computation) -> None:
        """A value that is made from a named variable gets a name after it."""
        if isinstance(one, If):
            for out, yes, no in zip(one.outs, one.yes, one.no, strict=True):
                for arm in (yes, no):
                    self._suggest(out, self.of(arm) if isinstance(arm, Var) else "")
        elif isinstance(one, Call):
            for out, result in zip(one.outs, one.helper.results, strict=True):
                self._suggest(out, fitting_name(result.hint))
        elif isinstance(one, Let):
            self._suggest(one.out, self._made(one))

    def _made(self, let: Let) -> str:
        names = [self._name(arg) for arg in let.args]
        variables = [self.of(arg) if isinstance(arg, Var) else "" for arg in let.args]
        if let.op in ("setitem", "put"):
            return variables[0]
        if let.op in KEEPING or (let.op in SHIFTING and any(isinstance(arg, Const) for arg in let.args)):
            return next(filter(None, variables), "")
        if let.op == "where":
            return variables[1] or variables[2]
        if let.op == "getitem" and variables[0]:
            places = [str(part) for part in let.keywords["index"] if isinstance(part, int) and part >= 0]
            known = len(places) == len(let.keywords["index"])
            return fitting_name("_".join([variables[0], *places] if known else [variables[0], "at"]))
        if let.op == "lt" and isinstance(let.args[0], Const) and let.args[0].type.shape:
            return "inside"
        if let.op in COMPARISONS and all(names[:1]):
            other = let.args[1]
            word = names[1] or (str(other.value) if isinstance(other, Const) and not other.type.shape else "")
            word = word if names[1] or len(word) <= SHORT_NUMBER else ""
            return fitting_name(f"{names[0]}_{OP_WORDS[let.op]}_{word}".replace("-", "minus_")) if word else ""
        if let.op == "not" and names[0]:
            return fitting_name(names[0][4:] if names[0].startswith("not_") else f"not_{names[0]}")
        return OP_NAMES.get(let.op, "")

    def _name(self, operand: Operand) -> str:
        if isinstance(operand, Var):
            return self.of(operand)
        return operand.name.lower() if operand.name.isidentifier() and not operand.type.shape else ""


def free(name: str, taken: set[str]) -> str:
    """A name that is not taken: with a number behind it where it is."""
    if name not in taken:
        return name
    return next(one for one in (f"{name}_{number}" for number in itertools.count(2)) if one not in taken)
